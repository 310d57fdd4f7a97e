"""Single values for people."""

from enum import IntEnum
from uuid import UUID

import pytest

from openmsmq.wire.dissect import values


class Code(IntEnum):
    """Codes of a test."""

    NOT_YET = 1
    AES_256 = 2


def test_guids_are_in_braces_and_upper_case() -> None:
    guid = UUID("6f1c2d3e-4a5b-4c6d-8e9f-0a1b2c3d4e5f")
    assert values.guid_text(guid) == "{6F1C2D3E-4A5B-4C6D-8E9F-0A1B2C3D4E5F}"
    assert values.show_guid(guid.bytes_le) == (values.guid_text(guid), "")
    assert values.show_guid(bytes(16)) == ("{00000000-0000-0000-0000-000000000000}", "none")


def test_identifiers_are_a_guid_and_a_number() -> None:
    raw = UUID(int=1).bytes_le + b"\x07\0\0\0"
    assert values.show_identifier(raw) == (f"{values.guid_text(UUID(int=1))}\\7", "")
    assert values.show_identifier(bytes(20))[1] == "none"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (3600, "1 h"),
        (345600, "4 d"),
        (90061, "1 d 1 h 1 min 1 s"),
        (0xFFFFFFFF, "infinite"),
    ],
)
def test_durations_are_in_the_units_of_people(seconds: int, text: str) -> None:
    assert values.duration(seconds) == text


def test_times_and_milliseconds() -> None:
    assert values.utc_time(0) == "1970-01-01T00:00:00Z"
    assert values.utc_time(0xFFFFFFFF) == "2106-02-07T06:28:15Z"
    assert values.milliseconds(1496) == "1.496 s"


def test_codes_have_names() -> None:
    assert values.enum_name(Code)(1) == "not yet"
    assert values.code_name(Code)(2) == "AES_256"
    assert values.enum_name(Code)(3) == values.code_name(Code)(3) == "not defined"
    assert values.constant("always")(7) == "always"

"""Values of packets for people."""

import pytest

from openmsmq.cli.decode.packet_text import iso_time, value_text
from openmsmq.wire.dissect import Node, Value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (12, "12"),
        (0.5, "0.5"),
        ("word", "word"),
        ("two words", '"two words"'),
        ("", '""'),
        ("bell\a", "bell\\x07"),
        (b"\x01\x02", "01 02"),
        (bytes(13), "00 00 00 00 00 00 00 00 00 00 00 00 ... (13 bytes)"),
    ],
)
def test_a_value_in_one_line(value: Value, text: str) -> None:
    assert value_text(Node("Field", 0, 4, value)) == text


def test_hexadecimal_numbers_have_all_their_digits() -> None:
    assert value_text(Node("Field", 0, 4, 0x10, hexadecimal=True)) == "0x00000010"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_700_000_000_000_001_000, "2023-11-14T22:13:20.000001Z"),
        (1_700_000_000_000_000_001, "2023-11-14T22:13:20.000000001Z"),
        (10**30, "1000000000000000000000.000000000 s"),
    ],
)
def test_times_have_the_digits_that_they_need(nanoseconds: int, text: str) -> None:
    assert iso_time(nanoseconds) == text

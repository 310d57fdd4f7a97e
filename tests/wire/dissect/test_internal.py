"""Internal packets as trees."""

import pytest
from tests.wire.frames import frame_bytes

from openmsmq.wire.dissect import dissect


def changed(number: int, position: int, value: bytes) -> bytes:
    data = frame_bytes(number)
    return data[:position] + value + data[position + len(value) :]


@pytest.mark.parametrize(
    ("data", "path", "reason"),
    [
        (changed(3, 0, b"\x11"), ("BaseHeader", "VersionNumber"), "is 0x11, not 0x10"),
        (changed(3, 18, b"\x04"), ("InternalHeader", "Flags", "PT"), "4 is not 1, 2 or 3"),
        (
            changed(3, 56, b"\x11"),
            ("EstablishConnectionHeader", "OperatingSystem", "RE"),
            "is 0x11, not 0x10",
        ),
        (
            changed(5, 20, b"\0\0\0\0"),
            ("ConnectionParametersHeader", "RecoverableAckTimeout"),
            "0 is not in 500..120000",
        ),
        (changed(8, 2, b"\x0b"), ("BaseHeader", "Flags"), "0x000B is without 0x0018"),
        (changed(5, 8, b"\x21"), ("BaseHeader", "PacketSize"), "33 is not 32"),
    ],
)
def test_a_fault_stands_at_the_field_that_is_wrong(
    data: bytes, path: tuple[str, ...], reason: str
) -> None:
    node = dissect(data).find(*path)
    assert node is not None
    assert node.fault is not None
    assert node.fault.reason == reason


def test_what_follows_a_wrong_value_in_the_same_header_is_still_shown() -> None:
    root = dissect(changed(5, 20, b"\0\0\0\0"))
    window = root.find("ConnectionParametersHeader", "WindowSize")
    assert window is not None
    assert window.value == 64


def test_a_refusal_is_told_first() -> None:
    assert dissect(changed(4, 18, b"\x12")).meaning.startswith("refused, client {")


def test_padding_that_differs_is_said_to_differ() -> None:
    padding = dissect(changed(3, 100, b"\0")).find("EstablishConnectionHeader", "Padding")
    assert padding is not None
    assert padding.meaning == "512 bytes, not all the same"


@pytest.mark.parametrize(
    ("flags", "meaning"),
    [
        (0, "no recoverable message"),
        (1, "RecoverableMsgAckSeqNumber +0"),
        (0x80000005, "RecoverableMsgAckSeqNumber +0 +2 +31"),
    ],
)
def test_acknowledged_messages_are_counted_from_the_number_before(flags: int, meaning: str) -> None:
    root = dissect(changed(8, 24, flags.to_bytes(4, "little")))
    node = root.find("SessionHeader", "RecoverableMsgAckFlags")
    assert node is not None
    assert node.meaning == meaning

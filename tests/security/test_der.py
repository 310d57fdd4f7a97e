"""Elements of DER: bounds and lengths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.security.der import (
    CONTEXT_0,
    OCTET_STRING,
    SEQUENCE,
    contexts,
    element,
    expect,
    only,
    read_element,
)
from openmsmq.wire.errors import MalformedPacket


@pytest.mark.parametrize(
    ("size", "length"),
    [(0, "00"), (127, "7f"), (128, "8180"), (256, "820100"), (65536, "83010000")],
)
def test_lengths_are_as_short_as_possible(size: int, length: str) -> None:
    raw = element(OCTET_STRING, bytes(size))
    assert raw[: 1 + len(length) // 2].hex() == "04" + length
    assert read_element(raw, 0, len(raw), "x") == (OCTET_STRING, len(raw) - size, len(raw))


@pytest.mark.parametrize(
    "raw", ["", "04", "0401", "0480", "04850000000000", "0482", "048201", "04820001", "1f0100"]
)
def test_elements_that_are_not_whole_are_malformed(raw: str) -> None:
    data = bytes.fromhex(raw)
    with pytest.raises(MalformedPacket):
        read_element(data, 0, len(data), "x")


def test_an_element_does_not_reach_beyond_its_parent() -> None:
    raw = element(OCTET_STRING, b"abc")
    with pytest.raises(MalformedPacket):
        read_element(raw, 0, len(raw) - 1, "x")
    with pytest.raises(MalformedPacket):
        read_element(raw, 0, len(raw) + 1, "x")


def test_another_tag_and_bytes_behind_are_malformed() -> None:
    raw = element(OCTET_STRING, b"abc") + b"\0"
    assert expect(raw, 0, len(raw), OCTET_STRING, "x") == (2, 5)
    with pytest.raises(MalformedPacket, match="tag"):
        expect(raw, 0, len(raw), SEQUENCE, "x")
    with pytest.raises(MalformedPacket, match="follow"):
        only(raw, 0, len(raw), OCTET_STRING, "x")


def test_members_come_once_and_in_order() -> None:
    first, second = element(CONTEXT_0, b"a"), element(CONTEXT_0 + 2, b"b")
    assert contexts(first + second, 0, 6, "x") == {0: (2, 3), 2: (5, 6)}
    for wrong in (second + first, first + first, element(OCTET_STRING)):
        with pytest.raises(MalformedPacket):
            contexts(wrong, 0, len(wrong), "x")


@given(data=st.binary(max_size=40))
def test_any_bytes_are_an_element_or_malformed(data: bytes) -> None:
    try:
        _, start, stop = read_element(data, 0, len(data), "x")
    except MalformedPacket:
        return
    assert 2 <= start <= stop <= len(data)

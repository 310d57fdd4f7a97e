"""The checksum equals the textbook sum of 16-bit words."""

from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.pgm import checksum_of, has_valid_checksum


def textbook(data: bytes) -> int:
    """RFC 1071 word by word; zero is transmitted as all ones."""
    padded = data + b"\0" * (len(data) & 1)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF) or 0xFFFF


@given(st.binary(max_size=200))
def test_any_data_has_the_textbook_checksum(data: bytes) -> None:
    assert checksum_of(data) == textbook(data)


@given(st.binary(min_size=2, max_size=200), st.integers(1, 0xFFFE))
def test_a_packet_with_its_checksum_is_valid_and_a_changed_one_is_not(
    data: bytes, change: int
) -> None:
    checksum = checksum_of(b"\0\0" + data)
    assert has_valid_checksum(checksum.to_bytes(2, "big") + data)
    # One's complement cannot tell 0x0000 from 0xFFFF: a change by 1 to 0xFFFE leaves its class.
    changed = (checksum + change) % 0xFFFF
    assert not has_valid_checksum(changed.to_bytes(2, "big") + data)


def test_a_checksum_of_zero_is_sent_as_all_ones() -> None:
    assert checksum_of(b"\xff\xff") == 0xFFFF
    assert checksum_of(b"") == 0xFFFF

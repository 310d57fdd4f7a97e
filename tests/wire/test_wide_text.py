"""Text with a NUL at the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import find_text_end, lenient_text, parse_text, serialize_text

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)


@given(words, st.binary(max_size=3))
def test_parse_reverses_serialize(text: str, before: bytes) -> None:
    raw = memoryview(before + serialize_text(text))
    size = len(raw) - len(before)
    assert parse_text(raw, len(before), size, "Text") == text


@given(words, st.binary(max_size=5), st.binary(max_size=5))
def test_the_end_of_text_is_behind_its_first_nul(text: str, before: bytes, after: bytes) -> None:
    raw = before + serialize_text(text) + after
    assert find_text_end(raw, len(before)) == len(raw) - len(after)


def test_two_zero_bytes_across_two_characters_do_not_end_the_text() -> None:
    raw = serialize_text("\u0061\u6100" * 100)
    assert find_text_end(raw + b"a", 0) == len(raw) == 402
    assert find_text_end(raw[:-2] + b"a", 0) == -1


@pytest.mark.parametrize("raw", [b"", b"\0", b"a\0\0", b"a\0b\0"])
def test_text_without_a_nul_has_no_end(raw: bytes) -> None:
    assert find_text_end(raw, 0) == -1


def test_no_bytes_are_the_empty_text() -> None:
    assert parse_text(memoryview(b""), 0, 0, "Text") == ""


@pytest.mark.parametrize("raw", [b"a\0", b"a\0\0", b"\0", b"a\0\0\0\0"])
def test_text_without_a_nul_at_the_end_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedPacket, match=r"Text at offset 0: \d bytes of text without a NUL"):
        parse_text(memoryview(raw), 0, len(raw), "Text")


def test_a_lone_surrogate_is_malformed_at_its_offset() -> None:
    with pytest.raises(MalformedPacket) as caught:
        parse_text(memoryview(b"a\0\x00\xd8\0\0"), 0, 6, "Text")
    assert caught.value.offset == 2


def test_text_beyond_the_buffer_is_malformed() -> None:
    with pytest.raises(MalformedPacket, match="needs 4 bytes, 2 remain"):
        parse_text(memoryview(b"\0\0"), 0, 4, "Text")


@given(words)
def test_lenient_text_reverses_serialize(text: str) -> None:
    assert lenient_text(serialize_text(text)) == text


@given(st.binary(max_size=40))
def test_lenient_text_reads_any_bytes(raw: bytes) -> None:
    assert "\0" not in lenient_text(raw)


def test_lenient_text_ends_at_a_nul_or_with_its_bytes() -> None:
    assert lenient_text(b"a\0b\0") == "ab"
    assert lenient_text(b"a\0\0\0b\0") == "a"
    assert lenient_text(b"a\0\x00\xd8b\0") == "a\N{REPLACEMENT CHARACTER}b"

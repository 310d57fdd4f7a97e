"""Lines with styles."""

from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame_bytes

from openmsmq.cli.decode.packet_tree import PacketTree
from openmsmq.terminal.styled import Line, plain, wrap
from openmsmq.wire.dissect import dissect

LINE: Line = [("value", "green"), ("  a longer meaning", "dim")]


def test_a_line_that_fits_is_left_alone() -> None:
    assert list(wrap(LINE, 23)) == [LINE]


def test_a_line_breaks_at_blanks_and_keeps_its_styles() -> None:
    assert list(wrap(LINE, 10)) == [
        [("value", "green"), ("  a", "dim")],
        [("longer", "dim")],
        [("meaning", "dim")],
    ]


def test_a_word_that_is_too_long_breaks_anywhere() -> None:
    assert [plain(part) for part in wrap([("abcdefgh", "")], 3)] == ["abc", "def", "gh"]


def test_nothing_is_one_empty_line() -> None:
    assert list(wrap([], 10)) == [[]]


@given(st.text(alphabet="ab ", max_size=60), st.integers(1, 20))
def test_no_word_is_lost_by_wrapping(text: str, room: int) -> None:
    parts = list(wrap([(text, "")], room))
    assert "".join(map(plain, parts)).replace(" ", "") == text.replace(" ", "")
    assert all(len(plain(part)) <= room for part in parts)


def test_without_unicode_the_tree_is_drawn_in_ascii() -> None:
    data = frame_bytes(5)
    tree = PacketTree(width=None, unicode=False, with_hex=False)
    text = "\n".join(plain(line) for line in tree.lines(dissect(data), data))
    assert text.isascii()
    assert "`- WindowSize" in text

"""Text from others on a terminal."""

import pytest

from openmsmq.terminal.printable import printable


def test_text_of_any_language_is_left_alone() -> None:
    assert printable("Grüße, 世界") == "Grüße, 世界"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bell\a", "bell\\x07"),
        ("\x1b[2J", "\\x1b[2J"),
        ("one\r\ntwo", "one\\r\\ntwo"),
        ("left\u202eright", "left\\u202eright"),
    ],
)
def test_what_could_move_the_cursor_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown

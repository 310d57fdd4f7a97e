"""Lines of text with styles: printed as they are, or in colour on a terminal."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

# A piece of text and its style, in the words of rich.
Span = tuple[str, str]
Line = list[Span]

_DUMB: Final = ("dumb", "unknown")


def plain(line: Line) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line).rstrip()


def wrap(line: Line, room: int) -> Iterator[Line]:
    """Break a line at blanks, or else anywhere, into lines of at most `room` characters."""
    text = "".join(part for part, _ in line)
    start = 0
    while len(text) - start > room:
        blank = text.rfind(" ", start, start + room + 1)
        end = blank if blank > start else start + room
        yield _slice(line, start, end)
        start = end
        while text[start : start + 1] == " ":
            start += 1
    yield _slice(line, start, len(text))


def _slice(line: Line, start: int, end: int) -> Line:
    """The part of a line between two positions of its text."""
    pieces: Line = []
    position = 0
    for text, style in line:
        part = text[max(start - position, 0) : max(end - position, 0)]
        if part:
            pieces.append((part, style))
        position += len(text)
    return pieces


class Screen(NamedTuple):
    """Where lines go: `width` is None when they may have any length."""

    width: int | None
    color: bool
    unicode: bool

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines to stdout, all at once; the caller flushes it."""
        all_lines = list(lines)
        if self.color:
            _show_in_color(all_lines)
        else:
            sys.stdout.write("\n".join(map(plain, all_lines)) + "\n")


def open_screen(*, no_color: bool) -> Screen:
    """The screen behind stdout; colours only on a terminal, and not when the user wants none."""
    terminal = sys.stdout.isatty()
    environment = os.environ
    wanted = terminal or bool(environment.get("FORCE_COLOR"))
    refused = no_color or environment.get("NO_COLOR") or environment.get("TERM") in _DUMB
    width = None
    if terminal or environment.get("COLUMNS", "").isdigit():
        width = shutil.get_terminal_size().columns
    return Screen(
        width=width,
        color=wanted and not refused,
        unicode=(sys.stdout.encoding or "").lower().startswith("utf"),
    )


def _show_in_color(lines: list[Line]) -> None:
    # Loaded only here: it takes longer than all the rest.
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, highlight=False)
    text = Text("\n").join(Text.assemble(*line) for line in lines)
    console.print(text, soft_wrap=True)

"""Messages on stdout, each of them whole before anything else happens with it."""

import errno
import select
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import typer

from openmsmq.cli.failure import Refusal
from openmsmq.cli.output import json_line
from openmsmq.wire.codes.hresult import Hresult

from .text import message_lines

if TYPE_CHECKING:
    from openmsmq.client import ReceivedMessage

_ESCAPES: Final = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\0": "\0", "\\\\": "\\"}


class Style(NamedTuple):
    """How messages are printed.

    Args:
        json: one JSON object per line.
        raw: only the bodies, byte for byte.
        separator: bytes after each raw body.
        soap: JSON has what SRMP brought, too: null for other messages.
    """

    json: bool
    raw: bool
    separator: bytes
    soap: bool = True


def make_style(
    *, as_json: bool, raw: bool, separator: str | None, soap: bool | None = None
) -> Style:
    """The style that options ask for.

    Raises:
        BadParameter: they do not go together.
    """
    if as_json and raw:
        raise typer.BadParameter("--json and --raw exclude each other")
    if separator is not None and not raw:
        raise typer.BadParameter("--separator needs --raw")
    if soap is not None and not as_json:
        raise typer.BadParameter("--soap and --no-soap need --json")
    return Style(as_json, raw, parse_separator(separator or ""), soap is not False)


def parse_separator(text: str) -> bytes:
    r"""The bytes of a separator, in which \n, \t, \r, \0 and \\ are understood."""
    parts = []
    position = 0
    while position < len(text):
        pair = text[position : position + 2]
        parts.append(_ESCAPES.get(pair, text[position]))
        position += 2 if pair in _ESCAPES else 1
    return "".join(parts).encode("utf-8", "surrogateescape")


class OutputClosed(Exception):
    """Whoever reads the output has seen enough."""


class _Raw(Protocol):
    """A stream without a buffer."""

    def write(self, data: memoryview, /) -> int | None: ...

    def fileno(self) -> int: ...


class MessagePrinter:
    """Prints messages to stdout; what `show` has returned from is flushed.

    Args:
        style: how they are printed.
        kept: whether they come from a journal or a dead-letter queue.

    Raises:
        Refusal: there is no stdout.
    """

    def __init__(self, style: Style, *, kept: bool = False) -> None:
        if sys.stdout is None:
            raise _unusable("stdout is closed")
        sys.stdout.flush()
        buffer = sys.stdout.buffer
        self._stream: _Raw = getattr(buffer, "raw", buffer)
        self._style = style
        self._kept = kept
        self._terminal = sys.stdout.isatty()
        self.count = 0

    def show(self, message: "ReceivedMessage") -> None:
        """Print one message.

        Raises:
            OutputClosed: the reader of the output has closed it.
            Refusal: it cannot be written.
        """
        unwritten = memoryview(self._bytes(message))
        try:
            while unwritten:
                written = self._stream.write(unwritten)
                if written is None:
                    # The stream does not block, and its reader is slow.
                    select.select([], [self._stream], [])
                else:
                    unwritten = unwritten[written:]
        except BrokenPipeError as exc:
            raise OutputClosed from exc
        except OSError as exc:
            if exc.errno == errno.EPIPE:
                raise OutputClosed from exc
            raise _unusable(f"stdout: {exc.strerror or exc}") from exc
        self.count += 1

    def _bytes(self, message: "ReceivedMessage") -> bytes:
        style = self._style
        if style.json:
            return json_line(message.to_dict(soap=style.soap))
        if style.raw:
            body = message.body_bytes
            # So that the shell asks for the next command on a line of its own.
            end = b"\n" if self._terminal and not body.endswith(b"\n") else b""
            return body + (style.separator or end)
        lines = list(message_lines(message, terminal=self._terminal, kept=self._kept))
        if self.count:
            lines.insert(0, "")
        text = "\n".join(lines) + "\n"
        return text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")


def _unusable(detail: str) -> Refusal:
    return Refusal(
        Hresult.MQ_ERROR_INVALID_PARAMETER,
        detail,
        cause="The output is closed, its disk is full, or it may not be written.",
        remedy="Send the output somewhere else; what was not printed is still in the queue.",
    )

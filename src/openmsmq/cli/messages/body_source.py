"""Where the bodies of `openmsmq send` come from."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import typer

from openmsmq.cli.failure import Refusal
from openmsmq.terminal.streams import is_terminal, open_stdin
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.message.body_type import BodyType

STDIN: Final = Path("-")
# Text is sent as the bytes that a reader of these types expects.
_UTF_16: Final = frozenset((BodyType.VT_BSTR, BodyType.VT_LPWSTR))


class BodySource(NamedTuple):
    """The options that say what to send; at most one of them is given.

    Args:
        text: of one body.
        file: with the bytes of one body.
        lines: file with a body on each line, `-` for stdin.
    """

    text: str | None
    file: Path | None
    lines: Path | None

    def check(self) -> None:
        """Refuse two sources.

        Raises:
            BadParameter: more than one is given.
        """
        sources = [
            option
            for option, value in zip(("--body", "--body-file", "--lines"), self, strict=True)
            if value is not None
        ]
        if len(sources) > 1:
            raise typer.BadParameter(f"{' and '.join(sources)} exclude each other")

    def total(self, copies: int) -> int | None:
        """How many messages there will be; None if only the end of the input tells."""
        return copies if self.lines is None else None

    def bodies(self, body_type: int) -> Iterator[bytes]:
        """The bodies in the order of the input, without more of it in memory than needed.

        Raises:
            Refusal: the input cannot be read.
        """
        try:
            yield from self._read(body_type)
        except OSError as exc:
            raise Refusal(
                Hresult.MQ_ERROR_INVALID_PARAMETER,
                f"{exc.filename or 'stdin'} cannot be read: {exc.strerror or exc}",
                cause="The file does not exist, is a directory, or may not be read.",
                remedy="Give the path of a file that you may read, or - for stdin.",
            ) from exc

    def _read(self, body_type: int) -> Iterator[bytes]:
        if self.text is not None:
            # What a shell passes need not be UTF-8: such bytes are passed on as they are.
            yield encode_text(self.text.encode("utf-8", "surrogateescape"), body_type)
        elif self.lines is not None:
            yield from _lines(self.lines, body_type)
        elif self.file is not None and self.file != STDIN:
            yield self.file.read_bytes()
        else:
            if is_terminal(sys.stdin):
                typer.echo("Type the body; Ctrl-D on a line of its own ends it.", err=True)
            yield open_stdin().read()


def _lines(file: Path, body_type: int) -> Iterator[bytes]:
    if file == STDIN:
        for line in open_stdin():
            yield encode_text(_without_end(line), body_type)
        return
    with file.open("rb") as opened:
        for line in opened:
            yield encode_text(_without_end(line), body_type)


def _without_end(line: bytes) -> bytes:
    return line.removesuffix(b"\n").removesuffix(b"\r")


def encode_text(text: bytes, body_type: int) -> bytes:
    """UTF-8 text as a body of this type.

    Raises:
        Refusal: the type is one of UTF-16, and the text is not UTF-8.
    """
    if body_type not in _UTF_16:
        return text
    try:
        return text.decode("utf-8").encode("utf-16-le")
    except UnicodeDecodeError as exc:
        raise Refusal(
            Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
            f"the text is not UTF-8 at byte {exc.start}",
            cause="The body type says UTF-16, to which only UTF-8 text can be converted.",
            remedy="Convert the text, or send bytes as they are with --body-file.",
        ) from exc

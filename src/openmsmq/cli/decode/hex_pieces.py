"""Hex text as it comes: the pieces that it consists of, each as soon as it is whole."""

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from openmsmq.wire.capture import Frame, lone_frame
from openmsmq.wire.dissect import StreamPackets, is_ping
from openmsmq.wire.packets.ping import PING_SIZE

from .hex_text import HexTextError, Parsed, Resume, parse_lines
from .input import LiveInput

_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


class HexPiece(NamedTuple):
    """Bytes of a dump, or more bytes of the one before."""

    data: bytes
    continued: bool


def read_pieces(source: LiveInput) -> Iterator[list[HexPiece]]:
    """The pieces of a text: all at its end, but whole ones already when the text pauses.

    Raises:
        HexTextError: something in the text is not hex.
    """
    # What PowerShell writes to a file is UTF-16.
    encoding = "utf-16" if source.head.startswith(_UTF16_MARKS) else "utf-8-sig"
    decoder = getincrementaldecoder(encoding)("replace")
    text = _Text()
    for chunk in source.chunks():
        text.add(decoder.decode(chunk))
        if source.would_wait():
            yield from filter(None, [text.whole_pieces()])
    text.add(decoder.decode(b"", final=True))
    yield from filter(None, [text.rest()])


def frame_link_type(pieces: Sequence[HexPiece]) -> int | None:
    """The link type if these are frames of a network, as the first that is one tells."""
    link_types = (lone_frame(piece.data) for piece in pieces)
    return next((frame.link_type for frame in link_types if frame is not None), None)


def piece_frames(pieces: Iterable[HexPiece], link_type: int) -> Iterator[Frame]:
    """Pieces as frames of a capture; what follows a whole frame is padding."""
    number = 0
    for piece in pieces:
        if not piece.continued:
            number += 1
            known = lone_frame(piece.data)
            kind = link_type if known is None else known.link_type
            yield Frame(number, None, kind, piece.data, 0, 0)


class _Text:
    """The lines that are not in a piece yet, and how the piece before them continues."""

    __slots__ = ("_count", "_lines", "_parts", "_plain", "_resume")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._lines: list[tuple[int, str]] = []
        self._count = 0
        self._resume: Resume | None = None
        self._plain = False

    def add(self, text: str) -> None:
        self._parts.append(text)

    def whole_pieces(self) -> list[HexPiece]:
        """What could not become more or something else if more lines came."""
        self._cut_lines(final=False)
        try:
            parsed = parse_lines(self._lines, self._resume)
        except HexTextError:
            return []
        if not parsed.pieces:
            return []
        if _is_whole(parsed.pieces[-1]):
            return self._take(parsed, parsed.pieces, len(self._lines))
        return self._take(parsed, parsed.pieces[:-1], parsed.last_line)

    def rest(self) -> list[HexPiece]:
        """Everything, at the end of the text."""
        self._cut_lines(final=True)
        parsed = parse_lines(self._lines, self._resume)
        return self._take(parsed, parsed.pieces, len(self._lines))

    def _cut_lines(self, *, final: bool) -> None:
        text = "".join(self._parts)
        end = len(text) if final else text.rfind("\n") + 1
        self._parts = [text[end:]]
        for line in text[:end].splitlines():
            self._count += 1
            self._lines.append((self._count, line))

    def _take(self, parsed: Parsed, pieces: Sequence[bytes], lines: int) -> list[HexPiece]:
        """Give out pieces and forget their lines."""
        goes_on = self._resume is not None or (self._plain and parsed.plain)
        hex_pieces = [
            HexPiece(data, continued=goes_on and index == 0)
            for index, data in enumerate(pieces)
            if data
        ]
        if lines:
            self._resume = parsed.resume if lines == len(self._lines) else None
            self._plain = parsed.plain
            del self._lines[:lines]
        return hex_pieces


def _is_whole(data: bytes) -> bool:
    """Whether this is a frame, or packets, of which nothing is missing."""
    frame = lone_frame(data)
    if frame is not None:
        return not frame.missing
    while is_ping(data[:PING_SIZE]):
        data = data[PING_SIZE:]
    stream = StreamPackets()
    packets = stream.feed(data)
    return not stream.pending_bytes and not any(packet.skipped for packet in packets)

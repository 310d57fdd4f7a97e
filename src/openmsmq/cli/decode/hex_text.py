r"""Bytes out of hex text, as people paste it: dumps with offsets, or nothing but digits.

Known by their looks: xxd, hexdump -C, od -t x1, tcpdump -X, the hex dumps and hex streams of
Wireshark, arrays of C, strings with \x; and base64, if it is that of packets.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from .base64_text import parse_base64

_OFFSET: Final = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]{3,16})(:?)(?=\s|$)")
_TOKEN: Final = re.compile(r"(\s*)(\S+)")
_PAIRS: Final = re.compile(r"(?:[0-9a-fA-F]{2})+")
# Where the hexdump and od tools begin the text column.
_TEXT_COLUMN: Final = re.compile(r"[|>]")
# What may stand between digits: blanks, commas, 0x, \x, and the marks around arrays and strings.
_FILLING: Final = re.compile(r"\b0[xX]|\\x|[\s,;:{}()\[\]\"'-]+|\bb(?=[\"'])")
_NOT_HEX: Final = re.compile(r"[^0-9a-fA-F]")
_WORDS: Final = re.compile(r"\s*0{7,8}\s+[0-9a-fA-F]{4}\s")
_REPEAT: Final = "*"
# An array of C, as `xxd -i` and Wireshark write it.
_COMMENTS: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_ARRAY: Final = re.compile(r"[\s,]*(?:0[xX][0-9a-fA-F]{1,2}[\s,]+)*0[xX][0-9a-fA-F]{1,2}[\s,]*")
_BYTE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,2}")
_OD_DIGITS: Final = 7
_MAX_BYTES: Final = 1 << 28


class HexTextError(ValueError):
    """Text that is not hex; says where and why."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a dump: its offset, what follows it, and whether it stands for lines left out."""

    offset: int
    rest: str
    repeated: bool


class Resume(NamedTuple):
    """Where a dump continues: the offset of its next line, and the bytes of the line before."""

    offset: int
    before: bytes


class Parsed(NamedTuple):
    """The bytes of a text.

    Attributes:
        pieces: one for each dump or array; the first continues the dump that was resumed.
        last_line: index of the line that begins the last piece.
        resume: how the last piece may go on; None if it cannot.
        plain: whether the text is nothing but digits, so that more text continues its bytes.
    """

    pieces: list[bytes]
    last_line: int = 0
    resume: Resume | None = None
    plain: bool = False


def parse_hex_text(text: str) -> list[bytes]:
    """The bytes in a text; a dump whose offsets begin again at 0 gives several pieces.

    Raises:
        HexTextError: something in the text is not hex.
    """
    return parse_lines(list(enumerate(text.splitlines(), 1))).pieces


def parse_lines(lines: Sequence[tuple[int, str]], resume: Resume | None = None) -> Parsed:
    """The bytes of numbered lines, which may go on with a dump.

    Raises:
        HexTextError: something in the text is not hex.
    """
    content_lines = [
        (index, number, line)
        for index, (number, line) in enumerate(lines)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not content_lines:
        return Parsed([], 0, resume)
    if _WORDS.match(content_lines[0][2]):
        raise HexTextError(
            f"line {content_lines[0][1]}: words of two bytes, whose order depends on the machine; "
            "make the dump with `xxd`, `hexdump -C` or `od -t x1`"
        )
    texts = [line for _, _, line in content_lines]
    for base in _bases(texts):
        dump = _parse_dump(texts, base, resume)
        if dump is not None:
            return dump._replace(last_line=content_lines[dump.last_line][0])
    text = "\n".join(texts)
    arrays = _parse_arrays(text) or parse_base64(text)
    if arrays:
        return Parsed(arrays)
    return Parsed(_parse_plain([(number, line) for _, number, line in content_lines]), plain=True)


def _bases(lines: Sequence[str]) -> tuple[int, ...]:
    """The bases that the offsets may have, the likely one first."""
    first = next((match for line in lines if (match := _OFFSET.match(line))), None)
    # od counts in octal digits unless told otherwise, and takes seven of them.
    return (8, 10, 16) if first is not None and len(first[1]) == _OD_DIGITS else (16, 8, 10)


def _parse_dump(lines: Sequence[str], base: int, resume: Resume | None) -> Parsed | None:
    """The pieces of a dump with offsets in this base; None if the text is not that."""
    pieces: list[list[_Line]] = [] if resume is None else [[]]
    last_line = 0
    repeated = False
    titled = resume is None
    for index, line in enumerate(lines):
        if line.strip() == _REPEAT:
            repeated = True
            continue
        match = _OFFSET.match(line)
        if match is None:
            # Lines of text may stand before a piece, but not in it.
            titled = True
            continue
        parsed = _parse_line(match, base, repeated=repeated)
        if parsed is None:
            return None
        repeated = False
        if parsed.offset == 0:
            pieces.append([])
            last_line = index
        elif titled:
            return None
        titled = False
        pieces[-1].append(parsed)
    states = [
        _dump_bytes(piece, resume if index == 0 else None) for index, piece in enumerate(pieces)
    ]
    complete = [state for state in states if state is not None]
    if not complete or len(complete) < len(states):
        return None
    return Parsed([data for data, _ in complete], last_line, complete[-1][1])


def _parse_line(match: re.Match[str], base: int, *, repeated: bool) -> _Line | None:
    rest = match.string[match.end() :]
    token = _TOKEN.match(rest)
    # Without a colon only pairs of digits can be told from an offset.
    if token is not None and not match[2] and len(token[2]) != 2:
        return None
    try:
        return _Line(int(match[1], base), rest, repeated)
    except ValueError:
        return None


def _dump_bytes(lines: Sequence[_Line], resume: Resume | None) -> tuple[bytes, Resume] | None:
    """The bytes of one piece and how it may go on; None if offsets and bytes do not fit."""
    data = bytearray()
    start, before = resume or (0, b"")
    for index, line in enumerate(lines):
        if line.repeated and before:
            missing = line.offset - start - len(data)
            if not 0 <= missing <= _MAX_BYTES:
                return None
            data += before * (missing // len(before))
        if line.offset != start + len(data):
            return None
        following = lines[index + 1] if index + 1 < len(lines) else None
        width: int | None = None
        if following is not None and not following.repeated:
            width = following.offset - line.offset
        elif before:
            width = len(before)
        line_bytes = _line_bytes(line.rest, width)
        if line_bytes is None:
            return None
        before = line_bytes
        data += line_bytes
    return bytes(data), Resume(start + len(data), before)


def _line_bytes(rest: str, width: int | None) -> bytes | None:
    """The bytes of a line without the text column after them; None if more than `width`."""
    column = _TEXT_COLUMN.search(rest)
    digits = ""
    token_size = 0
    for blanks, token in _TOKEN.findall(rest[: column.start()] if column else rest):
        # Pairs may have a wider blank in the middle of the line, longer groups have none.
        wide = len(blanks) > 2 or (len(blanks) == 2 and token_size > 2)
        if (digits and wide) or not _PAIRS.fullmatch(token):
            break
        if width is not None and len(digits) >= 2 * width:
            if len(blanks) == 1:
                return None
            break
        token_size = len(token)
        digits += token
    return bytes.fromhex(digits)


def _parse_arrays(text: str) -> list[bytes]:
    """The arrays of a program in C or a language like it; none if the text is no such program."""
    code = _COMMENTS.sub(" ", text)
    return [
        bytes(int(number, 16) for number in _BYTE.findall(array))
        for array in _BRACES.findall(code)
        if _ARRAY.fullmatch(array)
    ]


def _parse_plain(lines: Sequence[tuple[int, str]]) -> list[bytes]:
    digits = ""
    for number, line in lines:
        rest = _FILLING.sub("", line)
        wrong = _NOT_HEX.search(rest)
        if wrong is not None:
            raise HexTextError(f"line {number}: {wrong[0]!r} is not a hexadecimal digit")
        digits += rest
    if len(digits) % 2:
        raise HexTextError(f"{len(digits)} hexadecimal digits are half a byte too many")
    return [bytes.fromhex(digits)] if digits else []

r"""Bytes out of hex text, as people paste it: dumps with offsets, or nothing but digits.

Known by their looks: xxd, hexdump -C, od -t x1, tcpdump -X, the hex dumps and hex streams of
Wireshark, arrays of C, strings with \x.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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


def parse_hex_text(text: str) -> list[bytes]:
    """The bytes in a text; a dump whose offsets begin again at 0 gives several pieces.

    Raises:
        HexTextError: something in the text is not hex.
    """
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if lines and _WORDS.match(lines[0][1]):
        raise HexTextError(
            f"line {lines[0][0]}: words of two bytes, whose order depends on the machine; "
            "make the dump with `xxd`, `hexdump -C` or `od -t x1`"
        )
    for base in _bases(lines):
        pieces = _parse_dump([line for _, line in lines], base)
        if pieces is not None:
            return pieces
    return _parse_plain(lines)


def _bases(lines: Sequence[tuple[int, str]]) -> tuple[int, ...]:
    """The bases that the offsets may have, the likely one first."""
    first = next((match for _, line in lines if (match := _OFFSET.match(line))), None)
    # od counts in octal digits unless told otherwise, and takes seven of them.
    return (8, 10, 16) if first is not None and len(first[1]) == _OD_DIGITS else (16, 8, 10)


def _parse_dump(lines: Sequence[str], base: int) -> list[bytes] | None:
    """The pieces of a dump with offsets in this base; None if the text is not that."""
    pieces: list[list[_Line]] = []
    repeated = False
    titled = True
    for line in lines:
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
        elif titled:
            return None
        titled = False
        pieces[-1].append(parsed)
    found = [_dump_bytes(piece) for piece in pieces]
    complete = [piece for piece in found if piece is not None]
    return complete if complete and len(complete) == len(found) else None


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


def _dump_bytes(lines: Sequence[_Line]) -> bytes | None:
    """The bytes of one piece; None if offsets and bytes do not fit together."""
    data = bytearray()
    before = b""
    for index, line in enumerate(lines):
        if line.repeated and before:
            missing = line.offset - len(data)
            if not 0 <= missing <= _MAX_BYTES:
                return None
            data += before * (missing // len(before))
        if line.offset != len(data):
            return None
        following = lines[index + 1] if index + 1 < len(lines) else None
        width: int | None = None
        if following is not None and not following.repeated:
            width = following.offset - line.offset
        elif before:
            width = len(before)
        found = _line_bytes(line.rest, width)
        if found is None:
            return None
        before = found
        data += found
    return bytes(data)


def _line_bytes(rest: str, width: int | None) -> bytes | None:
    """The bytes of a line without the text column behind them; None if more than `width`."""
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


def _parse_plain(lines: Sequence[tuple[int, str]]) -> list[bytes]:
    digits = ""
    for number, line in lines:
        found = _FILLING.sub("", line)
        wrong = _NOT_HEX.search(found)
        if wrong is not None:
            raise HexTextError(f"line {number}: {wrong[0]!r} is not a hexadecimal digit")
        digits += found
    if len(digits) % 2:
        raise HexTextError(f"{len(digits)} hexadecimal digits are half a byte too many")
    return [bytes.fromhex(digits)] if digits else []

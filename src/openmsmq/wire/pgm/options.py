"""Option extensions of PGM packets (RFC 3208, section 9)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, NamedTuple, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

OPT_LENGTH: Final = 0x00
OPT_FRAGMENT: Final = 0x01
OPT_NAK_LIST: Final = 0x02
OPT_JOIN: Final = 0x03
OPT_SYN: Final = 0x0D
OPT_FIN: Final = 0x0E
OPT_RST: Final = 0x0F
OPT_END: Final = 0x80

MAX_OPTIONS: Final = 16
MAX_NAK_LIST: Final = 62

OPTION_SIZE: Final = 4
# The text says 12 octets; the drawing has 16, and OpenPGM writes 16.
FRAGMENT_SIZE: Final = 16
JOIN_SIZE: Final = 8

_OPTION: Final = Struct(">BBBB")
_LENGTH: Final = Struct(">BBH")
_FRAGMENT: Final = Struct(">III")
_NUMBER: Final = Struct(">I")
_RST_N: Final = 0x40
_RST_ERROR_CODE: Final = 0x3F
_FIXED_SIZES: Final = {
    OPT_FRAGMENT: FRAGMENT_SIZE,
    OPT_JOIN: JOIN_SIZE,
    OPT_SYN: OPTION_SIZE,
    OPT_FIN: OPTION_SIZE,
    OPT_RST: OPTION_SIZE,
}


class Fragment(NamedTuple):
    """OPT_FRAGMENT: where the data of the packet stands in its APDU."""

    first_sequence_number: int
    offset: int
    length: int


class Reset(NamedTuple):
    """OPT_RST: the source gives up; with `no_naks` it answers no NAK any more."""

    no_naks: bool
    error_code: int


class Extension(NamedTuple):
    """One option: its type without OPT_END, its specific bits and its value."""

    type: int
    specific: int
    value: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a packet that sources and receivers use; unknown ones are ignored.

    `join` is the least sequence number that a late receiver may ask for.
    """

    fragment: Fragment | None = None
    nak_list: tuple[int, ...] = ()
    join: int | None = None
    syn: bool = False
    fin: bool = False
    rst: Reset | None = None

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        extensions, end = cut_options(buf, offset)
        by_type: dict[int, Extension] = {}
        for extension in extensions:
            if extension.type in by_type:
                raise MalformedPacket(
                    "Options", extension.offset, f"option {extension.type:#04x} is repeated"
                )
            by_type[extension.type] = extension
        fragment, join, rst = (by_type.get(kind) for kind in (OPT_FRAGMENT, OPT_JOIN, OPT_RST))
        nak_list = by_type.get(OPT_NAK_LIST)
        return cls(
            Fragment._make(_FRAGMENT.unpack(fragment.value)) if fragment else None,
            _nak_list(nak_list) if nak_list else (),
            _NUMBER.unpack(join.value)[0] if join else None,
            OPT_SYN in by_type,
            OPT_FIN in by_type,
            Reset(bool(rst.specific & _RST_N), rst.specific & _RST_ERROR_CODE) if rst else None,
        ), end

    def serialize(self) -> bytes:
        """The extensions behind OPT_LENGTH, or nothing if there is no option."""
        extensions = self._extensions()
        if not extensions:
            return b""
        total = OPTION_SIZE + sum(OPTION_SIZE + len(value) for _, _, value in extensions)
        out = [_LENGTH.pack(OPT_LENGTH, OPTION_SIZE, total)]
        last = len(extensions) - 1
        for index, (kind, specific, value) in enumerate(extensions):
            end = OPT_END if index == last else 0
            out.append(_OPTION.pack(kind | end, OPTION_SIZE + len(value), 0, specific) + value)
        return b"".join(out)

    def _extensions(self) -> list[tuple[int, int, bytes]]:
        """Type, specific bits and value; the network-significant OPT_NAK_LIST comes first."""
        out: list[tuple[int, int, bytes]] = []
        if self.nak_list:
            out.append((OPT_NAK_LIST, 0, b"".join(map(_NUMBER.pack, self.nak_list))))
        if self.fragment is not None:
            out.append((OPT_FRAGMENT, 0, _FRAGMENT.pack(*self.fragment)))
        if self.join is not None:
            out.append((OPT_JOIN, 0, _NUMBER.pack(self.join)))
        if self.syn:
            out.append((OPT_SYN, 0, b""))
        if self.fin:
            out.append((OPT_FIN, 0, b""))
        if self.rst is not None:
            out.append((OPT_RST, self.rst.no_naks * _RST_N | self.rst.error_code, b""))
        return out


NO_OPTIONS: Final = Options()


def _nak_list(extension: Extension) -> tuple[int, ...]:
    value = extension.value
    if not value or len(value) % _NUMBER.size or len(value) > MAX_NAK_LIST * _NUMBER.size:
        raise MalformedPacket(
            "OPT_NAK_LIST", extension.offset, f"{len(value)} bytes are not 1 to 62 numbers"
        )
    return tuple(number for (number,) in _NUMBER.iter_unpack(value))


def cut_options(buf: bytes | memoryview, offset: int) -> tuple[list[Extension], int]:
    """The options behind OPT_LENGTH, and where they end.

    Raises:
        MalformedPacket: a length is wrong, or OPT_END is missing.
    """
    position = require(buf, offset, OPTION_SIZE, "OPT_LENGTH")
    kind, size, total = _LENGTH.unpack_from(buf, offset)
    if kind != OPT_LENGTH or size != OPTION_SIZE:
        raise MalformedPacket("OPT_LENGTH", offset, "options do not begin with OPT_LENGTH")
    end = require(buf, offset, total, "OPT_LENGTH")
    extensions: list[Extension] = []
    is_last = False
    while not is_last:
        if len(extensions) == MAX_OPTIONS:
            raise MalformedPacket("Options", position, f"more than {MAX_OPTIONS} options")
        if position + OPTION_SIZE > end:
            raise MalformedPacket("Options", position, "OPT_END is missing")
        kind, size, _, specific = _OPTION.unpack_from(buf, position)
        is_last = bool(kind & OPT_END)
        kind &= ~OPT_END
        if size < OPTION_SIZE or position + size > end or _FIXED_SIZES.get(kind, size) != size:
            raise MalformedPacket("Options", position, f"option {kind:#04x} has {size} bytes")
        value = bytes(buf[position + OPTION_SIZE : position + size])
        extensions.append(Extension(kind, specific, value, position))
        position += size
    if position != end:
        raise MalformedPacket("Options", position, "bytes follow the last option")
    return extensions, end

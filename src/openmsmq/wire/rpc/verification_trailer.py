"""Verification trailer: what a client sends after the stub of a protected request.

[MS-RPCE] 2.2.2.13. It repeats what the signature of the PDU may leave out, so that the server
notices a change.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final

from openmsmq.wire.checks import pad4, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr.structures import TRAILER_SIGNATURE

from .syntax import SYNTAX_ID_SIZE, SyntaxId

SEC_VT_COMMAND_BITMASK_1: Final = 0x0001
SEC_VT_COMMAND_PCONTEXT: Final = 0x0002
SEC_VT_COMMAND_HEADER2: Final = 0x0003
SEC_VT_COMMAND_END: Final = 0x4000
SEC_VT_MUST_PROCESS_COMMAND: Final = 0x8000
CLIENT_SUPPORT_HEADER_SIGNING: Final = 0x00000001
# There are three kinds; some more may come, thousands cost the server time only.
MAX_COMMANDS: Final = 256

_KIND: Final = 0x3FFF
_COMMAND: Final = Struct("<HH")
_BITS: Final = Struct("<I")
_HEADER2: Final = Struct("<B3x4sIHH")


@dataclass(frozen=True, slots=True)
class Header2:
    """rpc_sec_vt_header2: the fields of the request's header."""

    ptype: int
    packed_drep: bytes
    call_id: int
    p_cont_id: int
    opnum: int


@dataclass(frozen=True, slots=True)
class VerificationTrailer:
    """The commands of a trailer; None for a command that is not there.

    Attributes:
        unknown: kinds of commands that are not known and must be understood.
    """

    bits: int | None = None
    interface: SyntaxId | None = None
    transfer_syntax: SyntaxId | None = None
    header2: Header2 | None = None
    unknown: tuple[int, ...] = ()

    @classmethod
    def find(cls, stub: bytes, offset: int) -> "VerificationTrailer | None":
        """The trailer somewhere after the parameters, which end at `offset`; None without one.

        Raises:
            MalformedPacket: commands do not fit.
        """
        start = stub.find(TRAILER_SIGNATURE, offset)
        if start < 0:
            return None
        return cls.parse(stub, start + len(TRAILER_SIGNATURE))[0]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> "tuple[VerificationTrailer, int]":
        """Read the commands, which start at `offset`, after the signature."""
        bits: int | None = None
        interface: SyntaxId | None = None
        transfer: SyntaxId | None = None
        header2: Header2 | None = None
        unknown: list[int] = []
        command = count = 0
        while not command & SEC_VT_COMMAND_END:
            count += 1
            if count > MAX_COMMANDS:
                raise MalformedPacket("SEC_VT", offset, f"more than {MAX_COMMANDS} commands")
            start = require(buf, offset, _COMMAND.size, "SEC_VT")
            command, length = _COMMAND.unpack_from(buf, offset)
            offset = require(buf, start, length, "SEC_VT.length")
            kind = command & _KIND
            if kind == SEC_VT_COMMAND_BITMASK_1:
                _require_length(length, _BITS.size, start)
                (bits,) = _BITS.unpack_from(buf, start)
            elif kind == SEC_VT_COMMAND_PCONTEXT:
                _require_length(length, 2 * SYNTAX_ID_SIZE, start)
                interface, middle = SyntaxId.parse(buf, start)
                transfer, _ = SyntaxId.parse(buf, middle)
            elif kind == SEC_VT_COMMAND_HEADER2:
                _require_length(length, _HEADER2.size, start)
                header2 = Header2(*_HEADER2.unpack_from(buf, start))
            elif command & SEC_VT_MUST_PROCESS_COMMAND:
                unknown.append(kind)
        return cls(bits, interface, transfer, header2, tuple(unknown)), offset

    def serialize(self) -> bytes:
        """Signature and commands; the stub before them is padded to four bytes."""
        commands: list[tuple[int, bytes]] = []
        if self.bits is not None:
            commands.append((SEC_VT_COMMAND_BITMASK_1, _BITS.pack(self.bits)))
        if self.interface is not None and self.transfer_syntax is not None:
            syntaxes = self.interface.serialize() + self.transfer_syntax.serialize()
            commands.append((SEC_VT_COMMAND_PCONTEXT, syntaxes))
        if self.header2 is not None:
            header = self.header2
            packed = _HEADER2.pack(
                header.ptype, header.packed_drep, header.call_id, header.p_cont_id, header.opnum
            )
            commands.append((SEC_VT_COMMAND_HEADER2, packed))
        parts = [TRAILER_SIGNATURE]
        for position, (kind, data) in enumerate(commands, 1):
            last = SEC_VT_COMMAND_END if position == len(commands) else 0
            parts.append(_COMMAND.pack(kind | last, len(data)) + data)
        return b"".join(parts)


def append_trailer(stub: bytes, trailer: VerificationTrailer) -> bytes:
    """The stub with padding and the trailer."""
    return stub + bytes(pad4(len(stub)) - len(stub)) + trailer.serialize()


def _require_length(length: int, expected: int, offset: int) -> None:
    if length != expected:
        raise MalformedPacket("SEC_VT.length", offset - 2, f"{length} in place of {expected}")

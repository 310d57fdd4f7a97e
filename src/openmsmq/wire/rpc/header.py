"""The common header of every PDU (C706 12.6.3.1)."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

RPC_VERS: Final = 5
HEADER_SIZE: Final = 16
# Little-endian integers, ASCII characters, IEEE floating point.
LITTLE_ENDIAN_DREP: Final = b"\x10\x00\x00\x00"
MAX_CALL_ID: Final = 0x7FFFFFFF

_LITTLE: Final = Struct("<4B4sHHI")
_BIG: Final = Struct(">4B4sHHI")


class PduType(IntEnum):
    """PTYPE: the PDUs of connection-oriented RPC."""

    REQUEST = 0
    RESPONSE = 2
    FAULT = 3
    BIND = 11
    BIND_ACK = 12
    BIND_NAK = 13
    ALTER_CONTEXT = 14
    ALTER_CONTEXT_RESP = 15
    AUTH3 = 16
    SHUTDOWN = 17
    CO_CANCEL = 18
    ORPHANED = 19


class PfcFlags(IntFlag):
    """Flags of the common header.

    0x04 has two names: PFC_SUPPORT_HEADER_SIGN in bind, alter_context, their answers and auth3,
    PFC_PENDING_CANCEL in all others ([MS-RPCE] 2.2.2.3).
    """

    PFC_FIRST_FRAG = 0x01
    PFC_LAST_FRAG = 0x02
    PFC_PENDING_CANCEL = 0x04
    PFC_SUPPORT_HEADER_SIGN = 0x04
    PFC_CONC_MPX = 0x10
    PFC_DID_NOT_EXECUTE = 0x20
    PFC_MAYBE = 0x40
    PFC_OBJECT_UUID = 0x80


WHOLE: Final = int(PfcFlags.PFC_FIRST_FRAG | PfcFlags.PFC_LAST_FRAG)
"""The flags of a PDU that is not cut into fragments."""


@dataclass(frozen=True, slots=True)
class CommonHeader:
    """The first 16 bytes of a PDU; `ptype` and `pfc_flags` stay numbers, since peers send any."""

    ptype: int
    pfc_flags: int
    frag_length: int
    auth_length: int
    call_id: int
    rpc_vers: int = RPC_VERS
    rpc_vers_minor: int = 0
    packed_drep: bytes = LITTLE_ENDIAN_DREP

    @property
    def is_little_endian(self) -> bool:
        """Whether integers are little-endian and characters ASCII."""
        return self.packed_drep[0] == LITTLE_ENDIAN_DREP[0]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, HEADER_SIZE, "CommonHeader")
        layout = _LITTLE if buf[offset + 4] & 0x10 else _BIG
        vers, minor, ptype, flags, drep, frag, auth, call = layout.unpack_from(buf, offset)
        if frag < HEADER_SIZE + auth:
            raise MalformedPacket(
                "CommonHeader.frag_length", offset + 8, f"{frag} does not hold auth_length {auth}"
            )
        header = cls(ptype, flags, frag, auth, call, vers, minor, drep)
        return header, end

    def serialize(self) -> bytes:
        layout = _LITTLE if self.packed_drep[0] & 0x10 else _BIG
        return layout.pack(
            self.rpc_vers,
            self.rpc_vers_minor,
            self.ptype,
            self.pfc_flags,
            self.packed_drep,
            self.frag_length,
            self.auth_length,
            self.call_id,
        )


def pack_pdu(
    ptype: int, call_id: int, body: bytes, *, flags: int = WHOLE, verifier: bytes = b""
) -> bytes:
    """A PDU of a body and an optional verifier: sec_trailer and token."""
    header = _LITTLE.pack(
        RPC_VERS,
        0,
        ptype,
        flags,
        LITTLE_ENDIAN_DREP,
        HEADER_SIZE + len(body) + len(verifier),
        max(len(verifier) - 8, 0),
        call_id,
    )
    return header + body + verifier

"""request, response and fault (C706 12.6.4).

Requests and responses are the hot path: their first 24 bytes, common header included, are read and
written by one `struct` call each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require

from .header import HEADER_SIZE, LITTLE_ENDIAN_DREP, RPC_VERS, PduType, PfcFlags

CALL_HEADER_SIZE: Final = 24
OBJECT_SIZE: Final = 16
FAULT_SIZE: Final = 32

_DREP: Final = int.from_bytes(LITTLE_ENDIAN_DREP, "little")
_CALL: Final = Struct("<BBBBIHHIIHH")
_FAULT: Final = Struct("<BBBBIHHIIHBxII")
_OBJECT_UUID: Final = int(PfcFlags.PFC_OBJECT_UUID)
_REQUEST: Final = int(PduType.REQUEST)

_Unpack = Callable[[bytes, int], tuple[int, int, int, int, int, int, int, int, int, int, int]]
unpack_call: Final[_Unpack] = _CALL.unpack_from
"""The fields of a request or response at an offset: rpc_vers, rpc_vers_minor, PTYPE, pfc_flags,
packed_drep, frag_length, auth_length, call_id, alloc_hint, p_cont_id, and opnum (request) or
cancel_count in the low byte (response). At least 24 bytes must be there."""


def pack_call(
    ptype: int,
    flags: int,
    call_id: int,
    *,
    frag_length: int,
    auth_length: int,
    alloc_hint: int,
    p_cont_id: int,
    opnum: int = 0,
) -> bytes:
    """The 24 bytes before the stub; a response has its cancel_count in place of `opnum`."""
    return _CALL.pack(
        RPC_VERS,
        0,
        ptype,
        flags,
        _DREP,
        frag_length,
        auth_length,
        call_id,
        alloc_hint,
        p_cont_id,
        opnum,
    )


@dataclass(frozen=True, slots=True)
class CallHeader:
    """The 24 bytes of a request or response before its stub, checked against the PDU.

    `stub_start` counts an object UUID in.
    """

    ptype: int
    pfc_flags: int
    call_id: int
    alloc_hint: int
    p_cont_id: int
    opnum: int
    stub_start: int

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, CALL_HEADER_SIZE, "request")
        fields = _CALL.unpack_from(buf, offset)
        if fields[2] == _REQUEST and fields[3] & _OBJECT_UUID:
            end = require(buf, end, OBJECT_SIZE, "request.object")
        header = cls(fields[2], fields[3], fields[7], fields[8], fields[9], fields[10], end)
        return header, end


@dataclass(frozen=True, slots=True)
class Fault:
    """A whole fault PDU; a stub in it is ignored ([MS-RPCE] 2.2.2.8)."""

    call_id: int
    status: int
    pfc_flags: int
    p_cont_id: int = 0
    cancel_count: int = 0

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, FAULT_SIZE, "fault")
        fields = _FAULT.unpack_from(buf, offset)
        return cls(fields[7], fields[11], fields[3], fields[9], fields[10]), end

    def serialize(self) -> bytes:
        return _FAULT.pack(
            RPC_VERS,
            0,
            PduType.FAULT,
            self.pfc_flags,
            _DREP,
            FAULT_SIZE,
            0,
            self.call_id,
            # [MS-RPCE] 2.2.2.8: an extended error is what exceeds 32 bytes.
            FAULT_SIZE,
            self.p_cont_id,
            self.cancel_count,
            self.status,
            0,
        )


assert HEADER_SIZE + 8 == CALL_HEADER_SIZE == _CALL.size  # noqa: S101

"""NDR and NDR64: the octets of RPC parameters (C706, chapter 14; [MS-RPCE] 2.2.4, 2.2.5).

A stub is declared once, as a NamedTuple and the types of its fields, and is compiled on first use
for each transfer syntax to a few `struct` calls:

    class EndReceiveRequest(NamedTuple):
        ph_context: bytes
        dw_ack: int
        dw_request_id: int

    END_RECEIVE = Stub(EndReceiveRequest, CONTEXT_HANDLE, ranged(1, 2), U32)
    record, end = END_RECEIVE.decode(stub, NDR)

The checks are those of target level 6.0 ([MS-RPCE] 3.1.1.5.3): counts, offsets, tags, ranges, NULL
pointers and the length of the stub. Everything else is `MalformedPacket`. Octets after the last
parameter are allowed, for a verification trailer may stand there.
"""

from .arrays import Array, MaxCount, octet_array
from .codec import NdrType
from .pieces import Octets, Pieces
from .pointers import Unique
from .primitives import (
    CONTEXT_HANDLE,
    CONTEXT_HANDLE_NULL,
    GUID,
    I32,
    U8,
    U16,
    U32,
    U64,
    XACTUOW,
    Count,
    Enum,
    Reserved,
    octets,
    ranged,
)
from .strings import WIDE_STRING, Text
from .structures import Call, Structure, Stub
from .syntax import NDR, NDR64, TRANSFER_SYNTAXES, TransferSyntax
from .unions import Union

__all__ = [
    "CONTEXT_HANDLE",
    "CONTEXT_HANDLE_NULL",
    "GUID",
    "I32",
    "NDR",
    "NDR64",
    "TRANSFER_SYNTAXES",
    "U8",
    "U16",
    "U32",
    "U64",
    "WIDE_STRING",
    "XACTUOW",
    "Array",
    "Call",
    "Count",
    "Enum",
    "MaxCount",
    "NdrType",
    "Octets",
    "Pieces",
    "Reserved",
    "Structure",
    "Stub",
    "Text",
    "TransferSyntax",
    "Union",
    "Unique",
    "octet_array",
    "octets",
    "ranged",
]

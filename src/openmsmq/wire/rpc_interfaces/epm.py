"""epm: the calls of the endpoint mapper (C706, appendix O; [MS-RPCE] 2.2.1.2), opnums 2 to 4.

Towers are octets here.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    CONTEXT_HANDLE,
    GUID,
    U32,
    Array,
    Call,
    Count,
    MaxCount,
    Structure,
    Stub,
    Text,
    Unique,
    octet_array,
    ranged,
)

from .mgmt import RPC_IF_ID, RpcIfId

MAX_TOWER: Final = 2000
MAX_ENTRIES: Final = 500
ANNOTATION_SIZE: Final = 64
# Pointers are full ones: in a response the number of one of the request would stand for what that
# pointed to (C706, 14.3.12.3).
RESPONSE_REFERENT: Final = 0x40000
# What `status` says when nothing matches.
EPT_S_NOT_REGISTERED: Final = 0x16C9A0D6


class Twr(NamedTuple):
    """twr_t: the octets of a tower."""

    tower_octet_string: bytes | memoryview


class EptEntry(NamedTuple):
    """ept_entry_t."""

    object: UUID
    tower: Twr | None
    annotation: str = ""


TWR: Final = Structure(Twr, Count("tower_octet_string", maximum=MAX_TOWER), octet_array())
EPT_ENTRY: Final = Structure(EptEntry, GUID, Unique(TWR), Text(1, capacity=ANNOTATION_SIZE))


class EptLookupRequest(NamedTuple):
    inquiry_type: int
    object: UUID | None
    ifid: RpcIfId | None
    vers_option: int
    entry_handle: bytes
    max_ents: int


class EptLookupResponse(NamedTuple):
    """`max_ents` is that of the request."""

    entry_handle: bytes
    entries: tuple[EptEntry, ...]
    max_ents: int
    status: int


class EptMapRequest(NamedTuple):
    obj: UUID | None
    map_tower: Twr | None
    entry_handle: bytes
    max_towers: int


class EptMapResponse(NamedTuple):
    """`max_towers` is that of the request."""

    entry_handle: bytes
    i_towers: tuple[Twr | None, ...]
    max_towers: int
    status: int


class EptLookupHandleFreeRequest(NamedTuple):
    entry_handle: bytes


class EptLookupHandleFreeResponse(NamedTuple):
    entry_handle: bytes
    status: int


EPT_LOOKUP: Final = Call(
    2,
    "ept_lookup",
    Stub(
        EptLookupRequest,
        U32,
        Unique(GUID),
        Unique(RPC_IF_ID),
        U32,
        CONTEXT_HANDLE,
        ranged(0, MAX_ENTRIES),
    ),
    Stub(
        EptLookupResponse,
        CONTEXT_HANDLE,
        Count("entries"),
        Array(EPT_ENTRY, size="max_ents", varying=True),
        MaxCount(),
        U32,
        first_referent=RESPONSE_REFERENT,
    ),
)
EPT_MAP: Final = Call(
    3,
    "ept_map",
    Stub(EptMapRequest, Unique(GUID), Unique(TWR), CONTEXT_HANDLE, ranged(0, MAX_ENTRIES)),
    Stub(
        EptMapResponse,
        CONTEXT_HANDLE,
        Count("i_towers"),
        Array(Unique(TWR), size="max_towers", varying=True),
        MaxCount(),
        U32,
        first_referent=RESPONSE_REFERENT,
    ),
)
EPT_LOOKUP_HANDLE_FREE: Final = Call(
    4,
    "ept_lookup_handle_free",
    Stub(EptLookupHandleFreeRequest, CONTEXT_HANDLE),
    Stub(EptLookupHandleFreeResponse, CONTEXT_HANDLE, U32),
)

CALLS: Final[dict[int, Call]] = {
    call.opnum: call for call in (EPT_LOOKUP, EPT_MAP, EPT_LOOKUP_HANDLE_FREE)
}

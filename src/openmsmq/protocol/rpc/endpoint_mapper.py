"""The endpoint mapper: the port of each interface (C706 appendix O, [MS-RPCE] 2.2.1.2)."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple, TypeVar

from openmsmq.wire.codes.endpoints import ENDPOINT_MAPPER, RpcInterface
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.ndr.syntax import NDR, NDR64
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.tower import NO_ADDRESS, TcpTower
from openmsmq.wire.rpc_interfaces import epm
from openmsmq.wire.scalars import GUID_NULL

from .interface import Served, ServedInterface, serve
from .server.call import ServerCall

_SYNTAXES: Final = (SyntaxId.of_transfer(NDR), SyntaxId.of_transfer(NDR64))
T = TypeVar("T")


class Registration(NamedTuple):
    """An interface at a port of this machine."""

    interface: RpcInterface
    port: int
    annotation: str = ""


Registrations = Callable[[], Sequence[Registration]]
"""All interfaces with their current ports."""


class InquiryType(IntEnum):
    """The inquiry types of ept_lookup (C706 appendix O)."""

    RPC_C_EP_ALL_ELTS = 0
    RPC_C_EP_MATCH_BY_IF = 1
    RPC_C_EP_MATCH_BY_OBJ = 2
    RPC_C_EP_MATCH_BY_BOTH = 3


class VersOption(IntEnum):
    """The versions of an interface that ept_lookup accepts."""

    RPC_C_VERS_ALL = 1
    RPC_C_VERS_COMPATIBLE = 2
    RPC_C_VERS_EXACT = 3
    RPC_C_VERS_MAJOR_ONLY = 4
    RPC_C_VERS_UPTO = 5


def endpoint_mapper(registrations: Registrations) -> ServedInterface:
    """The interface of the endpoint mapper; it needs no authentication."""

    def ept_map(call: ServerCall, request: epm.EptMapRequest) -> None:
        towers: Sequence[epm.Twr]
        if call.handle is not None:
            towers = call.handle.value
        else:
            towers = _map(call, request, registrations())
        page, handle, status = _page(call, towers, request.max_towers)
        call.reply(epm.EptMapResponse(handle, tuple(page), request.max_towers, status))

    def ept_lookup(call: ServerCall, request: epm.EptLookupRequest) -> None:
        entries: Sequence[epm.EptEntry]
        if call.handle is not None:
            entries = call.handle.value
        else:
            entries = _look_up(call, request, registrations())
        page, handle, status = _page(call, entries, request.max_ents)
        call.reply(epm.EptLookupResponse(handle, tuple(page), request.max_ents, status))

    return serve(
        ENDPOINT_MAPPER,
        "epm",
        (
            Served(epm.EPT_LOOKUP, ept_lookup, handle="entry_handle", null_handle=True),
            Served(epm.EPT_MAP, ept_map, handle="entry_handle", null_handle=True),
            Served(
                epm.EPT_LOOKUP_HANDLE_FREE,
                _ept_lookup_handle_free,
                handle="entry_handle",
                null_handle=True,
            ),
        ),
    )


def _ept_lookup_handle_free(call: ServerCall, _request: epm.EptLookupHandleFreeRequest) -> None:
    call.close_handle()
    call.reply(epm.EptLookupHandleFreeResponse(CONTEXT_HANDLE_NULL, 0))


def _map(
    call: ServerCall, request: epm.EptMapRequest, registrations: Sequence[Registration]
) -> list[epm.Twr]:
    """The towers for the tower of a question."""
    if request.map_tower is None or request.obj not in (None, GUID_NULL):
        return []
    try:
        wanted, _ = TcpTower.parse(request.map_tower.tower_octet_string)
    except MalformedPacket:
        # A tower of another protocol, which has no service here.
        return []
    if wanted.transfer_syntax not in _SYNTAXES:
        return []
    return [
        _tower(call, registration, wanted.transfer_syntax)
        for registration in registrations
        if _matches(registration.interface, wanted.interface, VersOption.RPC_C_VERS_COMPATIBLE)
    ]


def _look_up(
    call: ServerCall, request: epm.EptLookupRequest, registrations: Sequence[Registration]
) -> list[epm.EptEntry]:
    """The entries that an inquiry asks for."""
    kind = request.inquiry_type
    by_interface = kind in (InquiryType.RPC_C_EP_MATCH_BY_IF, InquiryType.RPC_C_EP_MATCH_BY_BOTH)
    by_object = kind in (InquiryType.RPC_C_EP_MATCH_BY_OBJ, InquiryType.RPC_C_EP_MATCH_BY_BOTH)
    if by_object and request.object not in (None, GUID_NULL):
        return []
    wanted = None
    if by_interface and request.ifid is not None:
        ifid = request.ifid
        interface = RpcInterface(ifid.uuid, ifid.vers_major, ifid.vers_minor)
        wanted = SyntaxId.of_interface(interface)
    return [
        epm.EptEntry(GUID_NULL, _tower(call, registration, _SYNTAXES[0]), registration.annotation)
        for registration in registrations
        if wanted is None or _matches(registration.interface, wanted, request.vers_option)
    ]


def _matches(own: RpcInterface, wanted: SyntaxId, option: int) -> bool:
    if own.uuid != wanted.uuid:
        return False
    version, wanted_version = (own.major, own.minor), (wanted.major, wanted.minor)
    if option == VersOption.RPC_C_VERS_COMPATIBLE:
        return version[0] == wanted_version[0] and version[1] >= wanted_version[1]
    if option == VersOption.RPC_C_VERS_EXACT:
        return version == wanted_version
    if option == VersOption.RPC_C_VERS_MAJOR_ONLY:
        return version[0] == wanted_version[0]
    if option == VersOption.RPC_C_VERS_UPTO:
        return version <= wanted_version
    return True


def _tower(call: ServerCall, registration: Registration, transfer_syntax: SyntaxId) -> epm.Twr:
    """The address in it is the one at which the client connected."""
    address = ip_address(call.connection.local_address)
    if isinstance(address, IPv6Address):
        # Towers have no floor for IPv6; a client uses the address that it has.
        address = address.ipv4_mapped or NO_ADDRESS
    interface = SyntaxId.of_interface(registration.interface)
    tower = TcpTower(interface, transfer_syntax, registration.port, address)
    return epm.Twr(tower.serialize())


def _page(call: ServerCall, entries: Sequence[T], size: int) -> tuple[Sequence[T], bytes, int]:
    """The entries that fit into an answer, a handle for the rest, and the status."""
    page, rest = entries[:size], entries[size:]
    handle = CONTEXT_HANDLE_NULL
    if call.handle is not None:
        handle = call.handle.wire
        call.handle.value = rest
        if not rest or not page:
            call.close_handle()
            handle = CONTEXT_HANDLE_NULL
    elif page and rest:
        handle = call.open_handle(rest, _forget)
    return page, handle, 0 if page else epm.EPT_S_NOT_REGISTERED


def _forget(_rest: object) -> None:
    """Nothing is stored besides the handle."""

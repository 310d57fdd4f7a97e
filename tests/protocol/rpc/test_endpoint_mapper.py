"""The endpoint mapper and mgmt."""

from ipaddress import IPv4Address
from typing import Any
from uuid import UUID

import pytest
from tests.protocol.rpc.harness import LOCAL, NDR64_ID, NDR_ID, PORT, TEST, Case, Client

from openmsmq.protocol.rpc.endpoint_mapper import (
    InquiryType,
    Registration,
    VersOption,
    endpoint_mapper,
)
from openmsmq.protocol.rpc.management import (
    RPC_S_INVALID_ARG,
    RPC_S_UNKNOWN_AUTHN_SERVICE,
)
from openmsmq.wire.codes.endpoints import ENDPOINT_MAPPER, MGMT, QM2QM, REMOTE_READ, RpcInterface
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, NDR
from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH, RPC_ACCESS_DENIED
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.tower import NO_ADDRESS, TcpTower
from openmsmq.wire.rpc_interfaces import epm, mgmt
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse
from openmsmq.wire.scalars import GUID_NULL

NEWER = RpcInterface(TEST.uuid, 1, 3)
OLDER = RpcInterface(TEST.uuid, 1, 0)
NEXT = RpcInterface(TEST.uuid, 2, 0)
REGISTRATIONS = [
    Registration(REMOTE_READ, 2103, "Message Queuing"),
    Registration(QM2QM, 2105),
    Registration(REMOTE_READ, 2105),
    Registration(TEST, 2103),
]


def mapper(local_address: str = LOCAL) -> Client:
    case = Case()
    case.endpoint.interfaces[ENDPOINT_MAPPER.uuid] = endpoint_mapper(lambda: REGISTRATIONS)
    client = case.client(interfaces=[ENDPOINT_MAPPER])
    case.server._connections[client.link.number].local_address = local_address
    return client


def ask(
    client: Client,
    interface: RpcInterface = REMOTE_READ,
    *,
    size: int = 4,
    handle: bytes = CONTEXT_HANDLE_NULL,
    obj: UUID | None = None,
    syntax: SyntaxId = NDR_ID,
) -> Any:
    tower = TcpTower(SyntaxId.of_interface(interface), syntax)
    request = epm.EptMapRequest(obj, epm.Twr(tower.serialize()), handle, size)
    return client.call(epm.EPT_MAP, request, ENDPOINT_MAPPER).response


def towers(response: Any) -> list[TcpTower]:
    return [TcpTower.parse(twr.tower_octet_string)[0] for twr in response.i_towers]


def test_an_interface_is_mapped_to_all_its_ports_at_the_address_of_the_client() -> None:
    response = ask(mapper())
    assert (response.status, response.entry_handle) == (0, CONTEXT_HANDLE_NULL)
    remote_read = SyntaxId.of_interface(REMOTE_READ)
    assert towers(response) == [
        TcpTower(remote_read, NDR_ID, 2103, IPv4Address(LOCAL)),
        TcpTower(remote_read, NDR_ID, 2105, IPv4Address(LOCAL)),
    ]


@pytest.mark.parametrize(
    ("local", "shown"),
    [("127.0.0.21", "127.0.0.21"), ("::ffff:192.0.2.7", "192.0.2.7"), ("fe80::1", str(NO_ADDRESS))],
)
def test_a_tower_shows_an_ipv4_address_or_none(local: str, shown: str) -> None:
    assert towers(ask(mapper(local)))[0].address == IPv4Address(shown)


def test_ndr64_is_mapped_too_and_other_syntaxes_are_not() -> None:
    client = mapper()
    assert towers(ask(client, syntax=NDR64_ID))[0].transfer_syntax == NDR64_ID
    assert ask(client, syntax=SyntaxId.of_interface(TEST)).status == epm.EPT_S_NOT_REGISTERED


def test_a_compatible_version_is_mapped() -> None:
    client = mapper()
    assert len(ask(client, OLDER).i_towers) == len(ask(client, TEST).i_towers) == 1
    for interface in (NEWER, NEXT):
        response = ask(client, interface)
        assert (response.status, response.i_towers) == (epm.EPT_S_NOT_REGISTERED, ())


def test_what_is_not_registered_is_said_so() -> None:
    client = mapper()
    assert ask(client, MGMT).status == epm.EPT_S_NOT_REGISTERED
    assert ask(client, obj=UUID(int=1)).status == epm.EPT_S_NOT_REGISTERED
    assert ask(client, obj=GUID_NULL).status == 0
    for twr in (None, epm.Twr(b""), epm.Twr(b"\x05\x00junk")):
        request = epm.EptMapRequest(None, twr, CONTEXT_HANDLE_NULL, 4)
        response = client.call(epm.EPT_MAP, request, ENDPOINT_MAPPER).response
        assert response.status == epm.EPT_S_NOT_REGISTERED


def test_pointers_of_an_answer_have_other_numbers_than_those_of_the_question() -> None:
    question = epm.EptMapRequest(UUID(int=1), epm.Twr(b"ab"), CONTEXT_HANDLE_NULL, 4)
    answer = epm.EptMapResponse(CONTEXT_HANDLE_NULL, (epm.Twr(b"c"), epm.Twr(b"d")), 4, 0)
    asked = epm.EPT_MAP.request.encode(question, NDR)
    told = epm.EPT_MAP.response.encode(answer, NDR)
    numbers = {asked[:4], asked[20:24]}
    assert len(numbers) == 2
    # Behind the handle, the count and three more of the array.
    assert not numbers & {told[36:40], told[40:44]}


def test_more_than_fits_is_fetched_with_the_handle() -> None:
    client = mapper()
    first = ask(client, size=1)
    assert first.entry_handle != CONTEXT_HANDLE_NULL
    second = ask(client, size=1, handle=first.entry_handle)
    assert [tower.port for tower in towers(first) + towers(second)] == [2103, 2105]
    assert second.entry_handle == CONTEXT_HANDLE_NULL
    assert ask(client, size=0).status == epm.EPT_S_NOT_REGISTERED


def test_a_lookup_handle_is_freed() -> None:
    client = mapper()
    handle = ask(client, size=1).entry_handle
    for wire in (handle, CONTEXT_HANDLE_NULL):
        request = epm.EptLookupHandleFreeRequest(wire)
        response = client.call(epm.EPT_LOOKUP_HANDLE_FREE, request, ENDPOINT_MAPPER).response
        assert response == epm.EptLookupHandleFreeResponse(CONTEXT_HANDLE_NULL, 0)
    request = epm.EptLookupHandleFreeRequest(handle)
    event = client.call(epm.EPT_LOOKUP_HANDLE_FREE, request, ENDPOINT_MAPPER)
    assert event.error.status == NCA_S_FAULT_CONTEXT_MISMATCH


def test_a_lookup_handle_goes_with_its_client() -> None:
    client = mapper()
    ask(client, size=1)
    client.link.lose()
    assert client.link.case.server.associations.handles.count == 0


def look_up(client: Client, kind: int, option: int = 1, **fields: Any) -> Any:
    interface = fields.get("interface")
    ifid = interface and mgmt.RpcIfId(interface.uuid, interface.major, interface.minor)
    request = epm.EptLookupRequest(
        kind,
        fields.get("object"),
        ifid,
        option,
        fields.get("handle", CONTEXT_HANDLE_NULL),
        fields.get("size", 10),
    )
    return client.call(epm.EPT_LOOKUP, request, ENDPOINT_MAPPER).response


def test_everything_is_looked_up_in_pages() -> None:
    client = mapper()
    response = look_up(client, InquiryType.RPC_C_EP_ALL_ELTS)
    assert [entry.annotation for entry in response.entries] == ["Message Queuing", "", "", ""]
    assert {entry.object for entry in response.entries} == {GUID_NULL}
    handle, found = CONTEXT_HANDLE_NULL, []
    while True:
        page = look_up(client, InquiryType.RPC_C_EP_ALL_ELTS, size=1, handle=handle)
        found += page.entries
        handle = page.entry_handle
        if handle == CONTEXT_HANDLE_NULL:
            break
    assert tuple(found) == response.entries
    # A page of nothing ends the lookup.
    handle = look_up(client, InquiryType.RPC_C_EP_ALL_ELTS, size=1).entry_handle
    page = look_up(client, InquiryType.RPC_C_EP_ALL_ELTS, size=0, handle=handle)
    assert (page.entry_handle, page.status) == (CONTEXT_HANDLE_NULL, epm.EPT_S_NOT_REGISTERED)


@pytest.mark.parametrize(
    ("option", "interface", "count"),
    [
        (VersOption.RPC_C_VERS_ALL, NEXT, 1),
        (VersOption.RPC_C_VERS_COMPATIBLE, OLDER, 1),
        (VersOption.RPC_C_VERS_COMPATIBLE, NEWER, 0),
        (VersOption.RPC_C_VERS_EXACT, TEST, 1),
        (VersOption.RPC_C_VERS_EXACT, OLDER, 0),
        (VersOption.RPC_C_VERS_MAJOR_ONLY, NEWER, 1),
        (VersOption.RPC_C_VERS_MAJOR_ONLY, NEXT, 0),
        (VersOption.RPC_C_VERS_UPTO, NEXT, 1),
        (VersOption.RPC_C_VERS_UPTO, OLDER, 0),
        (VersOption.RPC_C_VERS_ALL, MGMT, 0),
    ],
)
def test_an_interface_is_looked_up_by_version(
    option: VersOption, interface: RpcInterface, count: int
) -> None:
    client = mapper()
    for kind in (InquiryType.RPC_C_EP_MATCH_BY_IF, InquiryType.RPC_C_EP_MATCH_BY_BOTH):
        response = look_up(client, kind, option, interface=interface)
        assert len(response.entries) == count
        assert response.status == (0 if count else epm.EPT_S_NOT_REGISTERED)


def test_objects_are_not_registered() -> None:
    client = mapper()
    kind = InquiryType.RPC_C_EP_MATCH_BY_OBJ
    assert look_up(client, kind, object=UUID(int=1)).entries == ()
    assert len(look_up(client, kind, object=GUID_NULL).entries) == 4
    assert len(look_up(client, InquiryType.RPC_C_EP_MATCH_BY_IF).entries) == 4


# mgmt


def manage(call: Any, request: Any, client: Client | None = None) -> Any:
    client = client or Case().client(interfaces=[MGMT])
    return client.call(call, request, MGMT).response


def test_mgmt_names_the_interfaces_of_the_endpoint() -> None:
    response = manage(mgmt.INQ_IF_IDS, NoParameters())
    assert response.status == 0
    assert response.if_id_vector.if_id == (mgmt.RpcIfId(TEST.uuid, 1, 2),)


def test_mgmt_counts_calls_and_packets() -> None:
    case = Case()
    client = case.client(interfaces=[MGMT])
    for _ in range(2):
        manage(mgmt.IS_SERVER_LISTENING, NoParameters(), client)
    response = manage(mgmt.INQ_STATS, mgmt.InqStatsRequest(10), client)
    assert response.statistics == (3, 0, 4, 3)
    assert manage(mgmt.INQ_STATS, mgmt.InqStatsRequest(1), client).statistics == (4,)


def test_mgmt_says_that_the_server_listens_and_does_not_stop_it() -> None:
    case = Case()
    client = case.client(interfaces=[MGMT])
    listening = mgmt.IsServerListeningResponse(0, 1)
    assert manage(mgmt.IS_SERVER_LISTENING, NoParameters(), client) == listening
    stopped = manage(mgmt.STOP_SERVER_LISTENING, NoParameters(), client)
    assert stopped == ResultResponse(RPC_ACCESS_DENIED)
    assert manage(mgmt.IS_SERVER_LISTENING, NoParameters(), client) == listening


@pytest.mark.parametrize(
    ("auth_type", "size", "name", "status"),
    [
        (16, 100, "host/name", 0),
        (16, 10, "host/name", 0),
        (16, 9, "", RPC_S_INVALID_ARG),
        (10, 100, "", RPC_S_UNKNOWN_AUTHN_SERVICE),
    ],
)
def test_mgmt_names_the_principal(auth_type: int, size: int, name: str, status: int) -> None:
    response = manage(mgmt.INQ_PRINC_NAME, mgmt.InqPrincNameRequest(auth_type, size))
    assert (response.princ_name, response.status) == (name, status)


def test_the_port_of_the_endpoint_is_the_secondary_address() -> None:
    assert Case().endpoint.port == PORT


def other_tower(*protocols: tuple[int, bytes]) -> bytes:
    """A question about RemoteRead by other protocols than TCP."""
    question = TcpTower(SyntaxId.of_interface(REMOTE_READ), NDR_ID).serialize()
    # The count of floors, then those of the interface and of NDR: 25 bytes each.
    tower = (2 + len(protocols)).to_bytes(2, "little") + question[2:52]
    for number, address in protocols:
        tower += b"\x01\x00" + bytes((number,)) + len(address).to_bytes(2, "little") + address
    return tower


NCACN, NCADG, TCP, UDP, IP, SPX, IPX, NAMED_PIPE, NETBIOS = 11, 10, 7, 8, 9, 12, 13, 15, 17


@pytest.mark.spec("MQRR-2.1-01", "MQQP-2.1-01", "MQQP-2.1-02")
@pytest.mark.parametrize(
    "protocols",
    [
        ((NCADG, bytes(2)), (UDP, bytes(2)), (IP, bytes(4))),
        ((NCACN, bytes(2)), (NAMED_PIPE, b"\\pipe\\x\0"), (NETBIOS, b"qm\0")),
        ((NCACN, bytes(2)), (SPX, bytes(2)), (IPX, bytes(10))),
    ],
    ids=["ncadg_ip_udp", "ncacn_np", "ncacn_spx"],
)
def test_an_interface_is_reached_over_tcp_alone(protocols: tuple[tuple[int, bytes], ...]) -> None:
    client = mapper()
    request = epm.EptMapRequest(None, epm.Twr(other_tower(*protocols)), CONTEXT_HANDLE_NULL, 4)
    response = client.call(epm.EPT_MAP, request, ENDPOINT_MAPPER).response
    assert (response.status, response.i_towers) == (epm.EPT_S_NOT_REGISTERED, ())
    over_tcp = other_tower((NCACN, bytes(2)), (TCP, bytes(2)), (IP, bytes(4)))
    request = request._replace(map_tower=epm.Twr(over_tcp))
    assert client.call(epm.EPT_MAP, request, ENDPOINT_MAPPER).response.status == 0
    entries = look_up(client, InquiryType.RPC_C_EP_ALL_ELTS).entries
    assert entries
    for entry in entries:
        TcpTower.parse(entry.tower.tower_octet_string)

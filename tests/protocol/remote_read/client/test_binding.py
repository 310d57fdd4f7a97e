"""How a client finds a server, and which protocol it reads it by."""

from ipaddress import IPv4Address
from typing import Any
from uuid import UUID

import pytest
from tests.client.local.peer import packet
from tests.protocol.remote_read.client.scripted import run

from openmsmq.protocol.remote_read.client import (
    BindingSettings,
    HangUp,
    Qm2QmProtocol,
    Reading,
    RemoteQueue,
    RemoteReadProtocol,
    find_server,
)
from openmsmq.protocol.rpc.errors import ConnectionClosed, InterfaceUnknown, RpcFault
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM, REMOTE_READ, RpcInterface
from openmsmq.wire.codes.queue_enums import ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.ndr.syntax import NDR
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.tower import TcpTower
from openmsmq.wire.rpc_interfaces import epm
from openmsmq.wire.rpc_interfaces.common import ResultResponse
from openmsmq.wire.rpc_interfaces.qm2qm import (
    GetVersionResponse,
    RemoteReadDesc,
    StartReceiveResponse,
)

NEW = GetVersionResponse(6, 1, 7601)
NOT_REGISTERED = epm.EptMapResponse(CONTEXT_HANDLE_NULL, (), 4, epm.EPT_S_NOT_REGISTERED)
OP_RNG_ERROR = 0x1C010002


def mapped(interface: RpcInterface, port: int) -> epm.EptMapResponse:
    tower = TcpTower(
        SyntaxId.of_interface(interface), SyntaxId.of_transfer(NDR), port, IPv4Address("192.0.2.1")
    )
    towers = (None, epm.Twr(b"of another protocol"), epm.Twr(tower.serialize()))
    return epm.EptMapResponse(CONTEXT_HANDLE_NULL, towers, 4, 0)


def find(script: list[tuple[Any, Any]], **settings: Any) -> Any:
    return run(find_server(BindingSettings(**settings)), script)


@pytest.mark.spec("MQRR-2.1-06")
def test_port_is_asked_of_the_endpoint_mapper_and_not_of_the_server() -> None:
    protocol = find(
        [(135, 1), ("ept_map", mapped(REMOTE_READ, 2114)), (HangUp(1), None), (2114, 2)]
    )
    assert isinstance(protocol, RemoteReadProtocol)
    assert protocol.name == "MS-MQRR"


def test_2103_is_tried_when_the_endpoint_mapper_does_not_answer() -> None:
    protocol = find([(135, ConnectionClosed("refused")), (2103, 2)])
    assert isinstance(protocol, RemoteReadProtocol)


def test_port_that_was_given_is_used_as_it_is() -> None:
    assert isinstance(find([(4000, 1)], port=4000), RemoteReadProtocol)


@pytest.mark.spec("MQRR-3.1.4.1-04")
def test_client_rebinds_to_the_port_that_the_server_tells_when_it_is_set_to() -> None:
    script = [(4000, 1), ("R_GetServerPort", ResultResponse(2114)), (2114, 2), (HangUp(1), None)]
    assert isinstance(find(script, port=4000, rebinds=True), RemoteReadProtocol)


@pytest.mark.parametrize("told", [0, 4000])
def test_client_stays_where_it_is_when_the_server_tells_no_other_port(told: int) -> None:
    script = [(4000, 1), ("R_GetServerPort", ResultResponse(told))]
    assert isinstance(find(script, port=4000, rebinds=True), RemoteReadProtocol)


def test_fault_of_a_call_that_tells_a_port_is_raised() -> None:
    script = [(4000, 1), ("R_GetServerPort", RpcFault(5))]
    with pytest.raises(QueueError, match="R_GetServerPort"):
        find(script, port=4000, rebinds=True)


@pytest.mark.spec("MQRR-3.2.4.1-02", "MQQP-3.2.4.1-01", "MQQP-3.1.4.9-05")
@pytest.mark.parametrize("answer", [NOT_REGISTERED, RpcFault(0x6D9)])
def test_server_without_remote_read_is_read_by_qm2qm(answer: Any) -> None:
    protocol = find(
        [
            (135, 1),
            ("ept_map", answer),
            ("ept_map", mapped(QMCOMM, 2114)),
            ("ept_map", mapped(QM2QM, 2116)),
            (HangUp(1), None),
            (2114, 2),
            ("R_QMGetRTQMServerPort", ResultResponse(2103)),
            (2103, 3),
            (HangUp(2), None),
            (2116, 4),
            ("RemoteQMGetQMQMServerPort", ResultResponse(2105)),
            (2105, 5),
            (HangUp(4), None),
            ("RemoteQmGetVersion", NEW),
        ]
    )
    assert isinstance(protocol, Qm2QmProtocol)
    assert protocol.name == "MS-MQQP"


@pytest.mark.spec("MQQP-1.7-02")
def test_interface_that_a_bind_does_not_know_leads_to_qm2qm_on_the_same_port() -> None:
    protocol = find(
        [
            (135, ConnectionClosed("refused")),
            (2103, InterfaceUnknown("RemoteRead")),
            (2103, 2),
            ("R_QMGetRTQMServerPort", ResultResponse(0)),
            (2103, 3),
            ("RemoteQMGetQMQMServerPort", ResultResponse(0)),
            ("RemoteQmGetVersion", RpcFault(OP_RNG_ERROR)),
        ]
    )
    assert isinstance(protocol, Qm2QmProtocol)


def test_lookup_ids_that_the_client_makes_differ_between_connections() -> None:
    settings = BindingSettings(port=2103)
    found = []
    for _ in range(2):
        protocol = run(
            find_server(settings),
            [
                (2103, InterfaceUnknown("RemoteRead")),
                (2103, 2),
                ("R_QMGetRTQMServerPort", ResultResponse(0)),
                (2103, 3),
                ("RemoteQMGetQMQMServerPort", ResultResponse(0)),
                ("RemoteQmGetVersion", RpcFault(OP_RNG_ERROR)),
            ],
        )
        queue = RemoteQueue(CONTEXT_HANDLE_NULL, handle=7)
        for _ in range(2):
            call = protocol.read(queue, Reading(ReceiveAction.RECEIVE))
            desc = RemoteReadDesc(7, 0, 0, 0, 7, call.request_id, lp_buffer=packet(1))
            response = StartReceiveResponse(CONTEXT_HANDLE_NULL, desc, 0)
            found.append(protocol.message(queue, call, response).lookup_id)
    assert found == sorted(set(found))


def test_other_faults_of_a_mapper_and_of_the_version_are_raised() -> None:
    with pytest.raises(QueueError, match="ept_map"):
        find([(135, 1), ("ept_map", RpcFault(5))])
    qm2qm = [
        (4000, InterfaceUnknown("RemoteRead")),
        (4000, 2),
        ("R_QMGetRTQMServerPort", ResultResponse(4000)),
        (4000, 3),
        ("RemoteQMGetQMQMServerPort", ResultResponse(4000)),
        ("RemoteQmGetVersion", RpcFault(5)),
    ]
    with pytest.raises(QueueError):
        find(qm2qm, port=4000)


def test_unreachable_server_ends_the_search() -> None:
    with pytest.raises(ConnectionClosed):
        find([(135, ConnectionClosed("refused")), (2103, ConnectionClosed("refused"))])


def test_client_id_of_the_identity_is_a_guid() -> None:
    assert BindingSettings().identity.client_id == UUID(int=0)

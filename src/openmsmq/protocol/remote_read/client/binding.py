"""Finding a server: endpoint mapper, fixed ports, and the protocol that it supports."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from openmsmq.protocol.rpc.errors import ConnectionClosed, InterfaceUnknown, RpcFault
from openmsmq.wire.codes.endpoints import (
    ENDPOINT_MAPPER,
    QM2QM,
    QMCOMM,
    REMOTE_READ,
    Port,
    RpcInterface,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.ndr.syntax import NDR
from openmsmq.wire.rpc.status import EPT_S_NOT_REGISTERED
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.tower import TcpTower
from openmsmq.wire.rpc_interfaces import epm
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse
from openmsmq.wire.rpc_interfaces.qm2qm import (
    REMOTE_QM_GET_QMQM_SERVER_PORT,
    GetQMQMServerPortRequest,
)
from openmsmq.wire.rpc_interfaces.qmcomm import (
    R_QM_GET_RTQM_SERVER_PORT,
    QMGetRTQMServerPortRequest,
)
from openmsmq.wire.rpc_interfaces.remote_read import R_GET_SERVER_PORT

from .errors import queue_error
from .mqqp import Qm2QmProtocol, tells_sequences
from .mqrr import RemoteReadProtocol
from .read_protocol import ClientIdentity, ReadProtocol
from .steps import Connect, HangUp, Invoke, Steps

# dwPortType of the calls that return ports ([MS-MQQP] 3.1.4.8).
IP_HANDSHAKE: Final = 0
IP_READ: Final = 1
MAX_TOWERS: Final = 4


@dataclass(frozen=True, slots=True)
class BindingSettings:
    """How to find a server.

    Attributes:
        port: of RemoteRead; 0 asks the endpoint mapper, or takes 2103 when that does not answer.
        rebinds: ask the server for its port once more (R_GetServerPort) and connect to that, as
            clients of Windows Server 2003 do.
        mapper_port, remote_read_port: other ports than the well-known ones, for tests.
        identity: the identity of the client.
        numbers: for messages of servers without lookup ids; unique over all connections.
    """

    port: int = 0
    rebinds: bool = False
    mapper_port: int = Port.ENDPOINT_MAPPER
    remote_read_port: int = Port.REMOTE_READ
    identity: ClientIdentity = field(default_factory=ClientIdentity)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))


def find_server(settings: BindingSettings) -> Steps[ReadProtocol]:
    """Connect to a server and return its protocol.

    Raises:
        ConnectionClosed: it is unreachable, or refuses the bind.
    """
    ports = dict.fromkeys((REMOTE_READ, QMCOMM, QM2QM), settings.port)
    if not settings.port:
        ports = yield from _mapped(settings)
    if ports[REMOTE_READ]:
        try:
            connection = yield Connect(ports[REMOTE_READ], (REMOTE_READ,))
        except InterfaceUnknown:
            # [MS-MQRR] 3.2.4.1: a server without RemoteRead is read by MS-MQQP.
            pass
        else:
            return (yield from _remote_read(connection, ports[REMOTE_READ], settings))
    return (yield from _qm2qm(ports, settings))


def _remote_read(connection: int, port: int, settings: BindingSettings) -> Steps[ReadProtocol]:
    if settings.rebinds:
        named = yield from _ask_port(connection, REMOTE_READ, R_GET_SERVER_PORT, NoParameters())
        connection = yield from _rebind(connection, port, named, REMOTE_READ)
    return RemoteReadProtocol(connection, settings.identity)


def _qm2qm(ports: dict[RpcInterface, int], settings: BindingSettings) -> Steps[ReadProtocol]:
    """Two connections: qmcomm opens queues, qm2qm reads them ([MS-MQQP] 3.2.4.1)."""
    port = ports[QMCOMM] or settings.remote_read_port
    qmcomm = yield Connect(port, (QMCOMM,))
    request = QMGetRTQMServerPortRequest(IP_HANDSHAKE)
    named = yield from _ask_port(qmcomm, QMCOMM, R_QM_GET_RTQM_SERVER_PORT, request)
    qmcomm = yield from _rebind(qmcomm, port, named, QMCOMM)
    port = ports[QM2QM] or named or port
    reader = yield Connect(port, (QM2QM,))
    read_request = GetQMQMServerPortRequest(IP_READ)
    named = yield from _ask_port(reader, QM2QM, REMOTE_QM_GET_QMQM_SERVER_PORT, read_request)
    reader = yield from _rebind(reader, port, named, QM2QM)
    has_sequences = yield from tells_sequences(reader)
    return Qm2QmProtocol(
        qmcomm, reader, settings.identity, has_sequences=has_sequences, numbers=settings.numbers
    )


def _ask_port(connection: int, interface: RpcInterface, call: Call, request: object) -> Steps[int]:
    """The port returned by a server; 0 after an error."""
    try:
        response: ResultResponse = yield Invoke(connection, interface, call, request)
    except RpcFault as exc:
        raise queue_error(exc, call.name) from exc
    return response.result


def _rebind(connection: int, port: int, named: int, interface: RpcInterface) -> Steps[int]:
    """Connect to the port that the server returned, and drop the first connection."""
    if named in (0, port):
        return connection
    rebound: int = yield Connect(named, (interface,))
    yield HangUp(connection)
    return rebound


def _mapped(settings: BindingSettings) -> Steps[dict[RpcInterface, int]]:
    """The ports from the endpoint mapper; 0 for missing ones."""
    ports = dict.fromkeys((REMOTE_READ, QMCOMM, QM2QM), 0)
    try:
        mapper = yield Connect(settings.mapper_port, (ENDPOINT_MAPPER,), authenticated=False)
    except ConnectionClosed:
        # Choice: a firewall may allow only the fixed port.
        ports[REMOTE_READ] = settings.remote_read_port
        return ports
    ports[REMOTE_READ] = yield from _map(mapper, REMOTE_READ)
    if not ports[REMOTE_READ]:
        ports[QMCOMM] = yield from _map(mapper, QMCOMM)
        ports[QM2QM] = yield from _map(mapper, QM2QM)
    yield HangUp(mapper)
    return ports


def _map(mapper: int, interface: RpcInterface) -> Steps[int]:
    """The port of one interface; 0 when it is not registered."""
    question = TcpTower(SyntaxId.of_interface(interface), SyntaxId.of_transfer(NDR))
    request = epm.EptMapRequest(
        None, epm.Twr(question.serialize()), CONTEXT_HANDLE_NULL, MAX_TOWERS
    )
    try:
        response: epm.EptMapResponse = yield Invoke(mapper, ENDPOINT_MAPPER, epm.EPT_MAP, request)
    except RpcFault as exc:
        if exc.status != EPT_S_NOT_REGISTERED:
            raise queue_error(exc, "ept_map") from exc
        return 0
    for twr in response.i_towers:
        try:
            tower = None if twr is None else TcpTower.parse(twr.tower_octet_string)[0]
        except MalformedPacket:
            # A tower of another protocol than TCP.
            continue
        if tower is not None and tower.port:
            return tower.port
    return 0

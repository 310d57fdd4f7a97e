"""The part that speaks RPC: remote read, the endpoint mapper, and mgmt."""

import errno
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from openmsmq.core.management.counters import CLIENTS, LOGONS, RPC_CALLS, RPC_FAULTS, Count
from openmsmq.core.management.records import ClientInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.net.rpc.coordinators import CoordinatorShell
from openmsmq.net.rpc.shell import RpcShell
from openmsmq.protocol.coordinator import CoordinatorServer, Participant, ParticipantSettings
from openmsmq.protocol.qm2qm.server import OpenedQueues, Qm2qmServer, QmcommServer
from openmsmq.protocol.qm2qm.server.opened_queues import OpenedQueue
from openmsmq.protocol.qm2qm.server.ports import Ports
from openmsmq.protocol.remote_read.server import RemoteReadServer
from openmsmq.protocol.remote_read.server.remote_queue import RemoteQueue
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc.associations import Association
from openmsmq.protocol.rpc.client import ClientSecurity
from openmsmq.protocol.rpc.endpoint_mapper import Registration, endpoint_mapper
from openmsmq.protocol.rpc.interface import ServedInterface
from openmsmq.protocol.rpc.management import management
from openmsmq.protocol.rpc.server import (
    CloseReason,
    Disconnect,
    Endpoint,
    LoggedOn,
    RpcServer,
    endpoint,
)
from openmsmq.protocol.rpc.settings import RpcSettings
from openmsmq.security.kerberos import (
    KerberosInitiator,
    TicketSource,
    read_keytab,
    require_gssapi,
)
from openmsmq.security.mechanism import (
    RPC_C_AUTHN_GSS_KERBEROS,
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_WINNT,
)
from openmsmq.security.ntlm import NtlmCredentials
from openmsmq.security.packages import initiators
from openmsmq.server.open_files import spare_files
from openmsmq.service.logons import Logons
from openmsmq.service.logs import PORT_SKIPPED, RPC_CLOSED, RPC_FAULT, RPC_LOGON, log_event
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM, REMOTE_READ, RPC_PORT_STEP
from openmsmq.wire.errors import ConfigError, file_fault
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

from .part import (
    PartStatus,
    Premises,
    check_port,
    error_number,
    lacks_privilege,
    settings_of,
)
from .rpc_config import RpcConfig

LEVELS: Final = {
    "none": AuthnLevel.NONE,
    "connect": AuthnLevel.CONNECT,
    "packet": AuthnLevel.PKT,
    "integrity": AuthnLevel.PKT_INTEGRITY,
    "privacy": AuthnLevel.PKT_PRIVACY,
}
LEVEL_NAMES: Final[dict[int, str]] = {level: name for name, level in LEVELS.items()}
# The number of tries for a default port that is in use, each with a higher port.
STEPS: Final = 100
# Ordinary events of a client; all others are warnings.
ORDINARY: Final = frozenset((CloseReason.STOPPED, CloseReason.NOT_BOUND, CloseReason.HUNG_UP))
FAULTY: Final = (
    CloseReason.PROTOCOL_ERROR,
    CloseReason.BIND_REFUSED,
    CloseReason.ACCESS_DENIED,
    CloseReason.NOT_READING,
)


class RpcPart:
    """Clients of other machines that read queues here."""

    name: Final = "rpc"

    def __init__(self, config: RpcConfig, premises: Premises) -> None:
        self._config = config
        self._host = host = premises.host
        self._endpoints: dict[str, str] = {}
        level = LEVELS[config.rpc_minimum_level]
        self._logons = Logons(
            config.data,
            host.manager.name,
            allow_anonymous=level is AuthnLevel.NONE,
            keytab=config.rpc_keytab,
        )
        settings = settings_of(
            RpcSettings,
            config,
            prefix="rpc_",
            # Remote readers leave files for the clients of this machine.
            max_connections=min(config.rpc_max_connections, spare_files(config.max_connections)),
        )
        self.server: Final = RpcServer(
            settings,
            acceptors=self._logons.acceptors,
            random_bytes=secrets.token_bytes,
            gate=host.engine.gate,
            delay=self._logons.reserve,
        )
        self._participant = Participant(
            host.manager,
            host.engine.gate,
            settings_of(ParticipantSettings, config, prefix="coordinator_"),
        )
        self._coordinator = CoordinatorServer(host.manager, minimum_level=level)
        names = service_names(config)
        interfaces = (*self._make_interfaces(level), management(names))
        self._rpc = endpoint(0, interfaces)
        self._qm2qm = endpoint(0, interfaces)
        self._epm = self._make_mapper(interfaces, names)
        self._shell = RpcShell(
            self.server,
            host,
            bind=config.bind,
            disconnected=self._log_disconnect,
            logged_on=log_logon,
        )
        self._coordinators = CoordinatorShell(
            self._participant,
            self._coordinator,
            host,
            security=lambda name: coordinator_security(config, name, level),
        )
        host.manager.management.add_clients(self)
        host.manager.management.add_counters(self._counts)

    def _make_interfaces(self, level: AuthnLevel) -> tuple[ServedInterface, ...]:
        """RemoteRead, qm2qm and qmcomm; each of them is served on both ports."""
        config, manager = self._config, self._host.manager
        settings = settings_of(RemoteReadSettings, config, prefix="rpc_")
        ports = Ports(rpc=lambda: self._rpc.port, qm2qm=lambda: self._qm2qm.port)
        remote_read = RemoteReadServer(
            manager,
            settings,
            random_bytes=secrets.token_bytes,
            port=lambda: self._rpc.port,
            minimum_level=level,
            participant=self._participant,
        )
        manager.coordination.prepare_seconds = config.coordinator_prepare_seconds
        queues = OpenedQueues(manager, settings, random_bytes=secrets.token_bytes)
        qm2qm = Qm2qmServer(manager, queues, ports=ports, minimum_level=level)
        qmcomm = QmcommServer(manager, queues, ports=ports, minimum_level=level)
        self.server.add_timers(remote_read)
        self.server.add_timers(qm2qm)
        return (
            remote_read.interface,
            qm2qm.interface,
            qmcomm.interface,
            self._coordinator.interface,
        )

    def _make_mapper(
        self, interfaces: tuple[ServedInterface, ...], names: dict[int, str]
    ) -> Endpoint:
        def registrations() -> list[Registration]:
            where = {REMOTE_READ: self._rpc, QM2QM: self._qm2qm, QMCOMM: self._rpc}
            return [
                Registration(served.interface, where[served.interface].port, served.name)
                for served in interfaces
                if served.interface in where and where[served.interface].port
            ]

        return endpoint(0, (endpoint_mapper(registrations), management(names)))

    @staticmethod
    def check(config: RpcConfig) -> None:
        for key in ("rpc_port", "qm2qm_port", "epm_port"):
            # Default ports are incremented, or skipped without the right to them.
            if key in config.named:
                check_port(key, config.bind, getattr(config, key))
        if config.rpc_keytab is not None:
            require_gssapi()
            read_keytab(config.rpc_keytab)
        password_file = config.coordinator_password_file
        needs_file = config.coordinator_user is not None and config.rpc_keytab is None
        if password_file is None and needs_file:
            raise ConfigError(
                "coordinator_user: it needs coordinator_password_file or rpc_keytab",
                remedy="Set one of them, or leave coordinator_user out.",
            )
        if password_file is not None and config.coordinator_user is None:
            raise ConfigError("coordinator_password_file: it goes with coordinator_user")
        if config.coordinator_password_file is not None:
            read_coordinator_password(config.coordinator_password_file)

    async def listen(self) -> dict[str, str]:
        """Open the sockets; in hardened mode there are none ([MS-MQDMPR] 3.1.1.1)."""
        if self._config.hardened_security:
            return self._endpoints
        if self._config.rpc_port != "off":
            await self._listen_stepping("rpc", self._rpc, self._config.rpc_port)
            self._host.manager.coordination.url = self._coordinator_url()
        if self._config.qm2qm_port != "off":
            await self._listen_stepping("qm2qm", self._qm2qm, self._config.qm2qm_port)
        if self._config.epm_port != "off" and self._endpoints:
            await self._listen_for_mapping(self._config.epm_port)
        if self._endpoints:
            self._host.every_second(self._logons.forget)
            self._host.engine.add_output(self._shell.turn, self._shell.has_output)
            self._host.engine.add_output(self._coordinators.turn, self._coordinators.has_output)
            self._host.wake()
        return self._endpoints

    async def _listen_stepping(self, name: str, endpoint: Endpoint, port: int) -> None:
        """Listen; a default port that is in use is incremented ([MS-MQRR] 3.1.4.1)."""
        key = f"{name}_port"
        steps = 0 if key in self._config.named else STEPS
        while True:
            try:
                self._endpoints[name] = await self._shell.listen(endpoint, port, key=key)
            except ConfigError as exc:
                if steps == 0 or error_number(exc) != errno.EADDRINUSE:
                    raise
                steps -= 1
                port += RPC_PORT_STEP
            else:
                return

    async def _listen_for_mapping(self, port: int) -> None:
        try:
            self._endpoints["epm"] = await self._shell.listen(self._epm, port, key="epm_port")
        except ConfigError as exc:
            named = "epm_port" in self._config.named
            if named or not lacks_privilege(exc):
                raise
            log_event(PORT_SKIPPED, port=port, reason=exc.detail)

    def _coordinator_url(self) -> CoordinatorUrl:
        """The address at which other queue managers reach this one in its transactions."""
        config = self._config
        wildcard = config.bind in ("", "0.0.0.0", "::")  # noqa: S104 - it is compared
        own = self._host.manager.name if wildcard else config.bind
        return CoordinatorUrl(config.coordinator_address or own, self._rpc.port)

    def status(self) -> PartStatus:
        return PartStatus(
            self._endpoints,
            unread_bytes=sum(
                connection.reply_bytes
                for association in self.server.associations
                for connection in association.connections
            ),
        )

    @property
    def client_count(self) -> int:
        """The number of connected clients: associations, which may have several connections."""
        return len(self.server.associations)

    @property
    def protocol(self) -> str:
        return self.name

    def hang_up(self, number: int) -> bool:
        """End a client with all its connections; messages that it had locked go back in place."""
        for association in self.server.associations:
            if association.number == number:
                for connection in list(association.connections):
                    connection.close(CloseReason.HUNG_UP)
                return True
        return False

    def clients(self) -> Iterator[ClientInfo]:
        """Every client, with its open resources."""
        for association in self.server.associations:
            if association.connections:
                yield client_info(association)

    def traffic(self) -> Iterator[Traffic]:
        """The traffic of every client."""
        for association in self.server.associations:
            yield client_traffic(association)

    def _counts(self) -> Iterator[Count]:
        counters = self.server.counters
        closed = counters.closed
        yield CLIENTS, (self.name, "connected"), counters.connected
        yield CLIENTS, (self.name, "refused"), counters.refused
        yield CLIENTS, (self.name, "faulty"), sum(closed[reason] for reason in FAULTY)
        yield LOGONS, ("succeeded",), counters.logons
        yield LOGONS, ("failed",), closed[CloseReason.AUTHENTICATION_FAILED]
        yield RPC_CALLS, (), counters.calls_in
        yield RPC_FAULTS, (), counters.faults

    @property
    def reloads(self) -> dict[str, Callable[[], None]]:
        # The file of accounts is read again whenever it has changed.
        return {}

    async def close(self) -> None:
        """Close all connections; messages that clients had locked go back in place."""
        await self._coordinators.close()
        await self._shell.close()

    def _log_disconnect(self, event: Disconnect, address: str) -> None:
        """Log why the server ended a connection."""
        if event.reason is CloseReason.AUTHENTICATION_FAILED:
            self._logons.failed(address, event.detail)
            return
        kind = RPC_CLOSED if event.reason in ORDINARY else RPC_FAULT
        log_event(
            kind,
            peer=address,
            user=event.identity,
            reason=event.reason.value,
            detail=event.detail,
        )


def read_coordinator_password(file: Path) -> str:
    """The password with which this queue manager authenticates to coordinators.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"coordinator_password_file: {file}: {file_fault(exc)}") from None


def service_names(config: RpcConfig) -> dict[int, str]:
    """The names for which clients request tickets from a KDC, by auth_type."""
    if config.rpc_keytab is None:
        return {}
    name = read_keytab(config.rpc_keytab)[0]
    return dict.fromkeys((RPC_C_AUTHN_GSS_KERBEROS, RPC_C_AUTHN_GSS_NEGOTIATE), name)


def coordinator_security(config: RpcConfig, host: str, level: AuthnLevel) -> ClientSecurity | None:
    """The security of this queue manager as a client of a coordinator; None is Anonymous Logon."""
    user, file = config.coordinator_user, config.coordinator_password_file
    level = max(level, AuthnLevel.CONNECT)
    if file is None and config.rpc_keytab is not None:
        principal = user or read_keytab(config.rpc_keytab)[0]
        source = TicketSource(principal, keytab=config.rpc_keytab)
        tickets = KerberosInitiator(source, host)
        return ClientSecurity(RPC_C_AUTHN_GSS_KERBEROS, level, tickets, tickets.fetch_ticket)
    if user is None or file is None:
        return None
    packages = initiators(
        NtlmCredentials.of_password(user, read_coordinator_password(file)),
        random=secrets.token_bytes,
        utc=time.time,
        seal=level is AuthnLevel.PKT_PRIVACY,
        target_name=f"RPC/{host}",
    )
    return ClientSecurity(RPC_C_AUTHN_WINNT, level, packages[RPC_C_AUTHN_WINNT])


def log_logon(event: LoggedOn) -> None:
    """Log the client, and the protection of its calls."""
    log_event(
        RPC_LOGON,
        peer=event.address,
        user=event.identity,
        sid=event.sid,
        level=LEVEL_NAMES.get(event.level, str(event.level)),
    )


def client_info(association: Association) -> ClientInfo:
    """A client and its open resources."""
    connections = association.connections
    first = connections[0]
    queues = open_queues(association)
    return ClientInfo(
        id=association.number,
        protocol=RpcPart.name,
        principal=first.identity or "anonymous",
        sid=str(first.caller.sid),
        address=association.address,
        queues=len(queues),
        cursors=sum(len(queue.holder.cursors) for queue in queues),
        waiting_reads=sum(len(queue.holder.waiting) for queue in queues),
        transactions=(),
        unread_bytes=sum(connection.reply_bytes for connection in connections),
    )


def client_traffic(association: Association) -> Traffic:
    """The traffic of a client, over its open queues and connections."""
    connections = association.connections
    return Traffic(
        association.number,
        0,
        sum(queue.handed_out for queue in open_queues(association)),
        sum(connection.received_bytes for connection in connections),
        sum(connection.sent_bytes for connection in connections),
    )


def open_queues(association: Association) -> list[RemoteQueue]:
    """The queues that a client has open."""
    # A queue that was opened by qmcomm and is read by qm2qm has two handles.
    queues: dict[int, RemoteQueue] = {}
    for value in association.handles.values():
        queue = value.queue if isinstance(value, OpenedQueue) else value
        if isinstance(queue, RemoteQueue):
            queues[id(queue)] = queue
    return list(queues.values())

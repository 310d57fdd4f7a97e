"""The binary protocol in the process of a queue manager."""

import ssl
from dataclasses import asdict
from typing import Any, Final

from openmsmq.core.transfer.transports import Transport
from openmsmq.net.binary.shell import BinaryShell
from openmsmq.protocol.binary.events import CloseReason, Disconnect
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.server.config import Config
from openmsmq.service.host import Host
from openmsmq.service.logs import SESSION_CLOSED, SESSION_FAULT, log_event
from openmsmq.wire.errors import ConfigError

# What a peer does in the ordinary course of things; everything else is worth a warning.
ORDINARY: Final = frozenset(
    (
        CloseReason.IDLE,
        CloseReason.DISCONNECTED,
        CloseReason.OFFLINE,
        CloseReason.STOPPED,
        CloseReason.REFUSED,
        CloseReason.NOT_ACKNOWLEDGED,
        CloseReason.NOT_ESTABLISHED,
    )
)


# Why messages of an outgoing queue wait that no protocol carries.
NOT_CARRIED: Final[dict[Transport | None, str]] = {
    Transport.HTTP: "this version does not send over HTTP; messages wait until one does",
    Transport.HTTPS: "this version does not send over HTTPS; messages wait until one does",
    Transport.MULTICAST: "this version does not send by multicast; messages wait until one does",
}


class BinaryService:
    """Sessions with other queue managers, as long as the process runs."""

    def __init__(self, config: Config, host: Host) -> None:
        self._config = config
        settings = BinarySettings(
            max_connections=config.max_connections,
            send_ping=config.send_ping,
            window_size=config.max_unacked_packet,
            resend_timeouts_short=config.resend_timeouts_short,
            resend_timeouts_medium=config.resend_timeouts_medium,
            resend_timeouts_long=config.resend_timeouts_long,
            resend_timeouts_final=config.resend_timeouts_final,
        )
        self.protocol: Final = BinaryProtocol(host.manager, host.engine.gate, settings)
        server_tls, client_tls = tls_contexts(config)
        self._shell = BinaryShell(
            self.protocol,
            host,
            bind=config.bind,
            hosts=config.hosts,
            server_tls=server_tls,
            client_tls=client_tls,
            disconnected=log_disconnect,
            refused=log_refused,
        )
        host.engine.add_carrier(self.protocol)
        host.engine.add_output(self._shell.turn)
        self._host = host

    async def listen(self) -> dict[str, str]:
        """Open the sockets and start the sessions of what waits to be sent; returns where.

        Raises:
            ConfigError: a port cannot be had.
        """
        endpoints = {}
        if self._config.binary_port != "off":
            endpoints["binary"] = await self._shell.streams.listen(
                self._config.binary_port, key="binary_port"
            )
        if self._config.ping_port != "off":
            endpoints["ping"] = await self._shell.listen_for_pings(self._config.ping_port)
        self.protocol.start(now=self._host.tick())
        self._host.wake()
        return endpoints

    def transfer_status(self, destination: str) -> dict[str, Any]:
        """State, next hop and the reason why messages wait."""
        queue = self._host.manager.outgoing.find(destination)
        status = self.protocol.outgoing_status(queue, now=self._host.tick())
        if status is not None:
            return asdict(status)
        transport = queue.outgoing.transport if queue.outgoing is not None else None
        return {"reason": NOT_CARRIED.get(transport, "") if queue.count else ""}

    def reload_certificates(self) -> None:
        """Use the certificates that are in the files now for new connections.

        Raises:
            ConfigError: they cannot be used; those before stay.
        """
        self._shell.streams.use_tls(*tls_contexts(self._config))

    async def close(self) -> None:
        """Hang up; what was not acknowledged is sent again after the next start."""
        self.protocol.stop(now=self._host.tick())
        await self._shell.close()


def tls_contexts(config: Config) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """Contexts of both roles, when TLS between queue managers is wanted.

    Raises:
        ConfigError: a file cannot be used, or one of the three is missing.
    """
    files = (config.binary_certificate, config.binary_key, config.binary_ca)
    if not any(files):
        return None, None
    certificate, key, authority = files
    if certificate is None or key is None or authority is None:
        raise ConfigError(
            "binary_certificate: TLS needs binary_certificate, binary_key and binary_ca together"
        )
    contexts = []
    for purpose in (ssl.Purpose.CLIENT_AUTH, ssl.Purpose.SERVER_AUTH):
        try:
            context = ssl.create_default_context(purpose, cafile=authority)
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as exc:
            raise ConfigError(f"binary_certificate: {certificate}: {exc}") from exc
        context.verify_mode = ssl.CERT_REQUIRED
        contexts.append(context)
    return contexts[0], contexts[1]


def log_refused(address: str, reason: str) -> None:
    """Say why no session came about."""
    log_event(SESSION_FAULT, peer=address, reason="tls", detail=reason)


def log_disconnect(event: Disconnect, address: str) -> None:
    """Say why a session ended."""
    kind = SESSION_CLOSED if event.reason in ORDINARY else SESSION_FAULT
    log_event(kind, peer=address, reason=event.reason, detail=event.detail)

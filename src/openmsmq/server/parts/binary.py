"""The part that speaks the binary protocol: sessions with other queue managers, and pings."""

import os
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from openmsmq.core.management.counters import SESSION_BYTES, Count
from openmsmq.core.model.queue import Queue
from openmsmq.net.binary.shell import BinaryShell
from openmsmq.protocol.address_rules import parse_network
from openmsmq.protocol.binary.events import CloseReason, Disconnect
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.protocol.outgoing_status import OutgoingStatus
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.server.encryption_config import EncryptionConfig
from openmsmq.server.setting_values import Port
from openmsmq.server.settings import setting
from openmsmq.service.logs import SESSION_CLOSED, SESSION_FAULT, log_event
from openmsmq.wire.errors import ConfigError

from .part import PartStatus, Premises, check_port, settings_of

# Ordinary events of a peer; all others are warnings.
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
# The maximum number of networks in each of `allowed_addresses` and `denied_addresses`.
MAX_NETWORKS: Final = 1000


def check_networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list with anything but addresses and networks, or with too many of them."""
    if len(texts) > MAX_NETWORKS:
        raise ValueError(f"at most {MAX_NETWORKS} networks")
    for text in texts:
        parse_network(text)
    return texts


class BinaryConfig(EncryptionConfig):
    """Settings of the binary protocol; `BinarySettings` has further ones, not for users."""

    binary_port: Port = 1801
    ping_port: Port = 3527
    binary_certificate: Path | None = None
    binary_key: Path | None = None
    binary_ca: Path | None = None
    send_ping: bool = False
    allowed_addresses: tuple[str, ...] = setting(default=(), check=check_networks)
    denied_addresses: tuple[str, ...] = setting(default=(), check=check_networks)
    # Choice: more than the 64 of Windows ([MS-MQQB] notes 36, 50), so that two of ours work at the
    # same time instead of waiting for each other; with Windows its own 64 count.
    max_unacked_packet: int = setting(default=1024, ge=1, le=16384)
    resend_timeouts_short: float = setting(default=30.0, ge=1.0, le=86400.0)
    resend_timeouts_medium: float = setting(default=300.0, ge=1.0, le=86400.0)
    resend_timeouts_long: float = setting(default=1800.0, ge=1.0, le=86400.0)
    resend_timeouts_final: float = setting(default=21600.0, ge=1.0, le=86400.0)


class BinaryPart:
    """Sessions with other queue managers, while the process runs."""

    name: Final = "binary"

    def __init__(self, config: BinaryConfig, premises: Premises) -> None:
        self._config = config
        self._host = host = premises.host
        self._endpoints: dict[str, str] = {}
        settings = settings_of(BinarySettings, config, window_size=config.max_unacked_packet)
        encryption = BodyEncryption(os.urandom, config.encryption_settings)
        self.protocol: Final = BinaryProtocol(host.manager, host.engine.gate, settings, encryption)
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
        host.engine.add_output(self._shell.turn, self._shell.has_output)
        host.manager.management.add_transfers(self._transfer_status)
        host.manager.management.add_sessions(self.protocol)
        host.manager.management.add_counters(self._counts)

    @staticmethod
    def check(config: BinaryConfig) -> None:
        tls_contexts(config)
        check_port("binary_port", config.bind, config.binary_port)
        check_port("ping_port", config.bind, config.ping_port, socket.SOCK_DGRAM)

    async def listen(self) -> dict[str, str]:
        """Open the sockets and start the sessions of queues with messages."""
        endpoints = self._endpoints
        # [MS-MQDMPR] 3.1.1.1: in hardened mode messages travel over HTTP only.
        hardened = self._config.hardened_security
        if not hardened and self._config.binary_port != "off":
            endpoints["binary"] = await self._shell.streams.listen(
                self._config.binary_port, key="binary_port"
            )
        if not hardened and self._config.ping_port != "off":
            endpoints["ping"] = await self._shell.listen_for_pings(self._config.ping_port)
        self.protocol.start(now=self._host.tick())
        self._host.wake()
        return endpoints

    def _counts(self) -> Iterator[Count]:
        streams = self._shell.streams
        yield SESSION_BYTES, (self.name, "incoming"), streams.received_bytes
        yield SESSION_BYTES, (self.name, "outgoing"), streams.sent_bytes

    def _transfer_status(self, queue: Queue) -> OutgoingStatus | None:
        return self.protocol.outgoing_status(queue, now=self._host.tick())

    def status(self) -> PartStatus:
        return PartStatus(self._endpoints)

    @property
    def reloads(self) -> dict[str, Callable[[], None]]:
        if self._config.binary_certificate is None:
            return {}
        return {"binary_certificate": self._reload_certificates}

    def _reload_certificates(self) -> None:
        """Use the current certificates of the files for new connections."""
        self._shell.streams.use_tls(*tls_contexts(self._config))

    async def close(self) -> None:
        """Close all connections; unacknowledged messages are sent again after the next start."""
        self.protocol.stop(now=self._host.tick())
        await self._shell.close()


def tls_contexts(config: BinaryConfig) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """Contexts of both roles, if TLS between queue managers is configured.

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
    """Log why no session was established."""
    log_event(SESSION_FAULT, peer=address, reason="tls", detail=reason)


def log_disconnect(event: Disconnect, address: str) -> None:
    """Log why a session ended."""
    kind = SESSION_CLOSED if event.reason in ORDINARY else SESSION_FAULT
    log_event(kind, peer=address, reason=event.reason, detail=event.detail)

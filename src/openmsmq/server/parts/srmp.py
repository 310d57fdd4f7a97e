"""The part that speaks SRMP: messages over HTTP and HTTPS, from and to other machines."""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from openmsmq.core.management.counters import CLIENTS, HTTP_REQUESTS, SESSION_BYTES, Count
from openmsmq.core.model.queue import Queue
from openmsmq.net.srmp.shell import SrmpShell
from openmsmq.net.streams import ANY_ADDRESS
from openmsmq.protocol.http import CloseReason, Disconnect, HttpSettings, HttpTransport, Proxy
from openmsmq.protocol.http.destination import HTTP_PORT, HTTPS_PORT, bracketed
from openmsmq.protocol.outgoing_status import OutgoingStatus
from openmsmq.protocol.srmp.manager import SrmpProtocol
from openmsmq.protocol.srmp.session_infos import SrmpSessions
from openmsmq.protocol.srmp.settings import SrmpSettings
from openmsmq.protocol.srmp.status import NO_RECEIPT
from openmsmq.server.common_config import KIBIBYTE, MEBIBYTE, is_host_name
from openmsmq.server.open_files import spare_files
from openmsmq.server.setting_values import Port
from openmsmq.server.settings import setting
from openmsmq.service.logs import HTTP_CLOSED, HTTP_FAULT, PORT_SKIPPED, log_event
from openmsmq.wire.errors import ConfigError

from .binary import BinaryConfig
from .part import PartStatus, Premises, check_port, lacks_privilege, settings_of

# Ordinary events of a peer; all others are warnings.
ORDINARY: Final = frozenset(
    (CloseReason.FINISHED, CloseReason.IDLE, CloseReason.STOPPED, CloseReason.HUNG_UP)
)
FAULTY: Final = (
    CloseReason.MALFORMED,
    CloseReason.TOO_LARGE,
    CloseReason.TOO_SLOW,
    CloseReason.NOT_READING,
)
VERIFY_MODES: Final = {
    "ignored": ssl.CERT_NONE,
    "optional": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def check_proxy(authority: str) -> str:
    """Refuse a proxy without a host or a port."""
    parse_authority(authority)
    return authority


def check_receipt_hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list with anything but hosts and addresses; they are in lower case."""
    for host in hosts:
        if not is_host_name(host):
            raise ValueError(f"{host!r} is not a host name or an address")
    return tuple(host.strip("[]").lower() for host in hosts)


def check_authority(host: str) -> str:
    """Refuse a text that is invalid as this machine in a URL."""
    if host and not is_host_name(host):
        raise ValueError("a host name or address, with a port if it is not the default one")
    return host


class SrmpConfig(BinaryConfig):
    """Settings of HTTP and of SRMP: those of `HttpSettings` and `SrmpSettings`.

    The timers for transactional messages that wait are those of the binary protocol.
    """

    http_port: Port = 80
    https_port: Port = "off"
    https_certificate: Path | None = None
    https_key: Path | None = None
    https_ca: Path | None = None
    https_client_certificates: Literal["ignored", "optional", "required"] = "ignored"
    http_proxy: str | None = setting(default=None, max_length=300, check=check_proxy)
    http_proxy_bypass: tuple[str, ...] = ()
    # This machine in the URLs that it sends to others.
    http_host: str = setting(default="", max_length=300, check=check_authority)
    https_host: str = setting(default="", max_length=300, check=check_authority)
    http_max_connections: int = setting(default=5_000, ge=1, le=1_000_000)
    http_max_connections_per_address: int = setting(default=1_000, ge=1, le=1_000_000)
    http_max_target_bytes: int = setting(default=8 * KIBIBYTE, ge=KIBIBYTE, le=MEBIBYTE)
    http_max_headers: int = setting(default=100, ge=10, le=10_000)
    http_max_header_bytes: int = setting(default=32 * KIBIBYTE, ge=KIBIBYTE, le=MEBIBYTE)
    http_max_body_bytes: int = setting(default=5 * MEBIBYTE, ge=64 * KIBIBYTE, le=64 * MEBIBYTE)
    http_max_unanswered: int = setting(default=1_024, ge=1, le=100_000)
    http_max_unanswered_bytes: int = setting(default=16 * MEBIBYTE, ge=64 * KIBIBYTE)
    http_max_total_bytes: int = setting(default=256 * MEBIBYTE, ge=8 * MEBIBYTE)
    http_max_output_bytes: int = setting(default=64 * KIBIBYTE, ge=KIBIBYTE, le=64 * MEBIBYTE)
    http_idle_seconds: float = setting(default=120.0, ge=1.0, le=86400.0)
    http_header_seconds: float = setting(default=30.0, ge=1.0, le=3600.0)
    http_request_seconds: float = setting(default=60.0, ge=1.0, le=86400.0)
    http_min_bytes_per_second: float = setting(default=1_000.0, ge=1.0, le=1e9)
    http_write_seconds: float = setting(default=60.0, ge=1.0, le=3600.0)
    http_linger_seconds: float = setting(default=2.0, ge=0.0, le=60.0)
    http_max_connections_per_host: int = setting(default=4, ge=1, le=1_000)
    http_max_pipelined: int = setting(default=1_024, ge=1, le=10_000)
    http_max_pipelined_bytes: int = setting(default=16 * MEBIBYTE, ge=64 * KIBIBYTE)
    http_response_seconds: float = setting(default=60.0, ge=1.0, le=3600.0)
    http_keep_seconds: float = setting(default=60.0, ge=0.0, le=86400.0)
    http_max_response_bytes: int = setting(default=64 * KIBIBYTE, ge=KIBIBYTE, le=64 * MEBIBYTE)
    srmp_retransmission_seconds: float = setting(default=20.0, ge=1.0, le=86400.0)
    srmp_stream_receipt_seconds: float = setting(default=0.5, ge=0.0, le=3600.0)
    srmp_maximum_stream_receipt_delay: float = setting(default=10.0, ge=0.0, le=3600.0)
    srmp_cleanup_seconds: float = setting(default=300.0, ge=1.0, le=86400.0)
    srmp_stream_element: Literal["stream", "Stream"] = "stream"
    # Hosts to which receipts may go; empty allows all.
    srmp_receipt_hosts: tuple[str, ...] = setting(
        default=(), max_length=10_000, check=check_receipt_hosts
    )


class SrmpPart:
    """Messages over HTTP, while the process runs."""

    name: Final = "srmp"

    def __init__(self, config: SrmpConfig, premises: Premises) -> None:
        self._config = config
        self._host = host = premises.host
        self._endpoints: dict[str, str] = {}
        self._server_tls, client_tls = tls_contexts(config)
        self.http: Final = HttpTransport(http_settings(config))
        self.protocol: Final = SrmpProtocol(
            host.manager,
            host.engine.gate,
            self.http,
            settings_of(
                SrmpSettings,
                config,
                prefix="srmp_",
                capital_stream=config.srmp_stream_element == "Stream",
                resend_timeouts_short=config.resend_timeouts_short,
                resend_timeouts_medium=config.resend_timeouts_medium,
                resend_timeouts_long=config.resend_timeouts_long,
                resend_timeouts_final=config.resend_timeouts_final,
            ),
        )
        self._shell = SrmpShell(
            self.http,
            self.protocol,
            host,
            bind=config.bind,
            hosts=config.hosts,
            client_tls=client_tls,
            disconnected=log_disconnect,
            refused=log_refused,
        )
        host.engine.add_carrier(self.protocol)
        host.engine.add_output(self._shell.turn, self._shell.has_output)
        host.manager.management.add_transfers(self._transfer_status)
        host.manager.management.add_sessions(SrmpSessions(self.http))
        host.manager.management.add_counters(self._counts)

    @staticmethod
    def check(config: SrmpConfig) -> None:
        tls_contexts(config)
        check_port("https_port", config.bind, config.https_port)
        try:
            check_port("http_port", config.bind, config.http_port)
        except ConfigError as exc:
            if "http_port" in config.named or not lacks_privilege(exc):
                raise

    async def listen(self) -> dict[str, str]:
        """Open the sockets, and begin to send waiting messages."""
        config, endpoints = self._config, self._endpoints
        if config.http_port != "off":
            await self._listen_plain(config.http_port)
        if config.https_port != "off":
            endpoints["https"] = await self._shell.listen(
                config.https_port, key="https_port", tls=self._server_tls
            )
        self.protocol.reached_at(http_host=self._http_host(), https_host=self._https_host())
        self.protocol.start(now=self._host.tick())
        self._host.wake()
        return endpoints

    def _http_host(self) -> str:
        """This machine in URLs of HTTP: by default the address that it listens on."""
        address, _, port = self._endpoints.get("http", "").rpartition(":")
        if self._config.http_host or not port:
            return self._config.http_host
        host = self._host.manager.name if address in ANY_ADDRESS else bracketed(address)
        return host if int(port) == HTTP_PORT else f"{host}:{port}"

    def _https_host(self) -> str:
        """This machine in URLs of HTTPS: by default its name, as in certificates."""
        port = self._endpoints.get("https", "").rpartition(":")[2]
        if self._config.https_host or port in ("", str(HTTPS_PORT)):
            return self._config.https_host
        return f"{self._host.manager.name}:{port}"

    async def _listen_plain(self, port: int) -> None:
        try:
            self._endpoints["http"] = await self._shell.listen(port, key="http_port")
        except ConfigError as exc:
            if "http_port" in self._config.named or not lacks_privilege(exc):
                raise
            log_event(PORT_SKIPPED, port=port, reason=exc.detail)

    def _transfer_status(self, queue: Queue) -> OutgoingStatus | None:
        status = self.protocol.outgoing_status(queue, now=self._host.tick())
        if status is None or status.reason != NO_RECEIPT or queue.outgoing is None:
            return status
        scheme = str(queue.outgoing.transport)
        if scheme in self._endpoints:
            return status
        return replace(status, reason=f"{NO_RECEIPT}: nothing listens at {scheme}_port here")

    def status(self) -> PartStatus:
        return PartStatus(self._endpoints)

    def _counts(self) -> Iterator[Count]:
        counters = self.http.server.counters
        yield CLIENTS, (self.name, "connected"), counters.connected
        yield CLIENTS, (self.name, "refused"), counters.refused
        yield CLIENTS, (self.name, "faulty"), sum(counters.closed[reason] for reason in FAULTY)
        streams = self._shell.streams
        yield SESSION_BYTES, (self.name, "incoming"), streams.received_bytes
        yield SESSION_BYTES, (self.name, "outgoing"), streams.sent_bytes
        for status, count in sorted(counters.answers.items()):
            yield HTTP_REQUESTS, (str(status),), count

    @property
    def reloads(self) -> dict[str, Callable[[], None]]:
        if self._config.https_certificate is None and self._config.https_ca is None:
            return {}
        return {"https_certificate": self._reload_certificates}

    def _reload_certificates(self) -> None:
        """Use the current certificates of the files for new connections."""
        self._server_tls, client_tls = tls_contexts(self._config)
        self._shell.use_tls(self._server_tls, client_tls)

    async def close(self) -> None:
        """Close all connections; unanswered messages are sent again after the next start."""
        self.protocol.stop(now=self._host.tick())
        await self._shell.close()


def http_settings(config: SrmpConfig) -> HttpSettings:
    """The settings of HTTP."""
    proxy = None
    if config.http_proxy is not None:
        bypass = tuple(entry.lower() for entry in config.http_proxy_bypass)
        proxy = Proxy(*parse_authority(config.http_proxy), bypass)
    return settings_of(
        HttpSettings,
        config,
        prefix="http_",
        proxy=proxy,
        # Other machines leave files for the clients of this one.
        max_connections=min(config.http_max_connections, spare_files(config.max_connections)),
    )


def parse_authority(text: str) -> tuple[str, int]:
    """The host and port of `HOST:PORT` or `http://HOST:PORT`; an IPv6 address in brackets.

    Raises:
        ValueError: it has another form.
    """
    host, colon, port = text.removeprefix("http://").removesuffix("/").rpartition(":")
    host = host.removeprefix("[").removesuffix("]").lower()
    if not colon or not is_host_name(host) or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError("a proxy is HOST:PORT or http://HOST:PORT")
    return host, int(port)


def tls_contexts(config: SrmpConfig) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """The contexts of HTTPS: the server's, if there is a certificate, and the client's.

    The client's is None if nothing is configured: then the default is created when needed.

    Raises:
        ConfigError: a file cannot be used, or is missing.
    """
    certificate, key, authorities = config.https_certificate, config.https_key, config.https_ca
    if (certificate is None) != (key is None):
        raise ConfigError("https_certificate: HTTPS needs https_certificate and https_key together")
    if config.https_port != "off" and certificate is None:
        raise ConfigError("https_port: HTTPS needs https_certificate and https_key")
    mode = VERIFY_MODES[config.https_client_certificates]
    if mode is not ssl.CERT_NONE and authorities is None:
        raise ConfigError(
            "https_client_certificates: https_ca is needed, with the authorities of the clients"
        )
    if certificate is None and authorities is None:
        return None, None
    try:
        client = ssl.create_default_context(cafile=authorities)
        server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authorities)
    except (OSError, ssl.SSLError) as exc:
        raise ConfigError(f"https_ca: {authorities}: {exc}") from exc
    for context in (client, server):
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate is None or key is None:
        return None, client
    try:
        for context in (client, server):
            context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as exc:
        raise ConfigError(f"https_certificate: {certificate}: {exc}") from exc
    server.verify_mode = mode
    return server, client


def log_refused(address: str, reason: str) -> None:
    """Log why the TLS handshake failed."""
    log_event(HTTP_FAULT, peer=address, reason="tls", detail=reason)


def log_disconnect(event: Disconnect, address: str) -> None:
    """Log why a connection ended."""
    kind = HTTP_CLOSED if event.reason in ORDINARY else HTTP_FAULT
    log_event(kind, peer=address, reason=event.reason.value, detail=event.detail)

"""Connections to other hosts: directly or through a proxy, plain or with TLS."""

import asyncio
import socket
import ssl
from typing import Final, cast

from openmsmq.net.streams import Stream
from openmsmq.protocol.http.events import Connect
from openmsmq.protocol.http.tunnel import Tunnel

HANDSHAKE_SECONDS: Final = 20.0
_MAX_TUNNEL_BYTES: Final = 16 * 1024

Address = tuple[str, int]


def default_context() -> ssl.SSLContext:
    """The TLS context with the authorities that this machine trusts; reading them takes a while."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class TunnelRefused(OSError):
    """A proxy does not connect to the destination; the text says why."""


class _TunnelOpening(asyncio.Protocol):
    """Waits for the response of a proxy to CONNECT."""

    def __init__(self) -> None:
        self._tunnel = Tunnel(_MAX_TUNNEL_BYTES)
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._tunnel.receive(data)
        if self.answered.done():
            return
        if self._tunnel.fault:
            self.answered.set_exception(TunnelRefused(self._tunnel.fault))
        elif self._tunnel.open:
            self.answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if not self.answered.done():
            reason = "the proxy closed the connection without an answer to CONNECT"
            self.answered.set_exception(TunnelRefused(reason))


async def open_stream(
    stream: Stream,
    event: Connect,
    address: str,
    *,
    local: Address | None,
    tls: ssl.SSLContext,
) -> None:
    """Connect a stream to the host of an event.

    Args:
        address: of the host or the proxy to connect to.
        local: the address to connect from.
        tls: the context for HTTPS.

    Raises:
        OSError: the connection failed; `explain` says why.
    """
    loop = asyncio.get_running_loop()
    port = event.route.port
    if event.route.tunnel:
        await _open_through_proxy(stream, event, address, local=local, tls=tls)
    elif event.secure:
        await loop.create_connection(
            lambda: stream,
            address,
            port,
            local_addr=local,
            ssl=tls,
            server_hostname=event.host,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
        )
    else:
        await loop.create_connection(lambda: stream, address, port, local_addr=local)


async def _open_through_proxy(
    stream: Stream, event: Connect, address: str, *, local: Address | None, tls: ssl.SSLContext
) -> None:
    loop = asyncio.get_running_loop()
    plain, opening = await loop.create_connection(
        _TunnelOpening, address, event.route.port, local_addr=local
    )
    try:
        plain.write(event.route.tunnel)
        await opening.answered
        secure = await loop.start_tls(
            plain,
            stream,
            tls,
            server_hostname=event.host,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
        )
    except BaseException:
        plain.abort()
        raise
    stream.connection_made(cast(asyncio.Transport, secure))


def explain(error: OSError, event: Connect) -> str:
    """Why connecting to a host failed, as text."""
    route, host = event.route, event.host
    where = f"{route.host}:{route.port}"
    if isinstance(error, TunnelRefused):
        return f"{error} ({where})"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {host} was not accepted: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError):
        return f"TLS with {host} failed: {error.reason or error}"
    if isinstance(error, socket.gaierror):
        return f"the host name {route.host} could not be resolved"
    if isinstance(error, TimeoutError):
        return f"{where} did not answer in time"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing accepts connections at {where}"
    return f"{where} could not be connected to: {error.strerror or error}"

"""Limits and times of HTTP connections."""

from dataclasses import dataclass

from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE

from .destination import Proxy

# The size of an envelope, its MIME headers and delimiters besides the body of a message.
ENVELOPE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Limits for other machines; times are in seconds.

    Attributes:
        max_connections: the total of accepted connections.
        max_connections_per_address: connections accepted from one address.
        max_target_bytes: the target of a request.
        max_headers: header fields of a request.
        max_header_bytes: the header fields of a request together.
        max_body_bytes: the body of a request.
        max_unanswered: requests of a connection without an answer before reading pauses.
        max_unanswered_bytes: bytes of their bodies before reading pauses.
        max_total_bytes: bytes of all bodies without an answer; further requests are answered 503.
        max_output_bytes: answers that a connection has not taken before reading pauses.
        idle_seconds: how long a connection may stay open without a request.
        header_seconds: how long a new connection may take to begin a request, and a request to
            complete its header.
        request_seconds: how long a request may take in total, besides the time for its bytes.
        min_bytes_per_second: the minimum rate of a body.
        write_seconds: how long a peer may leave answers unread.
        linger_seconds: how long bytes of a refused request are read and discarded, so that its
            sender can read the answer.
        max_connections_per_host: connections to one host.
        max_pipelined: requests on a connection that wait for their response.
        max_pipelined_bytes: their bytes; one request more may begin below it.
        response_seconds: how long a response may take.
        keep_seconds: how long a connection to another host stays open when nothing uses it.
        max_response_bytes: header fields and body of a response together.
        proxy: the proxy for outgoing connections, if any.
    """

    max_connections: int = 5_000
    max_connections_per_address: int = 1_000
    max_target_bytes: int = 8 * 1024
    max_headers: int = 100
    max_header_bytes: int = 32 * 1024
    max_body_bytes: int = MAX_PACKET_SIZE + ENVELOPE_BYTES
    max_unanswered: int = 1_024
    max_unanswered_bytes: int = 16 * 1024 * 1024
    max_total_bytes: int = 256 * 1024 * 1024
    max_output_bytes: int = 64 * 1024
    idle_seconds: float = 120.0
    header_seconds: float = 30.0
    request_seconds: float = 60.0
    min_bytes_per_second: float = 1_000.0
    write_seconds: float = 60.0
    linger_seconds: float = 2.0
    max_connections_per_host: int = 4
    max_pipelined: int = 1_024
    max_pipelined_bytes: int = 16 * 1024 * 1024
    response_seconds: float = 60.0
    keep_seconds: float = 60.0
    max_response_bytes: int = 64 * 1024
    proxy: Proxy | None = None

"""Limits of RPC connections."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RpcSettings:
    """Limits for clients of the RPC server; exceeding one refuses, and never blocks.

    Attributes:
        max_connections: connections in total.
        max_connections_per_address: connections from one address.
        max_unbound: connections without a bind; a new one replaces the oldest.
        bind_seconds: the time in which a connection must bind, and complete an authentication.
        max_associations: association groups.
        max_contexts: presentation contexts of a connection, for each offered interface.
        max_security_contexts: security contexts of a connection.
        max_handles: context handles of an association group.
        max_total_handles: context handles in total.
        max_calls: calls of a connection that wait for their answer.
        max_total_calls: calls in total that wait for their answer.
        max_request_bytes: the stub of a request ([MS-RPCE] 3.3.3.5.4).
        max_unfinished_bytes: unfinished requests of all connections together.
        pause_reply_bytes: reading from a connection pauses above this size of replies.
        max_reply_bytes: a connection is closed above this size of replies.
        max_fragment: the largest fragment, in both directions.
    """

    max_connections: int = 20_000
    max_connections_per_address: int = 2_000
    max_unbound: int = 1_000
    bind_seconds: float = 30.0
    max_associations: int = 20_000
    max_contexts: int = 256
    max_security_contexts: int = 64
    max_handles: int = 10_000
    max_total_handles: int = 100_000
    max_calls: int = 1_024
    max_total_calls: int = 50_000
    max_request_bytes: int = 4 * 1024 * 1024
    max_unfinished_bytes: int = 256 * 1024 * 1024
    pause_reply_bytes: int = 1024 * 1024
    max_reply_bytes: int = 64 * 1024 * 1024
    max_fragment: int = 5840

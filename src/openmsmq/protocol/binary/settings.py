"""Settings of sessions; the defaults are those of Windows ([MS-MQQB] section 6)."""

from dataclasses import dataclass
from typing import Final

from openmsmq.core.transfer.incoming.message_history import (
    DEFAULT_HISTORY_SECONDS,
    DEFAULT_HISTORY_SIZE,
)
from openmsmq.protocol.resend_timers import resend_timer_table
from openmsmq.wire.limits import WINDOW_SIZE
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE

# [MS-MQQB] 1.9, 2.1.2.
BINARY_PORT: Final = 1801
PING_PORT: Final = 3527
PING_RESPONSE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BinarySettings:
    """Times are in seconds."""

    # The port on which other queue managers listen.
    peer_port: int = BINARY_PORT
    peer_ping_port: int = PING_PORT
    # MaxUnackedPacket (notes 36, 50).
    window_size: int = WINDOW_SIZE
    # AckWaitTimeout (note 51), and its multiple that the sender waits (note 46).
    ack_timeout: float = 20.0
    direct_ack_wait_multiplier: int = 2
    # RoundTripDelay (note 43): added to timers on slow links.
    round_trip_delay: float = 0.0
    # CleanupInterval (note 44), TryConnectInterval (note 45).
    cleanup_seconds: float = 300.0
    retry_connect_seconds: float = 5.0
    # 3.1.3.2, note 52: OrderAckTimeout and MaximumOrderAckDelay.
    order_ack_seconds: float = 0.5
    maximum_order_ack_delay: float = 10.0
    # Notes 30 to 33.
    resend_timeouts_short: float = 30.0
    resend_timeouts_medium: float = 300.0
    resend_timeouts_long: float = 1800.0
    resend_timeouts_final: float = 21_600.0
    # Notes 25, 47.
    history_size: int = DEFAULT_HISTORY_SIZE
    history_seconds: float = DEFAULT_HISTORY_SECONDS
    # The interval of the search for unused streams.
    stream_cleanup_seconds: float = 3600.0
    # Notes 3, 10: newer Windows does neither. Choice: a ping is answered.
    send_ping: bool = False
    answer_ping: bool = True
    server_class: bool = True
    # Note 12, MaxInSessions; and the part of them that one address may have.
    max_connections: int = 1000
    max_connections_per_peer: int = 16
    # Networks from which peers may connect, empty for all, and those from which they may not.
    allowed_addresses: tuple[str, ...] = ()
    denied_addresses: tuple[str, ...] = ()
    # Bytes from one address that are received but not yet durable, above which reading pauses;
    # and bytes waiting for a peer that sends but does not read, above which it is closed.
    max_peer_bytes: int = 16 * 1024 * 1024
    # Bytes from all peers that are received but not yet durable.
    max_backlog_bytes: int = 128 * 1024 * 1024
    # Bytes that wait to be written to a connection, above which no more are added.
    max_output_bytes: int = 1024 * 1024
    max_packet_size: int = MAX_PACKET_SIZE
    # The interval at which a reduced window doubles again.
    window_doubling_seconds: float = 30.0

    @property
    def initialization_seconds(self) -> float:
        """Session Initialization Timer (note 43)."""
        return 60.0 + 2 * self.round_trip_delay

    @property
    def resend_timer_table(self) -> tuple[float, ...]:
        """ResendTimerTable (3.1.3.1)."""
        return resend_timer_table(
            self.resend_timeouts_short,
            self.resend_timeouts_medium,
            self.resend_timeouts_long,
            self.resend_timeouts_final,
        )

"""Settings of SRMP; the defaults are those of Windows ([MC-MQSRM] section 6)."""

from dataclasses import dataclass

from openmsmq.core.transfer.incoming.message_history import (
    DEFAULT_HISTORY_SECONDS,
    DEFAULT_HISTORY_SIZE,
)
from openmsmq.protocol.resend_timers import resend_timer_table


@dataclass(frozen=True, slots=True, kw_only=True)
class SrmpSettings:
    """Times are in seconds.

    Attributes:
        retransmission_seconds: RetransmissionTimeout (note 25).
        stream_receipt_seconds: how long a stream receipt waits for further messages.
        maximum_stream_receipt_delay: how long it waits at most.
        cleanup_seconds: CleanupInterval (note 19).
        resend_timeouts_short, resend_timeouts_medium, resend_timeouts_long,
            resend_timeouts_final: the ladder of the Stream Receipt Wait Timer (notes 20 to 24).
        history_size: the number of identifiers of received messages that are kept (note 16).
        history_seconds: the time for which they are kept.
        stream_cleanup_seconds: the interval of the search for unused streams.
        http_host, https_host: this machine in URLs that others send to, with a port if it is not
            that of the scheme; empty for the computer name.
        capital_stream: write `<Stream>`, as the examples of the specification do.
    """

    retransmission_seconds: float = 20.0
    stream_receipt_seconds: float = 0.5
    maximum_stream_receipt_delay: float = 10.0
    cleanup_seconds: float = 300.0
    resend_timeouts_short: float = 30.0
    resend_timeouts_medium: float = 300.0
    resend_timeouts_long: float = 1800.0
    resend_timeouts_final: float = 21_600.0
    history_size: int = DEFAULT_HISTORY_SIZE
    history_seconds: float = DEFAULT_HISTORY_SECONDS
    stream_cleanup_seconds: float = 3600.0
    http_host: str = ""
    https_host: str = ""
    capital_stream: bool = False

    @property
    def resend_timer_table(self) -> tuple[float, ...]:
        """The intervals of the Stream Receipt Wait Timer ([MC-MQSRM] 3.1.3.1)."""
        return resend_timer_table(
            self.resend_timeouts_short,
            self.resend_timeouts_medium,
            self.resend_timeouts_long,
            self.resend_timeouts_final,
        )

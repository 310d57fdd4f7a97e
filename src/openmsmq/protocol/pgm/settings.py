"""The constants of RFC 3208 with the values of [MC-MQSRM] 2.1.3.1, and limits."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.limits import MAX_APDU_BYTES

# RFC 3208, section 8: a data packet without options, and the options that one may have.
DATA_HEADER_BYTES: Final = 24
SYN_FIN_BYTES: Final = 12
FRAGMENT_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Limits and intervals of a source.

    Args:
        max_packet_bytes: the largest packet, PGM header included.
        max_queued_bytes: data that waits to be sent for the first time, beside the last APDU.
        max_confirmations: NCFs that wait to be sent; NAKs beyond it are dropped.
    """

    txw_max_rte: float = 70_000.0
    txw_secs: float = 300.0
    ihb_min: float = 1.0
    ihb_max: float = 15.0
    ambient_packets: int = 50
    ambient_seconds: float = 0.5
    token_bucket_seconds: float = 0.04
    rdata_delay_seconds: float = 0.06
    max_apdu_bytes: int = MAX_APDU_BYTES
    max_packet_bytes: int = 1_400
    max_queued_bytes: int = 262_144
    max_confirmations: int = 1_024

    @property
    def txw_adv_ivl(self) -> float:
        """15 % of TXW_SECS; TXW_ADV_SECS has the same value."""
        return 0.15 * self.txw_secs

    @property
    def txw_bytes(self) -> float:
        """A window that has not advanced for TXW_ADV_IVL; a fuller one stops the transmission."""
        return self.txw_max_rte * (self.txw_secs + self.txw_adv_ivl)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverSettings:
    """Limits and intervals of a receiver.

    Args:
        session_seconds: a source that was silent for this time is removed.
        max_sources: concurrent sources; more are ignored.
        max_window_packets: how far a source may be ahead of what was delivered.
        max_buffered_bytes: data of all sources that waits for earlier data.
        max_repairs: concurrently requested packets of one source.
    """

    nak_rb_ivl: tuple[float, float] = (0.01, 0.05)
    nak_rpt_ivl: float = 0.75
    nak_rdata_ivl: float = 2.0
    nak_ncf_retries: int = 10
    nak_data_retries: int = 10
    max_apdu_bytes: int = MAX_APDU_BYTES
    session_seconds: float = 300.0
    max_sources: int = 256
    max_window_packets: int = 262_144
    max_buffered_bytes: int = 33_554_432
    max_repairs: int = 1_024

"""Outgoing queues as people see them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingStatus:
    """One outgoing queue; `reason` says why messages wait, empty when they do not."""

    destination: str
    state: str
    next_hop: str
    messages: int
    unacknowledged: int
    awaiting_final_ack: int
    last_error: str
    retry_in_seconds: float | None
    reason: str

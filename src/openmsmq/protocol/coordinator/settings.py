"""Limits of a queue manager that takes part in transactions of others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParticipantSettings:
    """Limits; the keys of the configuration are these names with `coordinator_` before them.

    Attributes:
        hosts: coordinators that may be connected to although the call came from elsewhere.
        max_transactions: transactions of other machines at a time.
        retry_seconds: how long a coordinator that did not answer is left alone; each time twice
            as long, up to `max_retry_seconds`.
        enlist_seconds: how long a coordinator may take to accept a participant.
    """

    hosts: tuple[str, ...] = ()
    max_transactions: int = 10_000
    retry_seconds: float = 1.0
    max_retry_seconds: float = 30.0
    enlist_seconds: float = 10.0

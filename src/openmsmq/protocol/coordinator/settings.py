"""Limits of a queue manager that takes part in transactions of others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParticipantSettings:
    """Limits; the keys of the configuration are these names with the prefix `coordinator_`.

    Attributes:
        hosts: coordinators to which connections are allowed although the call came from elsewhere.
        max_transactions: concurrent transactions of other machines.
        retry_seconds: the pause before a coordinator that did not answer is asked again; it doubles
            each time, up to `max_retry_seconds`.
        enlist_seconds: the time in which a coordinator must accept a participant.
    """

    hosts: tuple[str, ...] = ()
    max_transactions: int = 10_000
    retry_seconds: float = 1.0
    max_retry_seconds: float = 30.0
    enlist_seconds: float = 10.0

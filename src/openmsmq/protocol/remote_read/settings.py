"""Settings of remote read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemoteReadSettings:
    """Limits of the resources of remote clients.

    Attributes:
        cleanup_seconds: the time in which a client must end a receive ([MS-MQRR] 3.1.2.2).
        max_cursors: cursors of one open queue.
        max_waiting_reads: reads of one open queue that wait or have not been ended.
        purge_step: messages that a purge removes before other clients have their turn.
    """

    cleanup_seconds: float = 300.0
    max_cursors: int = 10_000
    max_waiting_reads: int = 10_000
    purge_step: int = 10_000

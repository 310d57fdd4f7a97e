"""The words between a coordinator and the queue managers that take part in its transactions."""

from enum import IntEnum


class Standing(IntEnum):
    """Where a participant is in a transaction, as it reports to the coordinator."""

    # Its part can still grow, or be undone.
    ACTIVE = 1
    # Its part is on disk, and it can commit or abort.
    PREPARED = 2
    COMMITTED = 3
    ABORTED = 4


class Order(IntEnum):
    """How the coordinator answers such a report."""

    PREPARE = 1
    COMMIT = 2
    ABORT = 3
    # The coordinator does not need the participant any more.
    FORGET = 4

"""What is asked of a queue: reads, reads by lookup id, purges."""

from typing import Final, NamedTuple

# How long a queue manager that works may take to answer, beyond the time that a read may wait.
GRACE_SECONDS: Final = 30.0
# About how many bytes of messages one read brings at most.
READ_BYTES: Final = 1024 * 1024


class Read(NamedTuple):
    """A read of the first messages of a queue, or of the next one of a cursor.

    Attributes:
        action: `receive`, `peek`, or `peek_next` of a cursor.
        limit: how many messages at most; it waits for the first one only.
        timeout: seconds to wait for it; None for ever.
        cursor: from `open_cursor`; 0 for none.
        transaction: from `begin_transaction`; 0 for none.
        two_phase: the messages stay locked in the queue until `end`, or until the handle or the
            connection is closed, which puts them back in place.
    """

    action: str
    limit: int = 1
    timeout: float | None = 0.0
    cursor: int = 0
    transaction: int = 0
    two_phase: bool = False


class LookUp(NamedTuple):
    """A read by lookup id, which never waits.

    Attributes:
        relation: `current`, or the `next` or `previous` one, or `first` or `last`.
        receive: take the message instead of looking at it.
        transaction, two_phase: as for `Read`.
    """

    lookup_id: int
    relation: str
    receive: bool
    transaction: int = 0
    two_phase: bool = False


class HoldMany(NamedTuple):
    """A read in two phases of all messages with these lookup ids that are there and free."""

    lookup_ids: list[int]


class PurgeStep(NamedTuple):
    """One step of a purge: how many messages it deleted, up to where, and whether it was the last.

    `upto` goes into the next step, so that messages which come meanwhile stay.
    """

    purged: int
    upto: int | None
    done: bool


class MoveStep(NamedTuple):
    """One step of a move: how many messages it moved, and their new lookup ids.

    There are no lookup ids in a transaction, in a dry run, and from other machines.
    """

    moved: int
    lookup_ids: list[int]

"""The tables of state rows: the stored data besides messages."""

from enum import IntEnum


class Table(IntEnum):
    """Numbers in the store; never reused for another purpose."""

    MANAGER = 1
    QUEUES = 2
    TRANSACTIONS = 3
    PRODUCERS = 4
    LEASES = 5
    # The progress of the streams of other queue managers, in the form of version 0.1.0.
    STREAMS_OF_0_1_0 = 6
    SEQUENCES = 7
    DIRECTORY = 8
    HISTORY = 9
    ADDRESSES = 10
    STREAMS = 11
    # Identifiers of messages that came by SRMP; the secret of its receipts, and redirections.
    SRMP_HISTORY = 12
    SRMP = 13
    # Transactions that a coordinator on another machine decides, and its location.
    ENLISTMENTS = 20
    # Local decisions to commit that some participants have not confirmed.
    DECISIONS = 21

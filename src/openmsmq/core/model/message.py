"""A message in a queue: Message and MessagePosition of [MS-MQDMPR] 3.1.1.11-12 in one record.

The packet holds every property of the message. The record beside it holds the facts that the queue
manager needs without reading the packet, which may be on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, IntFlag
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING, Final

from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK

if TYPE_CHECKING:
    from .queue import Queue

HIGHEST_PRIORITY: Final = 7
# The state of a message that is stored, but belongs to no queue until its batch is published.
# Records have it; in memory only unpublished messages do.
STAGED: Final = 0xFF
# A time in a record that never comes.
NEVER: Final = 0xFFFFFFFF


class PositionState(IntEnum):
    """MessagePosition.State."""

    AVAILABLE = 0
    LOCKED = 1
    DELETED = 2
    PURGE_PENDING = 3
    # Two extensions, which records keep: a poison message that waits for an operator, and a
    # message that appears later.
    HELD = 4
    DELAYED = 5


class Traits(IntFlag):
    """The traits of a message, in eight bits, so that Python shares the numbers."""

    RECOVERABLE = 0x01
    TRANSACTIONAL = 0x02
    NEGATIVE_JOURNALING = 0x04
    POSITIVE_JOURNALING = 0x08
    POSITIVE_ARRIVAL = 0x10
    POSITIVE_RECEIVE = 0x20
    NEGATIVE_ARRIVAL = 0x40
    NEGATIVE_RECEIVE = 0x80


# MessagePropertiesHeader.Flags (PA, PR, NA, NR) are the high four bits of the traits.
ACKNOWLEDGMENT_SHIFT: Final = 4
RECOVERABLE: Final = int(Traits.RECOVERABLE)
TRANSACTIONAL: Final = int(Traits.TRANSACTIONAL)
# With any of these, leaving the queue needs more work than a removal.
TRAITS_ON_DELETION: Final = int(
    Traits.TRANSACTIONAL
    | Traits.NEGATIVE_JOURNALING
    | Traits.POSITIVE_JOURNALING
    | Traits.POSITIVE_RECEIVE
    | Traits.NEGATIVE_ARRIVAL
    | Traits.NEGATIVE_RECEIVE
)


# All fields of a History; those before the dead-letter queue in the order of _HISTORY.
HISTORY_FIELDS: Final = (
    "abort_count",
    "move_count",
    "last_move_time",
    "message_class",
    "transaction",
    "tx_sequence_id",
    "tx_sequence_number",
    "awaiting_final_ack",
    "final_ack_required",
    "deadletter_queue",
    "allow_peek_when_locked",
)
_PACKED_FIELDS: Final = HISTORY_FIELDS[: HISTORY_FIELDS.index("deadletter_queue")]
# Fields that belong to a place; all others follow the message to the next one.
_FIELDS_OF_PLACE: Final = frozenset(
    (
        "transaction",
        "tx_sequence_id",
        "tx_sequence_number",
        "awaiting_final_ack",
        "allow_peek_when_locked",
    )
)
_MOVING_FIELDS: Final = tuple(name for name in HISTORY_FIELDS if name not in _FIELDS_OF_PLACE)


class History:
    """Fields that few messages need: counters, a reason, a dead-letter queue of their own."""

    __slots__ = HISTORY_FIELDS

    def __init__(self) -> None:
        self.abort_count = 0
        self.move_count = 0
        self.last_move_time = 0
        # The reason of a dead letter, shown as its class. 0 = the class in the packet.
        self.message_class = 0
        # The number of the prepared transaction that holds the message.
        self.transaction = 0
        # The place of an outgoing message in its transactional sequence; it never changes.
        self.tx_sequence_id = 0
        self.tx_sequence_number = 0
        # Delivered, and the source must know the fate of it.
        self.awaiting_final_ack = False
        # The source asks for the fate although it keeps no copy (TransactionHeader.Flags.FA).
        self.final_ack_required = False
        self.deadletter_queue = ""
        self.allow_peek_when_locked = False

    def copy(self) -> History:
        """The same history for the message in its next place."""
        other = History()
        for name in _MOVING_FIELDS:
            setattr(other, name, getattr(self, name))
        return other


class Message:
    """One message in one queue."""

    __slots__ = (
        "arrived",
        "expires",
        "history",
        "holder",
        "key",
        "lookup_id",
        "packet",
        "queue",
        "size",
        "state",
        "stored",
        "traits",
    )

    def __init__(
        self,
        key: int,
        lookup_id: int,
        queue: Queue,
        packet: bytes | None,
        size: int,
        traits: int,
        arrived: float,
        expires: int,
        state: int,
        stored: int,
    ) -> None:
        # The key in the store: the SequentialID at the first enqueue; it never changes.
        self.key = key
        # LookupIdentifier: 7 - priority in the top byte, then the SequentialID.
        self.lookup_id = lookup_id
        self.queue = queue
        self.packet = packet
        self.size = size
        self.traits = traits
        self.arrived = arrived
        self.expires = expires
        self.state = state
        # The number of the batch that stores the current record; 0 = none.
        self.stored = stored
        # The holder of the lock: a transaction, or a descriptor in a two-phase read.
        self.holder: object | None = None
        self.history: History | None = None

    @property
    def priority(self) -> int:
        return HIGHEST_PRIORITY - (self.lookup_id >> SEQUENCE_BITS)

    @property
    def sequence(self) -> int:
        """Arrival order: the low 56 bits of the lookup id."""
        return self.lookup_id & SEQUENCE_MASK

    @property
    def recoverable(self) -> bool:
        return self.traits & RECOVERABLE != 0

    @property
    def transactional(self) -> bool:
        return self.traits & TRANSACTIONAL != 0

    def make_history(self) -> History:
        """The rare part of the record, made when it is first needed."""
        if self.history is None:
            self.history = History()
        return self.history


# Holds poison messages until an operator decides.
HELD: Final = "held for an operator"
# Holds the messages of an outgoing queue that were delivered and whose fate is unknown yet.
AWAITING_FINAL_ACK: Final = "awaiting final acknowledgment"


def is_awaiting_final_ack(message: Message) -> bool:
    """Whether a message is in the AwaitingFinalACKTable ([MS-MQQB] 3.1.1.3.1)."""
    return message.history is not None and message.history.awaiting_final_ack


# Queue number, lookup id, state, traits, arrival, expiry.
_RECORD: Final = Struct("<IQBBdI")
RECORD_SIZE: Final = _RECORD.size
# The packed fields of a History; the dead-letter queue follows as text.
_HISTORY: Final = Struct("<IIIHQQI??")
_packed: Final[Callable[[History], tuple[int, ...]]] = attrgetter(*_PACKED_FIELDS)
pack_record: Final = _RECORD.pack
unpack_record: Final[Callable[[bytes], tuple[int, int, int, int, float, int]]] = _RECORD.unpack_from


def parse_history(record: bytes) -> History:
    """The rare part of a record that is longer than RECORD_SIZE."""
    history = History()
    for name, value in zip(_PACKED_FIELDS, _HISTORY.unpack_from(record, RECORD_SIZE), strict=True):
        setattr(history, name, value)
    history.deadletter_queue = record[RECORD_SIZE + _HISTORY.size :].decode()
    return history


def record_of(message: Message) -> bytes:
    """The record that the store keeps beside the packet."""
    record = pack_record(
        message.queue.number,
        message.lookup_id,
        message.state,
        message.traits,
        message.arrived,
        message.expires,
    )
    history = message.history
    if history is None:
        return record
    return record + _HISTORY.pack(*_packed(history)) + history.deadletter_queue.encode()

"""The client's records of an open queue, and of a read on it."""

from enum import IntEnum
from itertools import count
from typing import Final, NamedTuple

from openmsmq.wire.codes.queue_enums import LookupAction, ReceiveAction
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL

from .steps import Invoke

HIGHEST_PRIORITY: Final = 7
FOR_EVER: Final = 0xFFFF_FFFF
WHOLE_BODY: Final = 0xFFFF_FFFF


class Access(IntEnum):
    """dwAccess ([MS-MQRR] 3.1.4.2, 3.1.4.11)."""

    RECEIVE = 0x1
    MOVE = 0x4
    PEEK = 0x20


class ShareMode(IntEnum):
    """dwShareMode ([MS-MQRR] 3.1.4.2)."""

    DENY_NONE = 0
    DENY_SHARE = 1


class Ack(IntEnum):
    """dwAck ([MS-MQRR] 3.1.4.9)."""

    RR_NACK = 1
    RR_ACK = 2


class Reading(NamedTuple):
    """The parameters of a read.

    Attributes:
        action: one of the nine values of ulAction.
        timeout: milliseconds to wait for a message; `FOR_EVER`.
        lookup_id: for a `LookupAction`.
        cursor: from `create_cursor`; 0 for none.
    """

    action: ReceiveAction | LookupAction
    timeout: int = 0
    lookup_id: int = 0
    cursor: int = 0
    max_body_size: int = WHOLE_BODY

    @property
    def receives(self) -> bool:
        """Whether the message is locked for this client and has to be ended."""
        return self.action in RECEIVES


RECEIVES: Final = frozenset(
    (
        ReceiveAction.RECEIVE,
        LookupAction.RECEIVE_CURRENT,
        LookupAction.RECEIVE_NEXT,
        LookupAction.RECEIVE_PREV,
    )
)


class ReadCall(NamedTuple):
    """A read in progress.

    Attributes:
        request_id: identifies it among those of its queue.
        number: in place of the sequence of its message, where the server has none.
    """

    request_id: int
    reading: Reading
    invoke: Invoke
    number: int = 0


class RemoteMessage(NamedTuple):
    """A message returned by a read.

    Attributes:
        packet: the UserMessage; its TimeToReachQueue is the time of expiry in [MS-MQRR], and the
            value of the sender in [MS-MQQP].
        lookup_id: rebuilt from the sequence and the priority.
        arrived: seconds since 1970.
        counters: abort count, move count and time of the last move.
        request_id: of the read, for `end`.
        context: the handle of the read in [MS-MQQP], for `end`.
    """

    packet: bytes
    lookup_id: int
    arrived: int
    counters: tuple[int, int, int] = (0, 0, 0)
    request_id: int = 0
    context: bytes = CONTEXT_HANDLE_NULL


class RemoteQueue:
    """An open queue.

    Attributes:
        context: its context handle; NULL when it is closed.
        cursors: the cursors that are open.
        move_context: its number in opnum 10 of RemoteRead, if it was opened to move to.
        handle: its handle in [MS-MQQP].
    """

    __slots__ = ("_next_request_id", "context", "cursors", "handle", "move_context")

    def __init__(self, context: bytes, *, move_context: int = 0, handle: int = 0) -> None:
        self.context = context
        self.move_context: Final = move_context
        self.handle: Final = handle
        self.cursors: set[int] = set()
        self._next_request_id = count(1)

    def next_request_id(self) -> int:
        """A number that no read of this queue has ever had; only after 2**32 reads one repeats."""
        return next(self._next_request_id) & 0xFFFF_FFFF


def lookup_id_of(sequence: int, priority: int) -> int:
    """The lookup identifier of a message, which determines its order in the queue.

    Args:
        sequence: its lower seven bytes.
        priority: of the message.
    """
    return HIGHEST_PRIORITY - priority << SEQUENCE_BITS | sequence & SEQUENCE_MASK


def checked_packet(packet: bytes | None) -> bytes:
    """The packet of a successful read.

    Raises:
        MalformedPacket: there is none.
    """
    if not packet:
        raise MalformedPacket("message packet", 0, "a read succeeded without a message")
    return bytes(packet)

"""Cursors: a place in a queue that outlives the message it stands on ([MS-MQDMPR] 3.2)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

if TYPE_CHECKING:
    from .message import Message
    from .open_queue import OpenQueueDescriptor
    from .queue import Queue

# Smaller than every lookup id.
START: Final = -1


class CursorState(Enum):
    UNREAD = "Unread"
    READ = "Read"
    WAIT_PEEK = "WaitPeek"
    WAIT_RECEIVE = "WaitReceive"


class CursorInput(Enum):
    PEEK_CURRENT = "peek current"
    PEEK_NEXT = "peek next"
    RECEIVE = "receive"


class Seek(Enum):
    """The place at which an operation looks for its message."""

    HERE = "the message that the cursor stands on"
    BEHIND = "the first message behind the cursor"


class CursorOutcome(Enum):
    SUCCEEDED = "Succeeded"
    ALREADY_RECEIVED = "AlreadyReceived"
    WAITING = "Waiting"


_State = CursorState
_Input = CursorInput

# (state, operation) -> where to look, state if found, state if not, outcome if not. A missing row
# is an illegal cursor action; so is a second operation while one waits.
_OPERATIONS: Final = {
    (_State.UNREAD, _Input.PEEK_CURRENT): (
        Seek.BEHIND,
        _State.READ,
        _State.WAIT_PEEK,
        CursorOutcome.WAITING,
    ),
    (_State.READ, _Input.PEEK_CURRENT): (
        Seek.HERE,
        _State.READ,
        _State.READ,
        CursorOutcome.ALREADY_RECEIVED,
    ),
    (_State.READ, _Input.PEEK_NEXT): (
        Seek.BEHIND,
        _State.READ,
        _State.WAIT_PEEK,
        CursorOutcome.WAITING,
    ),
    (_State.UNREAD, _Input.RECEIVE): (
        Seek.BEHIND,
        _State.UNREAD,
        _State.WAIT_RECEIVE,
        CursorOutcome.WAITING,
    ),
    (_State.READ, _Input.RECEIVE): (
        Seek.HERE,
        _State.UNREAD,
        _State.READ,
        CursorOutcome.ALREADY_RECEIVED,
    ),
}
_AFTER_ARRIVAL: Final = {
    _State.WAIT_PEEK: _State.READ,
    _State.WAIT_RECEIVE: _State.UNREAD,
}


class Cursor:
    """A position in one open queue.

    The position is a lookup id, so it stays meaningful when the message is removed. End stores the
    sequence number that was last given out when the cursor got there: everything newer follows
    it, whatever its priority.
    """

    __slots__ = ("descriptor", "end", "handle", "position", "state")

    def __init__(self, handle: int, descriptor: OpenQueueDescriptor) -> None:
        self.handle = handle
        self.descriptor = descriptor
        self.state = CursorState.UNREAD
        self.position = START
        self.end: int | None = None

    def operate(self, queue: Queue, operation: CursorInput) -> tuple[CursorOutcome, Message | None]:
        """Peek or receive through the cursor.

        Raises:
            QueueError: MQ_ERROR_ILLEGAL_CURSOR_ACTION.
        """
        row = _OPERATIONS.get((self.state, operation))
        if row is None:
            raise QueueError(
                Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
                f"{operation.value} is not possible while the cursor is {self.state.value}",
            )
        seek, if_found, if_not, outcome = row
        if seek is Seek.HERE:
            message = queue.lanes.get(self.position)
        else:
            message = self._behind(queue, peek=operation is not CursorInput.RECEIVE)
        if message is None:
            self.state = if_not
            return outcome, None
        self._stand_on(message)
        self.state = if_found
        return CursorOutcome.SUCCEEDED, message

    def _behind(self, queue: Queue, *, peek: bool) -> Message | None:
        if self.end is not None:
            return queue.lanes.newer(self.end)
        return queue.after(self.position, peek=peek)

    def _stand_on(self, message: Message) -> None:
        self.position = message.lookup_id
        self.end = None

    def arrived(self, message: Message) -> None:
        """Message Available ([MS-MQDMPR] 3.2.7.5): what the cursor waited for is here."""
        self.state = _AFTER_ARRIVAL[self.state]
        self._stand_on(message)

    def expired(self, last_sequence: int) -> None:
        """Wait Time Expired ([MS-MQDMPR] 3.2.7.6)."""
        if self.state is CursorState.WAIT_RECEIVE:
            self.end = last_sequence
        self.state = CursorState.UNREAD

    def not_found(self) -> None:
        """A receive that may not wait found nothing: restore the state of the cursor."""
        self.state = CursorState.UNREAD

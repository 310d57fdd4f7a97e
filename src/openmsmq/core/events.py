"""Events of the queue manager that are not the result of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.outgoing_queue import ConnectionHistoryEntry
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.model.read_request import ReadRequest
    from openmsmq.core.transfer.incoming.inlet import InletOwner
    from openmsmq.core.transfer.incoming.received import Received


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event, reported once batch `depends` is durable (0: at once)."""

    depends: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSatisfied(Event):
    """A waiting read is satisfied."""

    read: ReadRequest
    messages: list[Message]
    packets: list[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEnded(Event):
    """A waiting read ends without a message; `code` says why."""

    read: ReadRequest
    code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceptionEnded(Event):
    """Messages of another machine that waited for checks were processed."""

    owner: InletOwner
    read: object
    received: Received


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureFormFound(Event):
    """A source queue manager uses a form of signatures that it did not use before."""

    source: UUID
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesDeleted(Event):
    """Message Position Deleted ([MS-MQDMPR] 3.1.7.2.1) for several messages.

    Covers every message that left for a negative reason, and every received one that asked for
    an acknowledgment or a journal copy or is transactional.
    """

    queue: Queue
    messages: list[Message]
    reason: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesLeftUnread(MessagesDeleted):
    """Message Position Deleted for a negative reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesMoved(Event):
    """An administrator moved messages of an outgoing queue to another queue."""

    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingAvailable(Event):
    """An outgoing queue has new messages; they may leave once batch `depends` is durable."""

    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDropped(Event):
    """A message, a copy of it or an acknowledgment about it could not be placed in a queue.

    `identifier` is that of the message, as in packets; `queue` is the destination of `what`.
    """

    what: str
    queue: str
    identifier: bytes
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCreated(Event):
    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDeleted(Event):
    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueChanged(Event):
    """Attributes of a queue were set."""

    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePaused(Event):
    """Pause Queue ([MS-MQDMPR] 3.1.7.2.3): an outgoing queue is on hold."""

    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResumed(Event):
    """Resume Queue ([MS-MQDMPR] 3.1.7.2.4)."""

    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionNoted(Event):
    """The connection history of an outgoing queue has a new entry."""

    queue: Queue
    entry: ConnectionHistoryEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionActiveChanged(Event):
    """Take Offline and Bring Online ([MS-MQDMPR] 3.1.4.12-13)."""

    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowControlChanged(Event):
    """Begin and End Flow Control ([MS-MQDMPR] 3.1.7.2.5-6): whether messages are refused."""

    throttled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Event):
    """Queue Manager Stopped ([MS-MQDMPR] 3.1.4.2): protocol servers shut down."""

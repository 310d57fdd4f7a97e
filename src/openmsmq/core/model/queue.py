"""A queue: its attributes, its messages and its open handles ([MS-MQDMPR] 3.1.1.2)."""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from openmsmq.core.management.counters import QueueCounters
from openmsmq.directory.objects import QueueObject

from .lanes import Lanes
from .message import Message, PositionState
from .retry_policy import NO_POLICY

if TYPE_CHECKING:
    from openmsmq.core.pipelines.ranges import Pin
    from openmsmq.core.transfer.incoming.streams import IncomingTransactionalTransferInfo

    from .open_queue import OpenQueueDescriptor
    from .outgoing_queue import OutgoingQueue
    from .read_request import ReadRequest

_AVAILABLE: Final = int(PositionState.AVAILABLE)
_LOCKED: Final = int(PositionState.LOCKED)


class QueueType(StrEnum):
    """Queue.QueueType."""

    PRIVATE = "private"
    PUBLIC = "public"
    SYSTEM = "system"
    CONNECTOR = "connector"


class QueueRole(StrEnum):
    """The role of a queue."""

    USER = "queue"
    SUBQUEUE = "subqueue"
    JOURNAL = "journal"
    MACHINE_JOURNAL = "machine_journal"
    DEADLETTER = "deadletter"
    XACT_DEADLETTER = "xact_deadletter"
    INTERNAL = "internal"
    CONNECTOR = "connector"
    OUTGOING = "outgoing"


JOURNALS: Final = frozenset((QueueRole.JOURNAL, QueueRole.MACHINE_JOURNAL))


class Queue:
    """One queue with its messages.

    `lanes` holds the messages that readers may take. `locked` holds those that a transaction or a
    two-phase read has taken and not yet decided on; they keep their place, which is their lookup
    id. `pending` holds messages of uncommitted sends, which readers do not see.
    """

    __slots__ = (
        "born",
        "changed",
        "counters",
        "delayed",
        "deleted",
        "descriptors",
        "expected",
        "incoming",
        "journal",
        "journaled",
        "lanes",
        "locked",
        "number",
        "outgoing",
        "parent",
        "path",
        "peekable",
        "pending",
        "pins",
        "policy",
        "properties",
        "queue_type",
        "reserved_bytes",
        "role",
        "subqueues",
        "total_bytes",
        "waiting",
    )

    def __init__(
        self,
        number: int,
        path: str,
        role: QueueRole,
        queue_type: QueueType,
        properties: QueueObject,
        parent: Queue | None = None,
    ) -> None:
        # Deleted; only its messages remain to be removed.
        self.deleted = False
        # The key of the queue in the store; never reused.
        self.number = number
        # The part of the path name after the computer, such as private$\orders;later.
        self.path = path
        self.role = role
        self.queue_type = queue_type
        self.properties = properties
        self.parent = parent
        self.journal: Queue | None = None
        # Whether the journal has ever held a message: it is looked at only then.
        self.journaled = False
        self.subqueues: dict[str, Queue] = {}
        self.outgoing: OutgoingQueue | None = None
        self.lanes = Lanes()
        self.locked: dict[int, Message] = {}
        self.pending: dict[int, Message] = {}
        # Delayed messages, by the lookup ids that they have until they arrive.
        self.delayed: dict[int, Message] = {}
        # Locked messages with AllowPeekWhenLocked: also in `locked`.
        self.peekable: dict[int, Message] = {}
        self.total_bytes = 0
        # The policy for messages that readers give back again and again.
        self.policy = NO_POLICY
        # Bytes of uncommitted or delayed sends: counted against the quota only.
        self.reserved_bytes = 0
        self.descriptors: dict[int, OpenQueueDescriptor] = {}
        self.waiting: deque[ReadRequest] = deque()
        # The number of messages that transactions will move here when they commit.
        self.expected = 0
        self.incoming: dict[bytes, IncomingTransactionalTransferInfo] = {}
        self.pins: list[Pin] = []
        self.counters = QueueCounters()
        # The samples in which it appeared and in which its counts last changed; see ChangeMarks.
        self.born = 0
        self.changed = 0

    @property
    def count(self) -> int:
        """The number of messages in the queue, locked ones included."""
        return self.lanes.count + len(self.locked)

    @property
    def active(self) -> bool:
        """Active: it is open, or messages wait to be transferred."""
        return bool(self.descriptors) or (self.outgoing is not None and self.count > 0)

    @property
    def family(self) -> Queue:
        """The queue to which a subqueue or a journal belongs; otherwise the queue itself."""
        return self.parent if self.parent is not None else self

    @property
    def subqueue_name(self) -> str:
        """The name of a subqueue within its queue, in lower case; empty for other queues."""
        return self.path.rpartition(";")[2].lower() if self.role is QueueRole.SUBQUEUE else ""

    def lock(self, message: Message, holder: object) -> None:
        """Hide a visible message without giving up its place."""
        self.lanes.remove(message)
        self.hold(message, holder)

    def hold(self, message: Message, holder: object) -> None:
        """Lock a message that is no longer in the lanes."""
        message.state = _LOCKED
        message.holder = holder
        self.locked[message.lookup_id] = message

    def unlock(self, message: Message) -> None:
        """Put a locked message back in its place, visible again."""
        self.forget_locked(message)
        message.state = _AVAILABLE
        message.holder = None
        self.lanes.insert(message)

    def forget_locked(self, message: Message) -> None:
        """Remove a message from the locked ones."""
        del self.locked[message.lookup_id]
        if self.peekable:
            self.peekable.pop(message.lookup_id, None)

    def after(self, lookup_id: int, *, peek: bool) -> Message | None:
        """The next message after this id that is visible to a receive or a peek."""
        first = self.lanes.after(lookup_id)
        if peek and self.peekable:
            for other_id, message in self.peekable.items():
                if other_id > lookup_id and (first is None or other_id < first.lookup_id):
                    first = message
        return first

    def before(self, lookup_id: int, *, peek: bool) -> Message | None:
        """The nearest message before this id that is visible to a receive or a peek."""
        last = self.lanes.before(lookup_id)
        if peek and self.peekable:
            for other_id, message in self.peekable.items():
                if other_id < lookup_id and (last is None or other_id > last.lookup_id):
                    last = message
        return last

    def count_deleted(self, reason: int, count: int) -> None:
        """Count messages that left the queue, by the reason, a message class."""
        deleted = self.counters.deleted
        deleted[reason] = deleted.get(reason, 0) + count

"""Open queues: access rights and sharing ([MS-MQDMPR] 3.1.1.16)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.message.stamping import DestinationStamp
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.names.queue_address_names import address_of

if TYPE_CHECKING:
    from openmsmq.security.caller import Caller

    from .cursor import Cursor
    from .message import Message
    from .queue import Queue


class QueueAccessType(StrEnum):
    """QueueAccessType; the admin ones are for outgoing queues."""

    RECEIVE = "receive"
    SEND = "send"
    PEEK = "peek"
    MOVE = "move"
    RECEIVE_ADMIN = "receive_admin"
    PEEK_ADMIN = "peek_admin"


class RemoteReadState(StrEnum):
    """The party that knows the handle of a descriptor opened for a remote reader."""

    NONE = "none"
    OPENED = "opened"
    READY_FOR_READ = "ready_for_read"


_DIRECT: Final = "DIRECT="
_DIRECT_OS: Final = "DIRECT=OS:"
_RECEIVE: Final = frozenset((QueueAccessType.RECEIVE, QueueAccessType.RECEIVE_ADMIN))
_PEEK: Final = frozenset((QueueAccessType.PEEK, QueueAccessType.PEEK_ADMIN))
MAY_PEEK: Final = _RECEIVE | _PEEK
MAY_RECEIVE: Final = _RECEIVE
# Choice: the right to receive includes moving, as both take the message out of the queue.
MAY_MOVE: Final = _RECEIVE | {QueueAccessType.MOVE}
MAY_SEND: Final = frozenset((QueueAccessType.SEND,))


class OpenQueueDescriptor:
    """One open queue, or several opened together for sending."""

    __slots__ = (
        "_destination",
        "access",
        "caller",
        "children",
        "closed",
        "context_value",
        "cursors",
        "format_name",
        "handle",
        "locked",
        "multiple",
        "queue",
        "remote_read_state",
        "share",
    )

    def __init__(
        self,
        handle: int,
        queue: Queue | None,
        access: QueueAccessType,
        share: ShareMode,
        format_name: str,
        caller: Caller,
        children: list[OpenQueueDescriptor] | None = None,
    ) -> None:
        self.handle = handle
        # Unique like the handle, but a different number, so that one cannot be used as the other.
        self.context_value = handle << 1 | 1
        # None after the queue was deleted, and for several queues.
        self.queue = queue
        self.access = access
        self.share = share
        self.format_name = format_name
        self.caller = caller
        self.multiple = children is not None
        self.children: list[OpenQueueDescriptor] = children or []
        self.remote_read_state = RemoteReadState.NONE
        self.cursors: dict[int, Cursor] = {}
        # Messages of two-phase reads in progress, by lookup id.
        self.locked: dict[int, Message] = {}
        self.closed = False
        self._destination: DestinationStamp | None = None

    @property
    def destination(self) -> DestinationStamp:
        """The name by which it was opened, as in packets.

        Raises:
            QueueError: no packet can carry the name.
        """
        destination = self._destination
        if destination is None:
            name = self.format_name
            if name.startswith(_DIRECT_OS):
                # Most names begin like this, and packets carry them unchanged.
                address = direct_address(name[len(_DIRECT) :])
            else:
                address = address_of(parse_format_name(name))
            destination = self._destination = DestinationStamp(address)
        return destination

    def require(self, allowed: frozenset[QueueAccessType]) -> Queue:
        """The queue, if it still exists and was opened for this access.

        Raises:
            QueueError: closed, deleted, or opened for something else.
        """
        if self.closed:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "the queue was closed")
        if self.queue is None:
            # [MS-MQDMPR] 3.1.7.1.10 and others: the queue of the descriptor was deleted.
            raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE, self.format_name)
        if self.access not in allowed:
            wanted = " or ".join(sorted(name for name in allowed if "_" not in name))
            raise AccessDenied(
                f"{self.format_name} is open for {self.access} only",
                cause=f"This needs the queue to be open for {wanted}.",
                remedy=f"Open the queue for {wanted}.",
            )
        return self.queue


def check_sharing(queue: Queue, access: QueueAccessType, share: ShareMode) -> None:
    """Refuse an open that conflicts with other descriptors of the queue ([MS-MQDMPR] 3.1.7.1.5).

    Raises:
        QueueError: MQ_ERROR_SHARING_VIOLATION.
    """
    deny = share != ShareMode.DENY_NONE
    receives = access in _RECEIVE
    for other in queue.descriptors.values():
        other_deny = other.share != ShareMode.DENY_NONE
        if other.access in _RECEIVE:
            # Two that deny sharing always conflict, and so do a receiver and one that denies.
            violation = deny or (other_deny and receives)
        else:
            violation = other.access in _PEEK and other_deny and receives
        if violation:
            raise _shared(queue, other, deny=deny)


def _shared(queue: Queue, other: OpenQueueDescriptor, *, deny: bool) -> QueueError:
    """The reason why a queue cannot be opened: other handles, or one that denies sharing."""
    code = Hresult.MQ_ERROR_SHARING_VIOLATION
    if not deny or other.share != ShareMode.DENY_NONE:
        return QueueError(
            code,
            f"{other.format_name} is open for {other.access} by a reader that keeps others out",
            remedy="Wait until that reader closes the queue.",
        )
    count = sum([descriptor.access in _RECEIVE for descriptor in queue.descriptors.values()])
    readers = "one reader" if count == 1 else f"{count} readers"
    return QueueError(
        code,
        f"{other.format_name} is open for receive by {readers}, so it cannot be opened exclusively",
        remedy=(
            "Close the other readers, or read beside them: with share mode deny_none, "
            "in Spark with consume=lease."
        ),
    )

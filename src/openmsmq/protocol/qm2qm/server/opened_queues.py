"""Queues opened by qmcomm, and the sessions of qm2qm that read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.open_queue import RemoteReadState
from openmsmq.protocol.remote_read.server.pending import PendingReceives
from openmsmq.protocol.remote_read.server.remote_queue import RemoteQueue

if TYPE_CHECKING:
    from openmsmq.core.model.open_queue import QueueAccessType
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.remote_read.settings import RemoteReadSettings
    from openmsmq.security.caller import Caller
    from openmsmq.wire.codes.queue_enums import ShareMode
    from openmsmq.wire.names.format_name import FormatName

# [MS-MQQP] 3.1.5 has no timer: a message stays locked until its receive or its client ends.
_NEVER: Final = float("inf")


class OpenedQueue:
    """A queue with one number: opened by qmcomm, and read by one session of qm2qm.

    Attributes:
        number: the DWORD that identifies it to clients.
        queue: the open queue.
        opener: the client that opened it by qmcomm.
        reader: the client with the session of qm2qm; None without one.
        running: the reads that have no answer yet: keys of `queue` by dwRequestID.
    """

    __slots__ = ("_last_key", "number", "opener", "queue", "reader", "running")

    def __init__(self, number: int, queue: RemoteQueue, opener: Caller) -> None:
        self.number = number
        self.queue: Final = queue
        self.opener: Final = opener
        self.reader: Caller | None = None
        self.running: dict[int, int] = {}
        self._last_key = 0

    @property
    def claimed(self) -> bool:
        """Whether a session of qm2qm uses it."""
        return self.queue.descriptor.remote_read_state is RemoteReadState.READY_FOR_READ

    def claim(self, reader: Caller) -> None:
        """Assign it to a session."""
        self.reader = reader
        self.queue.descriptor.remote_read_state = RemoteReadState.READY_FOR_READ

    def run(self, request_id: int) -> int:
        """A read begins; return its key, which is never reused, while dwRequestID may be."""
        self._last_key += 1
        self.running[request_id] = self._last_key
        return self._last_key

    def finish(self, request_id: int, key: int) -> None:
        """A read is over; its client may have begun another one with the same id."""
        if self.running.get(request_id) == key:
            del self.running[request_id]


class OpenedQueues:
    """All queues that were opened by qmcomm and are not closed.

    Args:
        settings: the limits.
        random_bytes: creates unguessable numbers.
    """

    def __init__(
        self,
        manager: QueueManager,
        settings: RemoteReadSettings,
        *,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._manager = manager
        self._settings = settings
        self._random_bytes = random_bytes
        self._pending = PendingReceives(lambda: manager.now, _NEVER)
        self._queues: dict[int, OpenedQueue] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def open(
        self, name: FormatName, access: QueueAccessType, *, share: ShareMode, caller: Caller
    ) -> OpenedQueue:
        """Open a queue.

        Raises:
            QueueError: as `QueueManager.open_queue`.
        """
        queue = RemoteQueue(self._manager, self._pending, self._settings)
        queue.open(name, access, share=share, caller=caller)
        queue.descriptor.remote_read_state = RemoteReadState.OPENED
        number = 0
        while number == 0 or number in self._queues:
            number = int.from_bytes(self._random_bytes(4), "little")
        opened = self._queues[number] = OpenedQueue(number, queue, caller)
        return opened

    def unclaimed(self, number: int) -> OpenedQueue | None:
        """A queue that no session uses yet."""
        opened = self._queues.get(number)
        return None if opened is None or opened.claimed else opened

    def session(self, number: int, caller: Caller) -> OpenedQueue | None:
        """A queue that a session of this caller uses."""
        opened = self._queues.get(number)
        if opened is None or opened.reader is None or opened.reader.sid != caller.sid:
            return None
        return opened

    def find(self, number: int, caller: Caller) -> OpenedQueue | None:
        """A queue that this caller opened, or that a session of this caller uses."""
        opened = self._queues.get(number)
        if opened is not None and opened.opener.sid == caller.sid:
            return opened
        return self.session(number, caller)

    def close(self, opened: OpenedQueue) -> None:
        """Close a queue: its reads are cancelled, messages go back in place."""
        del self._queues[opened.number]
        opened.queue.close()

    def drop(self, opened: OpenedQueue) -> None:
        """The opener no longer needs its handle: without a session the queue is closed.

        [MS-MQMP] 3.1.4.3: only while RemoteReadState is Opened.
        """
        if not opened.claimed:
            self.close(opened)

"""Holder: the open queues, transactions and waiting reads of one client.

A session of the local protocol is a holder, and so is anything else that stands for one client of
the queue manager: closing the holder releases everything that the client left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError

from .queue_manager import QueueManager
from .transactions.transactions import TransactionState

if TYPE_CHECKING:
    from openmsmq.core.model.cursor import Cursor
    from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
    from openmsmq.core.model.read_request import ReadRequest
    from openmsmq.core.outbox import Result
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.security.caller import Caller
    from openmsmq.wire.names.format_name import FormatName


class HolderLimits(NamedTuple):
    """How much one client may hold at a time."""

    # More than the number of queues that a client keeps open to send by name.
    queues: int = 32_768
    cursors: int = 10_000
    transactions: int = 1_000
    waiting_reads: int = 10_000


DEFAULT_LIMITS: Final = HolderLimits()


class Holder:
    """The resources of one client.

    Queues and cursors get numbers that are never reused; for a queue the client may choose a
    negative one. It numbers its transactions and its waiting reads itself; 0 stands for no cursor
    and no transaction.
    """

    __slots__ = (
        "_last_handle",
        "_limits",
        "_manager",
        "_stopped",
        "cursors",
        "open",
        "transactions",
        "waiting",
    )

    def __init__(self, manager: QueueManager, limits: HolderLimits = DEFAULT_LIMITS) -> None:
        self._manager = manager
        self._limits = limits
        self._last_handle = 0
        self._stopped = False
        self.open: dict[int, OpenQueueDescriptor] = {}
        self.cursors: dict[int, Cursor] = {}
        self.transactions: dict[int, Transaction] = {}
        # Added by the requester of the read, removed by the owner of the read when it ends.
        self.waiting: dict[int, ReadRequest] = {}

    def _new_handle(self) -> int:
        self._last_handle += 1
        return self._last_handle

    # Open queues

    def open_queue(
        self,
        name: str | FormatName,
        access: QueueAccessType,
        *,
        caller: Caller,
        share: ShareMode = ShareMode.DENY_NONE,
        handle: int = 0,
    ) -> int:
        """Open a queue; return its handle.

        Args:
            handle: a negative number chosen by the client; 0 to be given one.

        Raises:
            QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES, MQ_ERROR_INVALID_HANDLE, and as
                `QueueManager.open_queue`.
        """
        require_room(len(self.open), self._limits.queues, "queues open")
        if handle > 0 or handle in self.open:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_HANDLE, f"{handle} cannot name another open queue"
            )
        descriptor = self._manager.open_queue(name, access, caller=caller, share=share)
        handle = handle or self._new_handle()
        self.open[handle] = descriptor
        return handle

    def descriptor(self, handle: int) -> OpenQueueDescriptor:
        """An open queue of this client.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE.
        """
        descriptor = self.open.get(handle)
        if descriptor is None:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, f"no queue is open as {handle}")
        return descriptor

    def close_queue(self, handle: int) -> None:
        """Close a queue and its cursors; its reads end, messages that it locked go back in place.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE.
        """
        descriptor = self.descriptor(handle)
        del self.open[handle]
        for number, cursor in list(self.cursors.items()):
            if cursor.descriptor is descriptor:
                del self.cursors[number]
        self._manager.close_queue(descriptor)

    # Cursors

    def open_cursor(self, handle: int) -> int:
        """Open a cursor of an open queue; return its number.

        Raises:
            QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES, MQ_ERROR_INVALID_HANDLE,
                MQ_ERROR_QUEUE_NOT_AVAILABLE.
        """
        require_room(len(self.cursors), self._limits.cursors, "cursors open")
        cursor = self._manager.open_cursor(self.descriptor(handle))
        if cursor is None:
            raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE, "the queue was deleted")
        number = self._new_handle()
        self.cursors[number] = cursor
        return number

    def cursor(self, number: int) -> Cursor | None:
        """A cursor of this client.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE.
        """
        if number == 0:
            return None
        cursor = self.cursors.get(number)
        if cursor is None:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, f"no cursor is open as {number}")
        return cursor

    def close_cursor(self, number: int) -> None:
        """Close a cursor; reads that wait through it end.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE.
        """
        cursor = self.cursor(number)
        if cursor is not None:
            del self.cursors[number]
            self._manager.close_cursor(cursor)

    # Transactions

    def begin(self, number: int, identifier: UUID) -> None:
        """Begin a transaction under a number of the client's choice.

        Raises:
            QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES, MQ_ERROR_TRANSACTION_SEQUENCE.
        """
        require_room(len(self.transactions), self._limits.transactions, "transactions open")
        if number <= 0 or number in self.transactions:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, f"{number} cannot name a new transaction"
            )
        self.transactions[number] = self._manager.traffic.begin(identifier)

    def transaction(self, number: int) -> Transaction | None:
        """A transaction of this client.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE.
        """
        if number == 0:
            return None
        transaction = self.transactions.get(number)
        if transaction is None:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, f"no transaction is open as {number}"
            )
        return transaction

    def release(self, number: int) -> None:
        """Hand over a transaction whose outcome no longer depends on this client."""
        del self.transactions[number]

    def end(self, number: int, *, commit: bool) -> Result:
        """Commit or abort a transaction.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, and the errors of the commit.
        """
        transaction = self.transaction(number)
        if transaction is None:
            raise QueueError(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "0 is not a transaction")
        del self.transactions[number]
        if commit:
            return self._manager.traffic.commit(transaction.identifier)
        return self._manager.traffic.abort(transaction.identifier)

    # Waiting reads

    def require_wait(self, number: int) -> None:
        """Refuse a read that may have to wait if it could not be kept.

        Raises:
            QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES, MQ_ERROR_INVALID_PARAMETER.
        """
        require_room(len(self.waiting), self._limits.waiting_reads, "reads waiting")
        if number in self.waiting:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"request {number} is still waiting"
            )

    def cancel(self, number: int) -> bool:
        """End a waiting read; False if there is none, or its messages are on their way."""
        read = self.waiting.get(number)
        if read is None or read.descriptor.queue is None:
            return False
        code = Hresult.MQ_ERROR_OPERATION_CANCELLED
        return self._manager.traffic.cancel(read.descriptor.queue, read.tag, code) == Hresult.MQ_OK

    def pause(self) -> None:
        """The client cannot take more for now: its waiting reads let others go first."""
        self._manager.traffic.pause_reads(self.waiting.values())

    def resume(self) -> None:
        """The client can take messages again."""
        if not self._stopped:
            self._manager.traffic.resume_reads(list(self.waiting.values()))

    # The end

    def stop(self) -> None:
        """The client is about to be disconnected: its waiting reads take no more messages."""
        self._stopped = True
        for read in self.waiting.values():
            read.paused = True

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        # Its reads end with its queues; until then they take none of the messages that go back.
        self.stop()
        for transaction in self.transactions.values():
            # A coordinator, or the loss of a participant, may have ended it before.
            if transaction.state is not TransactionState.FINISHED:
                self._manager.traffic.abort(transaction.identifier)
        self.transactions.clear()
        for descriptor in self.open.values():
            self._manager.close_queue(descriptor)
        self.open.clear()
        self.cursors.clear()
        self.waiting.clear()


def require_room(count: int, limit: int, what: str) -> None:
    """Refuse a client that exceeds its limit.

    Raises:
        QueueError: MQ_ERROR_INSUFFICIENT_RESOURCES.
    """
    if count >= limit:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, f"one client may have {limit} {what} at a time"
        )

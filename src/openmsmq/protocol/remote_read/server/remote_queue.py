"""RemoteQueue: a queue that a remote client has open, with all resources of the client there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.core.holder import Holder, HolderLimits, require_room
from openmsmq.core.model.open_queue import MAY_RECEIVE
from openmsmq.core.model.read import Read
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_HANDLE
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError

from .actions import Action, Kind

if TYPE_CHECKING:
    from openmsmq.core.events import ReadEnded, ReadSatisfied
    from openmsmq.core.model.cursor import Cursor
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.protocol.remote_read.settings import RemoteReadSettings
    from openmsmq.security.caller import Caller
    from openmsmq.wire.names.format_name import FormatName

    from .pending import PendingReceives


class ReadCall(Protocol):
    """The call of a client that requested a read, and gets one result."""

    @property
    def abandoned(self) -> bool:
        """Whether the client no longer wants the result."""

    def found(self, message: Message, packet: bytes, depends: int) -> None:
        """The message, which may be shown once batch `depends` is on disk."""

    def failed(self, code: int) -> None:
        """There is no message."""


class RemoteQueue:
    """The object of one context handle of a client.

    A receive hands out a message in two steps: the message stays locked until the client ends the
    receive, disconnects, or exceeds the time limit.

    Attributes:
        holder: the open queue, its cursors and its waiting reads.
        descriptor: the open queue.
        handed_out: the number of messages that the client received.
        receives: the lookup ids of messages handed out and not ended, by request id.
    """

    __slots__ = (
        "_manager",
        "_max_reads",
        "_pending",
        "descriptor",
        "handed_out",
        "holder",
        "number",
        "receives",
        "transactions",
    )

    def __init__(
        self, manager: QueueManager, pending: PendingReceives, settings: RemoteReadSettings
    ) -> None:
        self._manager = manager
        self._pending = pending
        self._max_reads = settings.max_waiting_reads
        limits = HolderLimits(
            queues=1,
            cursors=settings.max_cursors,
            transactions=0,
            waiting_reads=settings.max_waiting_reads,
        )
        self.holder: Final = Holder(manager, limits)
        self.number = 0
        self.handed_out = 0
        self.descriptor: OpenQueueDescriptor
        self.receives: dict[int, int] = {}
        # Of those that are in a transaction, also by request id.
        self.transactions: dict[int, Transaction] = {}

    def open(
        self, name: FormatName, access: QueueAccessType, *, share: ShareMode, caller: Caller
    ) -> None:
        """Open the queue.

        Raises:
            QueueError: as `QueueManager.open_queue`.
        """
        self.number = self.holder.open_queue(name, access, caller=caller, share=share)
        self.descriptor = self.holder.descriptor(self.number)

    def close(self) -> None:
        """The client has closed the queue or disconnected: reads end, messages go back in place."""
        for request_id in self.receives:
            self._pending.stop(self, request_id)
        for request_id in list(self.transactions):
            self._take_out(request_id, self.receives[request_id])
        self.receives.clear()
        self.holder.close()

    # Cursors

    def cursor(self, number: int, code: int = STATUS_INVALID_HANDLE) -> Cursor | None:
        """A cursor of this queue; None for 0.

        Raises:
            QueueError: there is none; `code` says so.
        """
        try:
            return self.holder.cursor(number)
        except QueueError as exc:
            raise QueueError(code, exc.detail) from exc

    # Reads

    def start(
        self,
        action: Action,
        call: ReadCall,
        *,
        request_id: int,
        lookup_id: int,
        cursor: Cursor | None,
        timeout: float | None,
        transaction: Transaction | None = None,
    ) -> None:
        """Read a message, at once or when one arrives; `call` gets the result.

        Args:
            transaction: locks a message that is received.

        Raises:
            QueueError: no message is available.
        """
        self._check_request(request_id, receive=action.receive)
        manager, descriptor = self._manager, self.descriptor
        if action.kind is Kind.LOOKUP:
            read = manager.traffic.read_by_lookup_id(
                descriptor,
                lookup_id,
                action.seek,
                transaction=transaction,
                receive=action.receive,
                two_phase=action.receive and transaction is None,
            )
            self._hand_out(call, request_id, read, transaction, receive=action.receive)
            return
        waiter = WaitingCall(self, request_id, call, transaction, receive=action.receive)
        if action.receive:
            result = manager.traffic.dequeue_many(
                descriptor,
                timeout=timeout,
                cursor=cursor,
                transaction=transaction,
                two_phase=transaction is None,
                tag=waiter,
            )
        else:
            result = manager.traffic.peek_many(
                descriptor,
                timeout=timeout,
                cursor=cursor,
                next_message=action.kind is Kind.NEXT,
                tag=waiter,
            )
        if isinstance(result, Read):
            self._hand_out(call, request_id, result, transaction, receive=action.receive)
        else:
            self.holder.waiting[request_id] = result

    def _check_request(self, request_id: int, *, receive: bool) -> None:
        self.holder.require_wait(request_id)
        if not receive:
            return
        self.descriptor.require(MAY_RECEIVE)
        # [MS-MQRR] 3.1.4.7: a request id names one receive at a time.
        if request_id in self.receives:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"request {request_id} has not been ended"
            )
        count = len(self.receives) + len(self.holder.waiting)
        require_room(count, self._max_reads, "reads waiting or not ended")

    def _hand_out(
        self,
        call: ReadCall,
        request_id: int,
        read: Read,
        transaction: Transaction | None,
        *,
        receive: bool,
    ) -> None:
        self.hand_out(
            call,
            request_id,
            read.messages[0],
            read.packets[0],
            read.depends,
            transaction,
            receive=receive,
        )

    def hand_out(
        self,
        call: ReadCall,
        request_id: int,
        message: Message,
        packet: bytes,
        depends: int,
        transaction: Transaction | None,
        *,
        receive: bool,
    ) -> None:
        """Send a message to the client, or give it back if the client no longer waits."""
        if transaction is not None:
            if not self._hold(call, request_id, message, transaction):
                return
        elif receive:
            if message.lookup_id not in self.descriptor.locked:
                # The queue was closed or deleted in the same turn, and the message with it.
                call.failed(Hresult.MQ_ERROR_OPERATION_CANCELLED)
                return
            if call.abandoned:
                self._manager.traffic.end_many(self.descriptor, [message.lookup_id], delete=False)
                return
            self.receives[request_id] = message.lookup_id
            self._pending.start(self, request_id)
        self.handed_out += 1
        call.found(message, packet, depends)

    # Receives in a transaction

    def _hold(
        self, call: ReadCall, request_id: int, message: Message, transaction: Transaction
    ) -> bool:
        """A transaction received a message; return whether the client gets it."""
        if message.holder is not transaction:
            # The transaction or the queue ended in the same turn.
            call.failed(Hresult.MQ_ERROR_OPERATION_CANCELLED)
            return False
        if call.abandoned:
            self._manager.traffic.take_out_many(transaction, message.queue, [message.lookup_id])
            return False
        self.receives[request_id] = message.lookup_id
        self.transactions[request_id] = transaction
        # No commit before the client has confirmed that it received the message.
        transaction.unended += 1
        self._pending.start(self, request_id)
        return True

    def end_transactional(self, request_id: int, *, keep: bool) -> None:
        """End a receive that is in a transaction: leave it there, or remove it.

        Raises:
            QueueError: as `end`; MQ_ERROR_TRANSACTION_SEQUENCE when it is in no transaction, or
                the transaction is over.
        """
        transaction = self.transactions.get(request_id)
        if transaction is None:
            # Whatever the client requests, the message goes back.
            self.end(request_id, delete=False)
            if keep:
                raise QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "the receive is in no transaction"
                )
            return
        lookup_id = self.receives[request_id]
        if not keep:
            self._take_out(request_id, lookup_id)
            return
        self._forget(request_id)
        queue = self.descriptor.require(MAY_RECEIVE)
        message = queue.locked.get(lookup_id)
        if message is None or message.holder is not transaction:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"{queue.path}: message {lookup_id} is not in the transaction any more",
            )

    def _forget(self, request_id: int) -> None:
        self._pending.stop(self, request_id)
        del self.receives[request_id]
        self.transactions.pop(request_id).unended -= 1

    def _take_out(self, request_id: int, lookup_id: int) -> None:
        """Release a message that a transaction had received to other readers."""
        transaction = self.transactions[request_id]
        self._forget(request_id)
        queue = self.descriptor.queue
        if queue is not None:
            self._manager.traffic.take_out_many(transaction, queue, [lookup_id])

    def cancel(self, request_id: int) -> bool:
        """End a waiting read; False if none waits with this id."""
        return self.holder.cancel(request_id)

    def end(self, request_id: int, *, delete: bool) -> int:
        """End a receive: delete the message or put it back; return the batch that stores it.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE without any receive to end, ..._INVALID_PARAMETER
                without this one, ..._MESSAGE_NOT_FOUND when the message is gone,
                ..._TRANSACTION_SEQUENCE when it is not locked any more.
        """
        if not self.receives:
            raise QueueError(Hresult.MQ_ERROR_INVALID_HANDLE, "no receive is to be ended")
        if request_id in self.transactions:
            # [MS-MQRR] 3.1.4.9: it does not end such a receive, so the message is released.
            self._take_out(request_id, self.receives[request_id])
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "the receive is in a transaction"
            )
        lookup_id = self.receives.pop(request_id, None)
        if lookup_id is None:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"request {request_id} received no message"
            )
        self._pending.stop(self, request_id)
        if not self._is_there(lookup_id):
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{self.descriptor.format_name}: {lookup_id}"
            )
        return self._manager.traffic.end_many(self.descriptor, [lookup_id], delete=delete).depends

    def _is_there(self, lookup_id: int) -> bool:
        """Whether a message that was handed out is in its queue, locked or not."""
        queue = self.descriptor.queue
        return queue is not None and (
            lookup_id in queue.locked or queue.lanes.get(lookup_id) is not None
        )

    def give_back(self, request_id: int) -> None:
        """The client exceeded the time limit ([MS-MQRR] 3.1.5.1): others get the message."""
        if request_id in self.transactions:
            self._take_out(request_id, self.receives[request_id])
            return
        lookup_id = self.receives.pop(request_id)
        if lookup_id in self.descriptor.locked:
            self._manager.traffic.end_many(self.descriptor, [lookup_id], delete=False)


class WaitingCall:
    """A waiting read: its owner for the queue manager."""

    __slots__ = ("_call", "_queue", "_receive", "_request_id", "_transaction")

    def __init__(
        self,
        queue: RemoteQueue,
        request_id: int,
        call: ReadCall,
        transaction: Transaction | None,
        *,
        receive: bool,
    ) -> None:
        self._queue = queue
        self._request_id = request_id
        self._call = call
        self._transaction = transaction
        self._receive = receive

    def satisfied(self, event: ReadSatisfied) -> None:
        """The read got a message."""
        self._queue.holder.waiting.pop(self._request_id, None)
        self._queue.hand_out(
            self._call,
            self._request_id,
            event.messages[0],
            event.packets[0],
            event.depends,
            self._transaction,
            receive=self._receive,
        )

    def ended(self, event: ReadEnded) -> None:
        """The read ended without a message."""
        self._queue.holder.waiting.pop(self._request_id, None)
        self._call.failed(event.code)

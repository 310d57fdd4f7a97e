"""Calls in transactions of other machines: opnums 12 to 15 ([MS-MQRR] 3.1.4.12-15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.model.open_queue import MAY_RECEIVE
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.rpc_interfaces.common import ResultResponse

from .actions import check_combination

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.protocol.coordinator import Participant
    from openmsmq.protocol.rpc.server import ServerCall
    from openmsmq.wire.rpc_interfaces import remote_read as calls

    from .remote_queue import RemoteQueue

_MQ_OK: Final = int(Hresult.MQ_OK)
_RR_ACK: Final = 2
XACTUOW_NULL: Final = bytes(16)

StartReceive = Callable[
    ["ServerCall", "calls.StartTransactionalReceiveRequest", "Transaction | None"], None
]


class TransactionalCalls:
    """The operations of a server of remote read in transactions.

    Args:
        participant: takes part in transactions of other machines; None refuses them.
        start_receive: reads a message, in a transaction or in none.
    """

    __slots__ = ("_manager", "_participant", "_start_receive")

    def __init__(
        self, manager: QueueManager, participant: Participant | None, start_receive: StartReceive
    ) -> None:
        self._manager = manager
        self._participant = participant
        self._start_receive = start_receive

    def known(self, identifier: bytes, call: ServerCall) -> Transaction | None:
        """The transaction that the caller has enlisted; None if there is none."""
        try:
            return self.find(identifier, call)
        except QueueError:
            return None

    def find(self, identifier: bytes, call: ServerCall) -> Transaction:
        """The transaction that the caller has enlisted.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE.
        """
        return self._manager.enlisted.transaction(
            UUID(bytes_le=identifier), call.caller.sid.serialize()
        )

    def enlist(self, call: ServerCall, request: calls.QMEnlistRemoteTransactionRequest) -> None:
        """R_QMEnlistRemoteTransaction; pQueueFormat is ignored, as by Windows (note 28)."""
        if self._participant is None:
            raise QueueError(
                Hresult.MQ_ERROR_DTC_CONNECT, "no coordinator of another machine can be reached"
            )
        self._participant.enlist(
            UUID(bytes_le=request.p_transaction_id),
            request.pb_propagation_token,
            address=call.connection.address,
            caller=call.caller.sid.serialize(),
            owner=_Enlisting(call),
        )

    def start_receive(
        self, call: ServerCall, request: calls.StartTransactionalReceiveRequest
    ) -> None:
        """R_StartTransactionalReceive."""
        if request.p_transaction_id == XACTUOW_NULL:
            self._start_receive(call, request, None)
            return
        action = check_combination(
            request.ul_action, request.lookup_id, request.h_cursor, request.ul_timeout
        )
        remote = _queue_of(call)
        remote.cursor(request.h_cursor)
        queue = remote.descriptor.require(MAY_RECEIVE)
        if not queue.properties.transactional or not action.receive:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE, f"{queue.path}: not a transactional receive"
            )
        # Choice: an unknown transaction is refused; one without a name would never be decided
        # ([MS-MQRR] 3.1.4.13).
        self._start_receive(call, request, self.find(request.p_transaction_id, call))

    def end_receive(self, call: ServerCall, request: calls.EndReceiveRequest) -> None:
        """R_EndTransactionalReceive."""
        _queue_of(call).end_transactional(request.dw_request_id, keep=request.dw_ack == _RR_ACK)
        call.reply(ResultResponse(_MQ_OK))

    def set_class(
        self, call: ServerCall, request: calls.SetUserAcknowledgementClassRequest
    ) -> None:
        """R_SetUserAcknowledgementClass."""
        if request.us_class not in (0, MessageClass.NACK_RECEIVE_REJECTED):
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"{request.us_class:#x} is not a rejection"
            )
        if request.us_class:
            self._reject(call, request.lookup_id)
        call.reply(ResultResponse(_MQ_OK))

    def _reject(self, call: ServerCall, lookup_id: int) -> None:
        queue = _queue_of(call).descriptor.require(MAY_RECEIVE)
        message = queue.locked.get(lookup_id)
        if message is None and queue.lanes.get(lookup_id) is None:
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: no message {lookup_id}"
            )
        caller = call.caller.sid.serialize()
        for enlistment in self._manager.enlisted:
            if message is not None and enlistment.owner == caller:
                transaction = self._manager.enlisted.transaction(enlistment.transaction, caller)
                if message.holder is transaction:
                    self._manager.traffic.reject_many(transaction, queue, [lookup_id])
                    return
        raise QueueError(
            Hresult.MQ_ERROR_TRANSACTION_USAGE,
            f"{queue.path}: message {lookup_id} is not in a transaction of this client",
        )


class _Enlisting:
    """A call of R_QMEnlistRemoteTransaction, until the coordinator has agreed."""

    __slots__ = ("_call",)

    def __init__(self, call: ServerCall) -> None:
        self._call = call

    def enlisted(self) -> None:
        self._call.reply(ResultResponse(_MQ_OK))

    def refused(self, error: QueueError) -> None:
        self._call.fail(error.code)


def _queue_of(call: ServerCall) -> RemoteQueue:
    """The queue behind the handle of a call."""
    assert call.handle is not None, "the runtime refuses NULL handles"  # noqa: S101
    queue: RemoteQueue = call.handle.value
    return queue

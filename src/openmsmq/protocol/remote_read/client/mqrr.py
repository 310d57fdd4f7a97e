"""RemoteRead ([MS-MQRR] 3.2): the calls of a client."""

from typing import Final

from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.ndr import Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage, split_packet
from openmsmq.wire.remote_read.section_buffer import join_sections
from openmsmq.wire.rpc_interfaces.remote_read import (
    R_CANCEL_RECEIVE,
    R_CLOSE_CURSOR,
    R_CLOSE_QUEUE,
    R_CREATE_CURSOR,
    R_END_RECEIVE,
    R_END_TRANSACTIONAL_RECEIVE,
    R_MOVE_MESSAGE,
    R_OPEN_QUEUE,
    R_OPEN_QUEUE_FOR_MOVE,
    R_PURGE_QUEUE,
    R_QM_ENLIST_REMOTE_TRANSACTION,
    R_SET_USER_ACKNOWLEDGEMENT_CLASS,
    R_START_RECEIVE,
    R_START_TRANSACTIONAL_RECEIVE,
    CancelReceiveRequest,
    CloseCursorRequest,
    CloseQueueRequest,
    EndReceiveRequest,
    HandleRequest,
    MoveMessageRequest,
    OpenQueueForMoveResponse,
    OpenQueueRequest,
    OpenQueueResponse,
    QMEnlistRemoteTransactionRequest,
    SetUserAcknowledgementClassRequest,
    StartReceiveRequest,
    StartReceiveResponse,
    StartTransactionalReceiveRequest,
)

from .errors import check, queue_error
from .open_queue import close_queue, open_cursor
from .read_protocol import ClientIdentity
from .remote_queue import (
    Access,
    Ack,
    ReadCall,
    Reading,
    RemoteMessage,
    RemoteQueue,
    ShareMode,
    checked_packet,
    lookup_id_of,
)
from .steps import Invoke, Steps

NO_TRANSACTION: Final = bytes(16)
# Abort count, move count and time of the last move.
Counters = tuple[int, int, int]
NO_COUNTERS: Final[Counters] = (0, 0, 0)


class RemoteReadProtocol:
    """A `ReadProtocol` over one connection to the interface RemoteRead.

    Args:
        connection: the number returned by `Connect`.
        identity: the identity of the client.
    """

    name: Final = "MS-MQRR"
    tells_order: Final = True

    def __init__(self, connection: int, identity: ClientIdentity) -> None:
        self._connection = connection
        self._identity = identity
        # The last headers after a UserMessage, and their counters.
        self._headers = b""
        self._headers_counters = NO_COUNTERS

    # Any: the request of any operation.
    def _invoke(self, call: Call, request: object, *, waits: bool = False) -> Invoke:
        return Invoke(self._connection, REMOTE_READ, call, request, waits)

    # Queues

    def open(
        self, queue_format: QueueFormat, access: Access, share_mode: ShareMode
    ) -> Steps[RemoteQueue]:
        identity = self._identity
        request = OpenQueueRequest(
            p_queue_format=queue_format,
            dw_access=access,
            # [MS-MQRR] 3.1.4.11: a queue to move to is shared.
            dw_share_mode=ShareMode.DENY_NONE if access is Access.MOVE else share_mode,
            p_client_id=identity.client_id,
            f_non_routing_server=1,
            major=identity.major,
            minor=identity.minor,
            build_number=identity.build_number,
            f_workgroup=int(identity.workgroup),
        )
        try:
            if access is Access.MOVE:
                target: OpenQueueForMoveResponse = yield self._invoke(
                    R_OPEN_QUEUE_FOR_MOVE, request
                )
                return RemoteQueue(target.pph_context, move_context=target.p_move_context)
            opened: OpenQueueResponse = yield self._invoke(R_OPEN_QUEUE, request)
        except RpcFault as exc:
            raise queue_error(exc) from exc
        return RemoteQueue(opened.pph_context)

    def close(self, queue: RemoteQueue) -> Steps[None]:
        return close_queue(
            queue,
            self.close_cursor,
            lambda context: self._invoke(R_CLOSE_QUEUE, CloseQueueRequest(context)),
        )

    # Reading

    def read(self, queue: RemoteQueue, reading: Reading) -> ReadCall:
        request_id = queue.next_request_id()
        request = StartReceiveRequest(
            ph_context=queue.context,
            lookup_id=reading.lookup_id,
            h_cursor=reading.cursor,
            ul_action=reading.action,
            ul_timeout=reading.timeout,
            dw_request_id=request_id,
            dw_max_body_size=reading.max_body_size,
            dw_max_compound_message_size=reading.max_body_size,
        )
        return ReadCall(
            request_id,
            reading,
            self._invoke(R_START_RECEIVE, request, waits=reading.timeout != 0),
        )

    def message(
        self,
        queue: RemoteQueue,  # noqa: ARG002 - the interface of both protocols
        read: ReadCall,
        response: StartReceiveResponse,
    ) -> RemoteMessage:
        check(response)
        packet = checked_packet(join_sections(response.pp_packet_sections))
        user_packet, _, end, priority = split_packet(packet)
        return RemoteMessage(
            user_packet,
            lookup_id_of(response.p_sequence_id, priority),
            response.pdw_arrive_time,
            self._counters(packet, end) if end < len(packet) else NO_COUNTERS,
            request_id=read.request_id,
        )

    def _counters(self, packet: bytes, start: int) -> Counters:
        """The counters in the headers after a UserMessage, which are equal for most messages."""
        headers = packet[start:]
        if headers != self._headers:
            subqueue = RemoteReadMessage.parse(packet).subqueue
            self._headers = headers
            self._headers_counters = (
                NO_COUNTERS
                if subqueue is None
                else (subqueue.abort_counter, subqueue.move_counter, subqueue.last_move_time)
            )
        return self._headers_counters

    def give_back(
        self,
        queue: RemoteQueue,
        read: ReadCall,
        response: StartReceiveResponse,  # noqa: ARG002 - the interface of both protocols
    ) -> Invoke:
        return self._end(queue, Ack.RR_NACK, read.request_id)

    def end(self, queue: RemoteQueue, message: RemoteMessage, ack: Ack) -> Invoke:
        return self._end(queue, ack, message.request_id)

    def _end(self, queue: RemoteQueue, ack: Ack, request_id: int) -> Invoke:
        return self._invoke(R_END_RECEIVE, EndReceiveRequest(queue.context, ack, request_id))

    def cancel(self, queue: RemoteQueue, request_id: int) -> Invoke:
        return self._invoke(R_CANCEL_RECEIVE, CancelReceiveRequest(queue.context, request_id))

    # Cursors

    def create_cursor(self, queue: RemoteQueue) -> Steps[int]:
        return open_cursor(queue, self._invoke(R_CREATE_CURSOR, HandleRequest(queue.context)))

    def close_cursor(self, queue: RemoteQueue, cursor: int) -> Invoke:
        queue.cursors.discard(cursor)
        return self._invoke(R_CLOSE_CURSOR, CloseCursorRequest(queue.context, cursor))

    # Transactions

    def enlist(self, transaction: bytes, token: bytes, queue_format: QueueFormat) -> Invoke:
        """Enlist the server in a transaction; must come before its first operation."""
        request = QMEnlistRemoteTransactionRequest(transaction, token, queue_format)
        return self._invoke(R_QM_ENLIST_REMOTE_TRANSACTION, request)

    def read_in(self, transaction: bytes, queue: RemoteQueue, reading: Reading) -> ReadCall:
        """The call that receives one message in a transaction."""
        request_id = queue.next_request_id()
        request = StartTransactionalReceiveRequest(
            ph_context=queue.context,
            lookup_id=reading.lookup_id,
            h_cursor=reading.cursor,
            ul_action=reading.action,
            ul_timeout=reading.timeout,
            dw_request_id=request_id,
            dw_max_body_size=reading.max_body_size,
            dw_max_compound_message_size=reading.max_body_size,
            p_transaction_id=transaction,
        )
        return ReadCall(
            request_id,
            reading,
            self._invoke(R_START_TRANSACTIONAL_RECEIVE, request, waits=reading.timeout != 0),
        )

    def end_in_transaction(self, queue: RemoteQueue, request_id: int, ack: Ack) -> Invoke:
        """Leave a receive in its transaction, or remove it."""
        request = EndReceiveRequest(queue.context, ack, request_id)
        return self._invoke(R_END_TRANSACTIONAL_RECEIVE, request)

    def reject(self, queue: RemoteQueue, lookup_id: int) -> Invoke:
        """Mark a message that was received in a transaction as rejected."""
        # [MS-MQRR] 3.2.4.10: the server finds the transaction by the message.
        rejected = MessageClass.NACK_RECEIVE_REJECTED
        request = SetUserAcknowledgementClassRequest(queue.context, lookup_id, rejected)
        return self._invoke(R_SET_USER_ACKNOWLEDGEMENT_CLASS, request)

    # Managing messages

    def purge(self, queue: RemoteQueue) -> Invoke:
        return self._invoke(R_PURGE_QUEUE, HandleRequest(queue.context))

    def move(
        self,
        source: RemoteQueue,
        target: RemoteQueue,
        lookup_id: int,
        transaction: bytes = NO_TRANSACTION,
    ) -> Invoke:
        # [MS-MQRR] 3.2.4.6: without a transaction the XACTUOW is zero.
        request = MoveMessageRequest(source.context, target.move_context, lookup_id, transaction)
        return self._invoke(R_MOVE_MESSAGE, request)

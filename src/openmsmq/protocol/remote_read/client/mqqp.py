"""qm2qm ([MS-MQQP] 3.2) with the calls of qmcomm that it needs ([MS-MQMP] 3.1.4): a client."""

from collections.abc import Iterator
from typing import Final, NoReturn

from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM
from openmsmq.wire.codes.queue_enums import LookupAction
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.ndr import Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.rpc.status import NCA_S_OP_RNG_ERROR
from openmsmq.wire.rpc_interfaces import qmcomm
from openmsmq.wire.rpc_interfaces.common import NoParameters
from openmsmq.wire.rpc_interfaces.qm2qm import (
    REMOTE_QM_CANCEL_RECEIVE,
    REMOTE_QM_CLOSE_CURSOR,
    REMOTE_QM_CLOSE_QUEUE,
    REMOTE_QM_END_RECEIVE,
    REMOTE_QM_GET_VERSION,
    REMOTE_QM_OPEN_QUEUE,
    REMOTE_QM_PURGE_QUEUE,
    REMOTE_QM_START_RECEIVE,
    REMOTE_QM_START_RECEIVE2,
    REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID,
    CancelReceiveRequest,
    CloseCursorRequest,
    CloseQueueRequest,
    EndReceiveRequest,
    GetVersionResponse,
    OpenQueueRequest,
    OpenQueueResponse,
    PurgeQueueRequest,
    RemoteReadDesc,
    RemoteReadDesc2,
    StartReceive2Request,
    StartReceive2Response,
    StartReceiveByLookupIdRequest,
    StartReceiveRequest,
    StartReceiveResponse,
)
from openmsmq.wire.rpc_interfaces.transfer_buffer import CACTransferBufferV1

from .errors import check, not_supported, queue_error
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

# [MS-MQQP] 3.2.4.2: older servers know opnum 0 in place of 9.
FIRST_WITH_SEQUENCES: Final = (5, 1, 951)
LOOKUPS: Final = frozenset(LookupAction)

ReadResponse = StartReceiveResponse | StartReceive2Response


class Qm2QmProtocol:
    """A `ReadProtocol` over a connection to qmcomm and one to qm2qm.

    Args:
        qmcomm_connection, connection: the numbers returned by `Connect`.
        identity: the identity of the client.
        has_sequences: whether the server has opnum 9, which returns lookup ids, and 10; see
            `tells_sequences`.
        numbers: in place of sequences where the server has none. All connections of a client
            share them, so that no message has the number of an earlier one from before a loss.
    """

    name: Final = "MS-MQQP"

    def __init__(
        self,
        qmcomm_connection: int,
        connection: int,
        identity: ClientIdentity,
        *,
        has_sequences: bool,
        numbers: Iterator[int],
    ) -> None:
        self._qmcomm = qmcomm_connection
        self._connection = connection
        self._identity = identity
        self._has_sequences = has_sequences
        self.tells_order: Final = has_sequences
        self._numbers = numbers

    def _invoke(self, call: Call, request: object, *, waits: bool = False) -> Invoke:
        return Invoke(self._connection, QM2QM, call, request, waits)

    # Queues

    def open(
        self, queue_format: QueueFormat, access: Access, share_mode: ShareMode
    ) -> Steps[RemoteQueue]:
        if access is Access.MOVE:
            raise not_supported("messages cannot be moved over MS-MQQP")
        identity = self._identity
        ask = qmcomm.QMOpenRemoteQueueRequest(
            queue_format, identity.process_id, access, share_mode, identity.client_id, 0
        )
        try:
            response: qmcomm.QMOpenRemoteQueueResponse = yield Invoke(
                self._qmcomm, QMCOMM, qmcomm.R_QM_OPEN_REMOTE_QUEUE, ask
            )
            check(response)
            # [MS-MQQP] 3.2.4.1: hQueue, pQueue and dwpContext are values from qmcomm.
            claim = OpenQueueRequest(
                identity.client_id, 0, response.ph_queue, response.dwp_queue, response.pdw_context
            )
            session: OpenQueueResponse = yield self._invoke(REMOTE_QM_OPEN_QUEUE, claim)
            check(session)
            yield Invoke(
                self._qmcomm,
                QMCOMM,
                qmcomm.R_QM_CLOSE_REMOTE_QUEUE_CONTEXT,
                qmcomm.QMCloseRemoteQueueContext(response.pph_context),
            )
        except RpcFault as exc:
            raise queue_error(exc) from exc
        return RemoteQueue(session.ph_context, handle=response.ph_queue)

    def close(self, queue: RemoteQueue) -> Steps[None]:
        return close_queue(
            queue,
            self.close_cursor,
            lambda context: self._invoke(REMOTE_QM_CLOSE_QUEUE, CloseQueueRequest(context)),
        )

    # Reading

    def read(self, queue: RemoteQueue, reading: Reading) -> ReadCall:
        request_id = queue.next_request_id()
        desc = RemoteReadDesc(
            h_remote_queue=queue.handle,
            h_cursor=reading.cursor,
            ul_action=reading.action,
            ul_timeout=reading.timeout,
            dw_queue=queue.handle,
            dw_request_id=request_id,
        )
        waits = reading.timeout != 0
        if reading.action in LOOKUPS:
            if not self._has_sequences:
                raise not_supported("the server does not read by lookup id")
            invoke = self._invoke(
                REMOTE_QM_START_RECEIVE_BY_LOOKUP_ID,
                StartReceiveByLookupIdRequest(reading.lookup_id, RemoteReadDesc2(desc)),
            )
        elif self._has_sequences:
            request = StartReceive2Request(RemoteReadDesc2(desc))
            invoke = self._invoke(REMOTE_QM_START_RECEIVE2, request, waits=waits)
        else:
            invoke = self._invoke(REMOTE_QM_START_RECEIVE, StartReceiveRequest(desc), waits=waits)
        number = 0 if self._has_sequences else next(self._numbers)
        return ReadCall(request_id, reading, invoke, number)

    def message(
        self,
        queue: RemoteQueue,  # noqa: ARG002 - the interface of both protocols
        read: ReadCall,
        response: ReadResponse,
    ) -> RemoteMessage:
        check(response)
        if isinstance(response, StartReceive2Response):
            desc = response.lp_remote_read_desc2.p_remote_read_desc
            sequence = response.lp_remote_read_desc2.sequential_id
        else:
            # Choice: without a sequence from the server, a message gets a local number; such
            # numbers ascend in the order of the reads, and identify messages for `end` only.
            desc = response.lp_remote_read_desc
            sequence = read.number
        buffer = None if desc is None else desc.lp_buffer
        message = RemoteReadMessage.parse(checked_packet(None if buffer is None else bytes(buffer)))
        return RemoteMessage(
            message.packet,
            lookup_id_of(sequence, UserMessage(message.packet).priority),
            0 if desc is None else desc.dw_arrive_time,
            request_id=read.request_id,
            context=response.pph_context,
        )

    def give_back(
        self,
        queue: RemoteQueue,  # noqa: ARG002 - the interface of both protocols
        read: ReadCall,  # noqa: ARG002
        response: ReadResponse,
    ) -> Invoke:
        return self._end(response.pph_context, Ack.RR_NACK)

    def end(
        self,
        queue: RemoteQueue,  # noqa: ARG002 - the interface of both protocols
        message: RemoteMessage,
        ack: Ack,
    ) -> Invoke:
        return self._end(message.context, ack)

    def _end(self, context: bytes, ack: Ack) -> Invoke:
        return self._invoke(REMOTE_QM_END_RECEIVE, EndReceiveRequest(context, ack))

    def cancel(self, queue: RemoteQueue, request_id: int) -> Invoke:
        return self._invoke(
            REMOTE_QM_CANCEL_RECEIVE, CancelReceiveRequest(queue.handle, queue.handle, request_id)
        )

    # Cursors

    def create_cursor(self, queue: RemoteQueue) -> Steps[int]:
        request = qmcomm.QMCreateRemoteCursorRequest(CACTransferBufferV1(), queue.handle)
        create = Invoke(self._qmcomm, QMCOMM, qmcomm.R_QM_CREATE_REMOTE_CURSOR, request)
        return open_cursor(queue, create)

    def close_cursor(self, queue: RemoteQueue, cursor: int) -> Invoke:
        queue.cursors.discard(cursor)
        return self._invoke(REMOTE_QM_CLOSE_CURSOR, CloseCursorRequest(queue.handle, cursor))

    # Managing messages

    def purge(self, queue: RemoteQueue) -> Invoke:
        return self._invoke(REMOTE_QM_PURGE_QUEUE, PurgeQueueRequest(queue.handle))

    def move(self, source: RemoteQueue, target: RemoteQueue, lookup_id: int) -> NoReturn:  # noqa: ARG002
        raise not_supported("messages cannot be moved over MS-MQQP")


def tells_sequences(connection: int) -> Steps[bool]:
    """Whether a server is new enough for opnum 9 ([MS-MQQP] 3.2.4.2)."""
    try:
        version: GetVersionResponse = yield Invoke(
            connection, QM2QM, REMOTE_QM_GET_VERSION, NoParameters()
        )
    except RpcFault as exc:
        # [MS-MQQP] note 2: Windows NT and 2000 have no opnum 8.
        if exc.status != NCA_S_OP_RNG_ERROR:
            raise queue_error(exc) from exc
        return False
    return tuple(version) >= FIRST_WITH_SEQUENCES

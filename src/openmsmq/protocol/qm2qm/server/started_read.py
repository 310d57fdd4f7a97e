"""One read of a client by qm2qm, from its call to its answer and to the end of its receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.remote_read.reply_packet import plain_packet
from openmsmq.wire.rpc_interfaces import qm2qm as calls

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.protocol.rpc.server import ServerCall
    from openmsmq.wire.rpc_interfaces.qm2qm import RemoteReadDesc

    from .opened_queues import OpenedQueue

# Any: the response of one of three calls, from its handle, REMOTEREADDESC, SequentialId and code.
Respond = Callable[[bytes, "RemoteReadDesc", int, int], Any]

_MQ_OK: Final = int(Hresult.MQ_OK)
_SEQUENCE_MASK: Final = (1 << 56) - 1


def respond(
    handle: bytes, desc: RemoteReadDesc, sequential_id: int, code: int
) -> calls.StartReceiveResponse:
    """The answer to RemoteQMStartReceive, which has no SequentialId."""
    del sequential_id
    return calls.StartReceiveResponse(handle, desc, code)


def respond2(
    handle: bytes, desc: RemoteReadDesc | None, sequential_id: int, code: int
) -> calls.StartReceive2Response:
    """The answer to RemoteQMStartReceive2 and RemoteQMStartReceiveByLookupId."""
    return calls.StartReceive2Response(handle, calls.RemoteReadDesc2(desc, sequential_id), code)


def without_message(desc: RemoteReadDesc) -> RemoteReadDesc:
    """The structure of an answer that has no message."""
    return desc._replace(reserved=1, dw_arrive_time=0, lp_buffer=None)


class StartedRead:
    """A call that receives a message."""

    __slots__ = ("_call", "_desc", "_opened", "_receive", "_respond", "key")

    def __init__(
        self,
        opened: OpenedQueue,
        call: ServerCall,
        desc: RemoteReadDesc,
        respond: Respond,
        *,
        receive: bool,
    ) -> None:
        self._opened = opened
        self._call = call
        self._desc = desc
        self._respond = respond
        self._receive = receive
        self.key: Final = opened.run(desc.dw_request_id)

    def cancel(self, call: ServerCall) -> None:  # noqa: ARG002 - it is the same call
        """The client cancels the call, or has disconnected."""
        self._opened.queue.cancel(self.key)
        self.finish()

    def finish(self) -> None:
        """The read has ended."""
        self._opened.finish(self._desc.dw_request_id, self.key)

    @property
    def abandoned(self) -> bool:
        return self._call.abandoned

    def found(self, message: Message, packet: bytes, depends: int) -> None:
        self.finish()
        call = self._call
        handle = CONTEXT_HANDLE_NULL
        if self._receive:
            receive = Receive(self._opened, self.key)
            try:
                handle = call.open_handle(receive, Receive.give_back)
            except RpcFault as fault:
                receive.give_back()
                call.fault(fault.status)
                return
        desc = self._desc._replace(
            reserved=1,
            dw_arrive_time=int(message.arrived),
            lp_buffer=plain_packet(UserMessage(packet)),
        )
        sequential_id = message.lookup_id & _SEQUENCE_MASK
        call.reply(self._respond(handle, desc, sequential_id, _MQ_OK), depends=depends)

    def failed(self, code: int) -> None:
        self.finish()
        if code == Hresult.MQ_ERROR_OPERATION_CANCELLED:
            code = calls.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT
        desc = without_message(self._desc)
        self._call.reply(self._respond(CONTEXT_HANDLE_NULL, desc, 0, code))


class Receive:
    """A receive whose message a client has received and not acknowledged yet."""

    __slots__ = ("_key", "_opened")

    def __init__(self, opened: OpenedQueue, key: int) -> None:
        self._opened = opened
        self._key = key

    def end(self, *, delete: bool) -> int:
        """Delete the message or put it back; return the batch that stores it.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, the message is no longer locked.
        """
        try:
            return self._opened.queue.end(self._key, delete=delete)
        except QueueError as exc:
            raise QueueError(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, exc.detail) from exc

    def give_back(self) -> None:
        """The client has disconnected: others get the message, unless that happened before."""
        if self._key in self._opened.queue.receives:
            self._opened.queue.give_back(self._key)

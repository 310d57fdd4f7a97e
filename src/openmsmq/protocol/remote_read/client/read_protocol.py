"""The interface of both protocols of remote read for a client."""

from typing import Any, NamedTuple, Protocol
from uuid import UUID

from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.scalars import GUID_NULL

from .remote_queue import Access, Ack, ReadCall, Reading, RemoteMessage, RemoteQueue, ShareMode
from .steps import Invoke, Steps


class ClientIdentity(NamedTuple):
    """The identity of a client for opening a queue ([MS-MQRR] 3.1.4.2).

    Attributes:
        client_id: the GUID of its queue manager, or one made for it.
        workgroup: whether its machine is outside of domains.
        process_id: of the calling process, for [MS-MQMP].
    """

    client_id: UUID = GUID_NULL
    major: int = 6
    minor: int = 1
    build_number: int = 7600
    workgroup: bool = True
    process_id: int = 0


class ReadProtocol(Protocol):
    """The calls of one server.

    Calls that are one `Invoke` are answered with a response for `check`, or, for reads, for
    `message`. All may raise QueueError with MQ_ERROR_OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER.
    """

    @property
    def name(self) -> str:
        """The name of its specification, for users."""

    @property
    def tells_order(self) -> bool:
        """Whether lookup ids are the server's, so that overlapping reads can be ordered."""

    def open(
        self, queue_format: QueueFormat, access: Access, share_mode: ShareMode
    ) -> Steps[RemoteQueue]:
        """Open a queue to read, or with `Access.MOVE` to move messages to it."""

    def close(self, queue: RemoteQueue) -> Steps[None]:
        """Close a queue; messages that were read from it and not ended go back in place."""

    def read(self, queue: RemoteQueue, reading: Reading) -> ReadCall:
        """The call that reads one message."""

    # Any: the response differs by protocol.
    def message(self, queue: RemoteQueue, read: ReadCall, response: Any) -> RemoteMessage:
        """The message that a read returned.

        Raises:
            QueueError: there is none.
            MalformedPacket: it cannot be read; see `give_back`.
        """

    def give_back(self, queue: RemoteQueue, read: ReadCall, response: Any) -> Invoke:
        """The end of a read whose message cannot be rebuilt ([MS-MQRR] 3.2.4.4.1)."""

    def end(self, queue: RemoteQueue, message: RemoteMessage, ack: Ack) -> Invoke:
        """The second step of a receive: delete the message, or put it back in place."""

    def cancel(self, queue: RemoteQueue, request_id: int) -> Invoke:
        """End a waiting read; its call is then answered."""

    def create_cursor(self, queue: RemoteQueue) -> Steps[int]:
        """A cursor before the first message."""

    def close_cursor(self, queue: RemoteQueue, cursor: int) -> Invoke:
        """Close a cursor."""

    def purge(self, queue: RemoteQueue) -> Invoke:
        """Delete all messages."""

    def move(self, source: RemoteQueue, target: RemoteQueue, lookup_id: int) -> Invoke:
        """Move a message to another subqueue of its queue."""

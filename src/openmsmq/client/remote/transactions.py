"""Transactions of a queue manager in which a server of remote read takes part."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from openmsmq.client.backend import not_available
from openmsmq.client.machines import format_name_at
from openmsmq.client.operations import Operation
from openmsmq.protocol.remote_read.client import (
    Ack,
    Invoke,
    ReadCall,
    Reading,
    RemoteMessage,
    RemoteQueue,
    RemoteReadProtocol,
    check,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket, MsmqError
from openmsmq.wire.remote_read.queue_format import QueueFormat

from .handle import RemoteHandle
from .reads import F, ReadJob, ignore

if TYPE_CHECKING:
    from .backend import RemoteBackend


class RemoteTransactions:
    """The transactions that one server takes part in, by numbers of this client."""

    __slots__ = ("_backend", "_broken", "_identifiers")

    def __init__(self, backend: "RemoteBackend") -> None:
        self._backend: Final = backend
        self._identifiers: dict[int, bytes] = {}
        self._broken: set[int] = set()

    @property
    def _protocol(self) -> RemoteReadProtocol:
        protocol = self._backend.protocol
        if not isinstance(protocol, RemoteReadProtocol):
            raise not_available(
                "transactions cannot be used", f"{self._backend.identity.name} ({protocol.name})"
            )
        return protocol

    def enlist(self, identifier: bytes, token: bytes, name: str) -> Operation[int]:
        """Have the server take part in a transaction; return its number."""
        backend = self._backend
        format_name = format_name_at(backend.identity.name, name)
        queue_format = QueueFormat.from_format_name(format_name)
        yield from backend.call(self._protocol.enlist(identifier, token, queue_format), name)
        number = backend.channel.next_id()
        self._identifiers[number] = identifier
        return number

    def is_broken(self, number: int) -> bool:
        """Whether the server may have put messages into it that never arrived here."""
        return number in self._broken

    def _identifier(self, number: int) -> bytes:
        identifier = self._identifiers.get(number)
        if identifier is None:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "the transaction is not enlisted here"
            )
        return identifier

    def move(self, number: int, source: RemoteQueue, target: RemoteQueue, lookup_id: int) -> Invoke:
        """The call that moves a message; number 0 is outside of transactions."""
        if not number:
            return self._backend.protocol.move(source, target, lookup_id)
        return self._protocol.move(source, target, lookup_id, self._identifier(number))

    def reject(self, number: int, queue: RemoteQueue, lookup_id: int) -> Invoke:
        """The call by which a message that was received leaves as rejected with the commit."""
        self._identifier(number)
        return self._protocol.reject(queue, lookup_id)

    def read(
        self,
        number: int,
        handle: RemoteHandle,
        reading: Reading,
        convert: Callable[[RemoteMessage], F],
        limit: int,
    ) -> "TransactionalReadJob[F]":
        """Begin to receive up to `limit` messages in a transaction."""
        backend = self._backend
        job = TransactionalReadJob(
            backend.channel.next_id(),
            backend.channel,
            self._protocol,
            handle,
            reading,
            convert=convert,
            limit=limit,
            clock=backend.clock,
            explain=backend.failures.explained,
        )
        job.join(self._identifier(number), lambda: self._broken.add(number))
        job.start()
        return job


class TransactionalReadJob(ReadJob[F]):
    """A request whose messages are shown once the server knows that they are here.

    [MS-MQRR] 3.2.4.4.2: a message whose end is refused is not shown.
    """

    def join(self, identifier: bytes, broken: Callable[[], None]) -> None:
        """Name the transaction.

        Args:
            broken: called when the transaction may hold a message that the caller never received.
        """
        protocol = self._protocol
        assert isinstance(protocol, RemoteReadProtocol)  # noqa: S101 - from `RemoteTransactions`
        self._remote_read: RemoteReadProtocol = protocol
        self._identifier = identifier
        self._broken = broken

    @property
    def receives(self) -> bool:
        """Nothing is held here: the transaction holds it."""
        return False

    def _call(self, reading: Reading) -> int:
        call = self._remote_read.read_in(self._identifier, self.handle.queue, reading)
        self._calls[call.request_id] = call
        self._channel.post(
            call.invoke, lambda response, error: self._answered(call, response, error)
        )
        return call.request_id

    # Any: the response differs by protocol.
    def _answered(self, call: ReadCall, response: Any, error: MsmqError | None) -> None:
        protocol, queue = self._remote_read, self.handle.queue
        if error is None:
            try:
                message = protocol.message(queue, call, response)
            except MalformedPacket as malformed:
                error = malformed
                invoke = protocol.end_in_transaction(queue, call.request_id, Ack.RR_NACK)
                self._channel.post(invoke, ignore)
            except MsmqError as exc:
                error = exc
            else:
                self._channel.post(
                    protocol.end_in_transaction(queue, call.request_id, Ack.RR_ACK),
                    lambda response, error: self._ended_call(call, message, response, error),
                )
                return
        self._settle(call, error)

    # Any: as above.
    def _ended_call(
        self, call: ReadCall, message: RemoteMessage, response: Any, error: MsmqError | None
    ) -> None:
        try:
            if error is not None:
                raise error
            check(response)
        except MsmqError as exc:
            # The server may have taken the message for received.
            self._broken()
            self._settle(call, exc)
            return
        self._take(call, message)
        self.handle.locked.pop(message.lookup_id, None)
        self._settle(call, None)

    def _settle(self, call: ReadCall, error: MsmqError | None) -> None:
        del self._calls[call.request_id]
        if error is not None:
            self._fail(call, error)
        self._go_on()

    def give_back(self, messages: list[F]) -> None:
        """They stay in the transaction, which cannot be committed without them."""
        if messages:
            self._broken()

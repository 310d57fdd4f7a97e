"""Reads on their way: one request of a caller is many calls, each for one message."""

from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar

from openmsmq.client.backend import READ_BYTES
from openmsmq.protocol.remote_read.client import (
    Ack,
    ReadCall,
    Reading,
    ReadProtocol,
    RemoteMessage,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket, MsmqError

from .channel import RemoteChannel
from .handle import RemoteHandle

# What a read of a cursor is told after the last message.
AFTER_THE_LAST: Final = (
    Hresult.MQ_ERROR_IO_TIMEOUT,
    Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
)


class Found(Protocol):
    """What becomes of a message that a call brought."""

    @property
    def lookup_id(self) -> int: ...


F = TypeVar("F", bound=Found)


class ReadJob(Generic[F]):
    """One request: up to `limit` messages in queue order; it waits for the first only.

    The first call waits; the others take what is there at once. As many calls are on their way as
    the last ones brought messages, and none follows after one that brought none. Calls that overlap
    may run in any order, but each takes the next message, or moves the cursor on by one: sorted by
    lookup id, what they bring is in the order of the queue.

    Args:
        number: of the request.
        reading: of the first call.
        convert: what becomes of each message.
        explain: makes an error of a call readable.
    """

    def __init__(
        self,
        number: int,
        channel: RemoteChannel,
        protocol: ReadProtocol,
        handle: RemoteHandle,
        reading: Reading,
        *,
        convert: Callable[[RemoteMessage], F],
        limit: int = 1,
        clock: Callable[[], float],
        explain: Callable[[MsmqError], MsmqError],
    ) -> None:
        self.number: Final = number
        self.handle: Final = handle
        self._channel = channel
        self._protocol = protocol
        self._reading = reading
        self._convert = convert
        self._limit = limit
        self._clock = clock
        self._explain = explain
        self._calls: dict[int, ReadCall] = {}
        self._first = 0
        self._found: list[F] = []
        self._size = 0
        self._ended = False
        self._cancelled = False
        self._error: MsmqError | None = None
        self.withdrawn = False

    @property
    def receives(self) -> bool:
        """Whether its messages are locked."""
        return self._reading.receives

    @property
    def cursor(self) -> int:
        """The cursor that it reads at; 0 for none."""
        return self._reading.cursor

    @property
    def _moves_cursor(self) -> bool:
        return bool(self._reading.cursor) and not self._reading.receives

    def start(self) -> None:
        """Make the first calls."""
        self.handle.jobs.add(self)
        self.handle.unread_cursors.discard(self._reading.cursor)
        self._first = self._call(self._reading)
        # A call for the message at the cursor must not overlap with one that moves the cursor.
        if self._reading.receives or (
            self._reading.action is ReceiveAction.PEEK_NEXT and not self._reading.timeout
        ):
            self._call_further()

    def _call(self, reading: Reading) -> int:
        call = self._protocol.read(self.handle.queue, reading)
        self._calls[call.request_id] = call
        self._channel.post(
            call.invoke, lambda response, error: self._answered(call, response, error)
        )
        return call.request_id

    def _call_further(self) -> None:
        """As many calls as may be on their way."""
        further = self._reading._replace(timeout=0)
        if self._moves_cursor:
            further = further._replace(action=ReceiveAction.PEEK_NEXT)
        while (
            not self._ended
            and len(self._calls) < self.handle.window
            and len(self._calls) + len(self._found) < self._limit
            and self._size < READ_BYTES
        ):
            self._call(further)

    # Any: the response differs by protocol.
    def _answered(self, call: ReadCall, response: Any, error: MsmqError | None) -> None:
        del self._calls[call.request_id]
        if error is None:
            try:
                self._take(call, self._protocol.message(self.handle.queue, call, response))
            except MalformedPacket as malformed:
                error = malformed
                if call.reading.receives:
                    invoke = self._protocol.give_back(self.handle.queue, call, response)
                    self._channel.post(invoke, ignore)
            except MsmqError as exc:
                error = exc
        if error is not None:
            self._fail(call, error)
        self._go_on()

    def _take(self, call: ReadCall, message: RemoteMessage) -> None:
        handle = self.handle
        if call.reading.receives:
            handle.locked[message.lookup_id] = (message, self._clock())
        self._found.append(self._convert(message))
        # Of a body that was left out nothing has crossed.
        self._size += len(message.packet) if call.reading.max_body_size else 0
        average = self._size // len(self._found)
        # Answers to calls that overlap come in any order: only lookup ids of the server tell it.
        handle.widen(average, ordered=self._protocol.tells_order)

    def _fail(self, call: ReadCall, error: MsmqError) -> None:
        self._ended = True
        self.handle.window = 1
        if self._error is None or call.request_id == self._first:
            self._error = error
        if self._moves_cursor and (
            call.reading.action is ReceiveAction.PEEK_CURRENT
            or (isinstance(error, QueueError) and error.code in AFTER_THE_LAST)
        ):
            # The next read is for the message that comes to stand where the cursor is.
            self.handle.unread_cursors.add(self._reading.cursor)

    def _go_on(self) -> None:
        if self._found and not self._cancelled:
            self._call_further()
        if not self._calls:
            self._finish()
        elif self._found and self._ended and self._first in self._calls:
            # Another call was faster than the one that waits.
            self.cancel()

    def _finish(self) -> None:
        self.handle.jobs.discard(self)
        messages = sorted(self._found, key=lambda message: message.lookup_id)
        if not self._protocol.tells_order:
            messages = self._found
        if self.withdrawn:
            self.give_back(messages)
            messages = []
        if messages:
            self._channel.finish(self.number, messages, None)
        else:
            error = self._error
            self._channel.finish(self.number, [], None if error is None else self._explain(error))

    def give_back(self, messages: list[F]) -> None:
        """Put messages back in place; nothing waits for that."""
        for message in messages:
            locked = self.handle.locked.pop(message.lookup_id, None)
            if locked is not None:
                invoke = self._protocol.end(self.handle.queue, locked[0], Ack.RR_NACK)
                self._channel.post(invoke, ignore)

    def cancel(self) -> None:
        """End the call that waits; the answers tell whether messages were faster."""
        self._ended = True
        if not self._cancelled and self._first in self._calls and self._reading.timeout:
            self._cancelled = True
            invoke = self._protocol.cancel(self.handle.queue, self._first)
            self._channel.post(invoke, ignore)


# Any: the response of any operation.
def ignore(response: Any, error: MsmqError | None) -> None:
    """Of what is asked for in vain nothing is told: the message is back in place anyway."""

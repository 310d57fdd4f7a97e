"""Reads on their way: one request of a caller is many calls, each for one message."""

from collections.abc import Callable
from typing import Any, Final

from openmsmq.client.backend import READ_BYTES, Handle
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.remote_read.client import (
    Ack,
    ReadCall,
    Reading,
    ReadProtocol,
    RemoteMessage,
    RemoteQueue,
)
from openmsmq.wire.errors import MalformedPacket, MsmqError

from .channel import RemoteChannel
from .messages import received

# Calls of one request on their way at a time.
MAX_WINDOW: Final = 64


class RemoteHandle(Handle):
    """A queue that is open on a server.

    Attributes:
        locked: messages that were received and not ended, by lookup id, and since when.
        window: how many calls the next read has on their way: more when there were many messages.
        ending: ends that are not answered yet.
    """

    __slots__ = ("ending", "jobs", "locked", "queue", "window")

    def __init__(
        self, channel: RemoteChannel, number: int, format_name: str, queue: RemoteQueue
    ) -> None:
        super().__init__(channel, number, format_name)
        self.queue: Final = queue
        self.locked: Final[dict[int, tuple[RemoteMessage, float]]] = {}
        self.jobs: Final[set[ReadJob]] = set()
        self.window = 1
        self.ending = 0

    def holds(self, lookup_id: int) -> bool:
        return lookup_id in self.locked


class ReadJob:
    """One request: up to `limit` messages in queue order; it waits for the first only.

    The first call waits; the others take what is there at once. As many calls are on their way as
    the last ones brought messages, and none follows after one that brought none.

    Args:
        number: of the request.
        reading: of the first call.
        further: of the other calls.
    """

    def __init__(
        self,
        number: int,
        channel: RemoteChannel,
        protocol: ReadProtocol,
        handle: RemoteHandle,
        reading: Reading,
        *,
        limit: int = 1,
        clock: Callable[[], float],
        explain: Callable[[MsmqError], MsmqError],
    ) -> None:
        self.number: Final = number
        self.handle: Final = handle
        self._channel = channel
        self._protocol = protocol
        self._reading = reading
        self._limit = limit
        self._clock = clock
        self._explain = explain
        self._calls: dict[int, ReadCall] = {}
        self._first = 0
        self._messages: list[ReceivedMessage] = []
        self._size = 0
        self._ended = False
        self._cancelled = False
        self._error: MsmqError | None = None
        # Whether messages go back in place, because nothing waits for them any more.
        self.withdrawn = False

    @property
    def receives(self) -> bool:
        """Whether its messages are locked."""
        return self._reading.receives

    def start(self) -> None:
        """Make the first calls."""
        self.handle.jobs.add(self)
        self._first = self._call(self._reading)
        if self._reading.receives:
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
        while (
            not self._ended
            and len(self._calls) < self.handle.window
            and len(self._calls) + len(self._messages) < self._limit
            and self._size < READ_BYTES
        ):
            self._call(further)

    # Any: the response differs by protocol.
    def _answered(self, call: ReadCall, response: Any, error: MsmqError | None) -> None:
        del self._calls[call.request_id]
        if error is None:
            try:
                self._take(call, self._protocol.message(self.handle.queue, call, response))
            except MalformedPacket as exc:
                error = exc
                if call.reading.receives:
                    invoke = self._protocol.give_back(self.handle.queue, call, response)
                    self._channel.post(invoke, ignore)
            except MsmqError as exc:
                error = exc
        if error is not None:
            self._ended = True
            self.handle.window = 1
            if self._error is None or call.request_id == self._first:
                self._error = error
        self._go_on()

    def _take(self, call: ReadCall, message: RemoteMessage) -> None:
        handle = self.handle
        if call.reading.receives:
            handle.locked[message.lookup_id] = (message, self._clock())
        self._messages.append(received(message))
        self._size += len(message.packet)
        average = self._size // len(self._messages)
        # Answers to calls that overlap come in any order: only lookup ids of the server tell it.
        most = MAX_WINDOW if self._protocol.tells_order else 1
        handle.window = min(handle.window + 1, most, max(2 * READ_BYTES // average, 1))

    def _go_on(self) -> None:
        if self._messages and not self._cancelled:
            self._call_further()
        if not self._calls:
            self._finish()
        elif self._messages and self._ended and self._first in self._calls:
            # Another call was faster than the one that waits.
            self.cancel()

    def _finish(self) -> None:
        self.handle.jobs.discard(self)
        found = sorted(self._messages, key=lambda message: message.lookup_id)
        if self._reading.cursor:
            found = self._messages
        if self.withdrawn:
            self.give_back(found)
            found = []
        if found:
            self._channel.finish(self.number, found, None)
        else:
            error = self._error
            self._channel.finish(self.number, [], None if error is None else self._explain(error))

    def give_back(self, messages: list[ReceivedMessage]) -> None:
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

"""The messages of a range by lookup id, with many calls on their way."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from openmsmq.client.backend import Block
from openmsmq.client.operations import Operation, Wait
from openmsmq.protocol.local.messages import pack_block
from openmsmq.protocol.remote_read.client import ReadCall, Reading, ReadProtocol, RemoteMessage
from openmsmq.protocol.remote_read.client.steps import CALL_SECONDS
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import LookupAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.lookup_id import SEQUENCE_MASK

from .channel import Outcome, RemoteChannel
from .handle import RemoteHandle
from .messages import relative

# The message was received, or is locked by another reader.
ABSENT: Final = (
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
    Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    Hresult.MQ_ERROR_TRANSACTION_USAGE,
)


class RangeRead:
    """Peeks at messages and makes blocks of them, in the order of arrival.

    Messages that are no longer there are left out. Calls pause when two blocks wait for the caller.

    Args:
        lookup_ids: of the messages, in any order.
        rows, size: how many messages and bytes a block has at most.
        explain: makes an error of a call readable.
    """

    def __init__(
        self,
        channel: RemoteChannel,
        protocol: ReadProtocol,
        handle: RemoteHandle,
        lookup_ids: Iterable[int],
        *,
        rows: int,
        size: int,
        explain: Callable[[MsmqError], MsmqError],
    ) -> None:
        self._channel = channel
        self._protocol = protocol
        self._handle = handle
        self._lookup_ids = sorted(lookup_ids, key=lambda lookup_id: lookup_id & SEQUENCE_MASK)
        self._rows = max(rows, 1)
        self._bytes = size
        self._explain = explain
        # Indexes of the next message to ask for, and of the next one that a block needs.
        self._asked = 0
        self._due = 0
        self._calls = 0
        # Answers that came before an earlier one; None for a message that is not there.
        self._early: dict[int, RemoteMessage | None] = {}
        self._early_bytes = 0
        self._block: list[RemoteMessage] = []
        self._block_bytes = 0
        self._error: MsmqError | None = None
        self._waiting = 0
        self.withdrawn = False
        handle.jobs.add(self)

    # Calls

    def _call_further(self) -> None:
        while (
            not self.withdrawn
            and self._error is None
            and self._asked < len(self._lookup_ids)
            and self._calls < self._handle.window
            and self._asked - self._due < self._rows
            and self._early_bytes < self._bytes
        ):
            self._call(self._asked)
            self._asked += 1

    def _call(self, index: int) -> None:
        reading = Reading(LookupAction.PEEK_CURRENT, lookup_id=self._lookup_ids[index])
        call = self._protocol.read(self._handle.queue, reading)
        self._calls += 1
        self._channel.post(
            call.invoke, lambda response, error: self._answered(index, call, response, error)
        )

    # Any: the response differs by protocol.
    def _answered(self, index: int, call: ReadCall, response: Any, error: MsmqError | None) -> None:
        self._calls -= 1
        message: RemoteMessage | None = None
        try:
            if error is not None:
                raise error
            message = self._protocol.message(self._handle.queue, call, response)
        except QueueError as exc:
            if exc.code not in ABSENT:
                self._error = self._error or exc
        except MsmqError as exc:
            self._error = self._error or exc
        else:
            self._handle.widen(len(message.packet), ordered=True)
            self._early_bytes += len(message.packet)
        self._early[index] = message
        self._fill()
        self._call_further()
        self._wake()

    def _fill(self) -> None:
        """Move what came in order into the block."""
        while self._due in self._early and not self._is_full:
            message = self._early.pop(self._due)
            self._due += 1
            if message is not None:
                self._early_bytes -= len(message.packet)
                self._block.append(message)
                self._block_bytes += len(message.packet)

    @property
    def _is_full(self) -> bool:
        return len(self._block) >= self._rows or self._block_bytes >= self._bytes

    @property
    def _is_ready(self) -> bool:
        """Whether there is a block, or its end or its failure is known."""
        return self._is_full or self._error is not None or self._due == len(self._lookup_ids)

    def _wake(self) -> None:
        if self._waiting and self._is_ready:
            number, self._waiting = self._waiting, 0
            self._channel.finish(number, None, None)
        if not self._calls:
            self._handle.jobs.discard(self)

    def cancel(self) -> None:
        """Make no more calls."""
        self.withdrawn = True
        if not self._calls:
            self._handle.jobs.discard(self)

    # Blocks

    def next_block(self, request: int) -> Operation[Block | None]:
        """The next messages; None after the last ones.

        Raises:
            MsmqError: a call failed.
        """
        self._call_further()
        if not self._is_ready:
            self._waiting = self._channel.next_id()
            outcome: Outcome | None = yield Wait(self._waiting, CALL_SECONDS)
            if outcome is None:
                raise self._channel.lose(
                    f"{self._channel.description} has not answered in five minutes."
                )
        if self._error is not None:
            raise self._explain(self._error) from self._error
        messages, self._block, self._block_bytes = self._block, [], 0
        self._fill()
        self._call_further()
        return _block(request, messages) if messages else None


def _block(request: int, messages: list[RemoteMessage]) -> Block:
    packets = [relative(message.packet) for message in messages]
    ends: list[int] = []
    end = 0
    for packet in packets:
        end += len(packet)
        ends.append(end)
    return pack_block(
        request,
        b"".join(packets),
        ends,
        [message.lookup_id for message in messages],
        [float(message.arrived) for message in messages],
        [
            (row, aborts, moves, float(moved))
            for row, message in enumerate(messages)
            for aborts, moves, moved in (message.counters,)
            if aborts or moves or moved
        ],
    )

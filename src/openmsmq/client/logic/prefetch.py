"""Prefetching: messages are fetched ahead of the caller, many at a time.

Fetched messages are locked in the queue. A message counts as taken when the caller asks for the
next one; then it is deleted, together with others. Messages that the caller has not taken go
back in place: when the loop ends, or when the client disconnects.
"""

import contextlib
from typing import Final

from openmsmq.client.arguments import whole
from openmsmq.client.backend import GRACE_SECONDS, Handle, Read, not_answered
from openmsmq.client.operations import Operation
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .queue import QueueLogic

DEFAULT_PREFETCH: Final = 1000
_ENDED: Final = (Hresult.MQ_ERROR_IO_TIMEOUT, Hresult.MQ_ERROR_OPERATION_CANCELLED)


class Prefetch:
    """The messages of one loop over a queue.

    The caller has one batch while the next one is on its way.

    Args:
        manual: nothing counts as taken before `settle`.
    """

    def __init__(self, queue: QueueLogic, size: int, *, manual: bool = False) -> None:
        whole("prefetch", size)
        self._queue = queue
        chunk = min(max(size // 2, 1), queue.backend.largest_read)
        # It waits for ever, so that a read requested early never times out too soon.
        self._request = Read("receive", chunk, timeout=None, two_phase=True)
        # With one message at a time, no message may be locked that the caller does not have.
        self._reads_ahead = size > 1
        self._handle: Handle | None = None
        self._read = 0
        self._batch: list[ReceivedMessage] = []
        self._removed = 0
        # The number of messages of the batch passed to the caller.
        self.given = 0
        self._manual = manual
        # Lookup ids of the batch that were settled, and messages of earlier batches that were not
        # settled yet.
        self._settled: set[int] = set()
        self._open: dict[int, ReceivedMessage] = {}
        # Whether the last of them counts as taken when the loop ends.
        self.current_taken = True

    def next_batch(self, timeout: float | None) -> Operation[list[ReceivedMessage] | None]:
        """The next messages, once the caller has taken all before; None when none arrives."""
        handle = yield from self._begin()
        self.remove_taken()
        if self._manual:
            self._open.update({message.lookup_id: message for message in self._unsettled()})
        self._queue.give_back(handle, self._batch[self.given :])
        self._forget_batch()
        self._queue.backend.check()
        while not self._batch:
            try:
                messages = yield from self._next_answer(handle, timeout)
            except QueueError as exc:
                self._read = 0
                if exc.code in _ENDED:
                    return None
                raise
            self._read = 0
            self._batch = self._queue.not_taken_before(handle, messages)
            if self._reads_ahead:
                self._ask(handle)
        return self._batch

    def _begin(self) -> Operation[Handle]:
        """Open the queue, or open it again after a loss of the connection."""
        if self._handle is not None and self._handle.channel is not self._queue.backend.channel:
            if not self._manual:
                self._queue.taken_at_loss(self._unsettled())
            self._forget_batch()
            self._open.clear()
            self._read = 0
        self._handle = yield from self._queue.opened("receive")
        return self._handle

    def _next_answer(
        self, handle: Handle, timeout: float | None
    ) -> Operation[list[ReceivedMessage]]:
        if not self._read:
            self._ask(handle)
        answer = yield from self._queue.backend.answer(self._read, timeout)
        if answer is None:
            answer = yield from self._cancel()
        return answer

    def _ask(self, handle: Handle) -> None:
        self._read = self._queue.backend.ask(handle, self._request)

    def _cancel(self) -> Operation[list[ReceivedMessage]]:
        """End the waiting read; messages may already be on their way."""
        backend = self._queue.backend
        backend.cancel(self._read)
        answer = yield from backend.answer(self._read, GRACE_SECONDS)
        if answer is None:
            raise not_answered(backend.channel)
        return answer

    @property
    def holds_rest(self) -> bool:
        """Whether messages that the caller has not seen are still locked."""
        rest = self._batch[self.given : self.given + 1]
        return self._handle is None or all(self._handle.holds(m.lookup_id) for m in rest)

    def _forget_batch(self) -> None:
        self._batch = []
        self._settled.clear()
        self._removed = self.given = 0

    def _unsettled(self) -> list[ReceivedMessage]:
        """Messages of the batch passed to the caller that are neither removed nor settled."""
        messages = self._batch[self._removed : self.given]
        if not self._settled:
            return messages
        return [message for message in messages if message.lookup_id not in self._settled]

    def settle(self, message: ReceivedMessage, *, taken: bool) -> None:
        """Remove a message that was passed to the caller, or put it back in place, now.

        Raises:
            ValueError: it is not from this loop, or was removed or put back before.
        """
        handle = self._handle
        if handle is None or handle.channel is not self._queue.backend.channel:
            raise ValueError(
                "message: the connection that it came by was lost; it is back in place"
            )
        lookup_id = message.lookup_id
        if lookup_id in self._open:
            del self._open[lookup_id]
        elif any(other.lookup_id == lookup_id for other in self._unsettled()):
            self._settled.add(lookup_id)
        else:
            raise ValueError("message: it was removed or put back before")
        if taken:
            self._queue.remove(handle, [message])
        else:
            self._queue.give_back(handle, [message], handed=True)

    def remove_taken(self) -> bool:
        """Remove messages that the caller has taken; return whether there were any."""
        if self._manual:
            return False
        messages = self._unsettled()
        if not messages or self._handle is None:
            return False
        self._queue.remove(self._handle, messages)
        self._removed = self.given
        return True

    def close(self) -> Operation[None]:
        """End the loop: taken messages are removed, the others are back in place."""
        backend, handle = self._queue.backend, self._handle
        if handle is None or handle.channel is not backend.channel or handle.channel.fault:
            self._handle = None
            return
        if not self._queue.has_open(handle):
            # Closed before its loop ended: everything is back in place already.
            self._handle = None
            if self._read:
                backend.withdraw(self._read, handle)
                self._read = 0
            return
        # Messages that the caller has seen and not taken: its reads have failed.
        failed = [*self._open.values()]
        if not self.current_taken and self.given > self._removed and not self._manual:
            self.given -= 1
            failed += self._batch[self.given : self.given + 1]
        self.remove_taken()
        self._handle = None
        if self._manual:
            failed += self._unsettled()
        failed = [message for message in failed if message.lookup_id not in self._settled]
        failed_ids = {message.lookup_id for message in failed}
        unseen = [
            message
            for message in self._batch[self.given :]
            if message.lookup_id not in self._settled and message.lookup_id not in failed_ids
        ]
        self._open.clear()
        self._forget_batch()
        if self._read:
            # Without messages it is finished as well.
            with contextlib.suppress(QueueError):
                unseen += yield from self._cancel()
            self._read = 0
        self._queue.give_back(handle, failed, handed=True)
        self._queue.give_back(handle, unseen)
        yield from backend.flush()

"""Prefetching: messages are fetched ahead of the caller, many at a time.

What was fetched is locked in the queue. A message counts as taken when the caller asks for the one
behind it; then it is removed for good, together with others. What the caller has not taken goes
back in place: when the loop ends, or when the client is gone.
"""

from typing import Final

from openmsmq.client.arguments import whole
from openmsmq.client.local.backend import GRACE_SECONDS
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import MAX_MESSAGES
from openmsmq.wire.codes.hresult import Hresult

from .operations import Operation, Wait, failure, messages
from .queue import READ_BYTES, OpenHandle, QueueLogic

DEFAULT_PREFETCH: Final = 1000
_ENDED: Final = (Hresult.MQ_ERROR_IO_TIMEOUT, Hresult.MQ_ERROR_OPERATION_CANCELLED)


class Prefetch:
    """The messages of one loop over a queue.

    One batch is with the caller while the next one is on its way.
    """

    def __init__(self, queue: QueueLogic, size: int) -> None:
        whole("prefetch", size)
        self._queue = queue
        self._chunk = min(max(size // 2, 1), MAX_MESSAGES)
        # With one message at a time nothing may be locked behind the caller's back.
        self._reads_ahead = size > 1
        self._channel: RequestChannel | None = None
        self._handle: OpenHandle
        self._read = 0
        self._batch: list[ReceivedMessage] = []
        self._removed = 0
        # How many messages of the batch the caller was given.
        self.given = 0
        # Whether the last of them counts as taken when the loop ends.
        self.current_taken = True

    def next_batch(self, timeout: float | None) -> Operation[list[ReceivedMessage] | None]:
        """The next messages, once the caller has taken all before; None when none came in time."""
        channel = yield from self._begin()
        self.remove_taken()
        self._batch = []
        self._removed = self.given = 0
        channel.check()
        while not self._batch:
            reply = yield from self._next_reply(channel, timeout)
            self._read = 0
            if isinstance(reply, local.Failed):
                if reply.code in _ENDED:
                    return None
                raise failure(reply)
            self._batch = self._queue.not_taken_before(self._handle, messages(reply))
            if self._reads_ahead:
                self._ask(channel)
        return self._batch

    def _begin(self) -> Operation[RequestChannel]:
        """Open the queue, again if the connection was lost."""
        backend = self._queue.backend
        if self._channel is not None and self._channel is not backend.channel:
            self._queue.taken_at_loss(self._batch[self._removed : self.given])
            self._batch = []
            self._read = self._removed = self.given = 0
        self._handle = yield from self._queue.opened("receive")
        self._channel = backend.channel
        return backend.channel

    def _next_reply(
        self, channel: RequestChannel, timeout: float | None
    ) -> Operation[local.AnyReply]:
        if not self._read:
            self._ask(channel)
        # The read itself waits for ever, so that one that was asked for early is never too short.
        reply = yield Wait(self._read, timeout)
        if reply is None:
            reply = yield from self._cancel(channel)
        return reply

    def _ask(self, channel: RequestChannel) -> None:
        request = local.Receive(
            channel.next_id(),
            self._handle.number,
            count=self._chunk,
            max_bytes=READ_BYTES,
            timeout=None,
            two_phase=True,
        )
        channel.post(request)
        self._read = request.id

    def _cancel(self, channel: RequestChannel) -> Operation[local.AnyReply]:
        """End the read that waits; messages may have been faster."""
        cancel = local.Cancel(channel.next_id(), self._read)
        channel.post(cancel)
        channel.ignore(cancel.id)
        reply = yield Wait(self._read, GRACE_SECONDS)
        if reply is None:
            raise channel.lose(f"the queue manager at {channel.description} has not answered.")
        return reply

    def remove_taken(self) -> bool:
        """Remove what the caller was given and has taken; say whether there was any."""
        taken = self._batch[self._removed : self.given]
        if not taken:
            return False
        self._queue.remove(self._handle, taken)
        self._removed = self.given
        return True

    def close(self) -> Operation[None]:
        """End the loop: the taken are removed, the others are back in place."""
        channel, self._channel = self._channel, None
        if (
            channel is None
            or channel is not self._queue.backend.channel
            or channel.fault is not None
        ):
            return
        if not self.current_taken and self.given > self._removed:
            self.given -= 1
        self.remove_taken()
        unseen = self._batch[self.given :]
        self._batch = []
        self.given = self._removed = 0
        if self._read:
            reply = yield from self._cancel(channel)
            self._read = 0
            if isinstance(reply, local.Messages):
                unseen += messages(reply)
        self._queue.give_back(self._handle, unseen)
        yield from channel.flush()

"""Prefetching: messages are fetched ahead of the caller, many at a time.

What was fetched is locked in the queue. A message counts as taken when the caller asks for the one
behind it; then it is removed for good, together with others. What the caller has not taken goes
back in place: when the loop ends, or when the client is gone.
"""

from typing import Final

from openmsmq.client.arguments import whole
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import MAX_MESSAGES
from openmsmq.wire.codes.hresult import Hresult

from .link import GRACE_SECONDS
from .operations import Operation, Wait, failure, messages
from .queue import READ_BYTES, OpenHandle, QueueLogic
from .session import Session

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
        self._session: Session | None = None
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
        session = yield from self._begin()
        self.remove_taken()
        self._batch = []
        self._removed = self.given = 0
        session.check()
        while not self._batch:
            reply = yield from self._next_reply(session, timeout)
            self._read = 0
            if isinstance(reply, local.Failed):
                if reply.code in _ENDED:
                    return None
                raise failure(reply)
            self._batch = self._queue.not_taken_before(self._handle, messages(reply))
            if self._reads_ahead:
                self._ask(session)
        return self._batch

    def _begin(self) -> Operation[Session]:
        """Open the queue, again if the connection was lost."""
        link = self._queue.link
        if self._session is not None and self._session is not link.session:
            self._queue.taken_at_loss(self._batch[self._removed : self.given])
            self._batch = []
            self._read = self._removed = self.given = 0
        self._handle = yield from self._queue.opened("receive")
        self._session = link.session
        return link.session

    def _next_reply(self, session: Session, timeout: float | None) -> Operation[local.AnyReply]:
        if not self._read:
            self._ask(session)
        # The read itself waits for ever, so that one that was asked for early is never too short.
        reply = yield Wait(self._read, timeout)
        if reply is None:
            reply = yield from self._cancel(session)
        return reply

    def _ask(self, session: Session) -> None:
        request = local.Receive(
            session.next_id(),
            self._handle.number,
            count=self._chunk,
            max_bytes=READ_BYTES,
            timeout=None,
            two_phase=True,
        )
        session.post(request)
        self._read = request.id

    def _cancel(self, session: Session) -> Operation[local.AnyReply]:
        """End the read that waits; messages may have been faster."""
        cancel = local.Cancel(session.next_id(), self._read)
        session.post(cancel)
        session.ignore(cancel.id)
        reply = yield Wait(self._read, GRACE_SECONDS)
        if reply is None:
            raise session.lose(f"the queue manager at {session.description} has not answered.")
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
        session, self._session = self._session, None
        if session is None or session is not self._queue.link.session or session.fault is not None:
            return
        if not self.current_taken and self.given > self._removed:
            self.given -= 1
        self.remove_taken()
        unseen = self._batch[self.given :]
        self._batch = []
        self.given = self._removed = 0
        if self._read:
            reply = yield from self._cancel(session)
            self._read = 0
            if isinstance(reply, local.Messages):
                unseen += messages(reply)
        self._queue.give_back(self._handle, unseen)
        yield from session.flush()

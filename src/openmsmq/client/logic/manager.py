"""The client's view of a queue manager: queues, queues to send to, request and reply."""

from typing import Final
from uuid import UUID, uuid4

import msgspec

from openmsmq.client.backend import Backend
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.message import Message
from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .cursor import CursorLogic
from .queue import QueueLogic
from .transaction import TransactionLogic

# The limit of queues kept open to send by name; the last used ones stay open.
MAX_TARGETS: Final = 16_384
# Below this number nothing will be closed soon, and the order of use is not needed.
FEW_TARGETS: Final = MAX_TARGETS * 3 // 4


class ManagerLogic:
    """The queue manager at the other end of a backend."""

    def __init__(self, backend: Backend) -> None:
        self.backend: Final = backend
        self._targets: dict[str, QueueLogic] = {}
        self._responses: QueueLogic | None = None

    def known_target(self, name: str) -> QueueLogic | None:
        """A queue that is open to send to, if it is in the cache; any thread may ask."""
        targets = self._targets
        return targets.get(name) if len(targets) < FEW_TARGETS else None

    def target(self, name: str) -> QueueLogic:
        """A queue to send to by its name; the last used ones stay open."""
        targets = self._targets
        queue = targets.pop(name, None)
        if queue is None:
            while len(targets) >= MAX_TARGETS:
                targets.pop(next(iter(targets))).close_unused()
            queue = QueueLogic(self.backend, name)
        # Moved to the end: the first one is the least recently used.
        targets[name] = queue
        return queue

    # Queues

    def create_queue(
        self, path: str, properties: Info, *, exist_ok: bool = False
    ) -> Operation[QueueLogic]:
        """Create a queue, or use an existing one with these properties."""
        try:
            yield from self.backend.management.create_queue(path, properties)
        except QueueError as exc:
            if not exist_ok or exc.code != Hresult.MQ_ERROR_QUEUE_EXISTS:
                raise
            if properties:
                check_same(path, properties, (yield from self.backend.management.queue_info(path)))
        return QueueLogic(self.backend, path)

    def open_queue(self, name: str, access: str, share: str) -> Operation[QueueLogic]:
        """Open a queue by path name or format name."""
        queue = QueueLogic(self.backend, name, share)
        yield from queue.open(access)
        return queue

    # Transactions

    def begin(self) -> Operation[TransactionLogic]:
        """Begin a transaction; the queue manager learns of it with its first operation."""
        return TransactionLogic.begin(self.backend)

    def close(self) -> Operation[None]:
        """Wait until everything is accepted, and clean up."""
        responses, self._responses = self._responses, None
        if responses is not None:
            yield from self.backend.management.delete_queue(responses.name)
        yield from self.backend.flush()

    # Request and reply

    def request(
        self,
        timeout: float | None,
        destination: str,
        message: Message,
        response_queue: str | None,
        transaction: int,
    ) -> Operation[ReceivedMessage]:
        """Send a request and return the answer with its correlation id.

        Raises:
            ReceiveTimeout: no answer came in `timeout` seconds.
        """
        clock = self.backend.clock
        deadline = None if timeout is None else clock() + timeout
        if response_queue is None:
            responses = yield from self._own_responses()
        else:
            responses = QueueLogic(self.backend, response_queue)
        question = msgspec.structs.replace(message, response_queue=responses.name)
        identifier = yield from self.target(destination).send_and_wait(question, transaction)
        cursor = CursorLogic(responses)
        try:
            while True:
                remaining = None if deadline is None else max(deadline - clock(), 0.0)
                batch = yield from cursor.next_batch(remaining)
                if batch is None:
                    raise ReceiveTimeout(f"no answer to {identifier} came in time")
                for answer in batch:
                    if answer.correlation_id == identifier:
                        return (
                            yield from responses.look_up(
                                answer.lookup_id, "current", 0, receive=True
                            )
                        )
        finally:
            cursor.close()
            if response_queue is not None:
                responses.close_unused()

    def _own_responses(self) -> Operation[QueueLogic]:
        """The queue for answers to this connection; it is deleted at the end."""
        responses = self._responses
        if responses is None:
            # Registered at once: concurrent requests then use the same connection.
            path = rf".\private$\responses-{uuid4()}"
            self._responses = responses = QueueLogic(self.backend, path)
            try:
                yield from self.backend.management.create_queue(
                    path, {"label": "answers to a client"}
                )
            except BaseException:
                self._responses = None
                raise
        return responses


def check_same(path: str, wanted: Info, info: Info) -> None:
    """Refuse an existing queue whose properties differ from the requested ones.

    Raises:
        QueueError: MQ_ERROR_QUEUE_EXISTS; the text names the differences.
    """
    different = [
        f"{name} is {property_text(info[name])} instead of {property_text(value)}"
        for name, value in wanted.items()
        if property_text(info[name]) != property_text(value)
    ]
    if different:
        raise QueueError(
            Hresult.MQ_ERROR_QUEUE_EXISTS,
            f"{path} exists with other properties: {', '.join(different)}",
        )


def property_text(value: object) -> str:
    """A property of a queue as text; a GUID in any form has the same text."""
    if value is None:
        return "none"
    if isinstance(value, str):
        try:
            return str(UUID(value))
        except ValueError:
            return f"'{value}'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def reply_to(request: ReceivedMessage, message: Message) -> tuple[str, Message]:
    """The destination of an answer, and the answer with the id of the request.

    Raises:
        ValueError: the sender of the request wants no answer.
    """
    destination = request.response_queue
    if destination is None:
        raise ValueError(f"message {request.id} names no response queue")
    return destination, msgspec.structs.replace(message, correlation_id=request.id)

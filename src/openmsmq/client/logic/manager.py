"""What a client asks of a queue manager, queues to send to, request and reply."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

import msgspec

from openmsmq.client.arguments import several
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.local.backend import LocalBackend
from openmsmq.client.message import Message
from openmsmq.client.properties import Info
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .cursor import CursorLogic
from .operations import Operation
from .part_stream import PartStream
from .queue import QueueLogic
from .transaction import TransactionLogic

MAX_TARGETS: Final = 256


class ManagerLogic:
    """The queue manager at the other end of a backend."""

    def __init__(self, backend: LocalBackend) -> None:
        self.backend: Final = backend
        self._targets: dict[str, QueueLogic] = {}
        self._responses: QueueLogic | None = None

    def target(self, name: str) -> QueueLogic:
        """A queue to send to by its name; the last few hundred stay open."""
        queue = self._targets.get(name)
        if queue is None:
            while len(self._targets) >= MAX_TARGETS:
                self._targets.pop(next(iter(self._targets))).close_unused()
            queue = self._targets[name] = QueueLogic(self.backend, name)
        return queue

    # Queues

    def create_queue(
        self, path: str, properties: Info, *, exist_ok: bool = False
    ) -> Operation[QueueLogic]:
        """Create a queue, or take one that exists and has these properties."""
        try:
            yield from self.backend.call(local.CreateQueue, path, properties)
        except QueueError as exc:
            if not exist_ok or exc.code != Hresult.MQ_ERROR_QUEUE_EXISTS:
                raise
            if properties:
                check_same(path, properties, (yield from self.queue_info(path)))
        return QueueLogic(self.backend, path)

    def open_queue(self, name: str, access: str, share: str) -> Operation[QueueLogic]:
        """Open a queue by path name or format name."""
        queue = QueueLogic(self.backend, name, share)
        yield from queue.opened(access)
        return queue

    def delete_queue(self, path: str) -> Operation[None]:
        """Delete a queue with everything in it."""
        yield from self.backend.call(local.DeleteQueue, path)

    def set_queue(self, path: str, properties: Info) -> Operation[None]:
        """Change properties of a queue."""
        yield from self.backend.call(local.SetQueue, path, properties)

    def queue_info(self, path: str) -> Operation[Info]:
        """Properties, counts and permissions of one queue."""
        return self.backend.call(local.ShowQueue, path)

    def queues(self, *, include_system: bool) -> Operation[list[Info]]:
        """Properties and counts of all queues."""
        return self.queue_parts(include_system=include_system).whole()

    def queue_parts(self, *, include_system: bool) -> PartStream:
        """The same as it comes."""
        return PartStream(self.backend, local.ListQueues, include_system)

    def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with a queue; return what is in force."""
        several("rights", rights, "words")
        return self.backend.call(local.Grant, path, principal, list(rights), deny, revoke)

    # The queue manager itself

    def status(self) -> Operation[Info]:
        """State, identity, endpoints and totals."""
        return self.backend.call(local.GetStatus)

    def outgoing(self) -> Operation[list[Info]]:
        """Outgoing queues."""
        return PartStream(self.backend, local.ListOutgoing).whole()

    def sessions(self) -> Operation[list[Info]]:
        """Sessions with other queue managers."""
        return PartStream(self.backend, local.ListSessions).whole()

    def clients(self) -> Operation[list[Info]]:
        """Clients of the queue manager."""
        return PartStream(self.backend, local.ListClients).whole()

    def transactions(self) -> Operation[list[Info]]:
        """Open transactions."""
        return PartStream(self.backend, local.ListTransactions).whole()

    def machine_rights(self) -> Operation[list[Info]]:
        """Who may do what with the queue manager."""
        return self.backend.call(local.MachineRights)

    def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with the queue manager; return what is in force."""
        several("rights", rights, "words")
        return self.backend.call(local.GrantMachine, principal, list(rights), deny, revoke)

    def hold_outgoing(self, destination: str, *, pause: bool) -> Operation[Info]:
        """Pause or resume an outgoing queue."""
        return self.backend.call(local.HoldOutgoing, destination, pause)

    def backup(self, file: Path | str) -> Operation[Info]:
        """Copy the store to a file of the queue manager's machine."""
        return self.backend.call(local.Backup, str(file))

    def begin(self) -> Operation[TransactionLogic]:
        """Begin a transaction; the queue manager hears of it with the first thing in it."""
        return TransactionLogic.begin(self.backend)

    def close(self) -> Operation[None]:
        """Wait until everything is accepted, and clean up."""
        responses, self._responses = self._responses, None
        if responses is not None:
            yield from self.backend.call(local.DeleteQueue, responses.name)
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
        """Send a request and return the answer that names it.

        Raises:
            ReceiveTimeout: no answer came in `timeout` seconds.
        """
        clock = self.backend.clock
        deadline = None if timeout is None else clock() + timeout
        if response_queue is None:
            responses = yield from self._own_responses()
        else:
            responses = QueueLogic(self.backend, response_queue)
        asked = msgspec.structs.replace(message, response_queue=responses.name)
        identifier = yield from self.target(destination).send_and_wait(asked, transaction)
        cursor = CursorLogic(responses)
        try:
            while True:
                left = None if deadline is None else max(deadline - clock(), 0.0)
                batch = yield from cursor.next_batch(left)
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
            # Known at once: whoever asks meanwhile follows behind on the same connection.
            path = rf".\private$\responses-{uuid4()}"
            self._responses = responses = QueueLogic(self.backend, path)
            try:
                yield from self.backend.call(
                    local.CreateQueue, path, {"label": "answers to a client"}
                )
            except BaseException:
                self._responses = None
                raise
        return responses


def check_same(path: str, wanted: Info, info: Info) -> None:
    """Refuse a queue that exists with other properties than those that are wanted.

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
    """A property of a queue as people write it; a GUID in any form has the same text."""
    if value is None:
        return "none"
    if isinstance(value, str):
        try:
            return str(UUID(value))
        except ValueError:
            return f"'{value}'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def reply_to(request: ReceivedMessage, message: Message) -> tuple[str, Message]:
    """Where an answer goes, and the answer with the id of the request.

    Raises:
        ValueError: the sender of the request wants no answer.
    """
    destination = request.response_queue
    if destination is None:
        raise ValueError(f"message {request.id} names no response queue")
    return destination, msgspec.structs.replace(message, correlation_id=request.id)

"""One client of the local protocol, as the queue manager sees it: requests in, replies out.

A request is answered at once, or by a waiting read (`ReadTag`), or in steps (`Long`), or later by
outside work (`deferred`).

The open, locked and begun resources of the client are in its `Holder`, which releases them when the
client disconnects.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from openmsmq.core.events import ReadEnded, ReadSatisfied
from openmsmq.core.holder import Holder
from openmsmq.core.management.records import ProcessInfo, ProcessMetrics
from openmsmq.core.model.message import Message
from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.queue_manager import QueueManager
from openmsmq.security.caller import Caller
from openmsmq.security.principals import Accounts
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from . import messages as local

if TYPE_CHECKING:
    from .deferred import Deferred

MAX_LONG: Final = 100
# No fewer than the messages of one request.
MAX_BROKEN: Final = local.MAX_MESSAGES


class Service(Protocol):
    """Functions of the process around the queue manager for requests."""

    @property
    def version(self) -> str:
        """The version of the program."""

    def process_info(self) -> ProcessInfo:
        """Facts about the process that the queue manager does not have."""

    def process_metrics(self) -> ProcessMetrics:
        """Measurements of the process."""

    def watch(self, after: int, defer: "Callable[[Callable[[], None]], Deferred]") -> None:
        """Answer with the events after a number, or wait for one.

        Args:
            defer: creates the deferred answer, with its cancellation.
        """

    def reload(self) -> object:
        """Read files again; return the keys read and the failures."""

    def machine_keys(self) -> list[dict[str, Any]]:
        """The keys of the queue manager that can decrypt."""

    def rotate_machine_keys(self, answer: "Deferred") -> None:
        """Replace the keys of the queue manager, and answer with those that can decrypt."""

    def export_machine_keys(self, answer: "Deferred") -> None:
        """Answer with the public keys of the queue manager."""

    def trace(self, identifier: bytes, answer: "Deferred") -> None:
        """Answer with the history of a message."""

    def backup(self, file: str, answer: "Deferred") -> None:
        """Copy the store to a file, and answer with the file and its size."""

    @property
    def accounts(self) -> Accounts:
        """Users and groups of this machine."""

    def authenticate(self, token: str) -> Caller | None:
        """The caller of a token."""

    def caller_named(self, principal: str) -> Caller:
        """The caller of a principal, in the words of permissions.

        Raises:
            QueueError: there is no such principal.
        """

    def refused(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        """A request was refused, with this many messages for a queue in it."""


Reply = Callable[[int, bytes], None]
Steps = Iterator[None]
"""A long request, in steps between which others are served."""


class Long(NamedTuple):
    """A request in progress."""

    request: local.Request
    steps: Steps


class ReadTag:
    """Owns a waiting read (`core.waiting.ReadOwner`): its end answers the request."""

    __slots__ = ("request", "session")

    def __init__(self, session: "LocalSession", request: int) -> None:
        self.session = session
        self.request = request

    def satisfied(self, event: ReadSatisfied) -> None:
        """The read got messages."""
        session = self.session
        session.holder.waiting.pop(self.request, None)
        session.show(self.request, event.messages, event.packets, event.depends)

    def ended(self, event: ReadEnded) -> None:
        """The read ended without a message."""
        session = self.session
        session.holder.waiting.pop(self.request, None)
        session.answer(local.Failed(self.request, event.code, ""), event.depends)


class LocalSession:
    """State of one client."""

    def __init__(
        self, manager: QueueManager, service: Service, caller: Caller | None, reply: Reply
    ) -> None:
        self.manager = manager
        self.service = service
        self.caller = caller
        self._reply = reply
        self.greeted = False
        self.holder = Holder(manager)
        self.long: deque[Long] = deque()
        # By request; see `deferred.defer`.
        self.deferred: dict[int, Deferred] = {}
        # Chains of messages of which one was refused, and why.
        self._broken: dict[int, QueueError] = {}
        self.closed = False
        # Messages that the client sent, and messages sent to it.
        self.incoming_messages = 0
        self.outgoing_messages = 0

    # Replies

    def done(self, request: int, value: Any = None, depends: int = 0) -> None:
        """Answer a request once batch `depends` is on disk."""
        self.answer(local.Done(request, value), depends)

    def stream(self, request: int, parts: Iterable[list[Any]]) -> Steps:
        """Answer a request with a list, one part per step; empty parts are left out."""
        depends = 0
        for part in parts:
            # No part overtakes one that waits for the disk.
            depends = max(depends, self.seen)
            if part:
                self.answer(local.Part(request, last=False, values=part), depends)
            yield
        self.answer(local.Part(request, last=True, values=[]), depends)

    def answer(self, reply: local.AnyReply, depends: int = 0) -> None:
        if not self.closed:
            self._reply(depends, local.encode(reply))

    def fail(self, request: int, error: QueueError, depends: int = 0) -> None:
        """Refuse a request once batch `depends` is on disk."""
        self.answer(
            local.Failed(
                request,
                int(error.code),
                error.detail,
                error.known_cause,
                error.known_remedy,
                error.accepted,
            ),
            depends,
        )

    def show(
        self, request: int, messages: list[Message], packets: list[bytes], depends: int
    ) -> None:
        """Answer a read."""
        self.outgoing_messages += len(packets)
        self.answer(
            local.Messages(
                request,
                packets,
                [message.lookup_id for message in messages],
                [message.arrived for message in messages],
                counters(messages),
            ),
            depends,
        )

    @property
    def seen(self) -> int:
        """The batch that must be durable before the current state is reported."""
        return self.manager.seen

    def identity(self) -> Caller:
        """The user of the client; known after the greeting."""
        assert self.caller is not None  # noqa: S101 - no request is carried out before
        return self.caller

    # Chains of messages

    def open_to_send(self, handle: int, name: str) -> None:
        """Open a queue under a handle; if that is refused, so are the messages for it."""
        try:
            self.holder.open_queue(
                name, QueueAccessType.SEND, caller=self.identity(), handle=handle
            )
        except QueueError as exc:
            self.break_chain(handle, exc)

    def close_queue(self, handle: int) -> None:
        """Close a queue, or drop the reason why it could not be opened.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE.
        """
        if self._broken.pop(handle, None) is None or handle in self.holder.open:
            self.holder.close_queue(handle)

    def opened(self, handle: int) -> OpenQueueDescriptor:
        """An open queue to send to.

        Raises:
            QueueError: why it could not be opened, or MQ_ERROR_INVALID_HANDLE.
        """
        descriptor = self.holder.open.get(handle)
        if descriptor is None:
            self.check_chain(handle)
            return self.holder.descriptor(handle)
        return descriptor

    def check_chain(self, chain: int) -> None:
        """Refuse messages after one that was refused.

        Raises:
            QueueError: the refusal of the earlier message.
        """
        broken = self._broken.get(chain)
        if broken is not None:
            raise QueueError(
                broken.code,
                broken.detail,
                cause=broken.known_cause,
                remedy=broken.known_remedy,
            )

    def break_chain(self, chain: int, error: QueueError) -> None:
        """A message of a chain was refused, so all later ones are."""
        # The client has long received the oldest ones.
        if len(self._broken) >= MAX_BROKEN:
            del self._broken[next(iter(self._broken))]
        self._broken[chain] = error

    # The end

    def close(self) -> None:
        """The client has disconnected: all its resources are released."""
        if self.closed:
            return
        self.closed = True
        self.long.clear()
        self.holder.close()
        deferred, self.deferred = self.deferred, {}
        for answer in deferred.values():
            answer.abandon()


def storage_failed(error: StoreError) -> QueueError:
    """The refusal that reports a fault of the store to a client."""
    refusal = QueueError(
        Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED,
        error.detail,
        cause=error.cause,
        remedy=error.remedy,
    )
    refusal.__cause__ = error
    return refusal


def counters(messages: list[Message]) -> list[tuple[int, int, int, float]]:
    """Index, abort count, move count and last move time of the messages that have any."""
    rows = []
    storied = [index for index, message in enumerate(messages) if message.history is not None]
    for index in storied:
        history = messages[index].history
        if history is not None and (history.abort_count or history.move_count):
            rows.append(
                (index, history.abort_count, history.move_count, float(history.last_move_time))
            )
    return rows


Handlers = dict[type[local.Request], Callable[[LocalSession, Any], Steps | None]]
"""The function of each kind of request."""

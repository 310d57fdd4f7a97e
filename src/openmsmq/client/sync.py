"""The blocking client: `connect()` and what it returns."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from openmsmq.protocol.local import messages as local
from openmsmq.net.local.paths import default_socket

from . import calls
from .calls import SINGLE, Identity, OpenHandle, Prefetch, SendBuffer
from .errors import ConnectionLost, ReceiveTimeout
from .message import Message, ReceivedMessage
from .packets import PacketBuilder
from .transport import Transport, connect_unix

# How much longer than asked for a reply may take before the queue manager counts as lost.
GRACE_SECONDS = 30.0


def connect(address: str | Path | None = None, *, timeout: float = 10.0) -> "QueueManager":
    """Connect to a queue manager.

    Args:
        address: path of its Unix socket; without one, $OPENMSMQ_SOCKET, else the default place.
        timeout: seconds to wait for the connection.

    Raises:
        ConnectionLost: nobody answers there; the text says what to do.
    """
    return QueueManager(connect_unix(Path(address or default_socket()), timeout))


class QueueManager:
    """A connection to a queue manager. Close it, or use it in a `with` statement."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.identity = Identity.from_reply(
            self._call(local.Hello(transport.next_id(), local.VERSION))
        )
        builder = PacketBuilder(computer_name=self.identity.name, sender=self.identity.sid)
        self.builder = builder
        self._sends = SendBuffer(builder, transport.next_id)
        self._targets: dict[str, Queue] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._transport.close()

    def close(self) -> None:
        """Send what is still buffered and hang up."""
        if not self._transport.closed:
            try:
                self.flush()
            finally:
                self._transport.close()

    # Plumbing

    def _call(self, request: local.Request, timeout: float | None = None) -> local.AnyReply:
        """Post a request and wait for its answer."""
        self._transport.post([request])
        return self._answer(request.id, timeout)

    def _answer(self, request_id: int, timeout: float | None = None) -> local.AnyReply:
        reply = self._transport.wait(request_id, timeout)
        if reply is None:
            self._transport.close()
            raise ConnectionLost(
                f"the queue manager at {self._transport.description} has not answered in time"
            )
        return reply

    def _ordered_call(self, request: local.Request) -> Any:
        """Post what is buffered, then the request; return the value of its answer."""
        self._transport.post([*self._sends.take(), request])
        reply = self._answer(request.id)
        self._settle()
        return calls.done(reply)

    def next_id(self) -> int:
        return self._transport.next_id()

    def flush(self) -> None:
        """Wait until every message sent so far is accepted.

        Raises:
            QueueError: one was refused.
        """
        requests = self._sends.take()
        if requests:
            self._transport.post(requests)
        while self._sends.unanswered:
            calls.done(self._answer(self._sends.unanswered.popleft()))

    def _settle(self, limit: int | None = None) -> None:
        """Look at the answers of pipelined sends; wait while more than `limit` are missing."""
        unanswered = self._sends.unanswered
        while unanswered:
            if limit is not None and len(unanswered) > limit:
                reply: local.AnyReply | None = self._answer(unanswered[0])
            else:
                reply = self._transport.take(unanswered[0])
            if reply is None:
                return
            unanswered.popleft()
            calls.raise_failure(reply)

    # Queues

    def create_queue(self, path: str, **properties: Any) -> "Queue":
        r"""Create a queue such as `.\private$\orders`.

        Args:
            path: its path name.
            properties: transactional, label, journal, quota, journal_quota (KB), authenticate,
                privacy ("none", "optional", "body"), base_priority, multicast.

        Raises:
            QueueError: it exists, or the caller may not.
        """
        self._ordered_call(local.CreateQueue(self.next_id(), path, properties))
        return Queue(self, path)

    def delete_queue(self, path: str) -> None:
        """Delete a queue with everything in it."""
        self._targets.clear()
        self._ordered_call(local.DeleteQueue(self.next_id(), path))

    def set_queue(self, path: str, **properties: Any) -> None:
        """Change properties of a queue; names as in `create_queue`."""
        self._ordered_call(local.SetQueue(self.next_id(), path, properties))

    def queue_info(self, path: str) -> dict[str, Any]:
        """Properties and counts of one queue."""
        info: dict[str, Any] = self._ordered_call(local.ShowQueue(self.next_id(), path))
        return info

    def queues(self, *, include_system: bool = False) -> list[dict[str, Any]]:
        """Properties and counts of all queues."""
        found: list[dict[str, Any]] = self._ordered_call(
            local.ListQueues(self.next_id(), include_system)
        )
        return found

    def grant(
        self,
        path: str,
        principal: str,
        rights: Iterable[str],
        *,
        deny: bool = False,
        revoke: bool = False,
    ) -> list[dict[str, Any]]:
        """Change what a principal may do with a queue; return the entries that are in force."""
        request = local.Grant(
            self.next_id(), path, principal, list(rights), deny=deny, revoke=revoke
        )
        entries: list[dict[str, Any]] = self._ordered_call(request)
        return entries

    def open_queue(self, name: str, access: str = "receive", share: str = "deny_none") -> "Queue":
        """Open a queue by path name or format name.

        Args:
            access: "receive", "peek", "send" or "move".
            share: "deny_none", or "deny_receive" to keep other readers out.
        """
        queue = Queue(self, name, share)
        queue.opened(access)
        return queue

    def status(self) -> dict[str, Any]:
        """State, identity, endpoints and totals of the queue manager."""
        status: dict[str, Any] = self._ordered_call(local.GetStatus(self.next_id()))
        return status

    def outgoing(self) -> list[dict[str, Any]]:
        """Outgoing queues: destination, state, what waits and why."""
        found: list[dict[str, Any]] = self._ordered_call(local.ListOutgoing(self.next_id()))
        return found

    def hold_outgoing(self, destination: str, *, pause: bool) -> None:
        """Pause or resume an outgoing queue."""
        self._ordered_call(local.HoldOutgoing(self.next_id(), destination, pause))

    def backup(self, file: str) -> dict[str, Any]:
        """Copy the store to a file on the queue manager's machine while it runs."""
        result: dict[str, Any] = self._ordered_call(local.Backup(self.next_id(), file))
        return result

    # Messages

    def send(
        self,
        destination: str,
        message: Message,
        transaction: "Transaction | str | None" = None,
    ) -> None:
        """Send one message to any queue; see `Queue.send`."""
        queue = self._targets.get(destination)
        if queue is None:
            queue = self._targets[destination] = Queue(self, destination)
        queue.send(message, transaction)

    def transaction(self) -> "Transaction":
        """Begin a transaction: commits at the end of a `with` block, aborts on an exception."""
        return Transaction(self, self._ordered_call(local.BeginTransaction(self.next_id())))

    def _send(
        self, queue: "Queue", message: Message, transaction: "Transaction | str | None"
    ) -> None:
        number = transaction_number(transaction)
        buffered = number > 0 or (number == 0 and message.delivery == "express")
        self._sends.add(message, queue.opened("send"), number)
        if not buffered:
            self.flush()
        elif self._sends.full:
            self._transport.post(self._sends.take())
            self._settle(limit=32)


def transaction_number(transaction: "Transaction | str | None") -> int:
    """The number that stands for a transaction in requests."""
    if transaction is None:
        return 0
    if isinstance(transaction, Transaction):
        return transaction.number
    if transaction == "single":
        return SINGLE
    raise ValueError(f"transaction: {transaction!r} is neither a transaction nor 'single'")


class Transaction:
    """Operations that take effect together; commits on exit, aborts on an exception."""

    def __init__(self, manager: QueueManager, number: int) -> None:
        self._manager = manager
        self.number = number
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open:
            if kind is None:
                self.commit()
            elif not self._manager._transport.closed:
                self.abort()

    def commit(self) -> None:
        """Make everything take effect; returns when it is on disk."""
        self._end(commit=True)

    def abort(self) -> None:
        """Undo everything: sends never happened, received messages are back in place."""
        self._end(commit=False)

    def _end(self, *, commit: bool) -> None:
        self._open = False
        manager = self._manager
        manager._ordered_call(local.EndTransaction(manager.next_id(), self.number, commit))


class Queue:
    """One queue; opened when it is first used for something."""

    def __init__(self, manager: QueueManager, name: str, share: str = "deny_none") -> None:
        self._manager = manager
        self.name = name
        self._share = share
        self._handles: dict[str, OpenHandle] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._manager._transport.closed:
            self.close()

    def __repr__(self) -> str:
        return f"Queue({self.name!r})"

    def opened(self, access: str) -> OpenHandle:
        """The handle for this kind of access, opened now if need be."""
        handle = self._handles.get(access)
        if handle is None:
            manager = self._manager
            request = local.OpenQueue(manager.next_id(), self.name, access, self._share)
            handle = calls.open_handle(manager._ordered_call(request))
            self._handles[access] = handle
        return handle

    def _reader(self) -> int:
        for access in ("receive", "peek"):
            if access in self._handles:
                return self._handles[access].handle
        return self.opened("receive").handle

    def close(self) -> None:
        """Close the queue; what was read in two steps and not ended goes back in place."""
        handles, self._handles = self._handles, {}
        for handle in handles.values():
            self._manager._ordered_call(local.CloseQueue(self._manager.next_id(), handle.handle))

    @property
    def format_name(self) -> str:
        return self.opened("send").format_name

    def info(self) -> dict[str, Any]:
        """Properties and counts of the queue."""
        return self._manager.queue_info(self.name)

    # Sending

    def send(self, message: Message, transaction: Transaction | str | None = None) -> None:
        """Send one message.

        In a transaction and for express messages this returns at once: messages are packed
        together, and a refusal is raised by a later call, `QueueManager.flush()` at the latest.
        Other sends return when the message is on disk.

        Args:
            transaction: from `QueueManager.transaction()`, or "single" for one of its own.
        """
        self._manager._send(self, message, transaction)

    def send_many(
        self, messages: Iterable[Message], transaction: Transaction | str | None = None
    ) -> int:
        """Send many messages with many in flight; returns how many, when all are accepted.

        With "single" they are one transaction.
        """
        manager = self._manager
        if transaction == "single":
            with manager.transaction() as own:
                return self.send_many(messages, own)
        number = transaction_number(transaction)
        handle = self.opened("send")
        sends = manager._sends
        sent = 0
        for message in messages:
            sends.add(message, handle, number)
            sent += 1
            if sends.full:
                manager._transport.post(sends.take())
                manager._settle(limit=32)
        manager.flush()
        return sent

    # Reading

    def _read(self, timeout: float | None, **parameters: Any) -> list[ReceivedMessage]:
        manager = self._manager
        request = local.Receive(manager.next_id(), self._reader(), timeout=timeout, **parameters)
        transport = manager._transport
        transport.post([*manager._sends.take(), request])
        limit = None if timeout is None else timeout + GRACE_SECONDS
        return calls.messages(manager._answer(request.id, limit))

    def receive(
        self, timeout: float | None = None, transaction: Transaction | None = None
    ) -> ReceivedMessage:
        """Take the first message, waiting for it if need be.

        Raises:
            ReceiveTimeout: none came in `timeout` seconds.
        """
        return self._read(timeout, transaction=transaction_number(transaction))[0]

    def receive_many(
        self,
        count: int,
        timeout: float | None = None,
        transaction: Transaction | None = None,
    ) -> list[ReceivedMessage]:
        """Take up to `count` messages: waits for the first one only, may return none."""
        try:
            return self._read(timeout, count=count, transaction=transaction_number(transaction))
        except ReceiveTimeout:
            return []

    def peek(self, timeout: float | None = None) -> ReceivedMessage:
        """Look at the first message without taking it.

        Raises:
            ReceiveTimeout: none came in `timeout` seconds.
        """
        return self._read(timeout, action="peek")[0]

    def _lookup(
        self, lookup_id: int, relation: str, transaction: Transaction | None, *, receive: bool
    ) -> ReceivedMessage:
        request = local.Lookup(
            self._manager.next_id(),
            self._reader(),
            lookup_id,
            relation,
            receive,
            transaction_number(transaction),
        )
        self._manager.flush()
        return calls.messages(self._manager._call(request))[0]

    def peek_by_lookup_id(self, lookup_id: int, relation: str = "current") -> ReceivedMessage:
        """Look at a message by its lookup id, or at the one before or behind it.

        Args:
            relation: "current", "next", "previous", "first" or "last".

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
        """
        return self._lookup(lookup_id, relation, None, receive=False)

    def receive_by_lookup_id(
        self,
        lookup_id: int,
        relation: str = "current",
        transaction: Transaction | None = None,
    ) -> ReceivedMessage:
        """Take a message by its lookup id; see `peek_by_lookup_id`."""
        return self._lookup(lookup_id, relation, transaction, receive=True)

    def cursor(self, timeout: float = 0.0) -> Iterator[ReceivedMessage]:
        """Look at every message in queue order without taking any.

        Args:
            timeout: how long to wait for another one at the end.
        """
        manager = self._manager
        handle = self._reader()
        number: int = manager._ordered_call(local.OpenCursor(manager.next_id(), handle))
        action = "peek"
        try:
            while True:
                found = self._read(timeout, action=action, cursor=number, count=500)
                action = "peek_next"
                yield from found
        except ReceiveTimeout:
            return
        finally:
            if not manager._transport.closed:
                manager._ordered_call(local.CloseCursor(manager.next_id(), handle, number))

    def __iter__(self) -> Iterator[ReceivedMessage]:
        """Take every message, for ever."""
        return self.messages()

    def messages(
        self, timeout: float | None = None, prefetch: int = 500
    ) -> Iterator[ReceivedMessage]:
        """Take messages one after the other, fetched ahead many at a time.

        What was fetched ahead stays locked in the queue. A message is removed for good once the
        caller asks for the next one or ends the loop, and goes back in place if it dies before.

        Args:
            timeout: end when no message came for so long; None waits for ever.
            prefetch: how many messages may be fetched ahead.
        """
        manager = self._manager
        transport = manager._transport
        ahead = Prefetch(self.opened("receive").handle, manager.next_id, prefetch)
        try:
            while True:
                message = ahead.next()
                posts = ahead.requests(timeout)
                if posts:
                    transport.post(posts)
                    for post in posts:
                        if isinstance(post, local.EndReceive):
                            transport.abandon(post.id)
                if message is not None:
                    yield message
                    reply = transport.take(ahead.outstanding[0]) if ahead.outstanding else None
                else:
                    limit = None if timeout is None else timeout + GRACE_SECONDS
                    reply = manager._answer(ahead.outstanding[0], limit)
                if reply is not None:
                    ahead.add(reply)
        except ReceiveTimeout:
            return
        finally:
            if not transport.closed:
                self._end_messages(ahead)

    def _end_messages(self, ahead: Prefetch) -> None:
        """Give back what the caller has not seen, and wait until the rest is removed."""
        manager = self._manager
        for request_id in list(ahead.outstanding):
            cancel = local.Cancel(manager.next_id(), request_id)
            calls.done(manager._call(cancel))
            reply = manager._answer(request_id)
            if isinstance(reply, local.Messages):
                ahead.add(reply)
            else:
                ahead.outstanding.popleft()
        for request in ahead.close():
            calls.done(manager._call(request))

    # Managing

    def purge(self) -> int:
        """Delete every message; returns how many."""
        request = local.Purge(self._manager.next_id(), self.opened("receive").handle)
        purged: int = self._manager._ordered_call(request)
        return purged

    def move(
        self,
        target: str,
        lookup_ids: list[int] | None = None,
        *,
        count: int = 1000,
        transaction: Transaction | None = None,
    ) -> int:
        """Move messages to a subqueue, or back; returns how many.

        Args:
            target: the queue or subqueue to move to.
            lookup_ids: which messages; without them the first `count`.
        """
        manager = self._manager
        with manager.open_queue(target, "move") as other:
            request = local.Move(
                manager.next_id(),
                self.opened("receive").handle,
                other.opened("move").handle,
                lookup_ids,
                count,
                transaction_number(transaction),
            )
            moved: int = manager._ordered_call(request)
            return moved

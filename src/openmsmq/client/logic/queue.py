"""One queue as a client uses it: open, send, receive, peek, look up, move, purge."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from openmsmq.client.arguments import several, whole
from openmsmq.client.backend import (
    GRACE_SECONDS,
    READ_BYTES,
    Backend,
    ChainBroken,
    Channel,
    Handle,
    HoldMany,
    LookUp,
    MoveStep,
    Read,
    SendDetails,
    SendHandle,
    not_answered,
)
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.message import Message
from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.names.queue_name import move_target
from openmsmq.wire.scalars import MessageIdentifier

from .packets import PacketBuilder, SignatureWanted

READS: Final = ("receive", "peek", "receive_admin", "peek_admin")
MOVE_MESSAGES: Final = 1000
# The share mode that excludes other readers.
DENY_NONE: Final = "deny_none"
Progress = Callable[[int], None]
_GONE: Final = (Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED)
# The refusal of a peek at a message that is being received, and of a receive in a transaction if
# the queue takes none.
_GONE_FOR_PEEK: Final = (*_GONE, Hresult.MQ_ERROR_TRANSACTION_USAGE)


class Held(NamedTuple):
    """A message that is locked in its queue, and the handle of the lock."""

    handle: Handle
    message: ReceivedMessage


class HeldMessages(NamedTuple):
    """Messages that are locked in their queue, and the handle of the locks."""

    handle: Handle
    messages: list[ReceivedMessage]

    @property
    def lookup_ids(self) -> list[int]:
        return [message.lookup_id for message in self.messages]


class QueueLogic:
    """One queue; opened at the first use, and again after a loss."""

    def __init__(self, backend: Backend, name: str, share: str = DENY_NONE) -> None:
        self.backend: Final = backend
        self.name: Final = name
        self._share = share
        self._channel: Channel | None = None
        self._handles: dict[str, Handle] = {}
        # The last handle for sending; see `open_sender` whether it is still valid.
        self.sender: SendHandle | None = None
        # Lookup ids whose removal is in progress; and those interrupted by a loss.
        self._leaving: set[int] = set()
        self._taken_before: set[int] = set()

    # Opening

    def _current_channel(self) -> Channel:
        channel = self.backend.channel
        if channel is not self._channel:
            self._channel = channel
            self._handles.clear()
            self.sender = None
            self._taken_before = self._leaving
            self._leaving = set()
        return channel

    def opened(self, access: str) -> Operation[Handle]:
        """The handle for reading or moving, opened now if necessary."""
        self._current_channel()
        handle = self._handles.get(access)
        if handle is None:
            handle = yield from self.backend.open(self.name, access, self._share)
            self._handles[access] = handle
        return handle

    def _working_sender(self) -> SendHandle | None:
        """The handle for sending, if there is a valid one."""
        handle = self.sender
        if handle is None or handle.channel is not self.backend.channel:
            return None
        refused = handle.channel.refused
        if refused and handle.number in refused:
            refused.discard(handle.number)
            self.sender = None
            self.backend.close_later(handle)
            return None
        return handle

    def open_sender(self) -> SendHandle | None:
        """The handle for sending, opened with the next message; None if opening takes a wait."""
        handle = self._working_sender()
        if handle is None and self._share == DENY_NONE and self.backend.can_send:
            self._current_channel()
            handle = self.sender = self.backend.open_later(self.name)
        return handle

    def opened_to_send(self) -> Operation[SendHandle]:
        """The handle for sending."""
        handle = self.open_sender()
        if handle is None:
            handle, _ = yield from self._described_sender()
        return handle

    def _described_sender(self) -> Operation[tuple[SendHandle, SendDetails]]:
        """The handle for sending, with the properties of the queue."""
        self._current_channel()
        handle = self._working_sender()
        if handle is not None and handle.details is not None:
            return handle, handle.details
        opened = yield from self.backend.open_to_send(self.name, self._share)
        details = opened.details
        assert details is not None  # noqa: S101 - the promise of the backend
        handle = self._working_sender()
        if handle is None:
            handle = self.sender = opened
        else:
            # Messages on their way keep their order with those that follow.
            handle.details = details
            self.backend.close_later(opened)
        return handle, details

    def opened_to_read(self) -> Operation[Handle]:
        """The handle for receiving, or else another one that can read."""
        self._current_channel()
        can_read = (access for access in READS if access in self._handles)
        return (yield from self.opened(next(can_read, "receive")))

    def open(self, access: str) -> Operation[None]:
        """Open the queue now for this access."""
        if access == "send":
            yield from self._described_sender()
        else:
            yield from self.opened(access)

    def _open_handles(self) -> list[Handle | SendHandle]:
        """The handles of the current channel."""
        self._current_channel()
        handles: list[Handle | SendHandle] = list(self._handles.values())
        return handles if self.sender is None else [*handles, self.sender]

    def has_open(self, handle: Handle) -> bool:
        """Whether a handle for reading is still open in the current channel."""
        return handle in self._open_handles()

    def info(self) -> Operation[Info]:
        """Properties, counts and permissions of the queue."""
        return self.backend.management.queue_info(self.name)

    def count(self) -> Operation[int]:
        """The number of messages in the queue, locked ones included."""
        handle = yield from self.opened_to_read()
        info = yield from self.backend.ranges.info(handle)
        count: int = info["count"] + info["locked"]
        return count

    def format_name(self) -> Operation[str]:
        """The format name by which the queue manager knows the queue."""
        self._current_channel()
        for handle in self._handles.values():
            return handle.format_name
        if self.backend.can_send:
            return (yield from self._described_sender())[1].format_name
        return (yield from self.opened_to_read()).format_name

    def close(self) -> Operation[None]:
        """Close all handles; messages that were read and not removed go back in place."""
        handles = self._open_handles()
        self._handles.clear()
        self.sender = None
        return self.backend.close(handles)

    def close_unused(self) -> None:
        """Close all handles after everything that was sent, without waiting."""
        for handle in self._open_handles():
            if handle.channel.fault is None:
                self.backend.close_later(handle)
        self._handles.clear()
        self.sender = None

    # Sending

    def is_transactional(self) -> Operation[bool | None]:
        """Whether it takes transactional messages; None when only another machine knows."""
        return (yield from self._described_sender())[1].transactional

    def packet_builder(self, *, transactional: bool) -> Operation[PacketBuilder]:
        """The builder of packets for this queue."""
        yield from ()
        return self.backend.packet_builder(transactional=transactional)

    def send_packets(self, packets: Iterable[bytes], transaction: int) -> Operation[int]:
        """Send packets that the caller has built; return the count when all are accepted."""
        handle = yield from self.opened_to_send()
        channel = handle.channel
        channel.check(transaction)
        chain = 0 if transaction else channel.new_chain()
        count = 0
        try:
            for packet in packets:
                full = channel.add_packet(handle.number, transaction, packet, chain)
                count += 1
                if full:
                    channel.close_sends()
                    yield from channel.make_room()
        except ChainBroken:
            pass
        except BaseException:
            channel.disown(chain)
            raise
        return (yield from channel.settle(chain, count)) if chain else count

    def send_and_wait(
        self, message: Message, transaction: int, deliver_at: float | None = None
    ) -> Operation[str]:
        """Send one message and return its id once it is accepted."""
        handle = yield from self.opened_to_send()
        self.backend.check(max(transaction, 0))
        try:
            packet = handle.builder(transaction)(message)
        except SignatureWanted:
            handle, packet = yield from self.signed_packet(message, transaction)
        return (yield from self.backend.send_and_wait(handle, packet, transaction, deliver_at))

    def signed_packet(
        self, message: Message, transaction: int
    ) -> Operation[tuple[SendHandle, bytes]]:
        """The packet of a message that must be signed, and the handle to send it with."""
        handle, _ = yield from self._described_sender()
        return handle, handle.build_signed(message, transaction)

    # Reading

    def peek(self, timeout: float | None) -> Operation[ReceivedMessage]:
        """Peek at the first message."""
        handle = yield from self.opened_to_read()
        messages = yield from self._read(handle, Read("peek", timeout=timeout))
        return messages[0]

    def receive(self, timeout: float | None, transaction: int) -> Operation[ReceivedMessage]:
        """Receive the first message."""
        messages = yield from self._take(timeout, 1, transaction)
        return messages[0]

    def receive_many(
        self, timeout: float | None, count: int, transaction: int
    ) -> Operation[list[ReceivedMessage]]:
        """Receive up to `count` messages; wait for the first only."""
        try:
            return (yield from self._take(timeout, whole("count", count), transaction))
        except ReceiveTimeout:
            return []

    def _take(
        self, timeout: float | None, count: int, transaction: int
    ) -> Operation[list[ReceivedMessage]]:
        """Receive messages in two steps, so that none is lost before it is here.

        In a transaction the commit is the second step.
        """
        handle = yield from self.opened("receive")
        messages: list[ReceivedMessage] = []
        try:
            while True:
                batch_size = min(count - len(messages), self.backend.largest_read)
                part = yield from self._read(
                    handle,
                    Read(
                        "receive",
                        batch_size,
                        timeout,
                        transaction=transaction,
                        two_phase=not transaction,
                    ),
                )
                messages += part
                size = sum([len(message.packet) for message in part])
                # Fewer than the limits of count and half of the bytes: there were no more.
                if len(messages) >= count or (0 < len(part) < batch_size and 2 * size < READ_BYTES):
                    break
                timeout = 0.0 if messages else timeout
        except ReceiveTimeout:
            if not messages:
                raise
        except BaseException:
            if not transaction:
                self.give_back(handle, messages)
            raise
        if not transaction:
            self.remove(handle, messages)
        return messages

    def _read(self, handle: Handle, read: Read) -> Operation[list[ReceivedMessage]]:
        self.backend.check()
        request = self.backend.ask(handle, read)
        timeout = read.timeout
        messages = yield from self._answer(
            request,
            None if timeout is None else timeout + GRACE_SECONDS,
            handle if read.two_phase else None,
        )
        return self.not_taken_before(handle, messages) if read.two_phase else messages

    def _answer(
        self, request: int, seconds: float | None, locked_by: Handle | None
    ) -> Operation[list[ReceivedMessage]]:
        """The answer to a read that ends by itself; if the caller cancels, nothing stays locked.

        Args:
            locked_by: the handle of a read in two phases.
        """
        backend = self.backend
        channel = backend.channel
        try:
            answer = yield from backend.answer(request, seconds)
        except MsmqError:
            # It is over: refused, ended or lost.
            raise
        except BaseException:
            if channel.fault is None:
                backend.withdraw(request, locked_by)
            raise
        if answer is None:
            raise not_answered(channel)
        return answer

    def look_up(
        self, lookup_id: int, relation: str, transaction: int, *, receive: bool
    ) -> Operation[ReceivedMessage]:
        """Peek at a message by its lookup id or at a neighbour, or receive it."""
        held = yield from self._look_up(lookup_id, relation, transaction, receive=receive)
        if receive and not transaction:
            self.remove(held.handle, [held.message])
        return held.message

    def hold(self, lookup_id: int, relation: str) -> Operation["Held"]:
        """Lock a message by its lookup id or a neighbour; `release` must follow."""
        return self._look_up(lookup_id, relation, 0, receive=True)

    def hold_many(self, lookup_ids: Sequence[int]) -> Operation[HeldMessages]:
        """Lock the messages with these lookup ids that exist and are free."""
        handle = yield from self.opened(self._taking)
        self.backend.check()
        request = self.backend.ask(handle, HoldMany(list(lookup_ids)))
        messages = yield from self._answer(request, GRACE_SECONDS, handle)
        return HeldMessages(handle, messages)

    def release_many(self, held: HeldMessages, *, taken: bool) -> Operation[None]:
        """Remove held messages, or put them back in place; return when that is done."""
        if held.handle.channel is self.backend.channel:
            self.backend.end(held.handle, held.lookup_ids, delete=taken)
            yield from self.backend.flush()

    def find(
        self, identifier: bytes, transaction: int, *, correlation: bool, receive: bool
    ) -> Operation[ReceivedMessage]:
        """Peek at or receive the first message with an identifier or a correlation identifier."""
        while True:
            handle = yield from (self.opened("receive") if receive else self.opened_to_read())
            lookup_id = yield from self.backend.find_message(
                handle, identifier, correlation=correlation
            )
            if lookup_id is None:
                what = "correlation id" if correlation else "id"
                raise QueueError(
                    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
                    f"{self.name}: no message with the {what} "
                    f"{MessageIdentifier.parse(identifier)[0]}",
                )
            try:
                return (yield from self.look_up(lookup_id, "current", transaction, receive=receive))
            except QueueError as exc:
                # Another reader was faster; there may be another one.
                if exc.code not in (_GONE if receive else _GONE_FOR_PEEK):
                    raise

    def release(self, held: "Held", *, taken: bool) -> Operation[None]:
        """Remove a held message, or put it back in place; return when that is done."""
        if held.handle.channel is self.backend.channel:
            if taken:
                self.remove(held.handle, [held.message])
            else:
                self.give_back(held.handle, [held.message], handed=True)
            yield from self.backend.flush()
        elif taken:
            self.taken_at_loss([held.message])

    def _look_up(
        self, lookup_id: int, relation: str, transaction: int, *, receive: bool
    ) -> Operation["Held"]:
        handle = yield from (self.opened("receive") if receive else self.opened_to_read())
        self.backend.check()
        two_phase = receive and not transaction
        read = LookUp(lookup_id, relation, receive, transaction, two_phase)
        request = self.backend.ask(handle, read)
        messages = yield from self._answer(request, GRACE_SECONDS, handle if two_phase else None)
        return Held(handle, messages[0])

    # The second step of a read

    def remove(self, handle: Handle, messages: Sequence[ReceivedMessage]) -> None:
        """Delete the messages that the caller has now, without waiting."""
        ids = [message.lookup_id for message in messages]
        if self.backend.reconnects:
            self._leaving.update(ids)
            self.backend.end(handle, ids, delete=True, answered=self._leaving.difference_update)
        else:
            self.backend.end(handle, ids, delete=True)

    def taken_at_loss(self, messages: Sequence[ReceivedMessage]) -> None:
        """The connection was lost before the removal of these could be requested."""
        self._current_channel()
        self._taken_before.update([message.lookup_id for message in messages])

    def give_back(
        self, handle: Handle, messages: Sequence[ReceivedMessage], *, handed: bool = False
    ) -> None:
        """Put messages back in place that the caller has not seen, or, with `handed`, has seen."""
        if handle.channel.fault is None:
            ids = [message.lookup_id for message in messages]
            self.backend.end(handle, ids, delete=False, handed=ids if handed else ())

    def not_taken_before(
        self, handle: Handle, messages: list[ReceivedMessage]
    ) -> list[ReceivedMessage]:
        """Leave out messages that the caller had before a loss: these are removed now."""
        before = self._taken_before
        if not before:
            return messages
        again = [message for message in messages if message.lookup_id in before]
        self.remove(handle, again)
        return [message for message in messages if message.lookup_id not in before]

    # Managing

    def purge(self, progress: Progress | None, upto: int | None = None) -> Operation[int]:
        """Delete every message up to a sequence, or all, step by step; return the count."""
        handle = yield from self.opened(self._taking)
        purged: int = 0
        while True:
            step = yield from self.backend.purge(handle, upto)
            purged += step.purged
            upto = step.upto
            if progress is not None:
                progress(purged)
            if step.done:
                return purged

    def purge_messages(self, lookup_ids: Sequence[int]) -> Operation[list[int]]:
        """Purge messages by lookup id; return the lookup ids of those that existed."""
        handle = yield from self.opened(self._taking)
        purged: list[int] = []
        for at in range(0, len(lookup_ids), MOVE_MESSAGES):
            part = list(lookup_ids[at : at + MOVE_MESSAGES])
            purged += yield from self.backend.purge_messages(handle, part)
        return purged

    @property
    def _taking(self) -> str:
        """The access to take messages out: an outgoing queue is open already."""
        return "receive_admin" if "receive_admin" in self._handles else "receive"

    def reject(self, lookup_ids: Sequence[int], transaction: int) -> Operation[None]:
        """Mark messages that a transaction received as rejected, for when it commits."""
        several("lookup_ids", lookup_ids, "lookup ids")
        handle = yield from self.opened(self._taking)
        yield from self.backend.reject_messages(handle, list(lookup_ids), transaction)

    def move_target(self, name: str) -> "QueueLogic":
        """The target queue of a move; `;name` is a subqueue of this queue."""
        return QueueLogic(self.backend, move_target(self.name, name))

    def move(
        self,
        target: "QueueLogic",
        lookup_ids: Sequence[int] | None,
        transaction: int,
        *,
        count: int | None,
        progress: Progress | None,
        dry_run: bool = False,
        message_class: int = 0,
    ) -> Operation[MoveStep]:
        """Move messages by lookup id, or the first `count`, or all."""
        several("lookup_ids", lookup_ids, "lookup ids")
        source = yield from self.opened(self._taking)
        # Messages of an outgoing queue can go to another machine.
        to = yield from target.opened("move" if self._taking == "receive" else "send")
        moved: int = 0
        new_ids: list[int] = []
        total = len(lookup_ids) if lookup_ids is not None else count
        while total is None or moved < total:
            wanted = MOVE_MESSAGES if total is None else min(total - moved, MOVE_MESSAGES)
            ids = None if lookup_ids is None else list(lookup_ids[moved : moved + wanted])
            step = yield from self.backend.move_messages(
                source, to, ids, wanted, transaction, dry_run=dry_run, message_class=message_class
            )
            moved += step.moved
            new_ids += step.lookup_ids
            if progress is not None and step.moved:
                progress(moved)
            # A dry run would find the same messages again.
            if step.moved < wanted or (dry_run and ids is None):
                break
        return MoveStep(moved, new_ids)

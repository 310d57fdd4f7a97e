"""One queue as a client uses it: open, send, receive, peek, look up, move, purge."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from openmsmq.client.arguments import checked, several, whole
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.local.backend import GRACE_SECONDS, LocalBackend
from openmsmq.client.local.channel import ChainBroken, RequestChannel
from openmsmq.client.message import Message
from openmsmq.client.properties import Info
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import MAX_MESSAGES
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.names.queue_name import SUFFIX_WORDS

from .operations import Operation, Wait, done, failure, messages
from .packets import PacketBuilder

READS: Final = ("receive", "peek", "receive_admin", "peek_admin")
READ_BYTES: Final = 1024 * 1024
MOVE_MESSAGES: Final = 1000
Progress = Callable[[int], None]


class OpenHandle:
    """A queue that is open at the queue manager, in one channel."""

    __slots__ = (
        "build",
        "build_transactional",
        "channel",
        "destination",
        "format_name",
        "number",
        "transactional",
    )

    def __init__(self, backend: LocalBackend, told: dict[str, Any]) -> None:
        self.channel: Final = backend.channel
        self.number: Final[int] = told["handle"]
        self.format_name: Final[str] = told["format_name"]
        # None when only the other machine knows.
        self.transactional: Final[bool | None] = told["transactional"]
        self.destination: Final = address_of(parse_format_name(told["destinations"][0]))
        # From a message to its packet, outside and in a transaction.
        self.build: Final = PacketBuilder(
            backend.sender, self.destination, transactional=False
        ).build
        self.build_transactional: Final = PacketBuilder(
            backend.sender, self.destination, transactional=True
        ).build

    def builder(self, transaction: int) -> Callable[[Message], bytes]:
        """What builds packets for this queue."""
        return self.build_transactional if transaction else self.build


class Held(NamedTuple):
    """A message that is locked in its queue, and the handle that it is locked by."""

    handle: OpenHandle
    message: ReceivedMessage


class QueueLogic:
    """One queue; opened when it is first used for something, and again after a loss."""

    def __init__(self, backend: LocalBackend, name: str, share: str = "deny_none") -> None:
        self.backend: Final = backend
        self.name: Final = name
        self._share = share
        self._channel: RequestChannel | None = None
        self._handles: dict[str, OpenHandle] = {}
        # The handle for sending that was opened last; see `open_sender` whether it still works.
        self.sender: OpenHandle | None = None
        # Lookup ids whose removal is on its way, by request; and those that a loss left open.
        self._leaving: dict[int, list[int]] = {}
        self._taken_before: set[int] = set()

    # Opening

    def _current_channel(self) -> RequestChannel:
        channel = self.backend.channel
        if channel is not self._channel:
            self._channel = channel
            self._handles.clear()
            self._taken_before = {each for ids in self._leaving.values() for each in ids}
            self._leaving.clear()
        return channel

    def opened(self, access: str) -> Operation[OpenHandle]:
        """The handle for this kind of access, opened now if need be."""
        self._current_channel()
        handle = self._handles.get(access)
        if handle is None:
            told = yield from self.backend.call(local.OpenQueue, self.name, access, self._share)
            handle = self._handles[access] = OpenHandle(self.backend, told)
            if access == "send":
                self.sender = handle
        return handle

    def open_sender(self) -> OpenHandle | None:
        """The handle for sending, if it is open and works."""
        channel = self.backend.channel
        handle = self.sender
        if handle is None or handle.channel is not channel:
            return None
        if channel.refused and handle.number in channel.refused:
            channel.refused.discard(handle.number)
            del self._handles["send"]
            self.sender = None
            channel.post_in_background(local.CloseQueue(channel.next_id(), handle.number))
            return None
        return handle

    def opened_to_send(self) -> Operation[OpenHandle]:
        """The handle for sending."""
        handle = self.open_sender()
        return handle or (yield from self.opened("send"))

    def opened_to_read(self) -> Operation[OpenHandle]:
        """The handle for receiving, or another one that can read if that is all there is."""
        self._current_channel()
        can_read = (access for access in READS if access in self._handles)
        return (yield from self.opened(next(can_read, "receive")))

    def info(self) -> Operation[Info]:
        """Properties, counts and permissions of the queue."""
        return self.backend.call(local.ShowQueue, self.name)

    def format_name(self) -> Operation[str]:
        """The format name that the queue manager knows the queue by."""
        self._current_channel()
        for handle in self._handles.values():
            return handle.format_name
        return (yield from self.opened("send")).format_name

    def close(self) -> Operation[None]:
        """Close what is open; what was read and not removed goes back in place."""
        channel = self._current_channel()
        handles, self._handles, self.sender = self._handles, {}, None
        requests = [local.CloseQueue(channel.next_id(), each.number) for each in handles.values()]
        for request in requests:
            channel.post(request)
        for request in requests:
            done((yield Wait(request.id)))

    def close_unused(self) -> None:
        """Close what is open behind everything that was sent; nobody waits for it."""
        channel = self._current_channel()
        for handle in self._handles.values() if channel.fault is None else ():
            channel.post_in_background(local.CloseQueue(channel.next_id(), handle.number))
        self._handles.clear()
        self.sender = None

    # Sending

    def is_transactional(self) -> Operation[bool | None]:
        """Whether it takes transactional messages; None when only another machine knows."""
        return (yield from self.opened_to_send()).transactional

    def packet_builder(self, *, transactional: bool) -> Operation[PacketBuilder]:
        """What builds packets for this queue."""
        handle = yield from self.opened_to_send()
        return PacketBuilder(self.backend.sender, handle.destination, transactional=transactional)

    def send_packets(self, packets: Iterable[bytes], transaction: int) -> Operation[int]:
        """Send packets that the caller has built; return how many, when all are accepted."""
        handle = yield from self.opened_to_send()
        channel = self.backend.channel
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

    def send_and_wait(self, message: Message, transaction: int) -> Operation[str]:
        """Send one message and return its id once it is accepted."""
        handle = yield from self.opened_to_send()
        channel = self.backend.channel
        channel.check(max(transaction, 0))
        packet = handle.builder(transaction)(message)
        request = local.Send(channel.next_id(), handle.number, [packet], transaction)
        channel.post(request)
        reply = yield Wait(request.id)
        if isinstance(reply, local.Failed):
            channel.refused.add(handle.number)
            error = failure(reply)
            error.refused = 1
            raise error
        return self.backend.message_id(done(reply))

    # Reading

    def peek(self, timeout: float | None) -> Operation[ReceivedMessage]:
        """Look at the first message."""
        handle = yield from self.opened_to_read()
        found = yield from self._read(handle, timeout, action="peek")
        return found[0]

    def receive(self, timeout: float | None, transaction: int) -> Operation[ReceivedMessage]:
        """Take the first message."""
        found = yield from self._take(timeout, 1, transaction)
        return found[0]

    def receive_many(
        self, timeout: float | None, count: int, transaction: int
    ) -> Operation[list[ReceivedMessage]]:
        """Take up to `count` messages; wait for the first only."""
        try:
            return (yield from self._take(timeout, whole("count", count), transaction))
        except ReceiveTimeout:
            return []

    def _take(
        self, timeout: float | None, count: int, transaction: int
    ) -> Operation[list[ReceivedMessage]]:
        """Take messages in two steps, so that none is lost before it is here.

        In a transaction the commit is the second step.
        """
        handle = yield from self.opened("receive")
        found: list[ReceivedMessage] = []
        try:
            while True:
                part = yield from self._read(
                    handle,
                    timeout,
                    count=min(count - len(found), MAX_MESSAGES),
                    transaction=transaction,
                    two_phase=not transaction,
                )
                found += part
                size = sum([len(message.packet) for message in part])
                # A reply that is not half full was not cut short: there was no more.
                if len(found) >= count or (part and 2 * size < READ_BYTES):
                    break
                timeout = 0.0 if found else timeout
        except ReceiveTimeout:
            if not found:
                raise
        except BaseException:
            if not transaction:
                self.give_back(handle, found)
            raise
        if not transaction:
            self.remove(handle, found)
        return found

    def _read(
        self,
        handle: OpenHandle,
        timeout: float | None,
        *,
        action: str = "receive",
        count: int = 1,
        transaction: int = 0,
        two_phase: bool = False,
    ) -> Operation[list[ReceivedMessage]]:
        channel = self.backend.channel
        channel.check()
        request = local.Receive(
            channel.next_id(),
            handle.number,
            action,
            count,
            READ_BYTES,
            timeout,
            0,
            transaction,
            two_phase,
        )
        channel.post(request)
        reply = yield from wait_for_read(
            channel, request.id, timeout, handle.number if two_phase else 0
        )
        found = messages(reply)
        return self.not_taken_before(handle, found) if two_phase else found

    def look_up(
        self, lookup_id: int, relation: str, transaction: int, *, receive: bool
    ) -> Operation[ReceivedMessage]:
        """Look at a message by its lookup id or at a neighbour, or take it."""
        held = yield from self._look_up(lookup_id, relation, transaction, receive=receive)
        if receive and not transaction:
            self.remove(held.handle, [held.message])
        return held.message

    def hold(self, lookup_id: int, relation: str) -> Operation["Held"]:
        """Lock a message by its lookup id or a neighbour; `release` must follow."""
        return self._look_up(lookup_id, relation, 0, receive=True)

    def release(self, held: "Held", *, taken: bool) -> Operation[None]:
        """Remove a message that was held, or put it back in place; return when that is done."""
        channel = self.backend.channel
        if held.handle.channel is channel:
            if taken:
                self.remove(held.handle, [held.message])
            else:
                self.give_back(held.handle, [held.message])
            yield from channel.flush()
        elif taken:
            self.taken_at_loss([held.message])

    def _look_up(
        self, lookup_id: int, relation: str, transaction: int, *, receive: bool
    ) -> Operation["Held"]:
        handle = yield from (self.opened("receive") if receive else self.opened_to_read())
        channel = self.backend.channel
        channel.check()
        two_phase = receive and not transaction
        request = checked(
            local.Lookup(
                channel.next_id(),
                handle.number,
                lookup_id,
                relation,
                receive,
                transaction,
                two_phase,
            )
        )
        channel.post(request)
        reply = yield from wait_for_read(
            channel, request.id, 0.0, handle.number if two_phase else 0
        )
        return Held(handle, messages(reply)[0])

    # The second step of a read

    def remove(self, handle: OpenHandle, taken: Sequence[ReceivedMessage]) -> None:
        """Remove for good what the caller has now; nobody waits for it."""
        channel = self.backend.channel
        for end in _ends(channel, handle, taken, delete=True):
            answered = None
            if self.backend.reconnects:
                self._leaving[end.id] = end.lookup_ids
                answered = self._forget_leaving(end.id)
            channel.post_in_background(end, answered=answered)

    def taken_at_loss(self, taken: Sequence[ReceivedMessage]) -> None:
        """The connection was lost before the removal of these could be asked for."""
        self._current_channel()
        self._taken_before.update([message.lookup_id for message in taken])

    def _forget_leaving(self, request: int) -> Callable[[bool], None]:
        def answered(accepted: bool) -> None:  # noqa: ARG001, FBT001 - refused ones are told apart
            self._leaving.pop(request, None)

        return answered

    def give_back(self, handle: OpenHandle, unseen: Sequence[ReceivedMessage]) -> None:
        """Put back in place what the caller has not seen."""
        channel = self.backend.channel
        if channel.fault is None:
            for end in _ends(channel, handle, unseen, delete=False):
                channel.post_in_background(end)

    def not_taken_before(
        self, handle: OpenHandle, found: list[ReceivedMessage]
    ) -> list[ReceivedMessage]:
        """Without those that the caller had before a loss: these are removed now."""
        before = self._taken_before
        if not before:
            return found
        again = [message for message in found if message.lookup_id in before]
        self.remove(handle, again)
        return [message for message in found if message.lookup_id not in before]

    # Managing

    def purge(self, progress: Progress | None, upto: int | None = None) -> Operation[int]:
        """Delete every message up to a sequence, or all, step by step; return how many."""
        handle = yield from self.opened("receive")
        purged: int = 0
        while True:
            step = yield from self.backend.call(local.Purge, handle.number, upto)
            purged += step["count"]
            upto = step["upto"]
            if progress is not None:
                progress(purged)
            if step["done"]:
                return purged

    def move_target(self, name: str) -> "QueueLogic":
        """The queue that a move goes to; `;name` is a subqueue of this queue."""
        if name.startswith(";") and name[1:].upper() not in SUFFIX_WORDS:
            name = self.name.partition(";")[0] + name
        return QueueLogic(self.backend, name)

    def move(
        self,
        target: "QueueLogic",
        lookup_ids: Sequence[int] | None,
        transaction: int,
        *,
        count: int | None,
        progress: Progress | None,
    ) -> Operation[int]:
        """Move messages by lookup id, or the first `count`, or all; return how many."""
        several("lookup_ids", lookup_ids, "lookup ids")
        source = yield from self.opened("receive")
        to = yield from target.opened("move")
        moved: int = 0
        left = len(lookup_ids) if lookup_ids is not None else count
        while left is None or moved < left:
            wanted = MOVE_MESSAGES if left is None else min(left - moved, MOVE_MESSAGES)
            ids = None if lookup_ids is None else list(lookup_ids[moved : moved + wanted])
            step = yield from self.backend.call(
                local.Move, source.number, to.number, ids, wanted, transaction
            )
            moved += step
            if progress is not None and step:
                progress(moved)
            if step < wanted:
                break
        return moved


def _ends(
    channel: RequestChannel, handle: OpenHandle, held: Sequence[ReceivedMessage], *, delete: bool
) -> list[local.EndReceive]:
    """The requests that end two-phase reads, in parts that the queue manager takes."""
    ids = [message.lookup_id for message in held]
    return [
        local.EndReceive(channel.next_id(), handle.number, ids[at : at + MAX_MESSAGES], delete)
        for at in range(0, len(ids), MAX_MESSAGES)
    ]


def wait_for_read(
    channel: RequestChannel, request: int, timeout: float | None, handle: int
) -> Operation[local.AnyReply]:
    """The reply to a read that ends by itself; if the caller gives up, nothing stays locked."""
    try:
        reply = yield Wait(request, None if timeout is None else timeout + GRACE_SECONDS)
    except BaseException:
        if channel.fault is None:
            channel.withdraw(request, handle)
        raise
    if reply is None:
        raise channel.lose(f"the queue manager at {channel.description} has not answered in time.")
    return reply

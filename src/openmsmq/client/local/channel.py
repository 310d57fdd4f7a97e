"""One connection to a queue manager as bytes in and bytes out, without a socket.

Requests are posted and leave together. Sends without a waiting caller are packed many to a request;
their answers, and those of other requests in the background, are looked at as they come.
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from struct import Struct
from typing import Final, NamedTuple, TypeVar

import msgspec

from openmsmq.client.backend import ChainBroken
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Operation, Wait
from openmsmq.protocol.local.framing import FrameBuffer
from openmsmq.protocol.local.messages import (
    AnyReply,
    Block,
    Cancel,
    EndReceive,
    Failed,
    Messages,
    Part,
    Request,
    Send,
    decode_reply,
)
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError

from .replies import failure

T = TypeVar("T")

REQUEST_BYTES: Final = 128 * 1024
REQUEST_MESSAGES: Final = 1000
MAX_IN_FLIGHT: Final = 4 * 1024 * 1024
_LENGTH: Final = Struct("<I")
_NO_LENGTH: Final = bytes(_LENGTH.size)
_encode_into: Final = msgspec.msgpack.Encoder().encode_into


class Background(NamedTuple):
    """A request whose answer nobody waits for.

    `owner` is what a refusal belongs to: a transaction, the chain of one call, or 0. A send
    outside transactions has a chain and so many `messages`. When it is `void`, a refusal before it
    has told that it will be refused as well.
    """

    size: int
    owner: int
    answered: Callable[[bool], None] | None
    chain: int = 0
    messages: int = 0
    void: bool = False


def is_last(reply: AnyReply) -> bool:
    """Whether no other reply to the same request follows."""
    return not isinstance(reply, Block | Part) or reply.last


class RequestChannel:
    """The state of one connection."""

    def __init__(self, description: str) -> None:
        # Where the queue manager is, for error texts.
        self.description: Final = description
        self.next_id: Final = count(1).__next__
        self.fault: ConnectionLost | None = None
        # Whether messages were under way when it was lost, and whether somebody was told.
        self.fate_unknown = False
        self.told = False
        self._out = bytearray()
        self._frames = FrameBuffer()
        self._replies: dict[int, deque[AnyReply]] = {}
        self._ignored: set[int] = set()
        self._withdrawn: dict[int, int] = {}
        self._background: dict[int, Background] = {}
        self._failures: list[tuple[int, QueueError]] = []
        self.in_flight = 0
        # Parts of ranges that came and are not taken yet.
        self.held_bytes = 0
        # How often replies came.
        self.arrivals = 0
        # Handles for which a send was refused: the queue may be gone, another open tells.
        self.refused: Final[set[int]] = set()
        self._packets: list[bytes] = []
        self._packet_bytes = 0
        self._target = (0, 0, 0)

    # Requests

    def post(self, request: Request) -> None:
        """Let a request leave after everything that was posted or sent before."""
        if self._packets:
            self.close_sends()
        self._encode(request)

    def _encode(self, request: Request) -> None:
        out = self._out
        start = len(out)
        out += _NO_LENGTH
        _encode_into(request, out, -1)
        _LENGTH.pack_into(out, start, len(out) - start - _LENGTH.size)

    def post_in_background(
        self,
        request: Request,
        *,
        size: int = 0,
        owner: int = 0,
        answered: Callable[[bool], None] | None = None,
    ) -> None:
        """Post a request without waiting for its reply.

        Args:
            size: bytes that count as in flight until it is answered.
            owner: what a refusal belongs to; see `check`.
            answered: called with whether it was accepted.
        """
        self.post(request)
        self._background[request.id] = Background(size, owner, answered)
        self.in_flight += size

    def new_chain(self) -> int:
        """A number for the messages of one call; those of handles are above 0."""
        return -self.next_id()

    def add_packet(self, handle: int, transaction: int, packet: bytes, chain: int = 0) -> bool:
        """Send a packet with others; say whether enough came together for a request.

        Outside transactions the messages of a handle are a chain, if they have no other: nothing
        after a refused message is accepted.

        Raises:
            QueueError: one that was sent before was refused; this one is not sent.
            ChainBroken: the same for a chain of its own; `settle` tells more.
        """
        if self._failures:
            if chain:
                self._check_chain(chain)
            else:
                self.check(transaction)
        target = (handle, transaction, chain)
        if target != self._target:
            self.close_sends()
            self._target = target
        packets = self._packets
        packets.append(packet)
        self._packet_bytes = size = self._packet_bytes + len(packet)
        return size >= REQUEST_BYTES or len(packets) >= REQUEST_MESSAGES

    def close_sends(self) -> None:
        """Make a request of the packets that came together."""
        packets = self._packets
        if not packets:
            return
        handle, transaction, chain = self._target
        size = self._packet_bytes
        self._packets = []
        self._packet_bytes = 0
        owner = chain or transaction
        if not owner:
            chain = handle
        request = Send(self.next_id(), handle, packets, transaction, chain)
        self._encode(request)
        self._background[request.id] = Background(
            size,
            owner,
            lambda accepted: None if accepted else self.refused.add(handle),
            chain,
            len(packets),
        )
        self.in_flight += size

    def ignore(self, request: int) -> None:
        """Drop what answers a request when it comes, whatever it says."""
        self._ignored.add(request)
        while (reply := self.take(request)) is not None:
            if is_last(reply):
                self._ignored.discard(request)

    def withdraw(self, read: int, handle: int) -> None:
        """Give up a read; messages that it brings nevertheless go back in place.

        Args:
            handle: of the queue that a two-phase read locks messages in; 0 for a peek.
        """
        cancel = Cancel(self.next_id(), read)
        self.post(cancel)
        self.ignore(cancel.id)
        arrived = self.take(read)
        if arrived is None:
            self._withdrawn[read] = handle
        else:
            self._give_back(arrived, handle)

    def _give_back(self, reply: AnyReply, handle: int) -> None:
        if handle and isinstance(reply, Messages):
            end = EndReceive(self.next_id(), handle, reply.lookup_ids, delete=False)
            self.post(end)
            self.ignore(end.id)

    # Bytes

    def data_to_send(self) -> bytearray:
        """Everything that was posted since the last call."""
        out = self._out
        if out:
            self._out = bytearray()
        return out

    @property
    def has_data(self) -> bool:
        """Whether something was posted since the last `data_to_send`."""
        return bool(self._out)

    @property
    def has_packets(self) -> bool:
        """Whether messages wait for others to leave with."""
        return bool(self._packets)

    def space(self) -> memoryview:
        """Where to read the next bytes to."""
        return self._frames.space()

    def filled(self, count: int) -> list[int]:
        """So many bytes were read to `space`; else like `receive_data`."""
        return self._receive(self._frames.filled, count)

    def receive_data(self, data: bytes) -> list[int]:
        """Bytes came; return the requests that they answer.

        Raises:
            ConnectionLost: the other side does not speak the protocol; the channel is over.
        """
        return self._receive(self._frames.feed, data)

    def _receive(self, cut: Callable[[T], list[memoryview]], came: T) -> list[int]:
        try:
            replies = [decode_reply(payload) for payload in cut(came)]
        except (MsmqError, msgspec.MsgspecError, UnicodeDecodeError) as exc:
            raise self.lose(f"what is at {self.description} is no queue manager: {exc}") from exc
        if replies:
            self.arrivals += 1
        for reply in replies:
            self._arrived(reply)
        return [reply.id for reply in replies]

    def _arrived(self, reply: AnyReply) -> None:
        request = reply.id
        background = self._background.pop(request, None)
        if background is not None:
            self.in_flight -= background.size
            if isinstance(reply, Failed) and not background.void:
                self._failures.append((background.owner, self._refusal(background, reply)))
            if background.answered is not None:
                background.answered(not isinstance(reply, Failed))
        elif request in self._withdrawn:
            self._give_back(reply, self._withdrawn.pop(request))
        elif request in self._ignored:
            # A range or a list that is streamed has several replies.
            if is_last(reply):
                self._ignored.discard(request)
        else:
            self._replies.setdefault(request, deque()).append(reply)
            if isinstance(reply, Block):
                self.held_bytes += len(reply.blob)

    def _refusal(self, background: Background, reply: Failed) -> QueueError:
        """Why a request was refused; of a send also what is refused with it."""
        error = failure(reply)
        chain = background.chain
        if not chain:
            return error
        refused = background.messages - reply.accepted
        # The queue manager accepts nothing behind it: what is under way and what was to leave.
        for request, other in self._background.items():
            if other.chain == chain and request > reply.id:
                refused += other.messages
                self._background[request] = other._replace(void=True)
        handle, transaction, own = self._target
        if self._packets and not transaction and (own or handle) == chain:
            refused += len(self._packets)
            self._packets = []
            self._packet_bytes = 0
        error.refused = refused
        if not background.owner:
            error.detail += f"; of the messages sent to the queue the last {refused} are not in it"
        return error

    def is_over(self, wait: Wait) -> bool:
        """Whether what an operation waits for has come."""
        return wait.request in self._replies or (not wait.request and self.arrivals > wait.arrivals)

    def take(self, request: int) -> AnyReply | None:
        """The next reply to a request, if it is here."""
        waiting = self._replies.get(request)
        if waiting is None:
            return None
        reply = waiting.popleft()
        if not waiting:
            del self._replies[request]
        if isinstance(reply, Block):
            self.held_bytes -= len(reply.blob)
        return reply

    def lose(self, text: str) -> ConnectionLost:
        """The connection was lost; the first reason counts."""
        if self.fault is None:
            if self._packets or any(each.size for each in self._background.values()):
                self.fate_unknown = True
                text += " Whether the messages sent last have arrived is not known."
            self.fault = ConnectionLost(text)
        return self.fault

    def refuse(self) -> ConnectionLost:
        """Say that the queue manager hung up instead of a greeting."""
        return ConnectionLost(
            f"the queue manager at {self.description} does not let this client in. "
            "Check token, version and the limit of connections; its log says which it was."
        )

    # Answers in the background

    def check(self, transaction: int = 0) -> None:
        """Raise what was refused in the background in a transaction; 0 is outside of all.

        Raises:
            QueueError: the oldest refusal.
        """
        for index, (owner, error) in enumerate(self._failures):
            if owner == transaction:
                del self._failures[index]
                raise error

    def _check_chain(self, chain: int) -> None:
        for owner, _ in self._failures:
            if owner == chain:
                raise ChainBroken

    def settle(self, chain: int, count: int) -> Operation[int]:
        """Wait until the messages of a chain of its own are accepted; return how many.

        Args:
            count: how many were sent.

        Raises:
            QueueError: one was refused; it says how many were accepted.
        """
        self.close_sends()
        try:
            while any(each.owner == chain for each in self._background.values()):
                yield Wait(0, arrivals=self.arrivals)
        except BaseException:
            self.disown(chain)
            raise
        for index, (owner, error) in enumerate(self._failures):
            if owner == chain:
                del self._failures[index]
                error.accepted = count - error.refused
                error.detail += f"; {error.accepted} of {count} messages were accepted"
                raise error
        return count

    def disown(self, chain: int) -> None:
        """The call of a chain has ended too early: any other may tell what was refused."""
        if self._target[2] == chain:
            self.close_sends()
        self._failures = [(0 if owner == chain else owner, e) for owner, e in self._failures]
        for request, each in self._background.items():
            if each.owner == chain:
                self._background[request] = each._replace(owner=0)

    def forget_failures(self, transaction: int) -> None:
        """A transaction is over: its refusals are no longer needed."""
        self._failures = [each for each in self._failures if each[0] != transaction]

    def make_room(self) -> Operation[None]:
        """Wait until what is on its way is within bounds."""
        while self.in_flight > MAX_IN_FLIGHT:
            yield Wait(0, arrivals=self.arrivals)

    def flush(self) -> Operation[None]:
        """Wait until everything sent so far is accepted.

        Raises:
            QueueError: something was refused.
        """
        self.close_sends()
        last = self.next_id()
        while self._background and next(iter(self._background)) < last:
            yield Wait(0, arrivals=self.arrivals)
        self.check()

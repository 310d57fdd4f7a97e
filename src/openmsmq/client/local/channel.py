"""One connection to a queue manager as bytes in and bytes out, without a socket.

Requests are posted and leave together. Sends without a waiting caller are packed many to a request;
their answers, and those of other background requests, are processed on arrival.
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from struct import Struct
from typing import Final, TypeVar

import msgspec
from msgspec import convert

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
    OpenToSend,
    Part,
    Refused,
    Request,
    decode_reply,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError

from .requests import done, failure
from .send_batch import REQUEST_MESSAGES, Background, SendBatch

T = TypeVar("T")

MAX_IN_FLIGHT: Final = 4 * 1024 * 1024
_LENGTH: Final = Struct("<I")
_NO_LENGTH: Final = bytes(_LENGTH.size)
_NOT_IN_IT: Final = "; of the messages sent to the queue the last {} are not in it"
_HALF: Final = "half of a surrogate pair is not text"
_encode_into: Final = msgspec.msgpack.Encoder().encode_into


def is_last(reply: AnyReply) -> bool:
    """Whether this is the last reply to its request."""
    return not isinstance(reply, Block | Part) or reply.last


class RequestChannel:
    """The state of one connection."""

    def __init__(self, description: str) -> None:
        # The address of the queue manager, for error texts.
        self.description: Final = description
        self.next_id: Final = count(1).__next__
        self.fault: ConnectionLost | None = None
        # Whether messages were in transit when it was lost, and whether a caller was told.
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
        # Parts of ranges that arrived and are not taken yet.
        self.held_bytes = 0
        # The number of times that replies arrived.
        self.arrivals = 0
        # Handles for which a send was refused: the queue may be deleted, a new open finds out.
        self.refused: Final[set[int]] = set()
        self._batch: Final = SendBatch()
        # Queues to open before the packets leave, by handle.
        self._opening: dict[int, str] = {}

    # Requests

    def post(self, request: Request) -> None:
        """Post a request after everything that was posted or sent before."""
        self.close_sends()
        self._encode(request)

    def _encode(self, request: Request) -> None:
        out = self._out
        start = len(out)
        out += _NO_LENGTH
        try:
            _encode_into(request, out, -1)
        except (OverflowError, UnicodeEncodeError) as exc:
            # The queue manager would read the following bytes as the rest of it.
            del out[start:]
            reason = "a number is too large" if isinstance(exc, OverflowError) else _HALF
            raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, reason) from exc
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
            size: bytes that count as in flight until the answer.
            owner: the owner of a refusal; see `check`.
            answered: called with whether it was accepted.
        """
        self.post(request)
        self._background[request.id] = Background(size, owner, answered)
        self.in_flight += size

    def new_chain(self) -> int:
        """A number for the messages of one call; no handle has it."""
        return -self.next_id()

    def add_packet(self, handle: int, transaction: int, packet: bytes, chain: int = 0) -> bool:
        """Send a packet with others; return whether they fill a request.

        Outside transactions the messages of a handle are a chain, if they have no other: nothing
        after a refused message is accepted.

        Raises:
            QueueError: an earlier packet was refused; this one is not sent.
            ChainBroken: the same for a chain of its own; `settle` has the details.
        """
        if self._failures:
            if chain:
                self._check_chain(chain)
            else:
                self.check(transaction)
        batch = self._batch
        if not batch.takes(handle, transaction, chain):
            self.close_sends()
        return batch.add(handle, transaction, chain, packet)

    def open_later(self, name: str) -> int:
        """Open a queue to send to with the next request; return its handle, which is negative.

        If it cannot be opened, the messages for it are refused.
        """
        if len(self._opening) >= REQUEST_MESSAGES:
            self.close_sends()
        handle = -self.next_id()
        self._opening[handle] = name
        return handle

    def close_sends(self) -> None:
        """Make a request of the collected packets."""
        if self._opening:
            opening, self._opening = self._opening, {}
            opens = OpenToSend(self.next_id(), list(opening), list(opening.values()))
            self._encode(opens)
            self._ignored.add(opens.id)
        if self._batch.packets:
            request, background = self._batch.take(self.next_id(), self.refused.add)
            self._encode(request)
            self._background[request.id] = background
            self.in_flight += background.size

    def ignore(self, request: int) -> None:
        """Drop the answer of a request when it arrives, whatever it is."""
        self._ignored.add(request)
        while (reply := self.take(request)) is not None:
            if is_last(reply):
                self._ignored.discard(request)

    def withdraw(self, read: int, handle: int) -> None:
        """Cancel a read; messages that arrive nevertheless go back in place.

        Args:
            handle: of the queue in which a two-phase read locks messages; 0 for a peek.
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
        """The bytes that were posted since the last call."""
        out = self._out
        if out:
            self._out = bytearray()
        return out

    @property
    def has_data(self) -> bool:
        """Whether a request was posted since the last `data_to_send`."""
        return bool(self._out)

    @property
    def has_packets(self) -> bool:
        """Whether messages wait for others to leave with."""
        return bool(self._batch.packets)

    def space(self) -> memoryview:
        """The buffer for the next bytes."""
        return self._frames.space()

    def filled(self, count: int) -> list[int]:
        """Bytes were read to `space`; else like `receive_data`."""
        return self._receive(self._frames.filled, count)

    def receive_data(self, data: bytes) -> list[int]:
        """Bytes arrived; return the requests that they answer.

        Raises:
            ConnectionLost: the peer does not speak the protocol; the channel is closed.
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
            if background.chains is not None:
                self._handles_answered(background.chains, reply)
            elif isinstance(reply, Failed) and not background.void:
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
        """The reason of a refusal; for a send also the number of refused messages."""
        error = failure(reply)
        chain = background.chain
        if not chain:
            return error
        refused = background.messages - reply.accepted + self._void(chain, reply.id)
        error.refused = refused
        if not background.owner:
            error.detail += _NOT_IN_IT.format(refused)
        return error

    def _handles_answered(self, chains: dict[int, int], reply: AnyReply) -> None:
        """A request for several handles is answered; refusals are reported later."""
        if isinstance(reply, Failed):
            error = failure(reply)
            error.refused = sum(chains.values())
            for chain in chains:
                error.refused += self._void(chain, reply.id)
            self.refused.update(chains)
            self._failures.append((0, error))
            return
        for refused in convert(done(reply) or [], list[Refused]):
            self.refused.add(refused.handle)
            # Otherwise an earlier refusal has reported it.
            if refused.handle in chains:
                error = failure(
                    Failed(reply.id, refused.code, refused.text, refused.cause, refused.remedy)
                )
                error.refused = refused.messages + self._void(refused.handle, reply.id)
                error.detail += _NOT_IN_IT.format(error.refused)
                self._failures.append((0, error))

    def _void(self, chain: int, refused: int) -> int:
        """Count the messages refused with a request of a chain: in transit and waiting ones."""
        count = 0
        for request, other in self._background.items():
            if request <= refused:
                continue
            if other.chains is not None:
                count += other.chains.pop(chain, 0)
            elif other.chain == chain:
                count += other.messages
                self._background[request] = other._replace(void=True)
        return count + self._batch.drop(chain)

    def is_over(self, wait: Wait) -> bool:
        """Whether the reply that an operation waits for has arrived."""
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
            if self._batch.packets or any(
                background.size for background in self._background.values()
            ):
                self.fate_unknown = True
                text += " Whether the messages sent last have arrived is not known."
            self.fault = ConnectionLost(text)
        return self.fault

    def refuse(self) -> ConnectionLost:
        """Report that the queue manager closed the connection instead of a greeting."""
        return ConnectionLost(
            f"the queue manager at {self.description} does not let this client in. "
            "Check token, version and the limit of connections; its log says which it was."
        )

    # Background answers

    def check(self, transaction: int = 0) -> None:
        """Raise background refusals in a transaction; 0 is outside of all.

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
        """Wait until the messages of a chain of its own are accepted; return the count.

        Args:
            count: the number of sent messages.

        Raises:
            QueueError: one was refused; it has the number of accepted ones.
        """
        self.close_sends()
        try:
            while any(background.owner == chain for background in self._background.values()):
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
        """The call of a chain has ended too early: another call may report refusals."""
        if self._batch.belongs_to(chain):
            self.close_sends()
        self._failures = [(0 if owner == chain else owner, e) for owner, e in self._failures]
        for request, background in self._background.items():
            if background.owner == chain:
                self._background[request] = background._replace(owner=0)

    def forget_failures(self, transaction: int) -> None:
        """A transaction is over: its refusals are no longer needed."""
        self._failures = [failure for failure in self._failures if failure[0] != transaction]

    def make_room(self) -> Operation[None]:
        """Wait until messages in transit are within the limits."""
        while self.in_flight > MAX_IN_FLIGHT:
            yield Wait(0, arrivals=self.arrivals)

    def flush(self) -> Operation[None]:
        """Wait until everything sent so far is accepted.

        Raises:
            QueueError: a message was refused.
        """
        self.close_sends()
        last = self.next_id()
        while self._background and next(iter(self._background)) < last:
            yield Wait(0, arrivals=self.arrivals)
        self.check()

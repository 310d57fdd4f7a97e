"""Requests become messages, and each request is answered ([MC-MQSRM] 3.1.5.1, figures 4 and 7)."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.core.transfer.incoming.stream_order import StreamPosition
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import QueueAddress, direct_address
from openmsmq.wire.srmp import Envelope, Request, StreamEntry, cut_request
from openmsmq.wire.srmp.kinds import MessageKind, kind_of
from openmsmq.wire.srmp.received import packet_from_request
from openmsmq.wire.srmp.templates import TemplatedMessage, Templates

from .receipts import ORDER_QUEUE_KEY, Receipts

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.incoming.inlet import Inlet
    from openmsmq.core.transfer.incoming.received import Received
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.http import HttpRequest

    from .stream_receipts import StreamReceipts

OK: Final = 200
BAD_REQUEST: Final = 400
SERVER_ERROR: Final = 500
UNAVAILABLE: Final = 503
_TRANSPORTS: Final = {DirectProtocol.HTTP: Transport.HTTP, DirectProtocol.HTTPS: Transport.HTTPS}
_OF_STREAMS: Final = (MessageKind.STREAM_RECEIPT, MessageKind.FINAL_STREAM_RECEIPT)
# [MC-MQSRM] figures 4 and 7: a message that is too late is discarded, its sender is done.
_DISCARDED: Final = frozenset((MessageClass.NACK_REACH_QUEUE_TIMEOUT,))


class Answers(Protocol):
    """The source of requests."""

    def take_requests(self) -> list[HttpRequest]:
        """The complete requests since the last call, those of each connection in order."""

    def answer(self, request: HttpRequest, status: int) -> None:
        """Answer a request."""

    def answer_all(self, requests: list[HttpRequest], status: int) -> None:
        """Answer requests of one connection."""


class Arrived:
    """The messages of one connection that arrived together and go into queues together."""

    __slots__ = (
        "_last",
        "_position",
        "address",
        "connection",
        "positions",
        "requests",
        "runs",
        "transport",
    )

    def __init__(self, connection: int, address: str, transport: Transport) -> None:
        self.connection = connection
        self.address = address
        self.transport = transport
        self.requests: list[HttpRequest] = []
        self.runs: list[UserMessageRun] = []
        self.positions: list[StreamPosition | None] = []
        # The first message of the last run, if others may follow it there, and the last position.
        self._last: TemplatedMessage | None = None
        self._position: StreamPosition | None = None

    def extend(self, request: HttpRequest, message: TemplatedMessage) -> bool:
        """Add a message that differs from the last one only in irrelevant fields, if it does."""
        last = self._last
        if last is None or not message.follows(last):
            return False
        position = self._position
        if position is not None:
            values = message.values
            if not position.is_followed_by(values.current, values.previous):
                return False
            position = self._position = position.next()
        self.requests.append(request)
        self.runs[-1].packets.append(message.packet)
        self.positions.append(position)
        return True

    def begin(
        self, request: HttpRequest, message: TemplatedMessage, position: StreamPosition | None
    ) -> None:
        """Add a message that others may follow."""
        self.add(request, message.packet, position)
        self._last = message
        self._position = position

    def add(self, request: HttpRequest, packet: bytes, position: StreamPosition | None) -> None:
        """Add the message of a request."""
        self._last = None
        self.requests.append(request)
        self.runs.append(UserMessageRun(UserMessage(packet)))
        self.positions.append(position)


class Receiver:
    """Passes the messages of requests to the queue manager and answers when they are on disk."""

    __slots__ = (
        "_answers",
        "_gate",
        "_inlets",
        "_manager",
        "_receipts",
        "_stream_receipts",
        "_templates",
        "offline",
    )

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        answers: Answers,
        receipts: Receipts,
        stream_receipts: StreamReceipts,
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._answers = answers
        self._receipts = receipts
        self._stream_receipts = stream_receipts
        # The inlets of connections whose messages wait for checks, and the number of waiting reads.
        self._inlets: dict[int, tuple[Inlet, int]] = {}
        self._templates = Templates()
        self.offline = False

    def turn(self) -> bool:
        """Process received requests; return whether there were any."""
        requests = self._answers.take_requests()
        if self.offline:
            for request in requests:
                self._answers.answer(request, UNAVAILABLE)
            return False
        for _, group in groupby(requests, key=attrgetter("connection")):
            self._receive(list(group))
        return bool(requests)

    def _receive(self, requests: list[HttpRequest]) -> None:
        """Process all requests of one read: those for queues go there together."""
        arrived: Arrived | None = None
        redirected = self._manager.redirections.any
        for request in requests:
            message = None
            if not redirected:
                message = self._templates.take(request.content_type, request.head, request.body)
            if message is not None:
                arrived = self._receive_templated(request, message, arrived)
            else:
                arrived = self._receive_any(request, arrived)
        self._deliver(arrived)

    def _receive_templated(
        self, request: HttpRequest, message: TemplatedMessage, arrived: Arrived | None
    ) -> Arrived | None:
        """A message like earlier ones: only the destination machine is checked again."""
        if arrived is not None and arrived.extend(request, message):
            return arrived
        envelope = message.template.envelope
        name = _queue_of(envelope.path.to.partition("?")[0])
        if not self._is_here(name):
            return self._receive_any(request, arrived)
        arrived = self._join(arrived, request, name)
        entry = envelope.stream
        if entry is not None:
            values = message.values
            entry = entry._replace(current=values.current, previous=values.previous)
        arrived.begin(request, message, _position(entry))
        return arrived

    def _receive_any(self, request: HttpRequest, arrived: Arrived | None) -> Arrived | None:
        """Read a request in full; its message joins those of the same read."""
        try:
            parsed = cut_request(
                request.content_type.decode("latin-1"), request.body, head=request.head
            )
            envelope = parsed.read_envelope()
            name = self._destination(envelope)
            target = self._redirect(envelope.path.to, name)
            if target is not None and not self._is_here(target):
                self._forward(request, parsed, envelope, target)
                return arrived
        except (MalformedPacket, QueueError) as exc:
            self._refuse(request, str(exc))
            return arrived
        arrived = self._join(arrived, request, name)
        destination = direct_address(target.direct) if target is not None else None
        self._sort(request, parsed, envelope, target or name, arrived, destination)
        return arrived

    def _join(
        self, arrived: Arrived | None, request: HttpRequest, name: DirectFormatName
    ) -> Arrived:
        """The messages of the same connection and transport, which a message joins."""
        transport = _TRANSPORTS[name.protocol]
        if arrived is None or arrived.transport is not transport:
            self._deliver(arrived)
            arrived = Arrived(request.connection, request.address, transport)
        return arrived

    def _destination(self, envelope: Envelope) -> DirectFormatName:
        """The queue named in <to>; it alone decides, not the request line.

        Raises:
            QueueError: it is not the URL of a queue.
        """
        return _queue_of(envelope.path.to.partition("?")[0])

    def _is_here(self, name: DirectFormatName) -> bool:
        return self._manager.incoming.is_this_machine(name.address)

    def _redirect(self, to: str, name: DirectFormatName) -> DirectFormatName | None:
        """The queue that takes a message instead of the one in <to>; None if that does.

        Raises:
            QueueError: a redirection leads to no queue.
            MalformedPacket: the message is for another machine, and nothing is forwarded there.
        """
        redirections = self._manager.redirections
        if not self._is_here(name):
            # [MC-MQSRM] 3.1.5.1.3: TransparentStoreAndForward.
            if not redirections.forwards(to):
                raise MalformedPacket("path.to", 0, f"{name.address} is not this machine")
            return name
        target = redirections.inbound(to)
        return _queue_of(target) if target else None

    def _forward(
        self,
        request: HttpRequest,
        parsed: Request,
        envelope: Envelope,
        name: DirectFormatName,
    ) -> None:
        """Forward a message to another machine; its envelope is unchanged."""
        packet = packet_from_request(parsed, envelope, utc=self._manager.utc)
        forwarded = self._manager.incoming.forward(packet, name)
        if forwarded.left:
            self._answers.answer(request, SERVER_ERROR)
        else:
            self._gate.when_durable(forwarded.depends, self._accept, request)

    def _sort(
        self,
        request: HttpRequest,
        parsed: Request,
        envelope: Envelope,
        name: DirectFormatName,
        arrived: Arrived,
        destination: QueueAddress | None,
    ) -> None:
        """Process a receipt of a stream, or add a message to the others of the read.

        Args:
            destination: the queue that replaces the one in <to>.
        """
        kind = kind_of(envelope)
        if kind is MessageKind.UNKNOWN:
            self._ignore(request, "class and receipts do not fit")
            return
        if kind in _OF_STREAMS:
            if not self._receipts.take(envelope):
                self._count_ignored("unknown stream receipt")
            if name.queue_name.key == ORDER_QUEUE_KEY:
                self._gate.when_durable(self._manager.seen, self._accept, request)
                return
        try:
            packet = packet_from_request(
                parsed, envelope, utc=self._manager.utc, destination=destination
            )
        except MalformedPacket as exc:
            self._refuse(request, str(exc))
            return
        if kind is MessageKind.USER and destination is None:
            self._templates.learn(parsed, envelope, packet)
        arrived.add(request, packet, _position(envelope.stream))

    def _refuse(self, request: HttpRequest, reason: str) -> None:
        """A request is not a message that this queue manager takes."""
        transport = Transport.HTTPS if request.secure else Transport.HTTP
        self._manager.incoming.refuse_request(request.address, transport, reason)
        self._answers.answer(request, BAD_REQUEST)

    def _ignore(self, request: HttpRequest, reason: str) -> None:
        self._count_ignored(reason)
        self._answers.answer(request, OK)

    def _count_ignored(self, reason: str) -> None:
        self._manager.counters.ignored_messages.add((str(Transport.HTTP), reason))

    def _accept(self, request: HttpRequest) -> None:
        self._answers.answer(request, OK)

    # Into queues

    def _deliver(self, arrived: Arrived | None) -> None:
        """Pass on messages that arrived together."""
        if arrived is None or not arrived.runs:
            return
        waiting = self._inlets.get(arrived.connection)
        inlet = waiting[0] if waiting is not None else None
        if inlet is None:
            inlet = self._manager.incoming.open_inlet(self)
        origin = Origin(arrived.transport, arrived.address)
        received = inlet.receive(arrived.runs, origin, arrived, arrived.positions)
        if received is None:
            count = waiting[1] if waiting is not None else 0
            self._inlets[arrived.connection] = inlet, count + 1
        else:
            self._settle(arrived, received)

    def received(self, read: object, received: Received, *, now: float) -> None:  # noqa: ARG002 - as for every owner of an inlet
        """Messages that waited for checks were processed."""
        assert isinstance(read, Arrived)  # noqa: S101
        inlet, count = self._inlets.pop(read.connection)
        if count > 1:
            self._inlets[read.connection] = inlet, count - 1
        self._settle(read, received)

    def _settle(self, arrived: Arrived, received: Received) -> None:
        """Answer each request: when its message is on disk, or at once if it is refused."""
        for progress in received.progress:
            self._stream_receipts.received(progress, received.progress_depends)
        if received.complete and not received.refused:
            self._gate.when_durable(received.depends, self._accept_all, arrived.requests)
            return
        all_left = not received.complete and not received.left
        accepted: list[HttpRequest] = []
        for at, request in enumerate(arrived.requests):
            refused = received.refused.get(at)
            if all_left or at in received.left:
                self._answers.answer(request, SERVER_ERROR)
            elif refused is not None and refused not in _DISCARDED:
                self._answers.answer(request, BAD_REQUEST)
            else:
                accepted.append(request)
        if accepted:
            self._gate.when_durable(received.depends, self._accept_all, accepted)

    def _accept_all(self, requests: list[HttpRequest]) -> None:
        self._answers.answer_all(requests, OK)


# Most messages go to few queues.
@lru_cache(maxsize=1024)
def _queue_of(url: str) -> DirectFormatName:
    """The queue of a URL.

    Raises:
        QueueError: it is not the URL of a queue.
    """
    name = parse_format_name(f"DIRECT={url}")
    assert isinstance(name, DirectFormatName)  # noqa: S101 - as the text says
    return name


def _position(entry: StreamEntry | None) -> StreamPosition | None:
    """The position of a message in its stream; None for one outside of a stream."""
    if entry is None:
        return None
    return StreamPosition(
        entry.stream_id.number.to_bytes(8),
        entry.current,
        # [MC-MQSRM] 3.1.1.2: without <previous> it is the preceding number.
        entry.previous or entry.current - 1,
        sender=entry.stream_id.guid,
        starts=bool(entry.send_receipts_to),
        receipts_to=entry.send_receipts_to,
    )

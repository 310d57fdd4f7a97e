"""MulticastProtocol: messages by multicast of one queue manager, without sockets.

How to use it
    Set the time with `manager.set_time` first. Pass in datagrams with `receive_datagram`,
    then call `turn`, carry out `next_event`, and send `datagrams_to_send`. Leave the rest to the
    engine: it calls `core_event`, `durable`, `next_timer` and `handle_timer` (see
    `openmsmq.protocol.carrier`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from openmsmq.core.events import (
    ConnectionActiveChanged,
    MessagesDeleted,
    MessagesMoved,
    OutgoingAvailable,
    QueueDeleted,
    QueuePaused,
    QueueResumed,
    Stopped,
)
from openmsmq.protocol.pgm import Source
from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.wire.pgm import PacketType

from .events import Join, Leave
from .packet_counts import PacketCounts
from .receiving import GroupReceiver
from .sending import MULTICAST, MulticastSender
from .session_infos import (
    LAST_PORT,
    PROTOCOL,
    receiver_info,
    receiver_traffic,
    source_info,
    source_traffic,
)
from .settings import MulticastSettings
from .status import describe
from .transfer import MulticastTransfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from ipaddress import IPv4Address

    from openmsmq.core.events import Event
    from openmsmq.core.management.records import SessionInfo
    from openmsmq.core.management.sources import Traffic
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.transports import Transport
    from openmsmq.protocol.outgoing_status import OutgoingStatus
    from openmsmq.protocol.pgm import OutgoingDatagram
    from openmsmq.wire.codes.queue_enums import ConnectionStatus
    from openmsmq.wire.names.format_name import MulticastFormatName

    from .events import MulticastEvent
    from .settings import Randomness

# The offsets of the type and the global source identifier in a packet.
_TYPE: Final = 4
_IDENTIFIER: Final = slice(8, 14)
_OF_RECEIVERS: Final = frozenset((PacketType.NAK, PacketType.NNAK))


class MulticastProtocol:
    """Multicast of one queue manager.

    Args:
        manager: the queue manager; started, so that its queues are known.
    """

    __slots__ = (
        "_events",
        "_failed",
        "_groups",
        "_last_receiver",
        "_listening",
        "_manager",
        "_offline",
        "_randomness",
        "_sender",
        "_settings",
        "_timers",
        "_version",
        "counts",
        "receivers",
    )

    def __init__(
        self,
        manager: QueueManager,
        randomness: Randomness,
        settings: MulticastSettings | None = None,
    ) -> None:
        self._manager = manager
        self._settings = settings = settings or MulticastSettings()
        self._randomness = randomness
        self._timers = TimerHeap()
        self._events: deque[MulticastEvent] = deque()
        # Counts of sources and receivers that have ended, and of packets that reached none.
        self.counts = PacketCounts()
        self._sender = MulticastSender(
            manager, settings, self._timers, randomness, self._events, self.counts
        )
        self.receivers: dict[MulticastFormatName, GroupReceiver] = {}
        self._last_receiver = LAST_PORT
        # Groups that could not be joined, and the time of the next attempt.
        self._failed: dict[IPv4Address, float] = {}
        # The reason of the current receivers: groups in this version, or none while not listening.
        self._groups = manager.incoming.groups
        self._listening = False
        self._version = -1
        # Neither sends nor listens: before the start, and while the queue manager is offline.
        self._offline = True

    @property
    def carries(self) -> frozenset[Transport]:
        return MULTICAST

    # Start and stop

    def start(self, *, now: float) -> None:
        """Begin: every outgoing queue with stored messages sends them, and queues listen."""
        self._set_offline(not self._manager.outgoing.online, now)

    def stop(self, *, now: float) -> None:
        """Stop sending and receiving."""
        self._set_offline(True, now)

    def _set_offline(self, offline: bool, now: float) -> None:  # noqa: FBT001 - one private value
        self._offline = self._sender.transfers.offline = offline
        for queue in self._manager.outgoing.queues:
            self._sender.transfers.available(queue, now=now)

    # Sockets

    def opened(self, address: IPv4Address, *, now: float) -> None:
        """A socket to send from is open, at an address of this machine."""
        self._sender.socket_opened(address, now=now)

    def open_failed(self, status: ConnectionStatus, reason: str, *, now: float) -> None:
        """The socket could not be opened; the reason is a text."""
        self._sender.socket_failed(status, reason, now=now)

    def join_failed(self, group: IPv4Address, *, now: float) -> None:
        """A group could not be joined; it is tried again later."""
        self._failed[group] = now + self._settings.retry_seconds
        self._timers.set(group, self._failed[group])

    def next_event(self) -> MulticastEvent | None:
        """The next request to the shell."""
        return self._events.popleft() if self._events else None

    # Every turn

    @property
    def in_use(self) -> bool:
        """Whether messages are sent or received, or will be after the next `turn`."""
        return bool(
            self._events
            or self.receivers
            or self._sender.in_use
            or self._groups.version != self._version
            or self._may_listen != self._listening
        )

    @property
    def _may_listen(self) -> bool:
        return not self._offline and not self._manager.hardened

    def turn(self) -> None:
        """Listen to the current addresses of queues."""
        groups, listening = self._groups, self._may_listen
        if groups.version == self._version and listening == self._listening:
            return
        self._version, self._listening = groups.version, listening
        wanted = groups.names[: self._settings.max_groups] if listening else []
        before = {name.address for name in self.receivers}
        for name in self.receivers.keys() - set(wanted):
            receiver = self.receivers.pop(name)
            self.counts.add(receiver.pgm.counters)
            self._timers.set(receiver, None)
        for name in wanted:
            if name not in self.receivers:
                self._last_receiver += 1
                self.receivers[name] = GroupReceiver(
                    self._manager,
                    self._settings,
                    name,
                    self._randomness,
                    self._events,
                    number=self._last_receiver,
                )
        now = {name.address for name in self.receivers}
        self._leave(before - now)
        self._events.extend(Join(group) for group in sorted(now - before))

    def _leave(self, groups: Iterable[IPv4Address]) -> None:
        for group in sorted(groups):
            self._events.append(Leave(group))
            self._failed.pop(group, None)
            self._timers.set(group, None)

    def receive_datagram(
        self, data: bytes, *, source: IPv4Address, group: IPv4Address | None, now: float
    ) -> None:
        """A datagram arrived at a group, or at the address of this machine if that is None."""
        if group is None:
            self._sender.receive_nak(data, now=now)
            return
        if self._is_forged(data, source):
            self.counts.add_forged()
            return
        for receiver in self.receivers.values():
            if receiver.name.address == group:
                receiver.receive_datagram(data, source=source, now=now)
                self._timers.set(receiver, receiver.next_timer())

    def _is_forged(self, data: bytes, source: IPv4Address) -> bool:
        """Whether a packet has the identifier of a source here, but comes from elsewhere."""
        return (
            data[_IDENTIFIER] == self._randomness.global_source_id
            and data[_TYPE] not in _OF_RECEIVERS
            and source != self._sender.address
        )

    def datagrams_to_send(self, *, now: float) -> list[OutgoingDatagram]:
        """All datagrams that may leave now."""
        datagrams = self._sender.datagrams_to_send(now=now)
        for receiver in self.receivers.values():
            datagrams += receiver.datagrams_to_send()
        return datagrams

    def core_event(self, event: Event, *, now: float) -> None:
        """An event of the queue manager."""
        if isinstance(event, OutgoingAvailable | QueuePaused | QueueResumed):
            self._sender.transfers.available(event.queue, now=now)
        elif isinstance(event, QueueDeleted):
            self._sender.transfers.forget(event.queue, now=now)
        elif isinstance(event, MessagesDeleted | MessagesMoved):
            self._sender.streams.removed(event.queue)
        elif isinstance(event, ConnectionActiveChanged):
            self._set_offline(not event.active, now)
        elif isinstance(event, Stopped):
            self.stop(now=now)

    @property
    def waits_for_disk(self) -> bool:
        """Whether `durable` has work."""
        return False

    def durable(self, *, now: float) -> None:
        """More batches are on disk: `datagrams_to_send` looks for messages that waited for them."""

    # Time

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due; `datagrams_to_send` then returns the packets."""
        for owner in self._timers.take_due(now):
            if isinstance(owner, Source):
                self._sender.source_due(owner, now=now)
            elif isinstance(owner, MulticastTransfer):
                self._sender.due(owner, now=now)
            elif isinstance(owner, GroupReceiver):
                owner.handle_timer(now=now)
                self._timers.set(owner, owner.next_timer())
            else:
                self._join_again()

    def _join_again(self) -> None:
        for group in sorted(self._failed):
            self._events.append(Join(group))
        self._failed.clear()

    # Queries and administration

    @property
    def protocol(self) -> str:
        return PROTOCOL

    @property
    def session_count(self) -> int:
        """The groups that are received, and those that are sent to."""
        return len(self.receivers) + len(self._sender.sources)

    @property
    def waiting_bytes(self) -> int:
        return sum(receiver.waiting_bytes for receiver in self.receivers.values())

    def sessions(self) -> Iterator[SessionInfo]:
        """Every group that is received, and every source here."""
        for name, receiver in list(self.receivers.items()):
            yield receiver_info(receiver, joined=name.address not in self._failed)
        for source in self._sender.sources:
            yield source_info(source, self._sender.unsent_messages(source))

    def traffic(self) -> Iterator[Traffic]:
        """The traffic of every group."""
        yield from map(receiver_traffic, list(self.receivers.values()))
        yield from map(source_traffic, self._sender.sources)

    def hang_up(self, number: int) -> bool:  # noqa: ARG002 - as for every source of sessions
        """There are no connections to end."""
        return False

    def packet_counts(self) -> list[tuple[str, int]]:
        """The number of packets since the start, by outcome."""
        counts = self.counts.copy()
        for source in self._sender.sources:
            counts.add(source.counters)
        for receiver in self.receivers.values():
            counts.add(receiver.pgm.counters)
        return counts.items()

    def outgoing_status(self, queue: Queue, *, now: float) -> OutgoingStatus | None:
        """One outgoing queue."""
        transfer = self._sender.transfers.find(queue)
        if transfer is None:
            return None
        return describe(transfer, now=now, offline=self._offline)

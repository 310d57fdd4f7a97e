"""A receiver: the sources of one group, each in order and whole (RFC 3208, section 6)."""

from collections.abc import Callable
from typing import cast

from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.pgm import (
    DataPacket,
    NakPacket,
    Nla,
    OtherPacket,
    PacketType,
    SourcePathMessage,
    TransportSessionId,
    distance,
    following,
    parse_packet,
)

from .counters import ReceiverCounters
from .datagram import OutgoingDatagram
from .receiver_events import ReceiverEvent
from .settings import ReceiverSettings
from .transport_session import SharedState, TransportSession, TransportSessionState


class Receiver:
    """All sources of one group and port.

    Args:
        group_nla: the address of the group.
        destination_port: packets for other ports are ignored.
        random: returns numbers from 0 up to 1, for the back-off of NAKs.
    """

    def __init__(
        self,
        settings: ReceiverSettings,
        *,
        group_nla: Nla,
        destination_port: int,
        random: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._destination_port = destination_port
        self._shared = SharedState(settings, group_nla=group_nla, random=random)
        self._sessions: dict[TransportSessionId, TransportSession] = {}
        self._timers = TimerHeap()
        self._datagrams: list[OutgoingDatagram] = []

    @property
    def counters(self) -> ReceiverCounters:
        return self._shared.counters

    @property
    def buffered_bytes(self) -> int:
        """Data that waits for earlier data."""
        return self._shared.buffered_bytes

    @property
    def sources(self) -> list[Nla]:
        """The addresses of the sources, one for each session."""
        return [session.source_nla for session in self._sessions.values()]

    @property
    def source_count(self) -> int:
        return len(self._sessions)

    def receive_datagram(self, data: bytes, *, source: Nla, now: float) -> None:
        """Process a datagram that arrived from `source` at the group."""
        counters = self._shared.counters
        try:
            packet = parse_packet(data)
        except MalformedPacket:
            counters.malformed += 1
            return
        if isinstance(packet, OtherPacket) or packet.destination_port != self._destination_port:
            counters.ignored += 1
            return
        session = self._sessions.get(packet.tsi)
        if session is None:
            session = self._open(packet, source, now)
        if session is None or session.state is not TransportSessionState.OPEN:
            counters.ignored += 1
            return
        # NAKs come from other receivers, everything else from the source.
        comes_from_source = not isinstance(packet, NakPacket) or packet.type == PacketType.NCF
        if comes_from_source and source != session.source_nla:
            counters.forged += 1
            return
        if isinstance(packet, DataPacket):
            session.receive_data(packet, now=now)
        elif isinstance(packet, SourcePathMessage):
            session.receive_spm(packet, now=now)
        elif packet.type != PacketType.NNAK:
            session.receive_nak(packet, now=now)
        self._timers.set(packet.tsi, session.next_timer())

    def _open(
        self, packet: SourcePathMessage | DataPacket | NakPacket, source: Nla, now: float
    ) -> TransportSession | None:
        """Begin a session, if the packet is one that a session begins with."""
        first = self._first_sequence_number(packet)
        if first is None:
            return None
        if len(self._sessions) >= self._settings.max_sources:
            self._shared.counters.sources_refused += 1
            return None
        session = TransportSession(
            self._shared,
            packet.tsi,
            source,
            destination_port=self._destination_port,
            first_sequence_number=first,
            now=now,
        )
        self._sessions[packet.tsi] = session
        return session

    def _first_sequence_number(
        self, packet: SourcePathMessage | DataPacket | NakPacket
    ) -> int | None:
        """RXW_TRAIL_INIT: the first packet received, or what OPT_JOIN allows.

        Choice: a session begins with an SPM or ODATA. A repair, or an SPM of a session that is
        over, is for receivers that were there before.
        """
        options = packet.options
        if isinstance(packet, DataPacket) and not packet.is_repair:
            first = packet.sequence_number
        elif (
            isinstance(packet, SourcePathMessage)
            and packet.has_window
            and not options.fin
            and options.rst is None
        ):
            first = following(packet.leading_edge)
        else:
            return None
        if options.join is not None:
            trail = packet.trailing_edge
            join = options.join if distance(trail, options.join) >= 0 else trail
            if 0 < distance(join, first) < self._settings.max_window_packets:
                return join
        return first

    def datagrams_to_send(self) -> list[OutgoingDatagram]:
        datagrams, self._datagrams = self._datagrams, []
        return datagrams

    def next_event(self) -> ReceiverEvent | None:
        events = self._shared.events
        return events.popleft() if events else None

    def next_timer(self) -> float | None:
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        # The owners of the timers are identifiers of sources.
        for tsi in cast("list[TransportSessionId]", self._timers.take_due(now)):
            session = self._sessions[tsi]
            self._datagrams += session.handle_timer(now=now)
            if session.state is TransportSessionState.SILENT:
                del self._sessions[tsi]
            else:
                self._timers.set(tsi, session.next_timer())

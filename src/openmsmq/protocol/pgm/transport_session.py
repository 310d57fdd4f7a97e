"""The session of one source at a receiver (RFC 3208, section 6)."""

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from openmsmq.wire.pgm import (
    MAX_NAK_LIST,
    DataPacket,
    NakPacket,
    Nla,
    Options,
    PacketType,
    SourcePathMessage,
    TransportSessionId,
    distance,
    following,
)

from .apdu_assembly import ApduAssembly
from .counters import ReceiverCounters
from .datagram import OutgoingDatagram
from .receiver_events import ApduReceived, DataLost, ReceiverEvent, SourceEnded
from .repair import RepairInput
from .repairs import Repairs
from .settings import ReceiverSettings

NAK_TTL: Final = 1


class TransportSessionState(Enum):
    """Whether a source is still active; the values are the reasons of `SourceEnded`."""

    OPEN = "open"
    FINISHED = "the source has finished and all its data was delivered"
    RESET = "the source has reset the session"
    SILENT = "the source was silent for too long"


class SharedState:
    """The shared state of the sessions of one receiver: limits, counters, events, buffers."""

    __slots__ = ("buffered_bytes", "counters", "events", "group_nla", "random", "settings")

    def __init__(
        self, settings: ReceiverSettings, *, group_nla: Nla, random: Callable[[], float]
    ) -> None:
        self.settings = settings
        self.group_nla = group_nla
        self.random = random
        self.counters = ReceiverCounters()
        self.events: deque[ReceiverEvent] = deque()
        self.buffered_bytes = 0


class TransportSession:
    """The receive window of one source.

    `next` is the first packet that was not delivered, `lead` the newest one that is known to exist.
    Packets from `next` to `lead` wait in a buffer, are requested, are given up, or are checked
    when fewer are requested.
    """

    def __init__(
        self,
        shared: SharedState,
        tsi: TransportSessionId,
        source_nla: Nla,
        *,
        destination_port: int,
        first_sequence_number: int,
        now: float,
    ) -> None:
        self.source_nla = source_nla
        self.state = TransportSessionState.OPEN
        self._shared = shared
        self._tsi = tsi
        self._destination_port = destination_port
        self._next = first_sequence_number
        self._lead = following(first_sequence_number, -1)
        # Packets before this one were checked.
        self._detected = first_sequence_number
        self._buffer: dict[int, DataPacket] = {}
        self._given_up: set[int] = set()
        self._repairs = Repairs(shared.settings, random=shared.random)
        self._assembly = ApduAssembly(shared.settings.max_apdu_bytes, shared.counters)
        self._path_nla = source_nla
        self._spm_sequence_number: int | None = None
        self._last: int | None = None
        self._deadline = now + shared.settings.session_seconds

    def receive_spm(self, spm: SourcePathMessage, *, now: float) -> None:
        known = self._spm_sequence_number
        if known is not None and distance(known, spm.sequence_number) <= 0:
            self._shared.counters.ignored += 1
            return
        if spm.options.rst is not None:
            # [MC-MQSRM] note 3: the session is dropped at once.
            self.end(TransportSessionState.RESET)
            return
        if spm.has_window and not self._is_plausible(spm.trailing_edge, spm.leading_edge):
            return
        self._spm_sequence_number = spm.sequence_number
        self._path_nla = spm.path_nla
        self._repairs.start(now=now)
        self._hear(now)
        if spm.has_window:
            if spm.options.fin:
                self._last = spm.leading_edge
            self._advance(spm.trailing_edge)
            self._note_lead(spm.leading_edge)
        self._deliver(now)

    def receive_data(self, packet: DataPacket, *, now: float) -> None:
        counters = self._shared.counters
        number = packet.sequence_number
        if not self._is_plausible(packet.trailing_edge, number):
            return
        self._hear(now)
        self._advance(packet.trailing_edge)
        if distance(self._next, number) < 0 or number in self._buffer:
            counters.duplicates += 1
        elif not self._has_room(packet):
            counters.buffer_full += 1
        else:
            if packet.options.fin:
                self._last = number
            self._buffer[number] = packet
            self._shared.buffered_bytes += len(packet.data)
            self._repairs.remove(number)
            self._given_up.discard(number)
        self._note_lead(number)
        self._deliver(now)

    def receive_nak(self, packet: NakPacket, *, now: float) -> None:
        """A NAK of another receiver, or an NCF of the source."""
        is_ncf = packet.type == PacketType.NCF
        for number in packet.sequence_numbers:
            # RFC 3208, 6.3: what the source confirms exists.
            ahead = distance(self._lead, number)
            if is_ncf and 0 < ahead <= self._shared.settings.max_window_packets:
                self._note_lead(number)
        self._detect(now)
        event = RepairInput.NCF if is_ncf else RepairInput.NAK
        for number in packet.sequence_numbers:
            self._repairs.hear(number, event, now=now)

    def next_timer(self) -> float:
        timer = self._repairs.next_timer()
        return self._deadline if timer is None else min(timer, self._deadline)

    def handle_timer(self, *, now: float) -> list[OutgoingDatagram]:
        """NAKs that are due. A silent source ends."""
        if now >= self._deadline:
            self.end(TransportSessionState.SILENT)
            return []
        requests, given_up = self._repairs.handle_timer(now=now)
        self._given_up.update(given_up)
        self._deliver(now)
        return self._naks(requests)

    def end(self, state: TransportSessionState) -> None:
        """Drop all data; further packets of the source are ignored until the deadline."""
        if self.state is TransportSessionState.OPEN:
            self._shared.events.append(SourceEnded(self._tsi, state.value))
        self.state = state
        self._shared.buffered_bytes -= sum(len(packet.data) for packet in self._buffer.values())
        self._buffer.clear()
        self._given_up.clear()
        self._assembly.interrupt()
        self._repairs.remove_all(self._repairs.numbers())

    def _hear(self, now: float) -> None:
        self._deadline = now + self._shared.settings.session_seconds

    def _is_plausible(self, trail: int, lead: int) -> bool:
        """Whether a window is consistent, and not further ahead than a source can be."""
        limit = self._shared.settings.max_window_packets
        if (
            distance(trail, lead) >= -1
            and distance(self._next, lead) < limit
            and distance(self._next, trail) < limit
        ):
            return True
        self._shared.counters.out_of_window += 1
        return False

    def _has_room(self, packet: DataPacket) -> bool:
        """The packet that is delivered at once needs no room."""
        shared = self._shared
        total = shared.buffered_bytes + len(packet.data)
        return packet.sequence_number == self._next or total <= shared.settings.max_buffered_bytes

    def _note_lead(self, number: int) -> None:
        if distance(self._lead, number) > 0:
            self._lead = number

    def _advance(self, trail: int) -> None:
        """Missing packets before the trailing edge of the source are lost."""
        if distance(self._next, trail) <= 0:
            return
        for number in sorted(
            (number for number in self._buffer if distance(number, trail) > 0),
            key=lambda number: distance(self._next, number),
        ):
            self._lose(number)
            self._deliver_next()
        self._lose(trail)
        self._repairs.remove_all(
            [number for number in self._repairs.numbers() if distance(number, trail) > 0]
        )
        self._given_up = {number for number in self._given_up if distance(number, trail) <= 0}

    def _lose(self, end: int) -> None:
        """Continue at `end`; missing packets before it are lost."""
        count = distance(self._next, end)
        if count:
            self._shared.counters.lost_packets += count
            self._shared.events.append(DataLost(self._tsi, self.source_nla, self._next, count))
            self._assembly.interrupt()
            self._next = end

    def _deliver_next(self) -> None:
        packet = self._buffer.pop(self._next)
        self._shared.buffered_bytes -= len(packet.data)
        self._next = following(self._next)
        apdu = self._assembly.add(packet)
        if apdu is not None:
            self._shared.counters.apdus += 1
            self._shared.events.append(ApduReceived(self._tsi, self.source_nla, apdu))

    def _deliver(self, now: float) -> None:
        """Deliver contiguous packets, across those given up; then look for gaps."""
        while True:
            if self._next in self._buffer:
                self._deliver_next()
                continue
            end = self._next
            while end in self._given_up:
                self._given_up.discard(end)
                end = following(end)
            if end == self._next:
                break
            self._lose(end)
        if self._last is not None and distance(self._last, self._next) > 0:
            self.end(TransportSessionState.FINISHED)
        else:
            self._detect(now)

    def _detect(self, now: float) -> None:
        """Request missing packets, oldest first, up to the limit."""
        if distance(self._detected, self._next) > 0:
            self._detected = self._next
        limit = self._shared.settings.max_repairs
        while len(self._repairs) < limit and distance(self._detected, self._lead) >= 0:
            if self._detected not in self._buffer:
                self._repairs.add(self._detected, now=now)
            self._detected = following(self._detected)

    def _naks(self, numbers: list[int]) -> list[OutgoingDatagram]:
        """NAKs to the last hop, and to the group for other receivers ([MC-MQSRM] note 3)."""
        numbers.sort(key=lambda number: distance(self._next, number))
        out: list[OutgoingDatagram] = []
        for start in range(0, len(numbers), MAX_NAK_LIST + 1):
            nak = NakPacket(
                PacketType.NAK,
                self._tsi,
                self._destination_port,
                numbers[start],
                self.source_nla,
                self._shared.group_nla,
                Options(nak_list=tuple(numbers[start + 1 : start + MAX_NAK_LIST + 1])),
            ).serialize()
            out.append(OutgoingDatagram(nak, self._path_nla))
            out.append(OutgoingDatagram(nak, self._shared.group_nla, ttl=NAK_TTL))
            self._shared.counters.naks += 1
        return out

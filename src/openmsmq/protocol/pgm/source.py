"""A source: sends APDUs to a group and repairs what receivers miss (RFC 3208, section 5)."""

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final, cast

from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    NakPacket,
    Nla,
    Options,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
    distance,
    following,
    parse_packet,
)

from .counters import SourceCounters
from .datagram import OutgoingDatagram
from .settings import DATA_HEADER_BYTES, FRAGMENT_BYTES, SYN_FIN_BYTES, SourceSettings
from .source_states import ANSWERS_NAKS, SENDS_FIN, TRANSITIONS, SourceInput, SourceState
from .token_bucket import TokenBucket
from .transmit_window import Sent, TransmitWindow


class SourceTimer(Enum):
    """The timers of a source; `_HANDLERS` has their actions."""

    AMBIENT = "SPM ambient time interval"
    HEARTBEAT = "IHB_TMR"
    ADVANCE = "TXW_ADV_IVL_TMR"
    REPAIR = "the next RDATA has waited for its delay"
    RATE = "the token bucket has filled up"
    EXPIRY = "TXW_SECS after OPT_FIN"


class Source:
    """One transport session.

    Args:
        tsi: its identifier, unique among all sources.
        destination_port: the port of the group.
        source_nla: the address of this machine, to which NAKs go.
        group_nla: the address of the group.
        first_sequence_number: any number, best a random one.
    """

    def __init__(
        self,
        settings: SourceSettings,
        *,
        tsi: TransportSessionId,
        destination_port: int,
        source_nla: Nla,
        group_nla: Nla,
        first_sequence_number: int,
        now: float,
    ) -> None:
        self.settings = settings
        self.tsi = tsi
        self.counters = SourceCounters()
        self.state = SourceState.OPEN
        self._destination_port = destination_port
        self._source_nla = source_nla
        self._group_nla = group_nla
        self._first = first_sequence_number
        self._window = TransmitWindow(first_sequence_number)
        # Fragments that were never sent; a packet alone has None.
        self._queue: deque[tuple[bytes, Fragment | None]] = deque()
        self._queued_bytes = 0
        self._next = first_sequence_number
        self._spm_sequence_number = 0
        # Packets to send after a delay, and those whose delay is over.
        self._delays = TimerHeap()
        self._ready: deque[int] = deque()
        self._repairs: set[int] = set()
        self._confirmations: dict[tuple[int, ...], None] = {}
        self._timers = TimerHeap()
        # The first SPM lets receivers begin with the first packet.
        self._spm_pending = True
        self._last_ambient = now
        self._data_since_ambient = 0
        self._heartbeat = settings.ihb_min
        self._repair_was_last = False
        self._bucket = TokenBucket(
            settings.txw_max_rte,
            max(settings.txw_max_rte * settings.token_bucket_seconds, settings.max_packet_bytes),
            now=now,
        )
        self._timers.set(SourceTimer.ADVANCE, now + settings.txw_adv_ivl)
        self._timers.set(SourceTimer.HEARTBEAT, now + settings.ihb_min)

    @property
    def can_send(self) -> bool:
        """Whether there is room for one more APDU."""
        return (
            self.state is SourceState.OPEN and self._queued_bytes <= self.settings.max_queued_bytes
        )

    @property
    def group(self) -> str:
        """Address and port of the group."""
        return f"{self._group_nla}:{self._destination_port}"

    @property
    def queued_bytes(self) -> int:
        """Data that was never sent."""
        return self._queued_bytes

    def send(self, apdu: bytes) -> int:
        """Queue an APDU; `datagrams_to_send` returns its packets as the rate allows.

        Returns the sequence number of its last packet: see `has_sent`.

        Raises:
            ValueError: it is empty or too large, or there is no room: see `can_send`.
        """
        settings = self.settings
        if not 0 < len(apdu) <= settings.max_apdu_bytes:
            raise ValueError(
                f"an APDU has 1 to {settings.max_apdu_bytes} bytes, this one has {len(apdu)}"
            )
        if not self.can_send:
            raise ValueError("the source is closed, or too much data waits to be sent")
        self._queued_bytes += len(apdu)
        self.counters.apdus += 1
        room = settings.max_packet_bytes - DATA_HEADER_BYTES - SYN_FIN_BYTES
        first = self._next
        if len(apdu) <= room:
            self._queue.append((apdu, None))
            self._next = following(first)
            return first
        room -= FRAGMENT_BYTES
        for offset in range(0, len(apdu), room):
            fragment = Fragment(first, offset, len(apdu))
            self._queue.append((apdu[offset : offset + room], fragment))
            self._next = following(self._next)
        return following(self._next, -1)

    def has_sent(self, sequence_number: int) -> bool:
        """Whether a packet has been sent for the first time."""
        return distance(sequence_number, self._window.leading_edge) >= 0

    def close(self, *, now: float) -> None:
        """Send queued data, then repair it for TXW_SECS."""
        self._change(SourceInput.CLOSE)
        self._drain(now)

    def abort(self, *, now: float) -> None:
        """Cancel queued data and reset the session; if nothing is queued, close it.

        [MC-MQSRM] note 3: OPT_RST is sent only if data was cancelled.
        """
        if not self._queue:
            self.close(now=now)
            return
        self._queue.clear()
        self._queued_bytes = 0
        self._change(SourceInput.CANCEL)
        self._stop()
        self._spm_pending = True

    def _stop(self) -> None:
        """Drop every request and timer."""
        self._confirmations.clear()
        self._repairs.clear()
        self._ready.clear()
        self._delays = TimerHeap()
        self._timers = TimerHeap()
        self._spm_pending = False

    def receive_datagram(self, data: bytes, *, now: float) -> None:
        """Process a datagram received on the port of the source; `datagrams_to_send` answers."""
        try:
            packet = parse_packet(data)
        except MalformedPacket:
            self.counters.malformed += 1
            return
        # NNAKs ask for nothing; packets with the identifier of this source are forged or an echo.
        if (
            isinstance(packet, NakPacket)
            and packet.type == PacketType.NAK
            and packet.tsi == self.tsi
            and packet.destination_port == self._destination_port
            and self.state in ANSWERS_NAKS
        ):
            self._receive_nak(packet, now)
        else:
            self.counters.ignored += 1

    def _receive_nak(self, packet: NakPacket, now: float) -> None:
        # Choice: data outside the window is not confirmed; it cannot be repaired.
        numbers = tuple(
            number for number in dict.fromkeys(packet.sequence_numbers) if number in self._window
        )
        if not numbers or len(self._confirmations) >= self.settings.max_confirmations:
            self.counters.naks_dropped += 1
            return
        self._confirmations[numbers] = None
        for number in numbers:
            if number not in self._repairs:
                self._repairs.add(number)
                # [MC-MQSRM] 2.1.3.1: the older the packet, the sooner it is sent again.
                delay = self._window.delay_fraction(number) * self.settings.rdata_delay_seconds
                self._delays.set(number, now + delay)

    def datagrams_to_send(self, *, now: float) -> list[OutgoingDatagram]:
        """All datagrams that may leave now: NCFs first, then SPMs, then data (RFC 3208, 5.1.3)."""
        out: list[OutgoingDatagram] = []
        self._confirm(out)
        self._take_due_repairs(now)
        self._timers.set(SourceTimer.RATE, None)
        while self._send_one(out, now):
            pass
        self._timers.set(SourceTimer.REPAIR, self._delays.next())
        return out

    def _confirm(self, out: list[OutgoingDatagram]) -> None:
        """An NCF for each NAK; RDATA follows after its delay."""
        for numbers in self._confirmations:
            packet = NakPacket(
                PacketType.NCF,
                self.tsi,
                self._destination_port,
                numbers[0],
                self._source_nla,
                self._group_nla,
                Options(nak_list=numbers[1:]),
            )
            out.append(self._datagram(packet.serialize(), alert=True))
            self.counters.ncfs += 1
        self._confirmations.clear()

    def _take_due_repairs(self, now: float) -> None:
        # The owners of these timers are sequence numbers.
        self._ready.extend(cast("list[int]", self._delays.take_due(now)))

    def _send_one(self, out: list[OutgoingDatagram], now: float) -> bool:
        """Send an SPM or a data packet, if there is one and the rate allows it."""
        if self._spm_pending:
            return self._send_spm(out, now)
        # Repairs and new data take turns, so that neither stops the other.
        if self._ready and not (self._repair_was_last and self._may_send_new()):
            return self._send_repair(out, now)
        return self._may_send_new() and self._send_new(out, now)

    def _may_send_new(self) -> bool:
        return bool(self._queue) and self._window.bytes < self.settings.txw_bytes

    def _take_tokens(self, size: int, now: float) -> bool:
        if self._bucket.take(size, now=now):
            self.counters.bytes += size
            return True
        self._timers.set(SourceTimer.RATE, self._bucket.ready(size))
        return False

    def _send_spm(self, out: list[OutgoingDatagram], now: float) -> bool:
        aborted = self.state is SourceState.ABORTED
        options = Options(
            fin=self.state in SENDS_FIN,
            rst=Reset(no_naks=True, error_code=0) if aborted else None,
        )
        spm = SourcePathMessage(
            self.tsi,
            self._destination_port,
            self._spm_sequence_number,
            self._window.trailing_edge,
            self._window.leading_edge,
            self._source_nla,
            options,
        ).serialize()
        if not self._take_tokens(len(spm), now):
            return False
        out.append(self._datagram(spm, alert=True))
        self.counters.spms += 1
        self._spm_sequence_number = following(self._spm_sequence_number)
        self._spm_pending = False
        self._last_ambient = now
        self._data_since_ambient = 0
        self._timers.set(SourceTimer.AMBIENT, None)
        self._change(SourceInput.RESET)
        return True

    def _send_repair(self, out: list[OutgoingDatagram], now: float) -> bool:
        # The window does not advance over a packet that a receiver asked for.
        sent = self._window[self._ready[0]]
        if not self._send_data(sent, out, now, is_repair=True):
            return False
        self._repairs.discard(self._ready.popleft())
        self._repair_was_last = True
        self.counters.rdata += 1
        return True

    def _send_new(self, out: list[OutgoingDatagram], now: float) -> bool:
        data, fragment = self._queue[0]
        sent = Sent(following(self._window.leading_edge), data, fragment, now)
        if not self._send_data(sent, out, now, is_repair=False):
            return False
        self._queue.popleft()
        self._queued_bytes -= len(data)
        self._window.add(sent)
        self._repair_was_last = False
        self.counters.odata += 1
        self._drain(now)
        return True

    def _send_data(
        self, sent: Sent, out: list[OutgoingDatagram], now: float, *, is_repair: bool
    ) -> bool:
        number = sent.sequence_number
        is_last = following(number) == self._next
        packet = DataPacket(
            self.tsi,
            self._destination_port,
            is_repair,
            number,
            self._window.trailing_edge,
            sent.data,
            Options(
                fragment=sent.fragment,
                syn=number == self._first,
                fin=is_last and self.state is not SourceState.OPEN,
            ),
        ).serialize()
        if not self._take_tokens(len(packet), now):
            return False
        out.append(self._datagram(packet, alert=is_repair))
        self._note_data(now)
        return True

    def _note_data(self, now: float) -> None:
        """Data is sent: an ambient SPM follows in time, a heartbeat only when data stops."""
        settings = self.settings
        self._heartbeat = settings.ihb_min
        self._timers.set(SourceTimer.HEARTBEAT, now + settings.ihb_min)
        self._data_since_ambient += 1
        ambient = self._last_ambient + settings.ambient_seconds
        if self._data_since_ambient >= settings.ambient_packets or now >= ambient:
            self._spm_pending = True
        else:
            self._timers.set(SourceTimer.AMBIENT, ambient)

    def _datagram(self, data: bytes, *, alert: bool) -> OutgoingDatagram:
        return OutgoingDatagram(data, self._group_nla, alert)

    def _change(self, event: SourceInput) -> bool:
        state = TRANSITIONS.get((self.state, event))
        if state is None:
            return False
        self.state = state
        return True

    def _drain(self, now: float) -> None:
        """RFC 3208, 9.7.2: when nothing waits, OPT_FIN is sent at once, and for TXW_SECS."""
        if not self._queue and self._change(SourceInput.DRAINED):
            self._spm_pending = True
            self._heartbeat = self.settings.ihb_min
            self._timers.set(SourceTimer.HEARTBEAT, now + self.settings.ihb_min)
            self._timers.set(SourceTimer.EXPIRY, now + self.settings.txw_secs)

    def next_timer(self) -> float | None:
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due; `datagrams_to_send` then returns the packets."""
        for timer in cast("list[SourceTimer]", self._timers.take_due(now)):
            # A timer that is due at the same time must not restart an ended one.
            if self.state is not SourceState.CLOSED:
                _HANDLERS[timer](self, now)

    def _ambient(self, _now: float) -> None:
        self._spm_pending = True

    def _beat(self, now: float) -> None:
        self._spm_pending = True
        self._heartbeat = min(2 * self._heartbeat, self.settings.ihb_max)
        self._timers.set(SourceTimer.HEARTBEAT, now + self._heartbeat)

    def _advance(self, now: float) -> None:
        self._window.advance(now - self.settings.txw_secs, self._repairs)
        self._timers.set(SourceTimer.ADVANCE, now + self.settings.txw_adv_ivl)

    def _expire(self, _now: float) -> None:
        self._change(SourceInput.EXPIRED)
        self._stop()

    def _wake(self, _now: float) -> None:
        """`datagrams_to_send` finds the output."""


_HANDLERS: Final[dict[SourceTimer, Callable[[Source, float], None]]] = {
    SourceTimer.AMBIENT: Source._ambient,
    SourceTimer.HEARTBEAT: Source._beat,
    SourceTimer.ADVANCE: Source._advance,
    SourceTimer.REPAIR: Source._wake,
    SourceTimer.RATE: Source._wake,
    SourceTimer.EXPIRY: Source._expire,
}

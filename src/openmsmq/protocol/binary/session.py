"""One session over one connection, initiator or acceptor ([MS-MQQB] 3.1).

Bytes go in by `receive_data`, come out by `data_to_send`; events are in `next_event`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket, ProtocolViolation
from openmsmq.wire.message.user_message_patch import (
    BASE_FLAGS,
    INTERNAL_BIT,
    RECOVERABLE_BIT,
    USER_FLAGS,
    with_session_header,
    without_session_header,
)
from openmsmq.wire.message.user_message_run import RunBuilder
from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.internal_header import InternalHeader, InternalPacketType
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.scalars import GUID_NULL

from .events import (
    Closed,
    CloseReason,
    Established,
    MessagesAcknowledged,
    MessagesReceived,
    Opened,
    SessionEvent,
)
from .handshake import Handshake, SessionState
from .session_timers import SessionTimer, SessionTimers
from .settings import BinarySettings
from .windows import COUNTER_MASK, RECOVERABLE_BITS, ReceivedMessages, SentMessages

# [MS-MQQB] 3.1.7.11: an acknowledgment is piggybacked once this part of its time is over.
_PIGGYBACK_AFTER: Final = 0.75

_FIELD_REASONS: Final = {
    "BaseHeader.VersionNumber": CloseReason.BAD_VERSION,
    "BaseHeader.Signature": CloseReason.BAD_SIGNATURE,
    "BaseHeader.PacketSize": CloseReason.BAD_SIZE,
    "InternalHeader.Flags.PT": CloseReason.BAD_TYPE,
}


_State = SessionState
# Members of enumerations take long to look up, so often used ones are constants.
_OPEN: Final = SessionState.OPEN
_CLOSED: Final = SessionState.CLOSED
_ACK_WAIT: Final = SessionTimer.ACK_WAIT
_ACK_SEND: Final = SessionTimer.ACK_SEND


class BinarySession:
    """One session.

    Args:
        guid: of our own queue manager.
        initiator: whether we opened the connection.
        remote_guid: the queue manager that must answer an initiator; GUID_NULL takes any.
        direct: whether the session serves direct format names.
        pinged: whether a Ping Request was sent before.
        refuse: whether an acceptor refuses the initiator, because of a limit.
        window_size: the window announced to the peer at first.
    """

    __slots__ = (
        "_ack_wait_multiplier",
        "_announced_window",
        "_events",
        "_framer",
        "_handshake",
        "_output",
        "_peer_window",
        "_received_ack",
        "_settings",
        "active",
        "initiator",
        "output_bytes",
        "received",
        "received_bytes",
        "sent",
        "sent_bytes",
        "state",
        "timers",
        "window_size",
    )

    def __init__(
        self,
        settings: BinarySettings,
        guid: UUID,
        *,
        initiator: bool,
        now: float,
        remote_guid: UUID = GUID_NULL,
        direct: bool = True,
        pinged: bool = False,
        refuse: bool = False,
        window_size: int | None = None,
    ) -> None:
        self._settings = settings
        self.initiator = initiator
        self.window_size = settings.window_size if window_size is None else window_size
        self._handshake = Handshake(
            settings,
            guid,
            remote_guid=remote_guid,
            pinged=pinged,
            refuse=refuse,
            window_size=self.window_size,
        )
        # The window as the peer knows it.
        self._announced_window = self.window_size
        # ReceivedWindowSize, from the last SessionHeader.
        self._peer_window = settings.window_size
        self._ack_wait_multiplier = settings.direct_ack_wait_multiplier if direct else 1
        self._framer = Framer(max_packet_size=settings.max_packet_size)
        self._events: deque[SessionEvent] = deque()
        self._output: list[bytes] = []
        self.output_bytes = 0
        # Over the connection so far.
        self.received_bytes = 0
        self.sent_bytes = 0
        self.received = ReceivedMessages()
        self.sent = SentMessages()
        self.timers = SessionTimers()
        # SessionActive, ReceivedAck.
        self.active = False
        self._received_ack = False
        self.timers.start(SessionTimer.CLEANUP, settings.cleanup_seconds, now=now)
        if initiator:
            self.state = _State.WAITING_ECR_MSG
            self._write(self._handshake.request(now))
        else:
            self.state = _State.WAITING_EC_MSG
        self.timers.start(SessionTimer.INITIALIZATION, settings.initialization_seconds, now=now)

    # Calls of the driver

    def receive_data(self, data: bytes, *, now: float) -> None:
        """Process bytes of the connection."""
        if self.closed:
            return
        self.received_bytes += len(data)
        if self.output_bytes > self._settings.max_peer_bytes:
            # Messages stop long before this limit; the rest are acknowledgments.
            self.close(CloseReason.NOT_READING)
            return
        messages = RunBuilder(signatures_differ=True)
        try:
            frames = self._framer.feed(data)
            if frames:
                self._received_ack = True
            for packet, session_header in frames:
                if packet[BASE_FLAGS] & INTERNAL_BIT:
                    self._receive_internal(packet, now)
                else:
                    self._receive_user_message(packet, session_header, messages, now)
                if self.closed:
                    break
            else:
                if self._framer.fault is not None:
                    raise self._framer.fault
        except MalformedPacket as malformed:
            reason = _FIELD_REASONS.get(malformed.field, CloseReason.MALFORMED)
            self._deliver(messages, now)
            self.close(reason, str(malformed))
        except ProtocolViolation as violation:
            # Another name than above: a compiled function has one type for each.
            self._deliver(messages, now)
            self.close(CloseReason.BAD_ACKNOWLEDGMENT, str(violation))
        else:
            self._deliver(messages, now)

    def connection_lost(self) -> None:
        """The connection is lost."""
        self.close(CloseReason.DISCONNECTED)

    def data_to_send(self) -> list[bytes]:
        """Bytes for the connection, in order; each is returned once."""
        output, self._output = self._output, []
        self.sent_bytes += self.output_bytes
        self.output_bytes = 0
        return output

    def next_event(self) -> SessionEvent | None:
        """The oldest event that was not fetched yet."""
        return self._events.popleft() if self._events else None

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        return self.timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""
        for timer in self.timers.take_due(now):
            _EXPIRED[timer](self, now)

    def close(self, reason: CloseReason, detail: str = "") -> None:
        """End the session: no packet says so ([MS-MQQB] 3.1.5.9)."""
        if not self.closed:
            self.timers.stop_all()
            self.state = _CLOSED
            self._events.append(Closed(reason=reason, detail=detail))

    @property
    def remote_guid(self) -> UUID:
        """RemoteQMGuid."""
        return self._handshake.remote_guid

    @property
    def open(self) -> bool:
        return self.state is _OPEN

    @property
    def closed(self) -> bool:
        return self.state is _CLOSED

    # Messages to the peer

    @property
    def room(self) -> int:
        """The number of messages that may be sent now."""
        if self.state is not _OPEN or self.output_bytes >= self._settings.max_output_bytes:
            return 0
        window = min(self._settings.window_size, self._peer_window)
        return max(max(window, 1) - self.sent.unacked, 0)

    def send(self, packet: bytes, token: object, *, now: float) -> None:
        """Send a message; its token is returned when the peer acknowledges it."""
        self.sent.add(token, recoverable=packet[USER_FLAGS] & RECOVERABLE_BIT != 0)
        self._sending(now)
        if not self._piggybacks(now):
            self._write(packet)
            return
        self._write(with_session_header(packet))
        self._write(self._session_header(self.window_size).serialize())
        self._restart_ack_send(now)

    def send_express(
        self, packets: Sequence[bytes], tokens: Sequence[object], *, now: float
    ) -> None:
        """Send several express messages."""
        if self._piggybacks(now):
            # The counters in its SessionHeader are those after the first one.
            self.send(packets[0], tokens[0], now=now)
            packets, tokens = packets[1:], tokens[1:]
        self.sent.add_express(tokens)
        self._sending(now)
        self._output += packets
        self.output_bytes += sum(map(len, packets))

    def _sending(self, now: float) -> None:
        self.active = True
        if not self.timers.running(_ACK_WAIT):
            self._start_ack_wait(now)

    def _piggybacks(self, now: float) -> bool:
        """Whether an acknowledgment is piggybacked on the next message."""
        return (
            self.received.unacked > 0 and self.timers.elapsed(_ACK_SEND, now=now) > _PIGGYBACK_AFTER
        )

    # Messages from the peer

    def acknowledge(self, *, now: float) -> None:
        """Send an acknowledgment if enough received messages may be acknowledged."""
        if self.state is not _OPEN:
            return
        received = self.received
        # Choice: half a window is enough for an acknowledgment; the timers alone would pass express
        # messages at one window every ten seconds.
        half = max(min(self._announced_window, self._peer_window) // 2, 1)
        if received.unacked >= half or received.unacked_recoverable >= RECOVERABLE_BITS:
            self._send_session_ack(self.window_size)
            self._restart_ack_send(now)

    def announce_pause(self) -> None:
        """An outgoing queue is paused: announce it with a window of one ([MS-MQQB] 3.1.7.13)."""
        if self.state is _OPEN:
            self.timers.stop(_ACK_SEND)
            self._send_session_ack(1)
            self.active = False

    # Receiving

    def _receive_internal(self, packet: bytes, now: float) -> None:
        packet_type = InternalHeader.parse(packet, BASE_HEADER_SIZE)[0].packet_type
        if packet_type is InternalPacketType.SESSION_ACK and self.state is _OPEN:
            self._receive_session_header(SessionAck.parse(packet)[0].session_header, now)
            return
        step = self._handshake.receive(self.state, packet_type, packet, now)
        if step is None:
            self._out_of_order(packet_type.name)
            return
        if step.answer:
            self._write(step.answer)
        if step.reason is not None:
            self.close(step.reason, step.detail)
            return
        self.state = step.state
        if step.state is _OPEN:
            self._peer_window = self._handshake.peer_window_size
            self.timers.stop(SessionTimer.INITIALIZATION)
            self._events.append(Opened())
        elif self.initiator:
            self._events.append(Established())
        else:
            seconds = self._settings.initialization_seconds
            self.timers.start(SessionTimer.INITIALIZATION, seconds, now=now)

    def _out_of_order(self, what: str) -> None:
        self.close(CloseReason.BAD_ORDER, f"{what} in state {self.state}")

    def _receive_user_message(
        self, packet: bytes, session_header: bytes | None, messages: RunBuilder, now: float
    ) -> None:
        if self.state is not _OPEN:
            self._out_of_order("UserMessage")
            return
        if session_header is not None:
            # The header belongs to the session, not to the message that is stored.
            packet = without_session_header(packet)
        messages.add(packet)
        self.received.count += 1
        if packet[USER_FLAGS] & RECOVERABLE_BIT:
            self.received.recoverable += 1
        if session_header is not None:
            self._receive_session_header(SessionHeader.parse(session_header)[0], now)

    def _deliver(self, messages: RunBuilder, now: float) -> None:
        if not messages.runs:
            return
        self.active = True
        received = self.received
        unacked = received.recoverable - received.acked_recoverable
        first_recoverable = 0 < unacked <= sum([len(run.packets) for run in messages.runs])
        if first_recoverable:
            seconds = self._handshake.recoverable_ack_timeout / 1000
            self.timers.start(_ACK_SEND, seconds, now=now)
        elif not self.timers.running(_ACK_SEND):
            self._restart_ack_send(now)
        self._events.append(MessagesReceived(runs=messages.runs))

    def _receive_session_header(self, header: SessionHeader, now: float) -> None:
        received, express, recoverable = self.sent.acknowledge(header)
        self._peer_window = header.window_size
        self._events.append(
            MessagesAcknowledged(received=received, express=express, recoverable=recoverable)
        )
        counts = self.received.count & COUNTER_MASK, self.received.recoverable & COUNTER_MASK
        if (header.user_msg_sequence_number, header.recoverable_msg_seq_number) != counts:
            detail = (
                f"the peer sent {header.user_msg_sequence_number} messages,"
                f" {header.recoverable_msg_seq_number} of them recoverable; here are {counts}"
            )
            self.close(CloseReason.BAD_COUNTS, detail)
        elif self.sent.unacked:
            self._start_ack_wait(now)

    # Sending

    def _write(self, data: bytes) -> None:
        self._output.append(data)
        self.output_bytes += len(data)

    def _session_header(self, window_size: int) -> SessionHeader:
        self._announced_window = window_size
        acked, first_recoverable, flags = self.received.take()
        return SessionHeader(
            acked,
            first_recoverable,
            flags,
            self.sent.count & COUNTER_MASK,
            self.sent.recoverable & COUNTER_MASK,
            window_size,
        )

    def _send_session_ack(self, window_size: int) -> None:
        self._write(SessionAck(self._session_header(window_size)).serialize())
        # One acknowledgment covers at most 32 recoverable messages.
        while self.received.unacked_recoverable:
            self._write(SessionAck(self._session_header(window_size)).serialize())

    # Timers

    def _start_ack_wait(self, now: float) -> None:
        seconds = self._handshake.ack_timeout * self._ack_wait_multiplier / 1000
        self.timers.start(_ACK_WAIT, seconds, now=now)

    def _restart_ack_send(self, now: float) -> None:
        received = self.received
        if received.ready_recoverable < received.recoverable:
            # Recoverable messages are on their way to the disk.
            seconds = self._handshake.recoverable_ack_timeout / 1000
        else:
            seconds = self._handshake.ack_timeout / 2000
        self.timers.start(_ACK_SEND, seconds, now=now)

    def _initialization_expired(self, _now: float) -> None:
        self.close(CloseReason.NOT_ESTABLISHED, f"in state {self.state}")

    def _cleanup_expired(self, now: float) -> None:
        if not self.active:
            self.close(CloseReason.IDLE)
            return
        self.active = False
        self.timers.start(SessionTimer.CLEANUP, self._settings.cleanup_seconds, now=now)

    def _ack_wait_expired(self, now: float) -> None:
        if self.sent.unacked and not self._received_ack:
            self.close(CloseReason.NOT_ACKNOWLEDGED)
            return
        self._received_ack = False
        if self.sent.unacked:
            self._start_ack_wait(now)

    def _ack_send_expired(self, now: float) -> None:
        if self.received.unacked or self.received.unacked_recoverable:
            self._send_session_ack(self.window_size)
        self._restart_ack_send(now)


_Expired = Callable[[BinarySession, float], None]
_EXPIRED: Final[dict[SessionTimer, _Expired]] = {
    SessionTimer.INITIALIZATION: BinarySession._initialization_expired,
    SessionTimer.CLEANUP: BinarySession._cleanup_expired,
    SessionTimer.ACK_WAIT: BinarySession._ack_wait_expired,
    SessionTimer.ACK_SEND: BinarySession._ack_send_expired,
}

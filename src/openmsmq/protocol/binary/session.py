"""One session over one connection, initiator or acceptor ([MS-MQQB] 3.1).

Bytes go in by `receive_data`, come out by `data_to_send`; what happened is in `next_event`.
"""

from collections import deque
from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Final
from uuid import UUID

from openmsmq.wire.base_header import BASE_HEADER_SIZE, BaseHeaderFlags
from openmsmq.wire.connection_parameters import ConnectionParameters
from openmsmq.wire.errors import MalformedPacket, ProtocolViolation
from openmsmq.wire.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.framer import Framer
from openmsmq.wire.internal_header import InternalHeader, InternalPacketType
from openmsmq.wire.limits import (
    MAX_ACK_TIMEOUT_MS,
    MAX_RECOVERABLE_ACK_TIMEOUT_MS,
    MIN_ACK_TIMEOUT_MS,
    MIN_RECOVERABLE_ACK_TIMEOUT_MS,
)
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.session_ack import SessionAck
from openmsmq.wire.session_header import SessionHeader
from openmsmq.wire.user_message import UserMessage

from .events import (
    Closed,
    CloseReason,
    Established,
    MessagesAcknowledged,
    MessagesReceived,
    Opened,
    SessionEvent,
)
from .settings import BinarySettings
from .timers import SessionTimer, Timers
from .windows import COUNTER_MASK, RECOVERABLE_BITS, ReceivedMessages, SentMessages

_IN: Final = int(BaseHeaderFlags.IN)
_SH: Final = int(BaseHeaderFlags.SH)
# UserHeader.Flags.DM: recoverable.
_DM: Final = 0x20
_U32: Final = 0xFFFFFFFF
# [MS-MQQB] 3.1.7.11: an acknowledgment rides along once this much of its time is over.
_PIGGYBACK_AFTER: Final = 0.75
_ROUND_TRIPS: Final = 8

_FIELD_REASONS: Final = {
    "BaseHeader.VersionNumber": CloseReason.BAD_VERSION,
    "BaseHeader.Signature": CloseReason.BAD_SIGNATURE,
    "BaseHeader.PacketSize": CloseReason.BAD_SIZE,
    "InternalHeader.Flags.PT": CloseReason.BAD_TYPE,
}


class SessionState(StrEnum):
    """SessionState ([MS-MQQB] 3.1.1.3.1); WAITING_RECONNECT is between two sessions."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    WAITING_CP_MSG = "WAITING_CP_MSG"
    WAITING_CPR_MSG = "WAITING_CPR_MSG"
    WAITING_EC_MSG = "WAITING_EC_MSG"
    WAITING_ECR_MSG = "WAITING_ECR_MSG"
    WAITING_RECONNECT = "WAITING_RECONNECT"


class _Input(Enum):
    ESTABLISH_CONNECTION = InternalPacketType.ESTABLISH_CONNECTION
    CONNECTION_PARAMETERS = InternalPacketType.CONNECTION_PARAMETERS
    SESSION_ACK = InternalPacketType.SESSION_ACK


_State = SessionState


class BinarySession:
    """One session.

    Args:
        guid: of our own queue manager.
        initiator: whether we made the connection.
        remote_guid: the queue manager that must answer an initiator; GUID_NULL takes any.
        direct: whether the session serves direct format names.
        pinged: whether a Ping Request went before.
        refuse: whether an acceptor turns the initiator away, for a limit.
        window_size: what we tell the peer at first.
    """

    __slots__ = (
        "_ack_timeout",
        "_ack_wait_multiplier",
        "_events",
        "_framer",
        "_guid",
        "_output",
        "_peer_window",
        "_pinged",
        "_received_ack",
        "_recoverable_ack_timeout",
        "_refuse",
        "_settings",
        "active",
        "initiator",
        "output_bytes",
        "received",
        "remote_guid",
        "sent",
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
        self._guid = guid
        self.initiator = initiator
        self.remote_guid = remote_guid
        self._pinged = pinged
        self._refuse = refuse
        self.window_size = settings.window_size if window_size is None else window_size
        # ReceivedWindowSize.
        self._peer_window = settings.window_size
        timeout = int((settings.ack_timeout + settings.round_trip_delay) * 1000)
        self._ack_timeout = min(max(timeout, MIN_ACK_TIMEOUT_MS), MAX_ACK_TIMEOUT_MS)
        self._ack_wait_multiplier = settings.direct_ack_wait_multiplier if direct else 1
        # RecoverableAckSendTimeout: not negotiated yet.
        self._recoverable_ack_timeout = _U32
        self._framer = Framer(max_packet_size=settings.max_packet_size)
        self._events: deque[SessionEvent] = deque()
        self._output: list[bytes] = []
        self.output_bytes = 0
        self.received = ReceivedMessages()
        self.sent = SentMessages()
        self.timers = Timers()
        # SessionActive, ReceivedAck.
        self.active = False
        self._received_ack = False
        self.timers.start(SessionTimer.CLEANUP, settings.cleanup_seconds, now=now)
        if initiator:
            self.state = _State.WAITING_ECR_MSG
            self._send_establish_connection(now)
        else:
            self.state = _State.WAITING_EC_MSG
        self.timers.start(SessionTimer.INITIALIZATION, settings.initialization_seconds, now=now)

    # What the driver calls

    def receive_data(self, data: bytes, *, now: float) -> None:
        """Take bytes from the connection."""
        if self.closed:
            return
        messages: list[UserMessage] = []
        try:
            frames = self._framer.feed(data)
            if frames:
                self._received_ack = True
            for packet, session_header in frames:
                if packet[2] & _IN:
                    self._receive_internal(packet, now)
                else:
                    self._receive_user_message(packet, session_header, messages, now)
                if self.closed:
                    break
            else:
                if self._framer.fault is not None:
                    raise self._framer.fault
        except MalformedPacket as exc:
            reason = _FIELD_REASONS.get(exc.field, CloseReason.MALFORMED)
            self._deliver(messages, now)
            self.close(reason, str(exc))
        except ProtocolViolation as exc:
            self._deliver(messages, now)
            self.close(CloseReason.BAD_ACKNOWLEDGMENT, str(exc))
        else:
            self._deliver(messages, now)

    def connection_lost(self) -> None:
        """The connection is gone."""
        self.close(CloseReason.DISCONNECTED)

    def data_to_send(self) -> list[bytes]:
        """Bytes for the connection, in order; each is given once."""
        output, self._output = self._output, []
        self.output_bytes = 0
        return output

    def next_event(self) -> SessionEvent | None:
        """The oldest event that was not fetched yet."""
        return self._events.popleft() if self._events else None

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        return self.timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Do what is due."""
        for timer in self.timers.take_due(now):
            _EXPIRED[timer](self, now)

    def close(self, reason: CloseReason, detail: str = "") -> None:
        """End the session: no packet says so ([MS-MQQB] 3.1.5.9)."""
        if not self.closed:
            self.timers.stop_all()
            self.state = _State.CLOSED
            self._events.append(Closed(reason=reason, detail=detail))

    @property
    def closed(self) -> bool:
        return self.state is _State.CLOSED

    # Messages to the peer

    @property
    def room(self) -> int:
        """How many messages may be sent now."""
        if self.state is not _State.OPEN or self.output_bytes >= self._settings.max_output_bytes:
            return 0
        window = min(self._settings.window_size, self._peer_window)
        return max(max(window, 1) - self.sent.unacked, 0)

    @property
    def pending_bytes(self) -> int:
        """Bytes that are no whole packet yet."""
        return self._framer.pending_bytes

    def send(self, packet: bytes, token: object, *, now: float) -> None:
        """Send a message; its token comes back when the peer acknowledges it."""
        self.sent.add(token, recoverable=packet[60] & _DM != 0)
        self.active = True
        if not self.timers.running(SessionTimer.ACK_WAIT):
            self._start_ack_wait(now)
        piggyback = (
            self.received.unacked
            and self.timers.elapsed(SessionTimer.ACK_SEND, now=now) > _PIGGYBACK_AFTER
        )
        if not piggyback:
            self._write(packet)
            return
        self._write(packet[:2] + bytes((packet[2] | _SH,)) + packet[3:])
        self._write(self._session_header(self.window_size).serialize())
        self._restart_ack_send(now)

    # Messages from the peer

    def settled(self, depends: int, durable: int, *, now: float) -> None:
        """Messages up to now are dealt with; acknowledge them once batch `depends` is durable."""
        self.received.settled(depends)
        self.durable(durable, now=now)

    def durable(self, number: int, *, now: float) -> None:
        """All batches up to this number are on disk."""
        if self.state is not _State.OPEN:
            return
        received = self.received
        received.durable(number)
        # Choice: half a window is enough for an acknowledgment; the timers alone would let express
        # messages through at one window every ten seconds.
        half = max(min(self.window_size, self._peer_window) // 2, 1)
        while received.unacked >= half or received.unacked_recoverable >= RECOVERABLE_BITS:
            self._send_session_ack(self.window_size)
            self._restart_ack_send(now)

    def announce_pause(self) -> None:
        """An outgoing queue is paused: say so with a window of one ([MS-MQQB] 3.1.7.13)."""
        if self.state is _State.OPEN:
            self.timers.stop(SessionTimer.ACK_SEND)
            self._send_session_ack(1)
            self.active = False

    # Receiving

    def _receive_internal(self, packet: bytes, now: float) -> None:
        header, _ = InternalHeader.parse(packet, BASE_HEADER_SIZE)
        handler = _HANDLERS.get((self.state, _Input(header.packet_type)))
        if handler is None:
            self._out_of_order(header.packet_type.name)
        else:
            handler(self, packet, now)

    def _out_of_order(self, what: str) -> None:
        self.close(CloseReason.BAD_ORDER, f"{what} in state {self.state}")

    def _receive_user_message(
        self, packet: bytes, session_header: bytes | None, messages: list[UserMessage], now: float
    ) -> None:
        if self.state is not _State.OPEN:
            self._out_of_order("UserMessage")
            return
        if session_header is not None:
            # The header belongs to the session, not to the message that is stored.
            packet = packet[:2] + bytes((packet[2] & ~_SH,)) + packet[3:]
        message = UserMessage(packet)
        messages.append(message)
        self.received.count += 1
        if message.flags & _DM:
            self.received.recoverable += 1
        if session_header is not None:
            self._receive_session_header(SessionHeader.parse(session_header)[0], now)

    def _deliver(self, messages: list[UserMessage], now: float) -> None:
        if not messages:
            return
        self.active = True
        received = self.received
        first_recoverable = received.acked_recoverable < received.recoverable and (
            received.recoverable - received.acked_recoverable <= len(messages)
        )
        if first_recoverable:
            seconds = self._recoverable_ack_timeout / 1000
            self.timers.start(SessionTimer.ACK_SEND, seconds, now=now)
        elif not self.timers.running(SessionTimer.ACK_SEND):
            self._restart_ack_send(now)
        self._events.append(MessagesReceived(messages=messages))

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

    # The handshake

    def _send_establish_connection(self, now: float) -> None:
        flags = OperatingSystemFlags(0)
        if not self._pinged:
            flags |= OperatingSystemFlags.SE
        if self._settings.server_class:
            flags |= OperatingSystemFlags.OS
        time_stamp = int(now * 1000) & _U32
        packet = EstablishConnection(self._guid, self.remote_guid, time_stamp, flags)
        self._write(packet.serialize())

    def _accept(self, packet: bytes, now: float) -> None:
        """EstablishConnection at the acceptor ([MS-MQQB] 3.1.5.3.1)."""
        request, _ = EstablishConnection.parse(packet)
        self.remote_guid = request.client_guid
        refused = self._refuse or request.server_guid not in (GUID_NULL, self._guid)
        flags = request.operating_system & OperatingSystemFlags.SE
        if self._settings.server_class:
            flags |= OperatingSystemFlags.OS
        response = EstablishConnection(
            request.client_guid, self._guid, request.time_stamp, flags, connection_refused=refused
        )
        self._write(response.serialize())
        self.state = _State.WAITING_CP_MSG
        if refused:
            self.close(CloseReason.REFUSING)
        else:
            seconds = self._settings.initialization_seconds
            self.timers.start(SessionTimer.INITIALIZATION, seconds, now=now)

    def _establish(self, packet: bytes, now: float) -> None:
        """EstablishConnection at the initiator ([MS-MQQB] 3.1.5.3.2)."""
        response, _ = EstablishConnection.parse(packet)
        if response.connection_refused:
            self.close(CloseReason.REFUSED)
            return
        if response.client_guid != self._guid or self.remote_guid not in (
            GUID_NULL,
            response.server_guid,
        ):
            self.close(CloseReason.WRONG_PEER, f"{response.server_guid} answered")
            return
        self.remote_guid = response.server_guid
        round_trip = int(now * 1000) - response.time_stamp & _U32
        self._recoverable_ack_timeout = min(
            max(_ROUND_TRIPS * round_trip, MIN_RECOVERABLE_ACK_TIMEOUT_MS),
            MAX_RECOVERABLE_ACK_TIMEOUT_MS,
        )
        self._write_parameters()
        self.state = _State.WAITING_CPR_MSG
        self._events.append(Established())

    def _write_parameters(self) -> None:
        packet = ConnectionParameters(
            self._recoverable_ack_timeout, self._ack_timeout, self.window_size
        )
        self._write(packet.serialize())

    def _answer_parameters(self, packet: bytes, _now: float) -> None:
        """ConnectionParameters at the acceptor ([MS-MQQB] 3.1.5.4.1)."""
        request, _ = ConnectionParameters.parse(packet)
        self._ack_timeout = request.ack_timeout
        self._recoverable_ack_timeout = request.recoverable_ack_timeout
        self._write_parameters()
        self._open(request)

    def _take_parameters(self, packet: bytes, _now: float) -> None:
        """ConnectionParameters at the initiator ([MS-MQQB] 3.1.5.4.2)."""
        response, _ = ConnectionParameters.parse(packet)
        if response.connection_refused:
            self.close(CloseReason.REFUSED)
        else:
            self._open(response)

    def _open(self, parameters: ConnectionParameters) -> None:
        self._peer_window = parameters.window_size
        self.timers.stop(SessionTimer.INITIALIZATION)
        self.state = _State.OPEN
        self._events.append(Opened())

    def _receive_session_ack(self, packet: bytes, now: float) -> None:
        self._receive_session_header(SessionAck.parse(packet)[0].session_header, now)

    # Sending

    def _write(self, data: bytes) -> None:
        self._output.append(data)
        self.output_bytes += len(data)

    def _session_header(self, window_size: int) -> SessionHeader:
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
        # Only 32 recoverable messages fit into one.
        while self.received.unacked_recoverable:
            self._write(SessionAck(self._session_header(window_size)).serialize())

    # Timers

    def _start_ack_wait(self, now: float) -> None:
        seconds = self._ack_timeout * self._ack_wait_multiplier / 1000
        self.timers.start(SessionTimer.ACK_WAIT, seconds, now=now)

    def _restart_ack_send(self, now: float) -> None:
        received = self.received
        if received.ready_recoverable < received.recoverable:
            # Recoverable messages are on their way to the disk.
            seconds = self._recoverable_ack_timeout / 1000
        else:
            seconds = self._ack_timeout / 2000
        self.timers.start(SessionTimer.ACK_SEND, seconds, now=now)

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


_Handler = Callable[[BinarySession, bytes, float], None]
_HANDLERS: Final[dict[tuple[SessionState, _Input], _Handler]] = {
    (_State.WAITING_EC_MSG, _Input.ESTABLISH_CONNECTION): BinarySession._accept,
    (_State.WAITING_ECR_MSG, _Input.ESTABLISH_CONNECTION): BinarySession._establish,
    (_State.WAITING_CP_MSG, _Input.CONNECTION_PARAMETERS): BinarySession._answer_parameters,
    (_State.WAITING_CPR_MSG, _Input.CONNECTION_PARAMETERS): BinarySession._take_parameters,
    (_State.OPEN, _Input.SESSION_ACK): BinarySession._receive_session_ack,
}
_Expired = Callable[[BinarySession, float], None]
_EXPIRED: Final[dict[SessionTimer, _Expired]] = {
    SessionTimer.INITIALIZATION: BinarySession._initialization_expired,
    SessionTimer.CLEANUP: BinarySession._cleanup_expired,
    SessionTimer.ACK_WAIT: BinarySession._ack_wait_expired,
    SessionTimer.ACK_SEND: BinarySession._ack_send_expired,
}

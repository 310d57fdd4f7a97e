"""The first packets of a session: EstablishConnection, ConnectionParameters ([MS-MQQB] 3.1.5.3-4).

The table at the end lists what each side accepts in which state; other packets are out of order.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.limits import (
    MAX_ACK_TIMEOUT_MS,
    MAX_RECOVERABLE_ACK_TIMEOUT_MS,
    MIN_ACK_TIMEOUT_MS,
    MIN_RECOVERABLE_ACK_TIMEOUT_MS,
)
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.internal_header import InternalPacketType
from openmsmq.wire.scalars import GUID_NULL

from .events import CloseReason
from .settings import BinarySettings

_U32: Final = 0xFFFFFFFF
_ROUND_TRIPS: Final = 8


class SessionState(StrEnum):
    """SessionState ([MS-MQQB] 3.1.1.3.1); between two sessions there is `HopLinkState`."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    WAITING_CP_MSG = "WAITING_CP_MSG"
    WAITING_CPR_MSG = "WAITING_CPR_MSG"
    WAITING_EC_MSG = "WAITING_EC_MSG"
    WAITING_ECR_MSG = "WAITING_ECR_MSG"


class Step(NamedTuple):
    """The result of a packet: an answer, the next state, or the end for a reason."""

    state: SessionState
    answer: bytes = b""
    reason: CloseReason | None = None
    detail: str = ""


class Handshake:
    """The facts that both sides exchange before the session is open.

    Args:
        guid: of our own queue manager.
        remote_guid: the queue manager that must answer an initiator; GUID_NULL takes any.
        pinged: whether a Ping Request was sent before.
        refuse: whether an acceptor refuses the initiator.
        window_size: the window announced to the peer.
    """

    __slots__ = (
        "_guid",
        "_pinged",
        "_refuse",
        "_server_class",
        "_window_size",
        "ack_timeout",
        "peer_window_size",
        "recoverable_ack_timeout",
        "remote_guid",
    )

    def __init__(
        self,
        settings: BinarySettings,
        guid: UUID,
        *,
        remote_guid: UUID,
        pinged: bool,
        refuse: bool,
        window_size: int,
    ) -> None:
        self._guid = guid
        self.remote_guid = remote_guid
        self._pinged = pinged
        self._refuse = refuse
        self._server_class = settings.server_class
        self._window_size = window_size
        # AckWaitTimeout; RecoverableAckSendTimeout, which is not negotiated yet. Milliseconds.
        timeout = int((settings.ack_timeout + settings.round_trip_delay) * 1000)
        self.ack_timeout = min(max(timeout, MIN_ACK_TIMEOUT_MS), MAX_ACK_TIMEOUT_MS)
        self.recoverable_ack_timeout = _U32
        # ReceivedWindowSize.
        self.peer_window_size = settings.window_size

    def request(self, now: float) -> bytes:
        """The first packet of an initiator."""
        flags = OperatingSystemFlags(0) if self._pinged else OperatingSystemFlags.SE
        if self._server_class:
            flags |= OperatingSystemFlags.OS
        time_stamp = int(now * 1000) & _U32
        return EstablishConnection(self._guid, self.remote_guid, time_stamp, flags).serialize()

    def receive(
        self, state: SessionState, packet_type: InternalPacketType, packet: bytes, now: float
    ) -> Step | None:
        """Process the next packet; None when it is out of order.

        Raises:
            MalformedPacket: its contents are invalid.
        """
        handler = _HANDLERS.get((state, packet_type))
        return handler(self, packet, now) if handler is not None else None

    def _accept(self, packet: bytes, _now: float) -> Step:
        request, _ = EstablishConnection.parse(packet)
        self.remote_guid = request.client_guid
        refused = self._refuse or request.server_guid not in (GUID_NULL, self._guid)
        flags = request.operating_system & OperatingSystemFlags.SE
        if self._server_class:
            flags |= OperatingSystemFlags.OS
        response = EstablishConnection(
            request.client_guid, self._guid, request.time_stamp, flags, connection_refused=refused
        )
        reason = CloseReason.REFUSING if refused else None
        return Step(SessionState.WAITING_CP_MSG, response.serialize(), reason)

    def _establish(self, packet: bytes, now: float) -> Step:
        response, _ = EstablishConnection.parse(packet)
        if response.connection_refused:
            return Step(SessionState.CLOSED, reason=CloseReason.REFUSED)
        server = response.server_guid
        if response.client_guid != self._guid or self.remote_guid not in (GUID_NULL, server):
            detail = f"{server} answered"
            return Step(SessionState.CLOSED, reason=CloseReason.WRONG_PEER, detail=detail)
        self.remote_guid = server
        round_trip = int(now * 1000) - response.time_stamp & _U32
        self.recoverable_ack_timeout = min(
            max(_ROUND_TRIPS * round_trip, MIN_RECOVERABLE_ACK_TIMEOUT_MS),
            MAX_RECOVERABLE_ACK_TIMEOUT_MS,
        )
        return Step(SessionState.WAITING_CPR_MSG, self._parameters())

    def _parameters(self) -> bytes:
        return ConnectionParameters(
            self.recoverable_ack_timeout, self.ack_timeout, self._window_size
        ).serialize()

    def _answer_parameters(self, packet: bytes, _now: float) -> Step:
        request, _ = ConnectionParameters.parse(packet)
        self.peer_window_size = request.window_size
        self.ack_timeout = request.ack_timeout
        self.recoverable_ack_timeout = request.recoverable_ack_timeout
        return Step(SessionState.OPEN, self._parameters())

    def _take_parameters(self, packet: bytes, _now: float) -> Step:
        response, _ = ConnectionParameters.parse(packet)
        if response.connection_refused:
            return Step(SessionState.CLOSED, reason=CloseReason.REFUSED)
        self.peer_window_size = response.window_size
        return Step(SessionState.OPEN)


_State = SessionState
_Type = InternalPacketType
_Handler = Callable[[Handshake, bytes, float], Step]
_HANDLERS: Final[dict[tuple[SessionState, InternalPacketType], _Handler]] = {
    (_State.WAITING_EC_MSG, _Type.ESTABLISH_CONNECTION): Handshake._accept,
    (_State.WAITING_ECR_MSG, _Type.ESTABLISH_CONNECTION): Handshake._establish,
    (_State.WAITING_CP_MSG, _Type.CONNECTION_PARAMETERS): Handshake._answer_parameters,
    (_State.WAITING_CPR_MSG, _Type.CONNECTION_PARAMETERS): Handshake._take_parameters,
}

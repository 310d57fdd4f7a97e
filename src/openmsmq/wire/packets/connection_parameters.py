"""ConnectionParameters: timeouts and window of a session ([MS-MQQB] 2.2.2)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.errors import MalformedPacket

from .internal_header import (
    InternalHeader,
    InternalPacketType,
    parse_internal_packet,
    serialize_internal_packet,
)

CONNECTION_PARAMETERS_HEADER: Final = Struct("<IIHH")
CONNECTION_PARAMETERS_SIZE: Final = 32
MIN_RECOVERABLE_ACK_TIMEOUT: Final = 0x000001F4
MIN_ACK_TIMEOUT: Final = 0x00004E20
MAX_TIMEOUT: Final = 0x0001D4C0


@dataclass(frozen=True, slots=True)
class ConnectionParameters:
    """Timeouts are in milliseconds, the window in packets."""

    recoverable_ack_timeout: int
    ack_timeout: int
    window_size: int
    connection_refused: bool = False

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the whole packet, from its BaseHeader on."""
        header, start = parse_internal_packet(
            buf, offset, InternalPacketType.CONNECTION_PARAMETERS, CONNECTION_PARAMETERS_SIZE
        )
        recoverable_ack_timeout, ack_timeout, _, window_size = (
            CONNECTION_PARAMETERS_HEADER.unpack_from(buf, start)
        )
        if not MIN_RECOVERABLE_ACK_TIMEOUT <= recoverable_ack_timeout <= MAX_TIMEOUT:
            raise MalformedPacket(
                "ConnectionParametersHeader.RecoverableAckTimeout",
                start,
                f"{recoverable_ack_timeout} is not in 500..120000",
            )
        if not MIN_ACK_TIMEOUT <= ack_timeout <= MAX_TIMEOUT:
            raise MalformedPacket(
                "ConnectionParametersHeader.AckTimeout",
                start + 4,
                f"{ack_timeout} is not in 20000..120000",
            )
        packet = cls(recoverable_ack_timeout, ack_timeout, window_size, header.connection_refused)
        return packet, offset + CONNECTION_PARAMETERS_SIZE

    def serialize(self) -> bytes:
        return serialize_internal_packet(
            InternalHeader(InternalPacketType.CONNECTION_PARAMETERS, self.connection_refused),
            CONNECTION_PARAMETERS_HEADER.pack(
                self.recoverable_ack_timeout, self.ack_timeout, 0, self.window_size
            ),
        )

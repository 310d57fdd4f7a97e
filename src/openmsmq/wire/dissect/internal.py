"""Internal packets and Ping as trees."""

from collections.abc import Callable
from typing import Final

from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import PADDING, EstablishConnection
from openmsmq.wire.packets.internal_header import InternalHeader, InternalPacketType
from openmsmq.wire.packets.ping import Ping
from openmsmq.wire.packets.session_header import SessionAck

from .node import Node
from .session_tables import ESTABLISH, INTERNAL, PARAMETERS, PING_FIELDS, SESSION
from .values import guid_text, milliseconds


def read_ping(root: Node, buf: memoryview) -> None:
    """Fill the tree of a Ping."""
    PING_FIELDS.read(root, buf, 0)
    ping, _ = Ping.parse(buf)
    root.meaning = f"cookie {ping.cookie} from {guid_text(ping.qm_guid)}"


def read_internal_packet(root: Node, buf: memoryview, offset: int) -> None:
    """Fill the tree of an internal packet from its InternalHeader on."""
    node = root.add("InternalHeader", offset, len(buf) - offset)
    end = INTERNAL.read(node, buf, offset)
    node.size = end - offset
    header, _ = InternalHeader.parse(buf, offset)
    name, read = _READERS[header.packet_type]
    root.name = name
    root.meaning = read(root, buf, end)
    if header.connection_refused:
        root.meaning = f"refused, {root.meaning}"


def _establish_connection(root: Node, buf: memoryview, offset: int) -> str:
    node = root.add("EstablishConnectionHeader", offset, len(buf) - offset)
    end = ESTABLISH.read(node, buf, offset)
    padding = buf[end : end + len(PADDING)]
    node.add("Padding", end, len(padding), None, _padding_meaning(bytes(padding)))
    packet, _ = EstablishConnection.parse(buf)
    return f"client {guid_text(packet.client_guid)}, server {guid_text(packet.server_guid)}"


def _padding_meaning(padding: bytes) -> str:
    filler = padding[:1]
    if padding.count(filler) == len(padding):
        return f"{len(padding)} bytes 0x{filler.hex().upper()}"
    return f"{len(padding)} bytes, not all the same"


def _connection_parameters(root: Node, buf: memoryview, offset: int) -> str:
    node = root.add("ConnectionParametersHeader", offset, len(buf) - offset)
    PARAMETERS.read(node, buf, offset)
    packet, _ = ConnectionParameters.parse(buf)
    return (
        f"window {packet.window_size}, acknowledge within {milliseconds(packet.ack_timeout)}, "
        f"recoverable within {milliseconds(packet.recoverable_ack_timeout)}"
    )


def _session_ack(root: Node, buf: memoryview, offset: int) -> str:
    read_session_header(root, buf, offset)
    return session_ack_text(SessionAck.parse(buf)[0])


def session_ack_text(packet: SessionAck) -> str:
    """A SessionAck in one line."""
    header = packet.session_header
    return f"received {header.ack_sequence_number}, sent {header.user_msg_sequence_number}"


def read_session_header(root: Node, buf: memoryview, offset: int) -> int:
    """Append the SessionHeader at `offset`; return where it ends."""
    node = root.add("SessionHeader", offset, len(buf) - offset)
    end = SESSION.read(node, buf, offset)
    node.size = end - offset
    return end


_Reader = Callable[[Node, memoryview, int], str]
_READERS: Final[dict[InternalPacketType, tuple[str, _Reader]]] = {
    InternalPacketType.SESSION_ACK: ("SessionAck", _session_ack),
    InternalPacketType.ESTABLISH_CONNECTION: ("EstablishConnection", _establish_connection),
    InternalPacketType.CONNECTION_PARAMETERS: ("ConnectionParameters", _connection_parameters),
}

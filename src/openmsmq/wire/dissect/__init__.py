"""Dissection: packets as trees of named fields, also those that are malformed."""

from openmsmq.wire.base_header import BASE_HEADER_SIZE, BaseHeader, BaseHeaderFlags
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ping import PING, PING_SIGNATURE, PING_SIZE

from .internal import read_internal_packet, read_ping, read_session_header
from .message import read_user_message
from .node import Node, Value, attach_fault
from .session_tables import BASE
from .stream import StreamPacket, StreamPackets

__all__ = [
    "Node",
    "StreamPacket",
    "StreamPackets",
    "Value",
    "dissect",
    "dissect_ping",
    "is_ping",
]


def is_ping(data: bytes) -> bool:
    """Whether these bytes are a Ping, as far as size and signature tell."""
    return len(data) == PING_SIZE and PING.unpack(data)[1] == PING_SIGNATURE


def dissect_ping(data: bytes) -> Node:
    """The tree of a datagram of the ping port."""
    root = Node("Ping", 0, len(data))
    try:
        read_ping(root, memoryview(data))
    except MalformedPacket as exc:
        attach_fault(root, exc)
    return root


def dissect(data: bytes) -> Node:
    """The tree of a packet of a session, with the SessionHeader that may follow it.

    Never fails: of a malformed packet, or a part of one, the tree has what could be read, then
    the fault.
    """
    root = Node("Packet", 0, len(data))
    try:
        _read_packet(root, memoryview(data))
    except MalformedPacket as exc:
        attach_fault(root, exc)
    return root


def _read_packet(root: Node, buf: memoryview) -> None:
    node = root.add("BaseHeader", 0, min(BASE_HEADER_SIZE, len(buf)))
    BASE.read(node, buf, 0)
    base, end = BaseHeader.parse(buf)
    if base.flags & BaseHeaderFlags.IN:
        read_internal_packet(root, buf[: base.packet_size], end)
        end = base.packet_size
    else:
        root.name = "UserMessage"
        session_inside = read_user_message(root, buf[: base.packet_size], base)
        end = base.packet_size
        if base.flags & BaseHeaderFlags.SH and not session_inside:
            end = read_session_header(root, buf, end)
    if end < len(buf):
        raise MalformedPacket("Packet", end, f"{len(buf) - end} bytes behind its end")

"""Dissection: packets as trees of named fields, also those that are malformed."""

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, BaseHeader, BaseHeaderFlags
from openmsmq.wire.packets.ping import PING, PING_SIGNATURE, PING_SIZE

from .http_stream import HttpMessages, begins_http
from .internal import read_internal_packet, read_ping, read_session_header
from .message import read_user_message
from .names import ShownName, show_name
from .node import Node, Value, attach_fault
from .pgm import ApduCollector, dissect_pgm
from .quick import quick_summary
from .session_tables import BASE
from .srmp import dissect_http, message_of_request
from .stream import StreamPacket, StreamPackets
from .summary import PacketSummary

__all__ = [
    "ApduCollector",
    "HttpMessages",
    "Node",
    "PacketSummary",
    "ShownName",
    "StreamPacket",
    "StreamPackets",
    "Value",
    "begins_http",
    "dissect",
    "dissect_http",
    "dissect_pgm",
    "dissect_ping",
    "is_ping",
    "message_of_request",
    "show_name",
    "summarize",
    "summarize_http",
    "summarize_pgm",
    "summarize_ping",
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


def summarize(data: bytes) -> PacketSummary:
    """Name, line and first fault of what `dissect` shows; most packets need no tree for that."""
    return quick_summary(data) or _summary(dissect(data))


def summarize_ping(data: bytes) -> PacketSummary:
    """Name, line and first fault of what `dissect_ping` shows."""
    return _summary(dissect_ping(data))


def summarize_http(data: bytes) -> PacketSummary:
    """Name, line and first fault of what `dissect_http` shows."""
    return _summary(dissect_http(data))


def summarize_pgm(data: bytes) -> PacketSummary:
    """Name, line and first fault of what `dissect_pgm` shows."""
    return _summary(dissect_pgm(data))


def _summary(root: Node) -> PacketSummary:
    return PacketSummary(root.name, root.meaning, root.first_fault())


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
        raise MalformedPacket("Packet", end, f"{len(buf) - end} bytes after its end")

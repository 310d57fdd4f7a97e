"""A dissected packet as a JSON object."""

from typing import Final

from openmsmq.wire.dissect import Node
from openmsmq.wire.errors import MalformedPacket

from .packet_text import iso_time
from .source import Packet

# What the queue says about a message, not its packet.
_OF_QUEUES: Final = ("lookup_id", "arrived_time", "abort_count", "move_count", "deliver_at")

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def packet_object(
    number: int, packet: Packet, root: Node, fault: MalformedPacket | None, *, with_hex: bool
) -> dict[str, JsonValue]:
    """Everything about a packet: `root` is its tree, `fault` the first one in that.

    What only a capture knows is null elsewhere.
    """
    origin = packet.origin
    flow = origin.flow
    return {
        "number": number,
        "packet": root.name,
        "summary": root.meaning,
        "size": len(packet.data),
        "position": origin.position,
        "stream": origin.stream,
        "frame": origin.frame,
        "time": None if origin.time is None else iso_time(origin.time),
        "source": None if flow is None else flow.source_text,
        "destination": None if flow is None else flow.destination_text,
        "fault": _fault(fault),
        "message": _message(packet),
        "fields": [_node(child, packet.data, with_hex=with_hex) for child in root.children],
    }


def _message(packet: Packet) -> JsonValue:
    """The message in a packet as `openmsmq receive --json` prints it; what only a queue knows is
    null."""
    view = packet.message()
    if view is None:
        return None
    # Loaded only here: it takes longer than to decode most files.
    from openmsmq.client import ReceivedMessage

    document = ReceivedMessage(view.packet, 0, 0.0).to_dict(soap=True)
    return document | dict.fromkeys(_OF_QUEUES)


def _node(node: Node, data: bytes, *, with_hex: bool) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {"name": node.name, "offset": node.offset, "size": node.size}
    if node.mask:
        result["mask"] = node.mask
    if node.value is not None:
        result["value"] = node.value.hex() if isinstance(node.value, bytes) else node.value
    if node.meaning:
        result["meaning"] = node.meaning
    if with_hex and not node.mask:
        result["hex"] = data[node.offset : node.offset + node.size].hex()
    if node.fault is not None:
        result["fault"] = _fault(node.fault)
    if node.children:
        result["fields"] = [_node(child, data, with_hex=with_hex) for child in node.children]
    return result


def _fault(fault: MalformedPacket | None) -> JsonValue:
    if fault is None:
        return None
    return {"field": fault.field, "offset": fault.offset, "reason": fault.reason}

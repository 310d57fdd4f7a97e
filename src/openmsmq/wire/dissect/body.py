"""Message bodies as trees."""

from math import isfinite
from typing import Final

from openmsmq.wire.bodies import (
    ComObject,
    DecodedBody,
    NrbfStream,
    decode_body_leniently,
    nrbf_text,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.order_ack import (
    FINAL_ACK_BODY,
    ORDER_ACK_BODY,
    FinalAck,
    OrderAck,
    recognize_ack,
)
from openmsmq.wire.scalars import TxSequenceID

from .layout import Field, Layout
from .node import Node, Value
from .values import constant, guid_text, show_guid, utc_time

_MAX_ITEMS: Final = 256


def _show_sequence(raw: bytes) -> tuple[str, str]:
    sequence, _ = TxSequenceID.parse(raw)
    return f"{sequence.ordinal}/{sequence.time_stamp}", f"of {utc_time(sequence.time_stamp)}"


_SEQUENCE_FIELDS: Final = (
    Field("TxSequenceID", text=_show_sequence),
    Field("TxSequenceNumber", constant("acknowledged")),
    Field("TxPreviousSequenceNumber"),
)
ORDER_ACK: Final = Layout("OrderAck", ORDER_ACK_BODY, *_SEQUENCE_FIELDS, Field("Reserved"))
FINAL_ACK: Final = Layout(
    "FinalAck",
    FINAL_ACK_BODY,
    *_SEQUENCE_FIELDS,
    Field("SourceGUID", text=show_guid),
    Field("MessageID", constant("ordinal of the acknowledged message")),
)


def read_body(node: Node, raw: bytes, body_type: int, message: UserMessage | None) -> str:
    """Fill the node of a body; return what kind of packet the body makes of the message.

    Of a malformed packet, whose `message` is None, the body may be incomplete or encrypted.
    """
    if message is not None and message.encrypted:
        node.value, node.meaning = raw, "encrypted"
        return "UserMessage"
    ack = None if message is None else recognize(node.offset, message)
    if message is None or ack is None:
        show_content(node, raw, body_type)
        return "UserMessage"
    layout = FINAL_ACK if isinstance(ack, FinalAck) else ORDER_ACK
    layout.read(node, memoryview(message.packet), node.offset)
    return layout.name


def recognize(offset: int, message: UserMessage) -> OrderAck | FinalAck | None:
    """What a message with its body at `offset` acknowledges as OrderAck or FinalAck, if it is one.

    Raises:
        MalformedPacket: it is one, but its body is not.
    """
    try:
        return recognize_ack(message)
    except MalformedPacket as exc:
        # Its offset counts from the start of the body.
        raise MalformedPacket(exc.field, offset + exc.offset, exc.reason) from exc


def show_content(node: Node, raw: bytes, body_type: int = BodyType.VT_EMPTY) -> None:
    """Show bytes as what an application means by them."""
    decoded = decode_body_leniently(body_type, raw)
    node.value, meaning = _shown(decoded, raw)
    node.meaning = ", ".join(part for part in (meaning, decoded.note) if part)


def _shown(decoded: DecodedBody, raw: bytes) -> tuple[Value, str]:
    """Value and meaning of a body."""
    value = decoded.value
    if decoded.text is not None:
        return decoded.text, f"{decoded.kind}, {decoded.encoding}"
    if isinstance(value, NrbfStream):
        return nrbf_text(value), ".NET BinaryFormatter, shown as data"
    if isinstance(value, ComObject):
        return raw, f"COM object {guid_text(value.clsid)}" if value.clsid else "COM object"
    if isinstance(value, tuple):
        items = ", ".join(map(str, value[:_MAX_ITEMS]))
        return items, f"{len(value)} items, at most {_MAX_ITEMS} shown"
    if (
        value is None
        or isinstance(value, int | bytes)
        or (isinstance(value, float) and isfinite(value))
    ):
        return value, ""
    return str(value), ""

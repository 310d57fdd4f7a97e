"""A UserMessage in one line, read from the codec's view."""

from typing import NamedTuple

from openmsmq.wire.codes.message_class import class_name, is_acknowledgment, is_negative
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import body_type_name
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.order_ack import FinalAck, OrderAck, recognize_ack
from openmsmq.wire.scalars import MessageIdentifier

from .names import show_name


class PacketSummary(NamedTuple):
    """A packet in one line: what it is, what it says, and its first fault."""

    name: str
    text: str
    fault: MalformedPacket | None = None


def message_text(message: UserMessage, ack: OrderAck | FinalAck | None) -> str:
    """Destination, label, class, body, delivery, what it acknowledges, and identity.

    `ack` is what the body acknowledges, as `known_ack` tells.
    """
    address = message.destination_queue
    return joined(
        destination="" if address is None else show_name(address).text,
        label=message.label,
        class_name=class_name(message.message_class),
        body=body_text(message.message_size, body_type_name(message.body_type)),
        delivery=_delivery_text(message),
        acknowledged=_acknowledged_text(message, ack),
        identifier=str(message.identifier),
    )


def joined(
    *,
    destination: str,
    label: str,
    class_name: str,
    body: str,
    delivery: str,
    acknowledged: str,
    identifier: str,
) -> str:
    """The line of a message from its parts, of which a malformed one may lack any."""
    parts = (
        destination and f"to {destination}",
        label and f'"{label}"',
        class_name,
        body,
        delivery,
        acknowledged,
        identifier and f"id {identifier}",
    )
    return ", ".join(filter(None, parts))


def body_text(size: int, kind: str) -> str:
    """Size and type of a body."""
    return f"{size} byte {kind}" if size == 1 else f"{size} bytes {kind}"


def sequence_text(number: int, previous: int) -> str:
    """The place of a transactional message in its sequence."""
    return f"transactional {number} (after {previous})"


def _delivery_text(message: UserMessage) -> str:
    # Transactional messages are recoverable, all of them.
    if message.transactional:
        return sequence_text(message.tx_sequence_number, message.previous_tx_sequence_number)
    return "recoverable" if message.delivery_mode else "express"


def known_ack(message: UserMessage) -> OrderAck | FinalAck | None:
    """What its body acknowledges, if that can be read."""
    if message.encrypted:
        return None
    try:
        return recognize_ack(message)
    except MalformedPacket:
        return None


def _acknowledged_text(message: UserMessage, ack: OrderAck | FinalAck | None) -> str:
    if isinstance(ack, OrderAck):
        return (
            f"acknowledges up to {ack.tx_sequence_number} of sequence "
            f"{ack.tx_sequence_id.ordinal}/{ack.tx_sequence_id.time_stamp}"
        )
    negative = is_negative(message.message_class)
    verb = "reports the failure of" if negative else "acknowledges"
    if ack is not None:
        identifier = MessageIdentifier(ack.source_guid, ack.message_id)
        return (
            f"{verb} {ack.tx_sequence_number} (after {ack.tx_previous_sequence_number}) of "
            f"sequence {ack.tx_sequence_id.ordinal}/{ack.tx_sequence_id.time_stamp}, "
            f"message {identifier}"
        )
    raw = message.correlation_id
    if not is_acknowledgment(message.message_class) or not any(raw):
        return ""
    return f"{verb} {MessageIdentifier.parse(raw)[0]}"

"""HTTP messages that carry SRMP, as trees ([MC-MQSRM] 2.2)."""

from typing import Final
from uuid import UUID

from openmsmq.wire.codes.message_class import class_name
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import body_type_name
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.srmp import (
    NEVER,
    Envelope,
    MessageKind,
    Request,
    cut_compound_message,
    kind_of,
    packet_from_request,
)
from openmsmq.wire.srmp.formats import write_date

from .http_stream import OTHER_REQUESTS
from .node import Node, Value, attach_fault
from .summary import body_text, joined, sequence_text

HTTP_MESSAGE: Final = "HttpMessage"
HTTP_REQUEST: Final = "HttpRequest"
HTTP_RESPONSE: Final = "HttpResponse"
SRMP_NAMES: Final = {
    MessageKind.USER: "SrmpMessage",
    MessageKind.DELIVERY_RECEIPT: "DeliveryReceipt",
    MessageKind.COMMITMENT_RECEIPT: "CommitmentReceipt",
    MessageKind.STREAM_RECEIPT: "StreamReceipt",
    MessageKind.FINAL_STREAM_RECEIPT: "FinalStreamReceipt",
    MessageKind.UNKNOWN: "SrmpMessage",
}
_HEAD_END: Final = b"\r\n\r\n"
_TIMES: Final = frozenset({"expires_at", "sent_at", "ttrq", "received_at", "decided_at"})


def dissect_http(data: bytes) -> Node:
    """The tree of an HTTP message. Never fails: the tree ends with the fault, if there is one."""
    root = Node(HTTP_MESSAGE, 0, len(data))
    try:
        _read_message(root, data)
    except MalformedPacket as exc:
        attach_fault(root, exc)
    return root


def message_of_request(data: bytes) -> UserMessage | None:
    """The message that a request brings; None in responses and in malformed requests."""
    try:
        request = cut_compound_message(data)
        return UserMessage(packet_from_request(request, request.read_envelope(), utc=0.0))
    except MalformedPacket:
        return None


def _read_message(root: Node, data: bytes) -> None:
    end = data.find(_HEAD_END)
    size = len(data) if end < 0 else end + len(_HEAD_END)
    first = _read_head(root.add("Head", 0, size), data[:size])
    if first.startswith("HTTP/"):
        root.name = HTTP_RESPONSE
        root.meaning = first.partition(" ")[2]
    elif data.startswith(OTHER_REQUESTS):
        root.name = HTTP_REQUEST
        root.meaning = f"{first}, not of SRMP"
    else:
        root.meaning = first
        _read_request(root, cut_compound_message(data))
        return
    if size < len(data):
        root.add("Content", size, len(data) - size, data[size:])


def _read_head(node: Node, head: bytes) -> str:
    """Add the lines of a head; return the first one."""
    offset = 0
    lines = head.decode("latin-1").split("\r\n")
    for line in lines:
        if offset == 0:
            node.add("StartLine", 0, len(line), line)
        elif line:
            name, _, value = line.partition(":")
            node.add(name, offset, len(line), value.strip())
        offset += len(line) + 2
    return lines[0]


def _read_request(root: Node, request: Request) -> None:
    start, size = request.envelope_offset, request.envelope_size
    text = request.envelope.decode("utf-8", "replace")
    node = root.add("Envelope", start, size, text)
    if request.body_offset:
        root.add("Body", request.body_offset, request.body_size, request.body)
    try:
        envelope = request.read_envelope()
        packet_from_request(request, envelope, utc=0.0)
    except MalformedPacket as exc:
        raise MalformedPacket(exc.field, exc.offset + start, exc.reason) from exc
    root.name = SRMP_NAMES[kind_of(envelope)]
    root.meaning = _summary(envelope, request)
    _add_values(node, envelope._asdict())


def _add_values(node: Node, values: dict[str, object]) -> None:
    """Add what an envelope says, with the names of its elements."""
    for name, value in values.items():
        if isinstance(value, MessageIdentifier):
            node.add(name, node.offset, node.size, str(value))
        elif isinstance(value, tuple) and hasattr(value, "_asdict"):
            _add_values(node.add(name, node.offset, node.size), value._asdict())
        elif value is not None and value not in ("", b"", ()):
            text, meaning = _shown(name, value)
            node.add(name, node.offset, node.size, text, meaning)


def _shown(name: str, value: object) -> tuple[Value, str]:
    """A value as a tree has it, and what it says."""
    if isinstance(value, tuple):
        return " ".join(map(str, value)), ""
    if isinstance(value, bool):
        return int(value), "yes" if value else "no"
    if isinstance(value, UUID):
        return f"{{{str(value).upper()}}}", ""
    if isinstance(value, int):
        if name in _TIMES:
            return value, "never" if value == NEVER else write_date(value)
        return value, class_name(value) if name == "message_class" else ""
    return value if isinstance(value, bytes) else str(value), ""


def _summary(envelope: Envelope, request: Request) -> str:
    msmq, stream = envelope.msmq, envelope.stream
    delivery = "recoverable" if envelope.durable else "express"
    if stream is not None:
        delivery = sequence_text(stream.current, stream.previous)
    return joined(
        destination=envelope.path.to,
        label=envelope.label or "",
        class_name=class_name(0 if msmq is None else msmq.message_class),
        body=body_text(request.body_size, body_type_name(0 if msmq is None else msmq.body_type)),
        delivery=delivery,
        acknowledged=_acknowledged(envelope),
        identifier=str(envelope.identifier),
    )


def _acknowledged(envelope: Envelope) -> str:
    parts = []
    if envelope.stream_receipt is not None:
        stream_id = envelope.stream_receipt.stream_id
        parts.append(
            f"acknowledges up to {envelope.stream_receipt.last_ordinal} of stream "
            f"{stream_id.number} of {{{str(stream_id.guid).upper()}}}"
        )
    if envelope.delivery_receipt is not None:
        parts.append(f"acknowledges {envelope.delivery_receipt.id}")
    if envelope.commitment_receipt is not None:
        receipt = envelope.commitment_receipt
        verb = "acknowledges" if receipt.positive else "reports the failure of"
        parts.append(f"{verb} {receipt.id}")
    return ", ".join(parts)

"""Reading an envelope: any XML that SRMP allows ([MC-MQSRM] 2.2, 3.1.5.1.1)."""

from typing import Final
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.limits import MAX_PRIORITY
from openmsmq.wire.scalars import MessageIdentifier

from .compact import read_compact
from .document import Document, Element
from .envelope import (
    NO_SERVICES,
    NULL_CORRELATION,
    NULL_IDENTIFIER,
    CommitmentReceipt,
    CommitmentReceiptRequest,
    DeliveryReceipt,
    Envelope,
    Eod,
    Msmq,
    Path,
    Properties,
    Provider,
    Services,
    StreamEntry,
    StreamId,
    StreamReceipt,
)
from .formats import (
    MAX_U16,
    MAX_U32,
    WHITE_SPACE,
    fault,
    read_action,
    read_correlation,
    read_date,
    read_destination,
    read_guid,
    read_identifier,
    read_number,
    read_ordinal,
    read_stream_id,
    read_url,
    split_names,
)

_DECISIONS: Final = {"positive": True, "negative": False}


def read_envelope(raw: bytes) -> Envelope:
    """Read an envelope.

    Raises:
        MalformedPacket: the bytes are not an envelope, or an element does not hold what it must.
    """
    envelope = read_compact(raw)
    return read_any_envelope(raw) if envelope is None else envelope


def read_any_envelope(raw: bytes) -> Envelope:
    """Read an envelope without the short cut for the form in which Windows writes it."""
    document = Document(raw)
    entries = document.entries
    msmq = entries.get("Msmq")
    services = entries.get("services")
    stream = entries.get("stream")
    if stream is not None and msmq is None:
        raise MalformedPacket("stream", stream.offset, "there is no <Msmq> with it")
    stream_receipt = entries.get("streamReceipt")
    delivery_receipt = entries.get("deliveryReceipt")
    commitment_receipt = entries.get("commitmentReceipt")
    return Envelope(
        _read_path(_entry(entries, "path", raw), identified=msmq is not None),
        _read_properties(_entry(entries, "properties", raw)),
        NO_SERVICES if services is None else _read_services(services),
        None if stream is None else _read_stream(stream),
        None if stream_receipt is None else _read_stream_receipt(stream_receipt),
        None if delivery_receipt is None else _read_delivery_receipt(delivery_receipt),
        None if commitment_receipt is None else _read_commitment_receipt(commitment_receipt),
        None if msmq is None else _read_msmq(msmq),
        document.signature,
    )


def _entry(entries: dict[str, Element], name: str, raw: bytes) -> Element:
    element = entries.get(name)
    if element is None:
        raise MalformedPacket(name, len(raw), "is missing")
    return element


def _child(parent: Element, name: str) -> tuple[str, str, int]:
    """The text of a child that must be there, and the place to name in an error."""
    child = parent.children.get(name)
    field = f"{parent.shape.name}.{name}"
    if child is None:
        raise MalformedPacket(field, parent.offset, "is missing")
    return child.text.strip(WHITE_SPACE), field, child.offset


def _optional(parent: Element, name: str) -> str:
    child = parent.children.get(name)
    return "" if child is None else child.text.strip(WHITE_SPACE)


def _date(parent: Element, name: str) -> int:
    return read_date(*_child(parent, name))


def _number(parent: Element, name: str, maximum: int) -> int:
    text, field, offset = _child(parent, name)
    return read_number(text, maximum, field, offset)


def _optional_number(parent: Element, name: str) -> int:
    return _number(parent, name, MAX_U32) if name in parent.children else 0


def _optional_guid(parent: Element, name: str) -> UUID | None:
    return read_guid(*_child(parent, name)) if name in parent.children else None


def _read_path(path: Element, *, identified: bool) -> Path:
    _child(path, "action")
    destination = read_destination(*_child(path, "to"))
    identifier = _child(path, "id")
    rev = path.children.get("rev")
    return Path(
        destination,
        # [MC-MQSRM] 2.2.4.3: without <Msmq> the identifier is ignored, whatever it is.
        read_identifier(*identifier) if identified else NULL_IDENTIFIER,
        read_action(path.children["action"].text),
        "" if rev is None else _child(rev, "via")[0],
    )


def _read_properties(properties: Element) -> Properties:
    sent_at = _date(properties, "sentAt") if "sentAt" in properties.children else None
    return Properties(_date(properties, "expiresAt"), sent_at)


def _read_services(services: Element) -> Services:
    delivery = services.children.get("deliveryReceiptRequest")
    commitment = services.children.get("commitmentReceiptRequest")
    request = None
    if commitment is not None:
        request = CommitmentReceiptRequest(
            read_url(*_child(commitment, "sendTo")),
            "positiveOnly" in commitment.children,
            "negativeOnly" in commitment.children,
        )
    return Services(
        "durable" in services.children,
        "" if delivery is None else read_url(*_child(delivery, "sendTo")),
        request,
    )


def _stream_id(parent: Element) -> StreamId:
    return StreamId(*read_stream_id(*_child(parent, "streamId")))


def _ordinal(parent: Element, name: str) -> int:
    return read_ordinal(*_child(parent, name))


def _read_stream(stream: Element) -> StreamEntry:
    start = stream.children.get("start")
    return StreamEntry(
        _stream_id(stream),
        _ordinal(stream, "current"),
        _optional_number(stream, "previous"),
        "" if start is None else read_url(*_child(start, "sendReceiptsTo")),
    )


def _read_stream_receipt(receipt: Element) -> StreamReceipt:
    return StreamReceipt(_stream_id(receipt), _ordinal(receipt, "lastOrdinal"))


def _identifier(receipt: Element) -> MessageIdentifier:
    return read_identifier(*_child(receipt, "id"))


def _read_delivery_receipt(receipt: Element) -> DeliveryReceipt:
    return DeliveryReceipt(_date(receipt, "receivedAt"), _identifier(receipt))


def _read_commitment_receipt(receipt: Element) -> CommitmentReceipt:
    text, field, offset = _child(receipt, "decision")
    positive = _DECISIONS.get(text)
    if positive is None:
        raise fault(field, offset, text, "positive or negative")
    return CommitmentReceipt(_date(receipt, "decidedAt"), positive, _identifier(receipt))


def _read_eod(eod: Element) -> Eod:
    return Eod("First" in eod.children, "Last" in eod.children, _optional_guid(eod, "ConnectorId"))


def _read_provider(provider: Element) -> Provider:
    return Provider(_number(provider, "Type", MAX_U32), _child(provider, "Name")[0])


def _names(msmq: Element, name: str) -> tuple[str, ...]:
    """Format names with white space between them."""
    text = _optional(msmq, name)
    return tuple(split_names(text)) if text else ()


def _read_msmq(msmq: Element) -> Msmq:
    known = msmq.children
    eod, provider = known.get("Eod"), known.get("Provider")
    has_correlation = "Correlation" in known
    return Msmq(
        message_class=_number(msmq, "Class", MAX_U16),
        priority=_number(msmq, "Priority", MAX_PRIORITY),
        source_qm_guid=read_guid(*_child(msmq, "SourceQmGuid")),
        ttrq=_date(msmq, "TTrq"),
        journal="Journal" in known,
        dead_letter="DeadLetter" in known,
        correlation=(
            read_correlation(*_child(msmq, "Correlation")) if has_correlation else NULL_CORRELATION
        ),
        trace="Trace" in known,
        connector_type=_optional_guid(msmq, "ConnectorType"),
        app=_optional_number(msmq, "App"),
        body_type=_number(msmq, "BodyType", MAX_U32),
        hash_algorithm=_optional_number(msmq, "HashAlgorithm"),
        eod=None if eod is None else _read_eod(eod),
        provider=None if provider is None else _read_provider(provider),
        destination_mqf=_names(msmq, "DestinationMqf"),
        admin_mqf=_names(msmq, "AdminMqf"),
        response_mqf=_names(msmq, "ResponseMqf"),
    )

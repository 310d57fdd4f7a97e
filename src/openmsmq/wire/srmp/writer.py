"""Writing an envelope in the form in which Windows writes it ([MC-MQSRM] 3.1.7.2.4).

There is no white space between elements. <rev> stands before <id>, and <Correlation>, <App> and
<HashAlgorithm> are always there, as in all examples that Windows made.
"""

import re
from typing import Final

from .elements import MSMQ, ROUTING, SOAP, SRMP
from .envelope import (
    CommitmentReceipt,
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
    guid_text,
    write_correlation,
    write_date,
    write_identifier,
    write_stream_id,
)

STREAM: Final = "stream"
_BEFORE: Final = f'<se:Envelope xmlns:se="{SOAP}" xmlns="{SRMP}"><se:Header>'
_PATH: Final = f'<path xmlns="{ROUTING}" se:mustUnderstand="1"><action>'
_MSMQ: Final = f'<Msmq xmlns="{MSMQ}"><Class>'
# Markup, and what an XML reader would change into a line feed.
_ESCAPED: Final = re.compile("[&<>\r]")
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"}
# [XML1.0] 2.2: characters that no document may have.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT: Final = "\ufffd"


def write_envelope(
    envelope: Envelope,
    *,
    stream_element: str = STREAM,
    soap_header: str = "",
    soap_body: str = "",
) -> bytes:
    """Return the bytes of an envelope.

    Args:
        stream_element: `stream` as specified, or `Stream` as in [MC-MQSRM] 4.4.
        soap_header: elements that the application adds to <Header>, checked to be XML.
        soap_body: what the application puts into <Body>, checked to be XML.
    """
    parts = [_BEFORE, _path(envelope.path), _properties(envelope.properties)]
    if any(envelope.services):
        parts.append(_services(envelope.services))
    if envelope.stream is not None:
        parts.append(_stream(envelope.stream, stream_element))
    if envelope.stream_receipt is not None:
        parts.append(_stream_receipt(envelope.stream_receipt))
    if envelope.delivery_receipt is not None:
        parts.append(_delivery_receipt(envelope.delivery_receipt))
    if envelope.commitment_receipt is not None:
        parts.append(_commitment_receipt(envelope.commitment_receipt))
    if envelope.msmq is not None:
        parts.append(_msmq(envelope.msmq))
    parts.append(soap_header)
    before = "".join(parts).encode()
    after = f"</se:Header><se:Body>{soap_body}</se:Body></se:Envelope>".encode()
    return b"".join((before, envelope.signature, after))


def escape(text: str) -> str:
    """Text as it stands between tags.

    Choice: a character that XML cannot hold becomes U+FFFD, so that the message can be sent.
    """
    if _FORBIDDEN.search(text) is not None:
        text = _FORBIDDEN.sub(_REPLACEMENT, text)
    if _ESCAPED.search(text) is None:
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


def _path(path: Path) -> str:
    rev = f"<rev><via>{escape(path.via)}</via></rev>" if path.via else ""
    return (
        f"{_PATH}{escape(path.action)}</action><to>{escape(path.to)}</to>{rev}"
        f"<id>{write_identifier(path.id)}</id></path>"
    )


def _properties(properties: Properties) -> str:
    sent_at = properties.sent_at
    sent = "" if sent_at is None else f"<sentAt>{write_date(sent_at)}</sentAt>"
    return (
        '<properties se:mustUnderstand="1">'
        f"<expiresAt>{write_date(properties.expires_at)}</expiresAt>{sent}</properties>"
    )


def _services(services: Services) -> str:
    parts = ['<services se:mustUnderstand="1">']
    if services.durable:
        parts.append("<durable/>")
    if services.delivery_receipt_to:
        url = escape(services.delivery_receipt_to)
        parts.append(f"<deliveryReceiptRequest><sendTo>{url}</sendTo></deliveryReceiptRequest>")
    request = services.commitment_receipt_request
    if request is not None:
        parts += (
            f"<commitmentReceiptRequest><sendTo>{escape(request.send_to)}</sendTo>",
            "<positiveOnly/>" if request.positive_only else "",
            "<negativeOnly/>" if request.negative_only else "",
            "</commitmentReceiptRequest>",
        )
    parts.append("</services>")
    return "".join(parts)


def _stream_id(stream_id: StreamId) -> str:
    return f"<streamId>{write_stream_id(stream_id.guid, stream_id.number)}</streamId>"


def _stream(stream: StreamEntry, element: str) -> str:
    previous = f"<previous>{stream.previous}</previous>" if stream.previous else ""
    start = ""
    if stream.send_receipts_to:
        url = escape(stream.send_receipts_to)
        start = f"<start><sendReceiptsTo>{url}</sendReceiptsTo></start>"
    return (
        f'<{element} se:mustUnderstand="1">{_stream_id(stream.stream_id)}'
        f"<current>{stream.current}</current>{previous}{start}</{element}>"
    )


def _stream_receipt(receipt: StreamReceipt) -> str:
    return (
        f"<streamReceipt>{_stream_id(receipt.stream_id)}"
        f"<lastOrdinal>{receipt.last_ordinal}</lastOrdinal></streamReceipt>"
    )


def _delivery_receipt(receipt: DeliveryReceipt) -> str:
    return (
        f"<deliveryReceipt><receivedAt>{write_date(receipt.received_at)}</receivedAt>"
        f"<id>{write_identifier(receipt.id)}</id></deliveryReceipt>"
    )


def _commitment_receipt(receipt: CommitmentReceipt) -> str:
    decision = "positive" if receipt.positive else "negative"
    return (
        f"<commitmentReceipt><decidedAt>{write_date(receipt.decided_at)}</decidedAt>"
        f"<decision>{decision}</decision><id>{write_identifier(receipt.id)}</id>"
        "</commitmentReceipt>"
    )


def _eod(eod: Eod) -> str:
    first = "<First/>" if eod.first else ""
    last = "<Last/>" if eod.last else ""
    connector = ""
    if eod.connector_id is not None:
        connector = f"<ConnectorId>{eod.connector_id}</ConnectorId>"
    return f"<Eod>{first}{last}{connector}</Eod>"


def _provider(provider: Provider) -> str:
    return f"<Provider><Type>{provider.type}</Type><Name>{escape(provider.name)}</Name></Provider>"


def _names(element: str, names: tuple[str, ...]) -> str:
    """Format names, each with a line feed after it."""
    if not names:
        return ""
    lines = "".join([f"{escape(name)}\n" for name in names])
    return f"<{element}>{lines}</{element}>"


def _msmq(msmq: Msmq) -> str:
    connector = msmq.connector_type
    return "".join(
        (
            f"{_MSMQ}{msmq.message_class}</Class><Priority>{msmq.priority}</Priority>",
            "<Journal/>" if msmq.journal else "",
            "<DeadLetter/>" if msmq.dead_letter else "",
            f"<Correlation>{write_correlation(msmq.correlation)}</Correlation>",
            "<Trace/>" if msmq.trace else "",
            "" if connector is None else f"<ConnectorType>{connector}</ConnectorType>",
            f"<App>{msmq.app}</App><BodyType>{msmq.body_type}</BodyType>",
            f"<HashAlgorithm>{msmq.hash_algorithm}</HashAlgorithm>",
            "" if msmq.eod is None else _eod(msmq.eod),
            "" if msmq.provider is None else _provider(msmq.provider),
            f"<SourceQmGuid>{guid_text(msmq.source_qm_guid)}</SourceQmGuid>",
            _names("DestinationMqf", msmq.destination_mqf),
            _names("AdminMqf", msmq.admin_mqf),
            _names("ResponseMqf", msmq.response_mqf),
            f"<TTrq>{write_date(msmq.ttrq)}</TTrq></Msmq>",
        )
    )

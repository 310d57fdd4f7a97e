"""The elements of an envelope that SRMP knows, by namespace ([MC-MQSRM] 2.2.3 to 2.2.7)."""

from typing import Final, NamedTuple

SOAP: Final = "http://schemas.xmlsoap.org/soap/envelope/"
ROUTING: Final = "http://schemas.xmlsoap.org/rp/"
SRMP: Final = "http://schemas.xmlsoap.org/srmp/"
MSMQ: Final = "msmq.namespace.xml"
SIGNATURE: Final = "http://www.w3.org/2000/02/xmldsig#"

# How expat writes the name of an element: the namespace, a blank, the local name.
SEPARATOR: Final = " "
ENVELOPE: Final = f"{SOAP} Envelope"
HEADER: Final = f"{SOAP} Header"
BODY: Final = f"{SOAP} Body"
MUST_UNDERSTAND: Final = f"{SOAP} mustUnderstand"
SIGNATURE_ENTRY: Final = f"{SIGNATURE} Signature"


class Shape(NamedTuple):
    """An element: its local name, and the shapes of the children that are read."""

    name: str
    children: "dict[str, Shape]"


def _shape(namespace: str, name: str, *children: Shape) -> Shape:
    return Shape(name, {f"{namespace} {child.name}": child for child in children})


def _leaves(*names: str) -> tuple[Shape, ...]:
    return tuple(Shape(name, {}) for name in names)


_PATH: Final = _shape(
    ROUTING, "path", *_leaves("action", "to", "id"), _shape(ROUTING, "rev", *_leaves("via"))
)
_SERVICES: Final = _shape(
    SRMP,
    "services",
    *_leaves("durable"),
    _shape(SRMP, "deliveryReceiptRequest", *_leaves("sendTo")),
    _shape(SRMP, "commitmentReceiptRequest", *_leaves("sendTo", "positiveOnly", "negativeOnly")),
)
_STREAM: Final = _shape(
    SRMP,
    "stream",
    *_leaves("streamId", "current", "previous"),
    _shape(SRMP, "start", *_leaves("sendReceiptsTo")),
)
_MSMQ: Final = _shape(
    MSMQ,
    "Msmq",
    *_leaves("Class", "Priority", "Journal", "DeadLetter", "Correlation", "Trace"),
    *_leaves("ConnectorType", "App", "BodyType", "HashAlgorithm"),
    _shape(MSMQ, "Eod", *_leaves("First", "Last", "ConnectorId")),
    _shape(MSMQ, "Provider", *_leaves("Type", "Name")),
    *_leaves("SourceQmGuid", "DestinationMqf", "AdminMqf", "ResponseMqf", "TTrq"),
)

# The header entries. <stream> is <Stream> in [MC-MQSRM] 4.4 and in the documentation of Windows.
ENTRIES: Final[dict[str, Shape]] = {
    f"{ROUTING} path": _PATH,
    f"{SRMP} properties": _shape(SRMP, "properties", *_leaves("expiresAt", "sentAt")),
    f"{SRMP} services": _SERVICES,
    f"{SRMP} stream": _STREAM,
    f"{SRMP} Stream": _STREAM,
    f"{SRMP} streamReceipt": _shape(SRMP, "streamReceipt", *_leaves("streamId", "lastOrdinal")),
    f"{SRMP} deliveryReceipt": _shape(SRMP, "deliveryReceipt", *_leaves("receivedAt", "id")),
    f"{SRMP} commitmentReceipt": _shape(
        SRMP, "commitmentReceipt", *_leaves("decidedAt", "decision", "id")
    ),
    f"{MSMQ} Msmq": _MSMQ,
    SIGNATURE_ENTRY: Shape("Signature", {}),
}

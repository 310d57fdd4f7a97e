"""SRMP: envelopes and requests of messages over HTTP, HTTPS and PGM ([MC-MQSRM] 2).

Reading: `cut_request(content_type, content, head=...)` gives a `Request`, its `read_envelope()` an
`Envelope`. Writing: `write_envelope(envelope)` gives the bytes, `write_multipart` or
`envelope_alone` the content of a request. Malformed input raises `MalformedPacket`.
"""

from .envelope import (
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
from .formats import NEVER
from .reader import read_envelope
from .request import Content, Request, cut_request, envelope_alone, write_multipart
from .writer import write_envelope

__all__ = [
    "NEVER",
    "CommitmentReceipt",
    "CommitmentReceiptRequest",
    "Content",
    "DeliveryReceipt",
    "Envelope",
    "Eod",
    "Msmq",
    "Path",
    "Properties",
    "Provider",
    "Request",
    "Services",
    "StreamEntry",
    "StreamId",
    "StreamReceipt",
    "cut_request",
    "envelope_alone",
    "read_envelope",
    "write_envelope",
    "write_multipart",
]

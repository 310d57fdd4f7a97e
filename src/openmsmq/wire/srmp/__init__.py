"""SRMP: envelopes and requests of messages over HTTP, HTTPS and PGM ([MC-MQSRM] 2).

Receiving: `cut_request(content_type, content, head=...)` gives a `Request`, or
`cut_compound_message(data)` for a whole HTTP request; its `read_envelope()` gives an `Envelope`,
`kind_of(envelope)` what the message is, and `packet_from_request(request, envelope, utc=...)` the
packet of the message. Malformed input raises `MalformedPacket`.

Sending: `request_from_packet(message, number=...)` gives the `Content` of a POST for any message or
acknowledgment, `forwarded_request(message)` that of a message that came by SRMP, unchanged.
`build_stream_receipt` and `build_final_stream_receipt` give packets for outgoing queues;
`check_soap` checks what an application adds. Below that, `write_envelope(envelope)` gives bytes,
`write_multipart` or `envelope_alone` the content.
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
from .head import Head, cut_compound_message, cut_head, write_head
from .kinds import MessageKind, kind_of
from .reader import read_envelope
from .receipts import build_final_stream_receipt, build_stream_receipt
from .received import packet_from_request
from .request import Content, Request, cut_request, envelope_alone, write_multipart
from .sending import envelope_from_packet, forwarded_request, request_from_packet
from .soap import check_soap
from .writer import write_envelope

__all__ = [
    "NEVER",
    "CommitmentReceipt",
    "CommitmentReceiptRequest",
    "Content",
    "DeliveryReceipt",
    "Envelope",
    "Eod",
    "Head",
    "MessageKind",
    "Msmq",
    "Path",
    "Properties",
    "Provider",
    "Request",
    "Services",
    "StreamEntry",
    "StreamId",
    "StreamReceipt",
    "build_final_stream_receipt",
    "build_stream_receipt",
    "check_soap",
    "cut_compound_message",
    "cut_head",
    "cut_request",
    "envelope_alone",
    "envelope_from_packet",
    "forwarded_request",
    "kind_of",
    "packet_from_request",
    "read_envelope",
    "request_from_packet",
    "write_envelope",
    "write_head",
    "write_multipart",
]

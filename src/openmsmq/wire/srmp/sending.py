"""The request of a message that leaves by SRMP ([MC-MQSRM] 3.1.7.2.4).

Acknowledgments become receipts by their class: a delivery receipt, a commitment receipt, a stream
receipt, or the last two together as a final stream receipt. They leave without their body.
"""

from typing import Final

from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Delivery
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.limits import DEFAULT_TIME_TO_REACH_QUEUE
from openmsmq.wire.message.message_properties_header import AcknowledgmentFlags
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.packets.order_ack import FinalAck, OrderAck
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID

from .addresses import url_of, write_names, write_queue
from .envelope import (
    NO_SERVICES,
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
from .formats import ACTION_PREFIX, NEVER
from .head import cut_head
from .kinds import COMMITMENT_CLASSES
from .receipts import is_final_stream_receipt, stream_guid_of
from .request import Content, envelope_alone, write_multipart
from .signature import signature_text, signed_info_of
from .soap import check_soap
from .writer import STREAM, write_envelope

NO_SOAP: Final = SoapHeader("", "")
DURABLE: Final = Services(durable=True)
_PA: Final = int(AcknowledgmentFlags.PA)
_PR: Final = int(AcknowledgmentFlags.PR)
_NR: Final = int(AcknowledgmentFlags.NR)


def request_from_packet(
    message: UserMessage,
    *,
    number: int,
    to: str = "",
    admin_url: str = "",
    send_receipts_to: str = "",
    previous: int | None = None,
    stream_element: str = STREAM,
) -> Content:
    """What a POST of a message carries.

    Args:
        message: of an application, or an acknowledgment.
        number: makes the boundary of a multipart message.
        to: the URL in <to>, or `MSMQ:MULTICAST=…`; else the URL that the message is addressed to.
        admin_url: the URL of the administration queue, if the message names it in another way.
        send_receipts_to: where stream receipts go; for the first message of a stream.
        previous: instead of the number that the message has.
        stream_element: `stream` or `Stream`.

    Raises:
        ValueError: the message cannot be sent by SRMP; the text says why.
    """
    envelope = envelope_from_packet(
        message,
        to=to,
        admin_url=admin_url,
        send_receipts_to=send_receipts_to,
        previous=previous,
    )
    signature = _signature(message)
    if signature:
        envelope = envelope._replace(signature=signature)
    soap = message.soap_header or NO_SOAP
    if soap is not NO_SOAP:
        check_soap(soap.header, soap.body)
    raw = write_envelope(
        envelope, stream_element=stream_element, soap_header=soap.header, soap_body=soap.body
    )
    if message.message_class != MessageClass.NORMAL:
        return envelope_alone(raw)
    return write_multipart(
        raw,
        message.body,
        sender=message.source_queue_manager,
        number=number,
        extension=message.extension,
    )


def forwarded_request(message: UserMessage) -> Content:
    """The request that brought a message, for a forwarder: everything is as its source wrote it.

    Raises:
        ValueError: the message did not come by SRMP.
    """
    compound = message.compound_message_header
    if compound is None:
        raise ValueError("the message has no CompoundMessageHeader")
    try:
        head = cut_head(compound.data)
    except MalformedPacket as exc:
        raise ValueError(f"the compound message cannot be forwarded: {exc}") from exc
    if head is None:
        raise ValueError("the compound message is not a whole HTTP request")
    return Content(head.content_type, compound.data[head.size :])


def envelope_from_packet(
    message: UserMessage,
    *,
    to: str = "",
    admin_url: str = "",
    send_receipts_to: str = "",
    previous: int | None = None,
) -> Envelope:
    """The envelope of a message; the arguments are those of `request_from_packet`.

    Raises:
        ValueError: the message cannot be sent by SRMP.
    """
    to = to or url_of(message.destination_queue)
    if not to:
        raise ValueError("the message is not addressed to a URL")
    if message.encrypted:
        raise ValueError("SRMP has no encryption; HTTPS encrypts all of a message on its way")
    try:
        receipts = _receipts(message)
    except MalformedPacket as exc:
        raise ValueError(f"the acknowledgment cannot be sent: {exc}") from exc
    sent = message.sent_time
    reach_queue_by = _until(sent, message.time_to_reach_queue)
    if receipts is not None and reach_queue_by == NEVER:
        reach_queue_by = min(sent + DEFAULT_TIME_TO_REACH_QUEUE, NEVER)
    path = Path(
        to,
        message.identifier,
        ACTION_PREFIX + message.label,
        write_queue(message.response_queue),
    )
    expires_at = _until(sent, message.time_to_be_received)
    # A receiver takes <expiresAt> for the time to be received only where it differs from <TTrq>.
    if expires_at == reach_queue_by < NEVER:
        expires_at += 1
    stream_receipt, delivery_receipt, commitment_receipt = receipts or (None, None, None)
    return Envelope(
        path,
        Properties(expires_at, sent),
        _services(message, admin_url or url_of(message.admin_queue)),
        _stream(message, send_receipts_to, previous),
        stream_receipt,
        delivery_receipt,
        commitment_receipt,
        _msmq(message, reach_queue_by),
    )


def _until(sent: int, life: int) -> int:
    return NEVER if life == INFINITE else min(sent + life, NEVER)


_Receipts = tuple[StreamReceipt | None, DeliveryReceipt | None, CommitmentReceipt | None]


def _receipts(message: UserMessage) -> _Receipts | None:
    """The receipt entries of an acknowledgment; None for a message of an application."""
    message_class = message.message_class
    if message_class == MessageClass.NORMAL:
        return None
    time = message.sent_time
    about = MessageIdentifier.parse(message.correlation_id)[0]
    if message_class == MessageClass.ACK_REACH_QUEUE:
        return None, DeliveryReceipt(time, about), None
    if message_class == MessageClass.ORDER_ACK:
        ack = OrderAck.parse(message.body)[0]
        return _stream_receipt(message, ack.tx_sequence_id, ack.tx_sequence_number), None, None
    if message_class not in COMMITMENT_CLASSES:
        raise ValueError(f"SRMP has no receipt for class 0x{message_class:04X}")
    positive = message_class == MessageClass.ACK_RECEIVE
    if is_final_stream_receipt(message):
        final = FinalAck.parse(message.body)[0]
        about = MessageIdentifier(final.source_guid, final.message_id)
        receipt = _stream_receipt(message, final.tx_sequence_id, final.tx_sequence_number)
        return receipt, None, CommitmentReceipt(time, positive, about)
    return None, None, CommitmentReceipt(time, positive, about)


def _services(message: UserMessage, admin_url: str) -> Services:
    wanted = message.acknowledgments
    durable = message.delivery_mode == Delivery.RECOVERABLE
    if not admin_url or not wanted & (_PA | _PR | _NR):
        return DURABLE if durable else NO_SERVICES
    request = None
    if wanted & (_PR | _NR):
        request = CommitmentReceiptRequest(admin_url, wanted & _PR != 0, wanted & _NR != 0)
    return Services(durable, admin_url if wanted & _PA else "", request)


def _stream(
    message: UserMessage, send_receipts_to: str, previous: int | None
) -> StreamEntry | None:
    sequence = message.tx_sequence_id
    if sequence is None or not sequence.value:
        return None
    current = message.tx_sequence_number
    # [MC-MQSRM] 2.2.5.3.4: <start> is in the first message of a stream and in no other.
    if current == 1 and not send_receipts_to:
        raise ValueError("the first message of a stream needs a URL for stream receipts")
    return StreamEntry(
        StreamId(message.source_queue_manager, sequence.value),
        current,
        message.previous_tx_sequence_number if previous is None else previous,
        send_receipts_to if current == 1 else "",
    )


def _msmq(message: UserMessage, ttrq: int) -> Msmq:
    security, lists = message.security_header, message.multi_queue_format_header
    provider = None if security is None else security.provider_info
    return Msmq(
        message_class=message.message_class,
        priority=message.priority,
        source_qm_guid=message.source_queue_manager,
        ttrq=ttrq,
        journal=message.positive_journaling,
        dead_letter=message.negative_journaling,
        correlation=message.correlation_id,
        trace=message.tracing_requested,
        connector_type=message.connector_type,
        app=message.application_tag,
        body_type=0 if message.message_class else message.body_type,
        hash_algorithm=message.hash_algorithm,
        eod=_eod(message),
        provider=(
            None if provider is None else Provider(provider.provider_type, provider.provider_name)
        ),
        destination_mqf=() if lists is None else write_names(lists.destination),
        admin_mqf=() if lists is None else write_names(lists.administration),
        response_mqf=() if lists is None else write_names(lists.response),
    )


def _signature(message: UserMessage) -> bytes:
    """The <Signature> of a message that its sender has signed for SRMP; empty for any other."""
    security = message.security_header
    if (
        security is None
        or not security.signature
        or message.hash_algorithm != HashAlgorithm.SHA1
        or message.message_class != MessageClass.NORMAL
    ):
        return b""
    return signature_text(signed_info_of(message), security.signature, security.sender_cert)


def _eod(message: UserMessage) -> Eod | None:
    header = message.transaction_header
    if header is None:
        return None
    eod = Eod(message.first_in_transaction, message.last_in_transaction, header.connector_qm_guid)
    return eod if any(eod) else None


def _stream_receipt(message: UserMessage, sequence: TxSequenceID, number: int) -> StreamReceipt:
    return StreamReceipt(StreamId(stream_guid_of(message), sequence.value), number)

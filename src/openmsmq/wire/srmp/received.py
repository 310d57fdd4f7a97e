"""The packet of a message that came by SRMP ([MC-MQSRM] 3.1.5.1.1, [MS-MQRR] 2.2.5.1).

A UserMessage with AH, SRMPEnvelopeHeader and CompoundMessageHeader, so that everything that deals
with messages can deal with it. The body is in the compound message only.
"""

from codecs import utf_16_le_encode
from functools import lru_cache
from typing import Final
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.limits import DEFAULT_PRIORITY
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.message_properties_header import (
    MESSAGE_PROPERTIES,
    AcknowledgmentFlags,
    encode_label,
)
from openmsmq.wire.message.srmp_headers import (
    COMPOUND_MESSAGE_HEADER,
    COMPOUND_MESSAGE_HEADER_ID,
    SRMP_ENVELOPE_HEADER,
    SRMP_ENVELOPE_HEADER_ID,
)
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_header import (
    DELIVERY_MODE_SHIFT,
    USER_HEADER,
    UserHeaderFlags,
)
from openmsmq.wire.message.user_message_builder import encode_addresses, headers_before_body
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress, direct_address
from openmsmq.wire.packets.base_header import (
    BASE_HEADER,
    BASE_HEADER_SIZE,
    INFINITE,
    MAX_PACKET_SIZE,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeaderFlags,
)
from openmsmq.wire.scalars import GUID_NULL, guid_bytes
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader

from .addresses import PREFIX, read_lists, read_queue
from .envelope import NULL_CORRELATION, Envelope, Msmq
from .formats import NEVER
from .request import Request
from .signature import read_signature

_MP_AND_AH: Final = int(UserHeaderFlags.MP | UserHeaderFlags.AH)
_JN: Final = int(UserHeaderFlags.JN)
_JP: Final = int(UserHeaderFlags.JP)
_MQ: Final = int(UserHeaderFlags.MQ)
_TR_AND_DH: Final = int(BaseHeaderFlags.TR | BaseHeaderFlags.DH)
_RECOVERABLE: Final = 1 << DELIVERY_MODE_SHIFT
_PA: Final = int(AcknowledgmentFlags.PA)
_PR: Final = int(AcknowledgmentFlags.PR)
_NR: Final = int(AcknowledgmentFlags.NR)
_FA: Final = int(TransactionHeaderFlags.FA)
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)
_MAX_CACHED_URL: Final = 512
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")
_NUL: Final = b"\0\0"
# [MC-MQSRM] note 12: what holds without <Msmq>.
_NO_MSMQ: Final = Msmq(0, DEFAULT_PRIORITY, GUID_NULL)


def packet_from_request(
    request: Request,
    envelope: Envelope,
    *,
    utc: float,
    destination: QueueAddress | None = None,
) -> bytes:
    """The packet of a message, or of the acknowledgment that a receipt stands for.

    Args:
        request: as it came.
        envelope: what `request.read_envelope()` returned.
        utc: when it came; the time of sending if the envelope has none.
        destination: instead of the queue that <to> names.

    Raises:
        MalformedPacket: a value does not fit its field, a name is not that of a queue, or the
            packet is too large.
    """
    msmq = envelope.msmq or _NO_MSMQ
    sent_at = envelope.properties.sent_at
    sent = int(utc) if sent_at is None else min(max(sent_at, 0), INFINITE)
    flags, acknowledgments, addresses = _user_header_end(envelope, destination)
    flags |= (
        _MP_AND_AH
        | (_RECOVERABLE if envelope.durable else 0)
        | (_JN if msmq.dead_letter else 0)
        | (_JP if msmq.journal else 0)
    )
    before = b""
    if envelope.stream or msmq.connector_type or msmq.provider or envelope.signature:
        more_flags, before = _before_body(request, envelope, msmq)
        flags |= more_flags
    try:
        label = encode_label(envelope.label or "")
    except ValueError as exc:
        raise MalformedPacket("path.action", 0, str(exc)) from exc
    identifier = envelope.identifier
    more_flags, after = _after_body(request, msmq)
    extension = request.extension
    head = b"".join(
        (
            USER_HEADER.pack(
                guid_bytes(identifier.source),
                guid_bytes(GUID_NULL),
                _envelope_time_to_be_received(envelope, sent),
                sent,
                identifier.ordinal,
                flags | more_flags,
            ),
            addresses,
            before,
            MESSAGE_PROPERTIES.pack(
                acknowledgments,
                len(label) >> 1,
                msmq.message_class,
                _correlation(envelope, msmq),
                msmq.body_type,
                msmq.app,
                0,
                0,
                0,
                msmq.hash_algorithm,
                0,
                len(extension),
            ),
            label,
            extension,
        )
    )
    padding = -len(head) & 3
    size = BASE_HEADER_SIZE + len(head) + padding + len(after)
    if size > MAX_PACKET_SIZE:
        raise MalformedPacket("Request", 0, f"a packet of {size} bytes is too large")
    base_flags = 0 if envelope.stream is not None else msmq.priority
    base_header = BASE_HEADER.pack(
        VERSION_NUMBER,
        0,
        base_flags | _TR_AND_DH if msmq.trace else base_flags,
        SIGNATURE,
        size,
        life_of(envelope.reach_queue_by, sent),
    )
    return b"".join((base_header, head, _PADDING[padding], after))


def life_of(until: int, sent: int) -> int:
    """The seconds between two times, as packets count them."""
    return INFINITE if until == NEVER else min(max(until - sent, 0), NEVER)


def time_to_be_received(expires_at: int, ttrq: int, sent: int) -> int:
    """TimeToBeReceived of a message with <Msmq>."""
    # Choice: Windows has 20380119T031407 beside a <TTrq> of four days, so that <expiresAt> is the
    # time to be received where the two differ.
    return INFINITE if expires_at == ttrq else life_of(expires_at, sent)


def _envelope_time_to_be_received(envelope: Envelope, sent: int) -> int:
    if envelope.msmq is None:
        return INFINITE
    return time_to_be_received(envelope.properties.expires_at, envelope.msmq.ttrq, sent)


def _correlation(envelope: Envelope, msmq: Msmq) -> bytes:
    """The correlation identifier; that of a receipt is the message that it acknowledges."""
    if msmq.correlation == NULL_CORRELATION:
        receipt = envelope.delivery_receipt or envelope.commitment_receipt
        if receipt is not None:
            return receipt.id.serialize()
    return msmq.correlation


def _user_header_end(
    envelope: Envelope, destination: QueueAddress | None
) -> tuple[int, int, bytes]:
    """DQ, AQ and RQ, the acknowledgments that the sender wants, and the three addresses."""
    services, path = envelope.services, envelope.path
    request = services.commitment_receipt_request
    acknowledgments = 0
    admin = services.delivery_receipt_to
    if admin:
        acknowledgments = _PA
    if request is not None:
        # The envelope keeps both URLs, so that each receipt goes to its own.
        admin = admin or request.send_to
        acknowledgments |= _PR if request.positive_only else 0
        acknowledgments |= _NR if request.negative_only else 0
    if len(path.to) + len(admin) + len(path.via) <= _MAX_CACHED_URL:
        flags, addresses = _cached_addresses(path.to, admin, path.via, destination)
    else:
        flags, addresses = _addresses(path.to, admin, path.via, destination)
    return flags, acknowledgments, addresses


def _addresses(
    to: str, admin: str, via: str, destination: QueueAddress | None
) -> tuple[int, bytes]:
    target = destination or direct_address(to.removeprefix(PREFIX))
    try:
        return encode_addresses(
            target,
            direct_address(admin) if admin else NO_QUEUE,
            read_queue(via, "path.via") if via else NO_QUEUE,
            GUID_NULL,
            GUID_NULL,
        )
    except ValueError as exc:
        raise MalformedPacket("path", 0, str(exc)) from exc


# Most messages go to few queues.
_cached_addresses: Final = lru_cache(maxsize=1024)(_addresses)


def _before_body(request: Request, envelope: Envelope, msmq: Msmq) -> tuple[int, bytes]:
    """The flags of ConnectorType, TransactionHeader and SecurityHeader, and these."""
    stream = envelope.stream
    transaction_header = None
    if stream is not None:
        eod = msmq.eod
        transaction_flags = _FA if msmq.dead_letter else 0
        connector: UUID | None = None
        if eod is not None:
            transaction_flags |= (_FM if eod.first else 0) | (_LM if eod.last else 0)
            connector = eod.connector_id
        transaction_header = TransactionHeader(
            transaction_flags,
            stream.stream_id.tx_sequence_id,
            stream.current,
            stream.previous,
            connector,
        )
    return headers_before_body(
        msmq.connector_type, transaction_header, _security_header(request, envelope, msmq)
    )


def _security_header(request: Request, envelope: Envelope, msmq: Msmq) -> SecurityHeader | None:
    """The provider, and the signature with its certificate; nobody has verified it yet."""
    provider = None
    if msmq.provider is not None:
        provider = ProviderInfo(msmq.provider.type, msmq.provider.name)
    if not envelope.signature:
        return None if provider is None else SecurityHeader(0, provider_info=provider)
    signature = read_signature(envelope.signature)
    signature.check_parts(
        body=request.body if request.body_offset else None, extension=request.extension
    )
    return SecurityHeader(
        0,
        signature=signature.value,
        sender_cert=signature.certificate,
        provider_info=provider,
    )


def _after_body(request: Request, msmq: Msmq) -> tuple[int, bytes]:
    """The flag of the MultiQueueFormatHeader, and all headers after the body."""
    # The reader of the envelope has checked that this is UTF-8.
    text = utf_16_le_encode(request.envelope.decode())[0] + _NUL
    compound_message = request.compound_message
    lists = read_lists(msmq)
    more = b"" if lists is None else lists.serialize()
    after = b"".join(
        (
            DebugHeader().serialize() if msmq.trace else b"",
            SRMP_ENVELOPE_HEADER.pack(SRMP_ENVELOPE_HEADER_ID, 0, len(text) >> 1),
            text,
            _PADDING[-len(text) & 3],
            COMPOUND_MESSAGE_HEADER.pack(
                COMPOUND_MESSAGE_HEADER_ID,
                0,
                len(compound_message),
                request.body_size,
                request.body_offset,
            ),
            compound_message,
            _PADDING[-len(compound_message) & 3],
            more,
        )
    )
    return 0 if lists is None else _MQ, after

"""The values of an SRMP envelope ([MC-MQSRM] 2.2.4 to 2.2.7), named as its elements.

Times are UTC seconds since 1970; `NEVER` is 20380119T031407. Texts are without markup and without
the white space around them.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.scalars import (
    GUID_NULL,
    MESSAGE_IDENTIFIER_SIZE,
    MessageIdentifier,
    TxSequenceID,
)

from .formats import ACTION_PREFIX, NEVER

NULL_CORRELATION: Final = bytes(MESSAGE_IDENTIFIER_SIZE)
# [MC-MQSRM] 3.1.5.1.1: the identifier of a message without <Msmq>.
NULL_IDENTIFIER: Final = MessageIdentifier(GUID_NULL, 1)


class Path(NamedTuple):
    """<path>: label, destination, identifier and response queue.

    Attributes:
        to: a URL, or `MSMQ:MULTICAST=address:port`.
        id: 1 of the null GUID where the envelope has no <Msmq>.
        action: the label with `MSMQ:` before it; any other text is not a label.
        via: the response queue, a URL or a format name after `MSMQ:`; empty for none.
    """

    to: str
    id: MessageIdentifier = NULL_IDENTIFIER
    action: str = ACTION_PREFIX
    via: str = ""


class Properties(NamedTuple):
    """<properties>: when the message expires and when it was sent."""

    expires_at: int = NEVER
    sent_at: int | None = None


class CommitmentReceiptRequest(NamedTuple):
    """<commitmentReceiptRequest>: which commitment receipts the sender wants, and where."""

    send_to: str
    positive_only: bool = False
    negative_only: bool = False


class Services(NamedTuple):
    """<services>: durability and receipts; `delivery_receipt_to` is empty for no receipt."""

    durable: bool = False
    delivery_receipt_to: str = ""
    commitment_receipt_request: CommitmentReceiptRequest | None = None


class StreamId(NamedTuple):
    """<streamId>: the queue manager that made the stream, and the number of the stream."""

    guid: UUID
    number: int

    @property
    def tx_sequence_id(self) -> TxSequenceID:
        """The number as packets have it: a time stamp and an ordinal."""
        return TxSequenceID.from_value(self.number)


class StreamEntry(NamedTuple):
    """<stream>: the place of a message in its stream.

    Attributes:
        previous: 0 where the element is absent.
        send_receipts_to: the URL in <start>; empty in a message that has no <start>.
    """

    stream_id: StreamId
    current: int
    previous: int = 0
    send_receipts_to: str = ""


class DeliveryReceipt(NamedTuple):
    """<deliveryReceipt>: a message reached its queue."""

    received_at: int
    id: MessageIdentifier


class CommitmentReceipt(NamedTuple):
    """<commitmentReceipt>: a message was received by an application, or left its queue unread."""

    decided_at: int
    positive: bool
    id: MessageIdentifier


class StreamReceipt(NamedTuple):
    """<streamReceipt>: all messages of a stream up to `last_ordinal` were accepted."""

    stream_id: StreamId
    last_ordinal: int


class Eod(NamedTuple):
    """<Eod>: the place of a message in its transaction."""

    first: bool = False
    last: bool = False
    connector_id: UUID | None = None


class Provider(NamedTuple):
    """<Provider>: the cryptographic service provider of the sender."""

    type: int
    name: str


class Msmq(NamedTuple):
    """<Msmq>: the properties of a message that only MSMQ knows.

    `destination_mqf`, `admin_mqf` and `response_mqf` hold format names as they were written: a URL
    stands for itself.
    """

    message_class: int
    priority: int
    source_qm_guid: UUID
    ttrq: int = NEVER
    journal: bool = False
    dead_letter: bool = False
    correlation: bytes = NULL_CORRELATION
    trace: bool = False
    connector_type: UUID | None = None
    app: int = 0
    body_type: int = 0
    hash_algorithm: int = 0
    eod: Eod | None = None
    provider: Provider | None = None
    destination_mqf: tuple[str, ...] = ()
    admin_mqf: tuple[str, ...] = ()
    response_mqf: tuple[str, ...] = ()


NO_SERVICES: Final = Services()


class Envelope(NamedTuple):
    """Everything that the header of an envelope says.

    Attributes:
        signature: the bytes of <Signature>, tags included; empty for none.
    """

    path: Path
    properties: Properties = Properties()
    services: Services = NO_SERVICES
    stream: StreamEntry | None = None
    stream_receipt: StreamReceipt | None = None
    delivery_receipt: DeliveryReceipt | None = None
    commitment_receipt: CommitmentReceipt | None = None
    msmq: Msmq | None = None
    signature: bytes = b""

    @property
    def identifier(self) -> MessageIdentifier:
        """The identifier of the message."""
        # [MC-MQSRM] note 7: <SourceQmGuid> wins over the GUID of <id>.
        if self.msmq is None:
            return self.path.id
        return MessageIdentifier(self.msmq.source_qm_guid, self.path.id.ordinal)

    @property
    def label(self) -> str | None:
        """The label; None where <action> does not begin with `MSMQ:`."""
        action = self.path.action
        return action[len(ACTION_PREFIX) :] if action.startswith(ACTION_PREFIX) else None

    @property
    def durable(self) -> bool:
        """Whether the message is recoverable: <durable/> says so, and <stream> implies it."""
        return self.services.durable or self.stream is not None

    @property
    def reach_queue_by(self) -> int:
        """When a message that has not reached its queue expires: <TTrq>, else <expiresAt>."""
        return self.properties.expires_at if self.msmq is None else self.msmq.ttrq

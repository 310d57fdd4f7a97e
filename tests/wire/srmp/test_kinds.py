"""[MC-MQSRM] 3.1.5.1.5: which entries, classes and decisions make which kind of message."""

from itertools import product
from uuid import UUID

import pytest

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.srmp import (
    CommitmentReceipt,
    DeliveryReceipt,
    Envelope,
    MessageKind,
    Msmq,
    Path,
    StreamId,
    StreamReceipt,
    kind_of,
)

GUID = UUID(int=5)
ACK = "MSMQ:QM Ordering Ack"
IDENTIFIER = MessageIdentifier(GUID, 1)
STREAM = StreamReceipt(StreamId(GUID, 1), 1)
DELIVERY = DeliveryReceipt(0, IDENTIFIER)
POSITIVE = CommitmentReceipt(0, True, IDENTIFIER)
NEGATIVE = CommitmentReceipt(0, False, IDENTIFIER)
REFUSALS = (0x8001, 0xC000, 0xC001, 0xC002, 0xC004)


def envelope(
    message_class: int | None,
    *,
    action: str = "MSMQ:",
    stream: StreamReceipt | None = None,
    delivery: DeliveryReceipt | None = None,
    commitment: CommitmentReceipt | None = None,
) -> Envelope:
    msmq = None if message_class is None else Msmq(message_class, 3, GUID)
    return Envelope(
        Path("http://host/msmq/q", action=action),
        msmq=msmq,
        stream_receipt=stream,
        delivery_receipt=delivery,
        commitment_receipt=commitment,
    )


@pytest.mark.parametrize("message_class", [0, None])
@pytest.mark.spec("MQSRM-3.1.5.1.5-01")
def test_messages_of_applications(message_class: int | None) -> None:
    assert kind_of(envelope(message_class)) is MessageKind.USER


@pytest.mark.spec("MQSRM-3.1.5.1.5-02")
def test_delivery_receipt() -> None:
    assert kind_of(envelope(2, delivery=DELIVERY)) is MessageKind.DELIVERY_RECEIPT


@pytest.mark.spec("MQSRM-3.1.5.1.5-03")
def test_stream_receipt() -> None:
    assert kind_of(envelope(255, action=ACK, stream=STREAM)) is MessageKind.STREAM_RECEIPT
    assert kind_of(envelope(255, stream=STREAM)) is MessageKind.UNKNOWN


@pytest.mark.spec("MQSRM-3.1.5.1.5-04")
def test_positive_final_stream_receipt() -> None:
    whole = envelope(0x4000, action=ACK, stream=STREAM, commitment=POSITIVE)
    assert kind_of(whole) is MessageKind.FINAL_STREAM_RECEIPT
    assert kind_of(whole._replace(path=Path("http://h/msmq/q"))) is MessageKind.UNKNOWN


@pytest.mark.spec("MQSRM-3.1.5.1.5-05")
@pytest.mark.parametrize("message_class", REFUSALS)
def test_negative_final_stream_receipts(message_class: int) -> None:
    whole = envelope(message_class, action=ACK, stream=STREAM, commitment=NEGATIVE)
    assert kind_of(whole) is MessageKind.FINAL_STREAM_RECEIPT


@pytest.mark.spec("MQSRM-3.1.5.1.5-06")
def test_positive_commitment_receipt() -> None:
    assert kind_of(envelope(0x4000, commitment=POSITIVE)) is MessageKind.COMMITMENT_RECEIPT


@pytest.mark.spec("MQSRM-3.1.5.1.5-07")
@pytest.mark.parametrize("message_class", REFUSALS)
def test_negative_commitment_receipts(message_class: int) -> None:
    whole = envelope(message_class, commitment=NEGATIVE)
    assert kind_of(whole) is MessageKind.COMMITMENT_RECEIPT


@pytest.mark.spec("MQSRM-3.1.5.1.5-08")
def test_every_other_combination_is_unknown() -> None:
    known = 0
    classes = [None, *MessageClass, 3, 0xFFFF]
    entries = product((None, DELIVERY), (None, POSITIVE, NEGATIVE), (None, STREAM))
    for (delivery, commitment, stream), message_class, action in product(
        list(entries), classes, (ACK, "MSMQ:")
    ):
        kind = kind_of(
            envelope(
                message_class,
                action=action,
                stream=stream,
                delivery=delivery,
                commitment=commitment,
            )
        )
        known += kind is not MessageKind.UNKNOWN
    # With either action: 2 user, 1 delivery receipt, 6 commitment receipts. With its own action
    # only: 1 stream receipt, 6 final stream receipts.
    assert known == 2 * (2 + 1 + 6) + 1 + 6

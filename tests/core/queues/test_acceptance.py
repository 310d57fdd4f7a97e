"""Which messages a queue takes, and from whom."""

import pytest
from tests.core.harness import SEND, USER, Harness, packet, refused, runs_of

from openmsmq.core.transfer.incoming.delivery import deliver
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

SPEC = pytest.mark.spec
SECRET = r".\private$\secret"
TAKEN = MessageClass.ACK_REACH_QUEUE
REFUSED = MessageClass.NACK_BAD_ENCRYPTION
CLEAR = packet(b"clear")
LABELLED = packet(b"clear, too", privacy_level=1)
ENCRYPTED = packet(
    b"cipher",
    privacy_level=1,
    security_header=SecurityHeader(
        SecurityHeaderFlags.EB | SenderIdType.SID, USER.sid.serialize(), b"key"
    ),
)


@SPEC("MQDMPR-3.1.1.2-07")
def test_a_queue_may_take_authenticated_messages_only(harness: Harness) -> None:
    harness.create(r".\private$\signed", authentication=True)
    with refused("MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
        harness.send(b"1", name=r".\private$\signed")
    harness.send(b"1")


# A message that came in the clear was not encrypted in transfer, whatever level it names.
@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param(QueuePrivacyLevel.NONE, TAKEN, marks=SPEC("MQDMPR-3.1.1.2-08")),
        pytest.param(QueuePrivacyLevel.OPTIONAL, TAKEN, marks=SPEC("MQDMPR-3.1.1.2-09")),
        pytest.param(QueuePrivacyLevel.BODY, REFUSED, marks=SPEC("MQDMPR-3.1.1.2-10")),
    ],
)
def test_a_message_from_another_machine_is_encrypted_if_its_body_is(
    harness: Harness, level: QueuePrivacyLevel, expected: MessageClass
) -> None:
    queue = harness.create(SECRET, privacy_level=level)
    messages = [UserMessage(each) for each in (CLEAR, LABELLED)]
    assert deliver(harness.qm.state, queue, runs_of(*messages)).classes == [expected] * 2


@pytest.mark.parametrize(
    "level",
    [
        pytest.param(QueuePrivacyLevel.NONE, marks=SPEC("MQDMPR-3.1.1.2-08")),
        QueuePrivacyLevel.OPTIONAL,
        QueuePrivacyLevel.BODY,
    ],
)
def test_an_encrypted_body_cannot_be_read_here(harness: Harness, level: QueuePrivacyLevel) -> None:
    queue = harness.create(SECRET, privacy_level=level)
    delivered = deliver(harness.qm.state, queue, runs_of(UserMessage(ENCRYPTED)))
    assert delivered.classes == [REFUSED]
    with refused("MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED"):
        harness.qm.traffic.enqueue_many(harness.open(SEND, SECRET), [ENCRYPTED])
    assert harness.contents(SECRET) == []


def test_an_encrypted_body_may_go_elsewhere(harness: Harness) -> None:
    elsewhere = harness.open(SEND, r"DIRECT=OS:elsewhere\private$\q")
    (message,) = harness.qm.traffic.enqueue_many(elsewhere, [ENCRYPTED]).messages
    assert message.packet is not None
    assert UserMessage(message.packet).encrypted


@pytest.mark.parametrize(
    ("level", "clear", "labelled"),
    [
        (QueuePrivacyLevel.NONE, True, False),
        pytest.param(QueuePrivacyLevel.OPTIONAL, True, True, marks=SPEC("MQDMPR-3.1.1.2-09")),
        (QueuePrivacyLevel.BODY, False, True),
    ],
)
def test_the_level_of_a_local_message_counts_because_its_body_does_not_travel(
    harness: Harness, level: QueuePrivacyLevel, *, clear: bool, labelled: bool
) -> None:
    harness.create(SECRET, privacy_level=level)
    descriptor = harness.open(SEND, SECRET)
    for each, accepted in ((CLEAR, clear), (LABELLED, labelled)):
        if accepted:
            harness.qm.traffic.enqueue_many(descriptor, [each])
            continue
        with refused("MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED"):
            harness.qm.traffic.enqueue_many(descriptor, [each])
    assert len(harness.contents(SECRET)) == clear + labelled

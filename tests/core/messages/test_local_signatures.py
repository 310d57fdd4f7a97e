"""Messages of local clients to local queues are verified like those of peers."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.transfer.checks.test_signatures import receiver, user
from tests.protocol.binary.pair import USER, Node
from tests.security.signatures.signer import message, signed, signing_key

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.queue_address import direct_address

HERE = r"DIRECT=TCP:10.0.0.2\private$\orders"
QUEUE = direct_address(HERE.removeprefix("DIRECT="))
OTHER = r"private$\other"


def node(**queue: Any) -> Node:
    _, b, _ = receiver(user(USER.sid), **queue)
    b.create(OTHER)
    return b


def packet(b: Node, **properties: Any) -> bytes:
    options = {"destination_queue": QUEUE, "source_queue_manager": b.guid, **properties}
    return signed(message(**options), signing_key(), sid=USER.sid)


def send(b: Node, *packets: bytes, each: bool = False, tx: bool = False) -> None:
    descriptor = b.qm.open_queue(HERE, QueueAccessType.SEND, caller=USER)
    if each:
        sent = b.qm.traffic.enqueue_each([descriptor] * len(packets), list(packets), caller=USER)
        for refusal in sent.refusals:
            raise refusal.error
        return
    transaction = b.qm.traffic.begin(UUID(int=77)) if tx else None
    b.qm.traffic.enqueue_many(descriptor, list(packets), transaction)
    if transaction is not None:
        b.qm.traffic.commit(transaction.identifier)


@pytest.mark.parametrize("each", [False, True])
def test_a_good_signature_is_accepted_and_noted(*, each: bool) -> None:
    b = node(authentication=True)
    send(b, packet(b), packet(b), each=each)
    assert [view.authentication_level for view in b.take()] == [3, 3]


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"correlation_id": bytes(20)}, "does not fit"),
        ({"source_queue_manager": UUID(int=9)}, "another queue manager"),
        (
            {"destination_queue": direct_address(r"TCP:10.0.0.2\private$\other")},
            "another queue is signed",
        ),
    ],
)
def test_another_signature_is_refused(change: dict[str, Any], reason: str, *, each: bool) -> None:
    b = node()
    with pytest.raises(QueueError, match=reason) as refused:
        send(b, rebuild(UserMessage(packet(b)), **change), each=each)
    assert refused.value.code == Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED
    send(b, packet(b), each=each)
    assert len(b.bodies()) == 1


def test_a_message_that_is_signed_for_another_queue_is_refused() -> None:
    b = node()
    elsewhere = packet(b, destination_queue=direct_address(r"TCP:10.0.0.2\private$\other"))
    with pytest.raises(QueueError, match="another queue is signed"):
        send(b, elsewhere)


@pytest.mark.parametrize("level", range(1, 16))
def test_a_level_that_a_client_claims_counts_for_nothing(level: int) -> None:
    b = node(authentication=True)
    bad = rebuild(UserMessage(packet(b)), correlation_id=bytes(20))
    claim = patch_authentication(UserMessage(bad), authenticated=True, level=level)
    with pytest.raises(QueueError, match="the signature is refused"):
        send(b, claim)
    send(b, packet(b))
    assert len(b.bodies()) == 1


def test_what_goes_to_another_machine_is_not_verified_here() -> None:
    b = node()
    far = r"DIRECT=TCP:10.0.0.9\private$\q"
    descriptor = b.qm.open_queue(far, QueueAccessType.SEND, caller=USER)
    bad = rebuild(UserMessage(packet(b)), correlation_id=bytes(20))
    b.qm.traffic.enqueue_many(descriptor, [bad], None)
    assert len(b.messages(b.outgoing(far))) == 1

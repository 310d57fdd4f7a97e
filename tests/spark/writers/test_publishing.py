"""The ways of packets into queues, without Spark."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.core.forgery import forged

import openmsmq
from openmsmq import Message, QueueManager
from openmsmq.spark.columns import message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.decoding.row_decoder import RowDecoder
from openmsmq.spark.writers import publishing
from openmsmq.spark.writers.publishing import AtOnce, OneTransaction, Staging, Targets
from openmsmq.spark.writers.row_encoder import Place, WrongQueue
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.message.user_message import UserMessage

ORDERS = r".\private$\orders"
PAID = r".\private$\paid"
SIGNED = r".\private$\signed"
FAR = r"DIRECT=TCP:127.0.0.99\private$\far"


@pytest.fixture
def qm(tmp_path: Path) -> Iterator[QueueManager]:
    with openmsmq.embedded(tmp_path) as manager:
        manager.create_queue(ORDERS, transactional=True)
        manager.create_queue(PAID)
        yield manager


def bodies(qm: QueueManager, queue: str) -> list[bytes]:
    return [message.body_bytes for message in qm.open_queue(queue).cursor()]


@pytest.mark.parametrize(
    "name",
    [r".\private$\nothing", "no name", f"{FAR},{FAR}", "DIRECT=nonsense", ORDERS + ";journal"],
)
def test_a_name_that_cannot_be_sent_to_is_told_apart_each_time(qm: QueueManager, name: str) -> None:
    targets = Targets(qm, "batch", transactional=None)
    for _ in range(2):
        with pytest.raises(WrongQueue):
            targets(name)


def test_a_queue_that_may_not_be_used_is_no_wrong_name(qm: QueueManager) -> None:
    qm.grant(PAID, "everyone", ["send"], deny=True)
    with pytest.raises(openmsmq.QueueError) as caught:
        Targets(qm, "batch", transactional=None)(PAID)
    assert not isinstance(caught.value, WrongQueue)


@pytest.mark.parametrize(
    ("transaction", "name", "transactional", "expected"),
    [
        ("batch", ORDERS, None, True),
        ("batch", PAID, None, False),
        ("batch", FAR, None, True),
        ("batch", FAR, False, False),
        ("partition", ORDERS, None, True),
        ("partition", FAR, None, True),
        ("none", PAID, None, False),
        ("none", FAR, None, False),
    ],
)
def test_packets_are_transactional_where_the_queue_is(
    qm: QueueManager,
    transaction: str,
    name: str,
    transactional: bool | None,  # noqa: FBT001 - a parameter of the test
    expected: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    target = Targets(qm, transaction, transactional=transactional)(name)
    assert UserMessage(target.builder.build(Message("x"))).transactional == expected


@pytest.mark.parametrize(
    ("name", "says", "expected", "place"),
    [
        (FAR, None, True, Place(FAR, transactional=True)),
        (FAR, True, True, Place(FAR, transactional=True)),
        (FAR, False, False, Place(FAR, transactional=False)),
        (ORDERS, False, True, Place(ORDERS)),
        (PAID, True, False, Place(PAID)),
    ],
)
def test_a_row_says_what_its_message_is_only_for_another_machine(
    qm: QueueManager,
    name: str,
    says: bool | None,  # noqa: FBT001 - a parameter of the test
    expected: bool,  # noqa: FBT001 - a parameter of the test
    place: Place,
) -> None:
    targets = Targets(qm, "batch", transactional=None)
    target = targets(name, says)
    assert UserMessage(target.builder.build(Message("x"))).transactional == expected
    assert target.place == place
    assert targets(*place).place == place


@pytest.mark.parametrize(("transaction", "name"), [("none", ORDERS), ("partition", PAID)])
def test_a_queue_that_does_not_fit_the_transaction_is_refused(
    qm: QueueManager, transaction: str, name: str
) -> None:
    with pytest.raises(ConfigError, match=f"option transaction: {transaction} .*; allowed is"):
        Targets(qm, transaction, transactional=None)(name)


def test_not_too_many_queues_stay_open(qm: QueueManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "MAX_TARGETS", 1)
    targets = Targets(qm, "batch", transactional=None)
    first = targets(ORDERS)
    assert targets(ORDERS) is first
    targets(PAID)
    assert targets(ORDERS) is not first


def test_a_task_that_gives_up_leaves_nothing(qm: QueueManager) -> None:
    target = Targets(qm, "batch", transactional=None)(ORDERS)
    packets = [target.builder.build(Message(b"x"))]
    staging = Staging(qm, "job", 0, 3)
    assert staging.finish() is None
    staging.send(target, packets)
    stage = staging.finish()
    assert stage is not None
    assert stage[0] == 3
    staged = qm.status()["staged_bytes"]
    assert staged > len(packets[0])
    other = Staging(qm, "job", 0, 3)
    other.send(target, packets)
    assert qm.status()["staged_bytes"] == 2 * staged
    other.give_up()
    assert qm.status()["staged_bytes"] == staged
    transaction = OneTransaction(qm)
    transaction.send(target, packets)
    transaction.give_up()
    assert qm.producer("job").commit(0, [stage])
    assert bodies(qm, ORDERS) == [b"x"]


def test_what_is_sent_at_once_stays_sent(qm: QueueManager) -> None:
    target = Targets(qm, "none", transactional=None)(PAID)
    way = AtOnce()
    way.send(target, [target.builder.build(Message(b"x"))])
    way.finish()
    way.give_up()
    assert bodies(qm, PAID) == [b"x"]


def test_staged_packets_cannot_vouch_for_themselves(qm: QueueManager) -> None:
    qm.create_queue(SIGNED, authenticate=True)
    producer = qm.producer("query")
    packets = [forged(b"1"), forged(b"2")]
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
        producer.stage_packets(0, 0, 0, SIGNED, packets)
    producer.stage_packets(0, 0, 0, PAID, packets)
    producer.commit(0, [(0, 0)])
    with qm.open_queue(PAID, access="peek") as opened:
        (block,) = [block for block in opened.ranges.peek(0, 2**56 - 1) if block.ends]
    schema = pa.schema([message_schema().field("authenticated")])
    for decoder in (BlockDecoder, RowDecoder):
        rows = decoder(schema, queue="q", queue_kind="queue").decode(block).to_pylist()
        assert rows == [{"authenticated": False}] * 2

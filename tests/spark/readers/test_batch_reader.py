"""Batch reads, driven as Spark drives them: a snapshot that is looked at and never taken."""

import json
import time

import pyarrow as pa
import pytest
from pyspark.sql.datasource import InputPartition
from tests.spark.reading import (
    ORDERS,
    batch_reader,
    batch_rows,
    labels,
    left,
    rows_of,
    send,
)

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.columns import COLUMNS
from openmsmq.spark.errors import DataLoss
from openmsmq.spark.readers.range_reader import UndecodedBody
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

EXPIRED = "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"


@pytest.fixture
def qm(msmq: QueueManager) -> QueueManager:
    msmq.create_queue(ORDERS)
    return msmq


def test_what_is_there_is_read_and_stays(qm: QueueManager) -> None:
    send(qm, "a", "ß — 日本")
    rows = batch_rows(qm)
    assert labels(rows) == ["a", "ß — 日本"]
    assert rows[0]["queue_kind"] == "queue"
    assert rows[0]["body"].decode("utf-16-le") == "body of a"
    assert left(qm) == 2


def test_an_empty_queue_has_no_partitions(qm: QueueManager) -> None:
    reader = batch_reader(qm)
    assert reader.partitions() == []
    # Spark makes up a partition then.
    assert rows_of(reader, [InputPartition(None)]) == []


def test_the_snapshot_does_not_grow(qm: QueueManager) -> None:
    send(qm, "a")
    reader = batch_reader(qm)
    parts = reader.partitions()
    send(qm, "b")
    assert labels(rows_of(reader, parts)) == ["a"]
    assert labels(rows_of(reader, parts)) == ["a"]


def test_a_snapshot_that_shrank_is_a_loss(qm: QueueManager) -> None:
    send(qm, "a", "b")
    reader = batch_reader(qm)
    parts = reader.partitions()
    qm.open_queue(ORDERS).receive(timeout=1)
    qm.flush()
    with pytest.raises(DataLoss, match="2 messages were planned"):
        rows_of(reader, parts)
    forgiving = batch_reader(qm, failOnDataLoss="false")
    assert labels(rows_of(forgiving, parts)) == ["b"]


def test_a_deleted_queue_is_a_loss(qm: QueueManager) -> None:
    send(qm, "a")
    reader = batch_reader(qm)
    parts = reader.partitions()
    qm.delete_queue(ORDERS)
    with pytest.raises(DataLoss, match="is gone"):
        rows_of(reader, parts)


def test_json_says_where_to_begin_and_to_end(qm: QueueManager) -> None:
    send(qm, "a", "b", "c", "d")
    seqs = [row["seq"] for row in batch_rows(qm)]
    found = batch_rows(
        qm,
        startingOffsets=json.dumps({ORDERS: seqs[0]}),
        endingOffsets=json.dumps({ORDERS: seqs[2]}),
    )
    assert labels(found) == ["b", "c"]
    assert batch_rows(qm, startingOffsets="latest") == []


def test_times_say_where_to_begin_and_to_end(qm: QueueManager) -> None:
    for name in "abcd":
        send(qm, name)
        time.sleep(0.002)
    moments = [row["arrived_time"].isoformat() for row in batch_rows(qm)]
    found = batch_rows(qm, startingTimestamp=moments[1], endingTimestamp=moments[3])
    assert labels(found) == ["b", "c"]


def test_queue_order_is_by_priority_and_then_arrival(qm: QueueManager) -> None:
    send(qm, "a", priority=0)
    send(qm, "b", priority=7)
    send(qm, "c", priority=0)
    send(qm, "d", priority=7)
    assert labels(batch_rows(qm)) == ["a", "b", "c", "d"]
    assert labels(batch_rows(qm, order="queue")) == ["b", "d", "a", "c"]
    qm.open_queue(ORDERS).purge()
    reader = batch_reader(qm, order="queue", failOnDataLoss="false")
    assert rows_of(reader, batch_reader(qm).partitions()) == []


def test_conditions_choose_rows_without_their_columns(qm: QueueManager) -> None:
    queue = qm.open_queue(ORDERS, "send")
    asked = queue.send_and_wait(openmsmq.Message("q", label="a", priority=2))
    queue.send(openmsmq.Message("x", label="b", priority=5, correlation_id=asked))
    send(qm, "b", priority=1)
    schema = pa.schema([("body_size", COLUMNS["body_size"].type)])
    for options, count in (
        ({"where__label": "b"}, 2),
        ({"where__label": "b", "where__priorityMin": "5"}, 1),
        ({"where__correlationId": asked}, 1),
        ({"where__class": "NORMAL"}, 3),
        ({"where__class": "ACK_RECEIVE"}, 0),
    ):
        reader = batch_reader(qm, schema, **options)
        rows = rows_of(reader, reader.partitions())
        assert len(rows) == count
        assert all(row.keys() == {"body_size"} for row in rows)


def test_failfast_stops_at_a_body_that_cannot_be_decoded(qm: QueueManager) -> None:
    queue = qm.open_queue(ORDERS, "send")
    queue.send_many([openmsmq.Message(b"\xff\xfe\xfd\x00\xd8"), openmsmq.Message("fine")])
    rows = batch_rows(qm, bodyFormat="text")
    assert [bool(row["decode_error"]) for row in rows] == [True, False]
    with pytest.raises(UndecodedBody, match="mode=permissive"):
        batch_rows(qm, bodyFormat="text", mode="failfast")


def test_the_columns_are_those_that_are_asked_for(qm: QueueManager) -> None:
    send(qm, "a")
    row = batch_rows(qm, include="headers,packet")[0]
    assert "body" not in row
    assert row["raw_packet"]


def test_subqueues_journals_and_dead_letters_are_read(qm: QueueManager) -> None:
    send(qm, "aside")
    queue = qm.open_queue(ORDERS)
    queue.move(rf"{ORDERS};held", count=1)
    rows = batch_rows(qm, queue=ORDERS, subqueue="held")
    assert labels(rows) == ["aside"]
    assert rows[0]["queue"].endswith(r"\private$\orders;held")
    assert rows[0]["queue_kind"] == "subqueue"
    qm.open_queue(ORDERS, "send").send_many(
        [openmsmq.Message("x", label="late", time_to_be_received=0, dead_letter=True)]
    )
    end = time.monotonic() + 10
    while not (dead := batch_rows(qm, kind="deadletter")) and time.monotonic() < end:
        time.sleep(0.05)
    assert [(row["label"], row["class_name"]) for row in dead] == [("late", EXPIRED)]
    assert dead[0]["queue_kind"] == "deadletter"
    for kind in ("xact_deadletter", "journal"):
        assert batch_rows(qm, kind=kind) == []


def test_outgoing_queues_are_looked_at(qm: QueueManager) -> None:
    destination = r"DIRECT=TCP:127.0.0.9\private$\far"
    qm.send(destination, openmsmq.Message("x", label="on its way"))
    qm.flush()
    for options in ({"queue": destination}, {"queuePattern": "direct=tcp:127*"}):
        rows = batch_rows(qm, kind="outgoing", **options)
        assert labels(rows) == ["on its way"]
        assert (rows[0]["queue"], rows[0]["queue_kind"]) == (destination, "outgoing")


def test_a_missing_queue_is_named(qm: QueueManager) -> None:
    with pytest.raises(QueueError, match=r"MQ_ERROR_QUEUE_NOT_FOUND: .*nowhere is not a queue of"):
        batch_rows(qm, queue=r".\private$\nowhere")


def test_a_batch_cannot_consume(qm: QueueManager) -> None:
    with pytest.raises(ConfigError, match="option consume: exclusive is for streams"):
        batch_reader(qm, consume="exclusive")


def test_messages_of_four_megabytes_are_read(qm: QueueManager) -> None:
    body = bytes(4_100_000)
    for name in ("a", "b", "c"):
        qm.open_queue(ORDERS, "send").send(openmsmq.Message(body, label=name))
    rows = batch_rows(qm)
    assert [(row["label"], row["body_size"]) for row in rows] == [
        (name, len(body)) for name in ("a", "b", "c")
    ]

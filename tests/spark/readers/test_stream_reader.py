"""Streams, driven as Spark drives them: what is read, what is removed, what is reported as lost."""

import json
import logging
import pickle
import time
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
)
from tests.spark.reading import KEY, ORDERS, Stream, labels, left, send

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.errors import DataLoss
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

MODES = [
    {"consume": "none"},
    {"consume": "exclusive"},
    {"consume": "lease", "consumerName": "test"},
]
every_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode["consume"])


@pytest.fixture
def qm(msmq: QueueManager) -> QueueManager:
    msmq.create_queue(ORDERS)
    return msmq


def create_again(qm: QueueManager) -> None:
    qm.delete_queue(ORDERS)
    qm.create_queue(ORDERS)


# Reading


@every_mode
def test_an_empty_queue_gives_nothing_and_the_same_offset(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    stream = Stream(qm, **mode)
    assert stream.plan() is stream.at
    assert stream.read(stream.at) == []


@every_mode
def test_messages_are_read_once_in_the_order_of_arrival(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    send(qm, "a", "b", "c")
    stream = Stream(qm, **mode)
    assert labels(stream.batch()) == ["a", "b", "c"]
    send(qm, "d", "ß — 日本")
    assert labels(stream.batch()) == ["d", "ß — 日本"]
    assert stream.batch() == []


@every_mode
def test_a_later_message_of_higher_priority_is_not_skipped(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    send(qm, "low", priority=0)
    stream = Stream(qm, **mode)
    assert labels(stream.batch()) == ["low"]
    send(qm, "high", priority=7)
    send(qm, "lower", priority=0)
    assert sorted(stream.all()) == ["high", "lower"]


def test_an_aborted_receive_holds_the_stream_up_and_is_not_skipped(
    qm: QueueManager, caplog: pytest.LogCaptureFixture
) -> None:
    tx_queue = qm.create_queue(r".\private$\tx", transactional=True)
    for name in ("a", "b", "c"):
        tx_queue.send(openmsmq.Message(name, label=name), transaction="single")
    stream = Stream(qm, queue=r".\private$\tx")
    transaction = qm.transaction()
    with transaction:
        assert tx_queue.receive(timeout=1, transaction=transaction).label == "a"
        with caplog.at_level(logging.WARNING):
            assert stream.batch() == []
        assert "messages are locked by transaction" in caplog.text
        transaction.abort()
    assert labels(stream.batch()) == ["a", "b", "c"]


def test_several_queues_are_read_together(qm: QueueManager) -> None:
    qm.create_queue(r".\private$\other")
    send(qm, "a")
    send(qm, "b", queue=r".\private$\other")
    stream = Stream(qm, queues=rf"{ORDERS}, .\private$\other")
    assert sorted(labels(stream.batch())) == ["a", "b"]
    send(qm, "c")
    rows = stream.batch()
    assert labels(rows) == ["c"]
    assert rows[0]["queue"] == rf"DIRECT=OS:{qm.identity.name}\private$\orders"


def test_a_hundred_queues_by_pattern_and_one_more(qm: QueueManager) -> None:
    for number in range(100):
        name = rf".\private$\part-{number:02}"
        qm.create_queue(name)
        send(qm, f"{number}", queue=name)
    send(qm, "not wanted")
    stream = Stream(qm, queuePattern=r".\PRIVATE$\part-*", startingOffsets="latest")
    assert stream.batch() == []
    for number in (7, 93):
        send(qm, f"new {number}", queue=rf".\private$\part-{number:02}")
    qm.create_queue(r".\private$\part-late")
    send(qm, "of a new queue", queue=r".\private$\part-late")
    assert sorted(labels(stream.batch())) == ["new 7", "new 93", "of a new queue"]
    assert stream.plan() is stream.at


def test_a_queue_of_another_machine_is_refused_with_the_reason(qm: QueueManager) -> None:
    with pytest.raises(QueueError, match="msmq://host for any MSMQ server"):
        Stream(qm, queue=r"DIRECT=OS:elsewhere\private$\orders")


def test_the_reader_of_tasks_can_be_sent_to_them(qm: QueueManager) -> None:
    send(qm, "a")
    stream = Stream(qm)
    end = stream.plan()
    parts = stream.reader.partitions(stream.at, end)
    fresh = Stream(qm, at=stream.at).reader
    copy, part = pickle.loads(pickle.dumps((fresh, parts[0])))  # noqa: S301 - as Spark does
    assert labels(row for batch in copy.read(part) for row in batch.to_pylist()) == ["a"]
    assert "RangePartition" in repr(part)


# Where a stream begins


def test_latest_leaves_older_mail_unread_and_in_place(qm: QueueManager) -> None:
    send(qm, "old 1", "old 2")
    stream = Stream(qm, startingOffsets="latest", consume="exclusive")
    send(qm, "new")
    assert stream.all() == ["new"]
    assert left(qm) == 2


def test_latest_is_the_same_place_whenever_spark_asks(qm: QueueManager) -> None:
    stream = Stream(qm, startingOffsets="latest")
    send(qm, "a")
    assert stream.reader.initialOffset() == stream.at
    end = stream.plan()
    # A crash before the first commit: the next run asks anew where to begin.
    send(qm, "b")
    restarted = Stream(qm, startingOffsets="latest")
    assert restarted.at != stream.at
    assert labels(restarted.read(end)) == ["a"]
    restarted.at = end
    assert labels(restarted.batch()) == ["b"]


def test_json_says_where_to_begin(qm: QueueManager) -> None:
    send(qm, "a", "b", "c")
    first = Stream(qm).at
    second = Stream(qm)
    second.batch(ReadMaxRows(2))
    checkpoint = json.dumps(second.at)
    assert labels(Stream(qm, startingOffsets=checkpoint).batch()) == ["c"]
    seq = second.at["queues"][KEY]["seq"]
    by_name = json.dumps({rf"{qm.identity.name}\PRIVATE$\orders": seq})
    stream = Stream(qm, startingOffsets=by_name, consume="exclusive")
    assert stream.all() == ["c"]
    assert left(qm) == 2
    word = Stream(qm, startingOffsets=json.dumps({ORDERS: "earliest"}))
    assert word.at == first


def test_json_must_name_all_queues_as_they_are(qm: QueueManager) -> None:
    with pytest.raises(ConfigError, match=r"startingOffsets: must have one entry for each queue"):
        Stream(qm, startingOffsets='{".\\\\private$\\\\other": 5}')
    offset = Stream(qm).at
    create_again(qm)
    with pytest.raises(ConfigError, match="deleted and created again"):
        Stream(qm, startingOffsets=json.dumps(offset))


def test_a_time_says_where_to_begin(qm: QueueManager) -> None:
    queue = qm.open_queue(ORDERS, "receive")
    for number in range(9):
        send(qm, str(number), priority=number % 8)
        time.sleep(0.002)
    times = [message.arrived_time.timestamp() for message in queue.cursor()]
    moments = sorted(times)
    for number in (0, 4, 8):
        stream = Stream(qm, startingTimestamp=repr(moments[number]))
        assert labels(stream.batch()) == [str(each) for each in range(number, 9)]
    assert Stream(qm, startingTimestamp=repr(moments[-1] + 5)).batch() == []


def test_offsets_of_a_checkpoint_may_be_in_any_order(qm: QueueManager) -> None:
    qm.create_queue(r".\private$\a")
    send(qm, "x")
    both = {"queues": rf"{ORDERS},.\private$\a"}
    stream = Stream(qm, **both)
    stream.batch()
    unsorted = {
        "queues": {
            key: dict(reversed(entry.items()))
            for key, entry in reversed(stream.at["queues"].items())
        },
        "v": 1,
    }
    restarted = Stream(qm, at=unsorted, **both)
    assert restarted.plan() is unsorted
    send(qm, "y")
    assert labels(restarted.batch()) == ["y"]


# Limits


def test_limits_of_messages_and_bytes_count_together(qm: QueueManager) -> None:
    send(qm, *map(str, range(20)))
    stream = Stream(qm, maxMessagesPerTrigger="8", maxBytesPerTrigger="1g")
    assert stream.reader.getDefaultReadLimit() == ReadMaxRows(8)
    assert len(stream.batch()) == 8
    small = Stream(qm, maxMessagesPerTrigger="8", maxBytesPerTrigger="1k")
    assert 0 < len(small.batch()) < 8
    assert len(small.batch(ReadAllAvailable())) > 8


def test_the_limits_of_the_engine_are_kept(qm: QueueManager) -> None:
    send(qm, *map(str, range(20)))
    assert len(Stream(qm).batch(ReadMaxRows(3))) == 3
    assert len(Stream(qm).batch(ReadMaxBytes(1))) == 1
    by_bytes = Stream(qm, maxBytesPerTrigger="500")
    assert by_bytes.reader.getDefaultReadLimit() == ReadMaxBytes(500)
    assert by_bytes.batch()
    assert Stream(qm).reader.getDefaultReadLimit() == ReadAllAvailable()


@every_mode
def test_small_batches_wait_for_more_messages_or_for_their_time(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    options = {**mode, "minMessagesPerTrigger": "3", "maxTriggerDelay": "200ms"}
    stream = Stream(qm, **options)
    assert stream.reader.getDefaultReadLimit() == ReadMinRows(3)
    send(qm, "at once")
    assert labels(stream.batch()) == ["at once"]
    send(qm, "a")
    assert stream.plan() is stream.at
    send(qm, "b", "c")
    assert labels(stream.batch()) == ["a", "b", "c"]
    send(qm, "d")
    time.sleep(0.25)
    assert labels(stream.batch()) == ["d"]


@every_mode
def test_available_now_reads_what_is_there_and_no_more(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    send(qm, "a", "b", "c")
    stream = Stream(qm, maxMessagesPerTrigger="2", minMessagesPerTrigger="2", **mode)
    stream.reader.prepareForTriggerAvailableNow()
    assert labels(stream.batch()) == ["a", "b"]
    send(qm, "late", "later", "latest")
    assert labels(stream.batch()) == ["c"]
    assert stream.plan() is stream.at
    assert left(qm) == (6 if mode["consume"] == "none" else 3)


def test_available_now_leaves_queues_alone_that_came_later(qm: QueueManager) -> None:
    stream = Stream(qm, queuePattern=r"private$\*")
    stream.reader.prepareForTriggerAvailableNow()
    qm.create_queue(r".\private$\late")
    send(qm, "late", queue=r".\private$\late")
    assert stream.plan() is stream.at


def test_partitions_are_as_many_as_wanted_and_as_small(qm: QueueManager) -> None:
    send(qm, *(f"{number:02}" for number in range(30)))
    for options, expected in (
        ({"minPartitions": "3"}, [10, 10, 10]),
        ({"maxMessagesPerPartition": "20"}, [20, 10]),
        ({"minPartitions": "2", "maxMessagesPerPartition": "10"}, [10, 5, 10, 5]),
        ({"minPartitions": "100"}, [1] * 30),
        ({}, [30]),
    ):
        stream = Stream(qm, **options)
        parts: list[Any] = list(stream.reader.partitions(stream.at, stream.plan()))
        assert [part.planned.count for part in parts] == expected


# What is removed, and when


def test_what_is_committed_is_removed_when_the_next_batch_is_planned(qm: QueueManager) -> None:
    send(qm, "a", "b")
    stream = Stream(qm, consume="exclusive", maxMessagesPerTrigger="1")
    end = stream.plan()
    assert left(qm) == 2
    stream.at = end
    stream.plan()
    assert left(qm) == 1


@pytest.mark.parametrize("mode", MODES[1:], ids=lambda mode: mode["consume"])
def test_commit_removes_what_it_names_and_may_be_repeated(
    qm: QueueManager, mode: dict[str, str]
) -> None:
    send(qm, "a", "b")
    stream = Stream(qm, maxMessagesPerTrigger="1", **mode)
    end = stream.plan()
    assert labels(stream.read(end)) == ["a"]
    stream.reader.commit(end)
    stream.reader.commit(end)
    assert left(qm) == 1
    again = Stream(qm, at=end, **mode) if mode["consume"] == "none" else stream
    again.at = end
    assert labels(again.batch()) == ["b"]


def test_looking_removes_nothing(qm: QueueManager) -> None:
    send(qm, "a", "b")
    stream = Stream(qm)
    stream.all()
    stream.reader.commit(stream.at)
    assert left(qm) == 2


def test_journals_are_drained_in_exclusive_mode(qm: QueueManager) -> None:
    qm.create_queue(r".\private$\kept", journal=True)
    send(qm, "a", queue=r".\private$\kept")
    qm.open_queue(r".\private$\kept").receive(timeout=1)
    qm.flush()
    stream = Stream(qm, queue=r".\private$\kept", kind="journal", consume="exclusive")
    rows = stream.batch()
    assert labels(rows) == ["a"]
    assert rows[0]["queue_kind"] == "journal"
    stream.plan()
    assert qm.queue_info(r".\private$\kept")["journal_messages"] == 0


# Several readers


def test_any_number_of_streams_may_look(qm: QueueManager) -> None:
    send(qm, "a", "b")
    first, second = Stream(qm), Stream(qm)
    assert first.all() == second.all() == ["a", "b"]


def test_exclusive_keeps_other_receivers_out_but_not_those_who_look(qm: QueueManager) -> None:
    send(qm, "a")
    stream = Stream(qm, consume="exclusive")
    with pytest.raises(
        QueueError, match=r"needs it alone, and .* by a reader that keeps others out; consume=lease"
    ):
        Stream(qm, consume="exclusive")
    with pytest.raises(QueueError, match="MQ_ERROR_SHARING_VIOLATION"):
        qm.open_queue(ORDERS)
    assert Stream(qm).all() == ["a"]
    stream.reader.stop()
    assert Stream(qm, consume="exclusive").all() == ["a"]
    assert left(qm) == 0


def test_consumers_share_a_queue_by_leases(qm: QueueManager) -> None:
    send(qm, *"abcdef")
    limit = {"maxMessagesPerTrigger": "2", "consume": "lease"}
    first = Stream(qm, consumerName="first", **limit)
    second = Stream(qm, consumerName="second", **limit)
    assert labels(first.batch()) == ["a", "b"]
    assert labels(second.batch()) == ["c", "d"]
    assert labels(first.batch()) == ["e", "f"]
    with pytest.raises(QueueError, match="needs it alone"):
        Stream(qm, consumerName="first", **limit)


def test_a_later_run_of_a_consumer_shuts_out_the_earlier_one(qm: QueueManager) -> None:
    send(qm, "a", "b")
    stream = Stream(qm, consume="lease", consumerName="x", maxMessagesPerTrigger="1")
    stream.batch()
    qm.open_queue(ORDERS).ranges.lease("x", time.time_ns(), max_rows=0, max_bytes=0)
    with pytest.raises(QueueError, match="MQ_ERROR_STALE_HANDLE: consumer x was started again"):
        stream.plan()


def test_messages_moved_aside_but_not_logged_come_first_after_a_crash(qm: QueueManager) -> None:
    send(qm, "a", "b", "c")
    lease = {"consume": "lease", "consumerName": "x", "maxMessagesPerTrigger": "2"}
    crashed = Stream(qm, **lease)
    begin = crashed.at
    crashed.plan()
    crashed.reader.stop()
    assert left(qm) == 1
    restarted = Stream(qm, at=begin, **lease)
    assert labels(restarted.batch()) == ["a", "b"]
    assert labels(restarted.batch()) == ["c"]
    restarted.plan()
    assert qm.queue_info(ORDERS)["subqueues"] in ([], ["spark-x"])
    assert left(qm) == 0


# What is lost is reported


def take_one(qm: QueueManager) -> None:
    qm.open_queue(ORDERS).receive(timeout=1)
    qm.flush()


def purge(qm: QueueManager) -> None:
    qm.open_queue(ORDERS).purge()


@pytest.mark.parametrize("harm", [take_one, purge, create_again], ids=lambda harm: harm.__name__)
def test_a_loss_before_the_tasks_is_reported(qm: QueueManager, harm: Any) -> None:
    send(qm, "a", "b", "c")
    stream = Stream(qm)
    end = stream.plan()
    harm(qm)
    with pytest.raises(DataLoss, match=r"orders.*failOnDataLoss=false"):
        stream.read(end)


@pytest.mark.parametrize("harm", [take_one, purge, create_again], ids=lambda harm: harm.__name__)
def test_a_loss_before_a_task_reads_is_reported(qm: QueueManager, harm: Any) -> None:
    send(qm, "a", "b", "c")
    stream = Stream(qm)
    parts = stream.reader.partitions(stream.at, stream.plan())
    harm(qm)
    with pytest.raises(DataLoss, match=r"orders.*failOnDataLoss=false"):
        list(stream.reader.read(parts[0]))


def test_expiry_between_plan_and_read_is_reported_unless_pinned(qm: QueueManager) -> None:
    sender = qm.open_queue(ORDERS, "send")
    for pinned in ("false", "10s"):
        sender.send(openmsmq.Message("x", label="short", time_to_be_received=1))
        stream = Stream(qm, consume="exclusive", pin=pinned)
        end = stream.plan()
        time.sleep(2.2)
        if pinned == "false":
            with pytest.raises(DataLoss, match=r"1 messages were planned .* 0 are there"):
                stream.read(end)
        else:
            assert labels(stream.read(end)) == ["short"]
        stream.reader.stop()


def test_a_loss_is_a_warning_when_the_query_is_to_go_on(
    qm: QueueManager, caplog: pytest.LogCaptureFixture
) -> None:
    send(qm, "a", "b", "c")
    stream = Stream(qm, failOnDataLoss="false")
    end = stream.plan()
    take_one(qm)
    with caplog.at_level(logging.WARNING):
        assert labels(stream.read(end)) == ["b", "c"]
    assert "3 messages were planned" in caplog.text
    stream.at = end
    create_again(qm)
    send(qm, "d")
    assert labels(stream.batch()) == ["d"]
    assert "created again" in caplog.text
    qm.delete_queue(ORDERS)
    assert stream.batch() == []
    assert "is gone, and what it held with it" in caplog.text
    # It is told once, and is known to whoever goes on from here.
    strict = Stream(qm, at=stream.at)
    assert strict.plan() is stream.at
    qm.create_queue(ORDERS)
    send(qm, "e")
    assert labels(strict.batch()) == ["e"]


@every_mode
def test_a_queue_that_was_created_again_is_a_loss(qm: QueueManager, mode: dict[str, str]) -> None:
    send(qm, "a")
    stream = Stream(qm, **mode)
    stream.batch()
    create_again(qm)
    with pytest.raises(DataLoss, match="was deleted and created again"):
        stream.plan()


def test_a_queue_that_is_gone_is_a_loss(qm: QueueManager) -> None:
    stream = Stream(qm)
    qm.delete_queue(ORDERS)
    with pytest.raises(DataLoss, match="is gone, and what it held with it"):
        stream.plan()


@every_mode
def test_a_queue_that_is_not_named_any_more_stays_where_it_is(
    qm: QueueManager, mode: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    qm.create_queue(r".\private$\other")
    send(qm, "a")
    first = Stream(qm, **mode)
    assert labels(first.batch()) == ["a"]
    first.reader.stop()
    send(qm, "b", "c", queue=r".\private$\other")
    send(qm, "d")
    with caplog.at_level(logging.WARNING):
        other = Stream(qm, at=first.at, queue=r".\private$\other", **mode)
        assert labels(other.batch()) == ["b", "c"]
        assert other.batch() == []
    assert caplog.text.count("not named any more") == 1
    other.reader.stop()
    both = Stream(qm, at=other.at, queuePattern=r"private$\*", **mode)
    assert labels(both.batch()) == ["d"]


def test_a_batch_that_has_begun_needs_its_queues_named(qm: QueueManager) -> None:
    qm.create_queue(r".\private$\other")
    send(qm, "a")
    begun = Stream(qm)
    end = begun.plan()
    other = Stream(qm, at=begun.at, queue=r".\private$\other")
    with pytest.raises(DataLoss, match="not named any more, and a batch that has begun"):
        other.read(end)


def test_a_queue_of_a_pattern_that_is_gone_is_a_loss(qm: QueueManager) -> None:
    qm.create_queue(r".\private$\other")
    stream = Stream(qm, queuePattern=r"PRIVATE$\*", failOnDataLoss="true")
    qm.delete_queue(ORDERS)
    with pytest.raises(DataLoss, match="orders is gone, and what it held with it"):
        stream.plan()


@pytest.mark.parametrize("name", [r".\private$\ORDERS", r"DIRECT=TCP:127.0.0.1\private$\orders"])
def test_a_queue_under_another_name_is_not_read_again(qm: QueueManager, name: str) -> None:
    send(qm, "a")
    stream = Stream(qm)
    stream.batch()
    with pytest.raises(ConfigError, match=r"the checkpoint has as .*orders; name it so"):
        Stream(qm, at=stream.at, queue=name).plan()


def test_what_is_locked_now_and_back_later_is_read_by_a_query_that_goes_on(
    qm: QueueManager,
) -> None:
    queue = qm.create_queue(r".\private$\tx", transactional=True)
    for name in ("a", "b", "c"):
        queue.send(openmsmq.Message(name, label=name), transaction="single")
    stream = Stream(qm, queue=r".\private$\tx", failOnDataLoss="false")
    end = stream.plan()
    with qm.transaction() as transaction:
        queue.receive(timeout=1, transaction=transaction)
        parts = stream.reader.partitions(stream.at, end)
        transaction.abort()
    found = [
        row for part in parts for batch in stream.reader.read(part) for row in batch.to_pylist()
    ]
    assert labels(found) == ["a", "b", "c"]


# The queue manager comes and goes


def test_a_stream_goes_on_with_a_queue_manager_that_was_started_again(tmp_path: Any) -> None:
    first = openmsmq.embedded(tmp_path)
    with first as qm:
        qm.create_queue(ORDERS)
        qm.open_queue(ORDERS, "send").send(openmsmq.Message("x", label="a", delivery="recoverable"))
        stream = Stream(qm, consume="exclusive", connectTimeout="10s")
        end = stream.plan()
    with openmsmq.embedded(tmp_path) as again:
        assert labels(stream.read(end)) == ["a"]
        stream.at = end
        assert stream.plan() is end
        assert left(again) == 0
        stream.reader.stop()


def test_what_the_queues_hold_is_told_to_spark(qm: QueueManager) -> None:
    stream = Stream(qm)
    send(qm, "a", "b")
    stream.batch()
    told = stream.reader.reportLatestOffset()
    assert told is not None
    assert told["queues"][KEY]["messages"] == 2
    assert Stream(qm, at=stream.at).reader.reportLatestOffset() is None

"""Writing through Spark into real queues."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import openmsmq
from openmsmq.spark.options.records import WriteOptions
from openmsmq.spark.writers.write_columns import write_columns
from openmsmq.spark.writers.writer import BatchWriter, StreamWriter
from openmsmq.wire.errors import ConfigError

if TYPE_CHECKING:
    from openmsmq import Queue, QueueManager

# Machines are busy at times, and Spark is slow to start then.
pytestmark = pytest.mark.timeout(600)

ORDERS = r".\private$\orders"
PAID = r".\private$\paid"
DEAD = r".\private$\dead"


@pytest.fixture
def qm(tmp_path: Path) -> Iterator["QueueManager"]:
    with openmsmq.embedded(tmp_path / "qm") as manager:
        manager.create_queue(ORDERS, transactional=True)
        manager.create_queue(PAID)
        manager.create_queue(DEAD, transactional=True)
        yield manager


def save(frame: DataFrame, qm: "QueueManager", mode: str = "append", **options: str) -> None:
    # Option names have dots and capitals; keyword arguments keep the latter.
    writer = frame.write.format("msmq").mode(mode).option("endpoint", qm.address)
    writer.options(**({"queue": ORDERS} | options)).save()


def bodies(qm: "QueueManager", queue: str = ORDERS) -> list[bytes]:
    return [message.body_bytes for message in qm.open_queue(queue).cursor()]


def staged(qm: "QueueManager") -> int:
    return int(qm.status()["staged_bytes"])


def numbers(spark: SparkSession, count: int, partitions: int = 1) -> DataFrame:
    frame = spark.range(0, count, 1, partitions)
    return frame.selectExpr("cast(cast(id as string) as binary) as body", "'n' as label")


def test_rows_become_messages_in_the_order_of_partitions_and_rows(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    save(numbers(spark, 7000, 3), qm)
    assert bodies(qm) == [str(number).encode() for number in range(7000)]
    message = qm.open_queue(ORDERS).peek(timeout=0)
    assert (message.label, message.transactional, message.delivery) == ("n", True, "recoverable")
    assert staged(qm) == 0


def test_a_save_is_repeated_without_effect_under_its_key(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    frame = numbers(spark, 10, 2)
    save(frame, qm, idempotencyKey="monday")
    save(frame, qm, idempotencyKey="monday")
    assert len(bodies(qm)) == 10
    save(frame, qm, idempotencyKey="tuesday")
    save(frame, qm)
    assert len(bodies(qm)) == 30
    assert staged(qm) == 0


def test_rows_choose_their_queues_and_columns_are_renamed(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    frame = spark.createDataFrame(
        [(PAID, "one", 5, 1), (None, "two", 6, 2), (ORDERS, "three", 7, 3)],
        "to string, text string, rank int, extra int",
    )
    save(
        frame,
        qm,
        queueColumn="to",
        bodyColumn="text",
        priorityColumn="rank",
        ignoreUnknownColumns="true",
    )
    assert [message.body for message in qm.open_queue(ORDERS).cursor()] == ["two", "three"]
    (paid,) = qm.open_queue(PAID).cursor()
    assert (paid.body, paid.priority, paid.transactional) == ("one", 5, False)


def test_a_row_that_does_not_fit_fails_the_save_and_leaves_nothing(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    frame = numbers(spark, 100, 2).selectExpr("body", "if(body = '70', 9, 3) as priority")
    with pytest.raises(PySparkException, match=r"row 20 of partition 1, column priority: 9 is not"):
        save(frame, qm)
    assert bodies(qm) == []
    assert staged(qm) == 0


def test_rows_that_do_not_fit_go_to_the_dead_letter_queue_with_their_batch(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    frame = spark.createDataFrame(
        [(b"good", "a"), (b"bad", "x" * 300), (bytes(5_000_000), "large"), (b"text", None)],
        "body binary, label string",
    ).coalesce(1)
    # A text that is none: Spark does not check that.
    frame = frame.selectExpr("body", "coalesce(label, cast(x'ff' as string)) as label")
    save(frame, qm, onError="deadletter", deadLetterQueue=DEAD)
    assert bodies(qm) == [b"good"]
    bad, large, broken = (
        (message.label, json.loads(message.body_bytes)) for message in qm.open_queue(DEAD).cursor()
    )
    assert bad[0].startswith("label: a label has at most 249")
    assert (bad[1]["column"], bad[1]["row"]["body"], bad[1]["cut"]) == (
        "label",
        base64.b64encode(b"bad").decode(),
        [],
    )
    assert bad[1]["at"].startswith("row 1 of partition 0")
    assert (large[1]["column"], large[1]["row"]["label"], large[1]["cut"]) == (
        "body",
        "large",
        ["body"],
    )
    assert (broken[1]["column"], broken[1]["row"]["label"]) == ("label", "\ufffd")


def test_rows_that_do_not_fit_are_skipped_when_asked_for(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    frame = spark.createDataFrame(
        [(b"a", "nowhere at all"), (b"b", PAID)], "body binary, queue string"
    )
    save(frame, qm, onError="skip", queueColumn="queue")
    assert (bodies(qm, PAID), bodies(qm)) == ([b"b"], [])


def test_overwriting_replaces_what_was_there(spark: SparkSession, qm: "QueueManager") -> None:
    save(numbers(spark, 5), qm)
    with pytest.raises(PySparkException, match="purge=true"):
        save(numbers(spark, 3), qm, "overwrite")
    save(numbers(spark, 3), qm, "overwrite", purge="true", idempotencyKey="k")
    assert bodies(qm) == [b"0", b"1", b"2"]
    save(numbers(spark, 3), qm, "overwrite", purge="true", idempotencyKey="k")
    assert bodies(qm) == [b"0", b"1", b"2"]


@pytest.mark.parametrize(("transaction", "queue"), [("partition", ORDERS), ("none", PAID)])
def test_other_ways_to_write(
    spark: SparkSession, qm: "QueueManager", transaction: str, queue: str
) -> None:
    save(numbers(spark, 3000), qm, queue=queue, transaction=transaction)
    assert bodies(qm, queue) == [str(number).encode() for number in range(3000)]
    wrong = PAID if queue == ORDERS else ORDERS
    with pytest.raises(PySparkException, match=f"option transaction: {transaction} .*allowed is"):
        save(numbers(spark, 1), qm, queue=wrong, transaction=transaction)


def test_captured_packets_are_sent_again(spark: SparkSession, qm: "QueueManager") -> None:
    paid: Queue = qm.open_queue(PAID)
    paid.send(openmsmq.Message("text", "label", app_specific=3))
    packet = paid.peek(timeout=5).packet
    save(spark.createDataFrame([(packet,)], "raw_packet binary"), qm)
    message = qm.open_queue(ORDERS).receive(timeout=0)
    assert (message.body, message.label, message.app_specific) == ("text", "label", 3)


def test_bodies_of_four_megabytes_are_written_and_read(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    size = 4_100_000
    frame = spark.range(3).selectExpr(f"cast(repeat(cast(id as string), {size}) as binary) body")
    save(frame.coalesce(1), qm)
    assert bodies(qm) == [b"%d" % number * size for number in range(3)]
    rows = spark.read.format("msmq").options(endpoint=qm.address, queue=ORDERS).load()
    found = rows.orderBy("seq").selectExpr("cast(substr(body, 1, 1) as string)", "length(body)")
    assert [tuple(row) for row in found.collect()] == [(str(each), size) for each in range(3)]


def test_a_queue_that_is_not_there_is_an_error_also_for_no_rows(
    spark: SparkSession, qm: "QueueManager"
) -> None:
    with pytest.raises(PySparkException, match=r"MQ_ERROR_QUEUE_NOT_FOUND|no such queue"):
        save(numbers(spark, 0), qm, queue=r".\private$\nothing")


SCHEMA = "body binary"


@pytest.mark.parametrize(
    ("options", "schema", "text"),
    [
        (
            {"transaction": "some"},
            SCHEMA,
            "option transaction: 'some' must be one of batch, partition, none",
        ),
        ({"onError": "ignore"}, SCHEMA, "option onError: .* must be one of fail, deadletter, skip"),
        ({"onError": "deadletter"}, SCHEMA, "option deadLetterQueue: needed"),
        ({"deadLetterQueue": DEAD}, SCHEMA, "option deadLetterQueue: for onError=deadletter only"),
        ({"qeueu": "x"}, SCHEMA, "option qeueu: unknown; did you mean queue"),
        ({"queue": ""}, SCHEMA, "option queue: must not be empty"),
        ({"purge": "true"}, SCHEMA, "option purge: for"),
        (
            {"bodyEncoding": "latin"},
            SCHEMA,
            "option bodyEncoding: 'latin' must be one of utf-16, utf-8",
        ),
        ({"idempotencyKey": "k", "transaction": "none"}, SCHEMA, "option idempotencyKey: for"),
        (
            {"transactional": "true", "transaction": "none"},
            SCHEMA,
            "true is not for transaction=none",
        ),
        (
            {"transactional": "false", "transaction": "partition"},
            SCHEMA,
            "false is not for transaction=partition",
        ),
        (
            {"transactionalColumn": "plain", "transaction": "none"},
            "body binary, plain boolean",
            "option transactionalColumn: for transaction=batch only",
        ),
        (
            {"transactionalColumn": "plain"},
            "body binary, plain string",
            "column plain: is string; allowed is boolean",
        ),
        ({"appSpecificColumn": "n"}, SCHEMA, "option appSpecificColumn: there is no column 'n'"),
        ({"labelColumn": "name"}, SCHEMA, "option labelColumn: there is no column 'name'"),
        ({}, "body binary, colour string", "column colour: no property of a message"),
        ({}, "body int", "column body: is int; allowed is binary, string"),
        ({}, "body binary, priority string", "column priority: is string; allowed is tinyint"),
        ({}, "label string", "column body: missing"),
    ],
)
def test_wrong_options_and_columns_fail_in_the_constructor(
    options: dict[str, str], schema: str, text: str
) -> None:
    with pytest.raises(ConfigError, match=text):
        BatchWriter({"queue": ORDERS} | options, _schema(schema), overwrite=False)


def test_a_queue_must_be_named_by_option_or_column() -> None:
    with pytest.raises(ConfigError, match="option queue: needed"):
        BatchWriter({}, _schema(SCHEMA), overwrite=False)
    BatchWriter({}, _schema("body binary, queue string"), overwrite=False)


@pytest.mark.parametrize(
    ("options", "overwrite", "text"),
    [
        ({"purge": "true"}, False, "option purge: for saves"),
        ({"idempotencyKey": "k"}, False, "option idempotencyKey: for saves only"),
        ({}, True, "outputMode complete: .*allowed is append"),
    ],
)
def test_wrong_options_of_streams_fail_in_the_constructor(
    options: dict[str, str],
    overwrite: bool,  # noqa: FBT001 - a parameter of the test
    text: str,
) -> None:
    with pytest.raises(ConfigError, match=text):
        StreamWriter({"queue": ORDERS} | options, _schema(SCHEMA), overwrite=overwrite)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"queueColumn": "queue"}, "needs the option queue"),
        ({"transaction": "none"}, "needs transaction=batch"),
    ],
)
def test_overwriting_needs_one_queue_and_a_batch(options: dict[str, str], text: str) -> None:
    given = {"queue": ORDERS, "purge": "true"} | options
    with pytest.raises(ConfigError, match=text):
        BatchWriter(given, _schema("body binary, queue string"), overwrite=True)


def test_a_row_that_was_read_can_be_written() -> None:
    schema = "queue string, lookup_id long, id string, body binary, sent_time timestamp, ack string"
    BatchWriter({"queue": ORDERS}, _schema(schema), overwrite=False)


def test_what_a_message_was_counts_only_when_an_option_says_so() -> None:
    schema = _schema("body binary, transactional boolean")
    assert "transactional" not in write_columns(schema, WriteOptions.parse({"queue": ORDERS})).names
    given = {"queue": ORDERS, "transactionalColumn": "transactional"}
    named = write_columns(schema, WriteOptions.parse(given))
    assert named.names["transactional"] == "transactional"


@pytest.mark.parametrize(
    "options", [{"transactional": "false"}, {"transactional": "false", "transaction": "none"}]
)
def test_messages_for_other_machines_need_not_be_transactional(options: dict[str, str]) -> None:
    BatchWriter({"queue": ORDERS} | options, _schema(SCHEMA), overwrite=False)


def _schema(text: str) -> StructType:
    parsed = StructType.fromDDL(text)
    assert isinstance(parsed, StructType)
    return parsed

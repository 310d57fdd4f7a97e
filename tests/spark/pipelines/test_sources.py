"""Where pipelines read from."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.rows import SENDER, frame, message

import openmsmq
from openmsmq.spark.pipelines.sources import (
    QueueSource,
    parse_queue,
    read_source,
    source_text,
    united,
)
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = r".\private$\orders"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (ORDERS, QueueSource(ORDERS, "queue", "usual")),
        (rf"{ORDERS};Journal", QueueSource(ORDERS, "journal", "usual")),
        (";journal", QueueSource("", "journal", "usual")),
        (";deadletter", QueueSource("", "deadletter", "usual")),
        (r".\system$;deadxact", QueueSource("", "xact_deadletter", "usual")),
        (rf"/run/b.sock::{ORDERS}", QueueSource(ORDERS, "queue", "/run/b.sock")),
        ("host:1801::;deadxact", QueueSource("", "xact_deadletter", "host:1801")),
        (
            r"DIRECT=TCP:fe80::1\private$\a",
            QueueSource(r"DIRECT=TCP:fe80::1\private$\a", "queue", "usual"),
        ),
        (rf"[::1]:4000::{ORDERS}", QueueSource(ORDERS, "queue", "[::1]:4000")),
        (rf"[fe80::1]::{ORDERS}", QueueSource(ORDERS, "queue", "[fe80::1]")),
        (rf"/run/a=b/c.sock::{ORDERS}", QueueSource(ORDERS, "queue", "/run/a=b/c.sock")),
        (
            r"[::1]:4000::DIRECT=TCP:fe80::1\private$\a",
            QueueSource(r"DIRECT=TCP:fe80::1\private$\a", "queue", "[::1]:4000"),
        ),
        (
            r"outgoing:direct=tcp:fe80::1\private$\a",
            QueueSource(r"direct=tcp:fe80::1\private$\a", "outgoing", "usual"),
        ),
        (
            r"/run/b.sock::outgoing:DIRECT=TCP:fe80::1\private$\a",
            QueueSource(r"DIRECT=TCP:fe80::1\private$\a", "outgoing", "/run/b.sock"),
        ),
        (r".\private$\a::b", QueueSource(r".\private$\a::b", "queue", "usual")),
        ("outgoing:DIRECT=OS:b\\c", QueueSource("DIRECT=OS:b\\c", "outgoing", "usual")),
    ],
)
def test_a_text_names_a_queue_its_kind_and_its_queue_manager(
    text: str, source: QueueSource
) -> None:
    assert parse_queue(text, "usual") == source


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (r"DIRECT=OS:.\private$\orders", ORDERS),
        (r"DIRECT=OS:.\private$\orders;JOURNAL", rf"{ORDERS};journal"),
        (r"DIRECT=OS:.\private$\orders;Late", rf"{ORDERS};Late"),
        (r"DIRECT=OS:.\system$;JOURNAL", ";journal"),
        (r"DIRECT=OS:.\system$;DEADXACT", ";deadxact"),
        (r"DIRECT=OS:far\private$\orders", r"DIRECT=OS:far\private$\orders"),
    ],
)
def test_a_queue_is_called_as_it_is_named_as_a_source(key: str, text: str) -> None:
    assert source_text(key) == text
    if text.startswith((";", ".")) and "Late" not in text:
        assert parse_queue(text).kind in ("queue", "journal", "xact_deadletter")


def test_options_leave_out_what_is_not_given() -> None:
    assert parse_queue(";deadletter").options() == {"kind": "deadletter"}


def test_a_queue_a_folder_of_parquet_and_their_union_are_read(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with openmsmq.embedded(tmp_path / "data") as manager:
        orders = manager.create_queue(ORDERS)
        orders.send(openmsmq.Message("12 apples", label="order 1"))
        manager.flush()
        queue = read_source(spark, ORDERS, endpoint=str(manager.address))
        # A name that Spark would take for a pattern, and a file that is no Parquet.
        folder = tmp_path / "rows[1]{x}"
        frame(spark, [message(1)]).write.parquet(str(folder))
        (folder / "notes.txt").write_text("of March")
        rows = read_source(spark, str(folder))
        both = united([queue, rows]).select("label", "id").collect()
    assert {row["label"] for row in both} == {"order 1"}
    assert rf"{SENDER}\1" in {row["id"] for row in both}
    assert len(both) == 2


def test_folders_without_messages_are_refused(spark: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="holds no messages"):
        read_source(spark, str(tmp_path))
    with pytest.raises(PipelineError, match="there is no folder"):
        read_source(spark, str(tmp_path / "other"))

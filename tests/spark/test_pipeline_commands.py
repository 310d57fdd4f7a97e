"""`openmsmq pipeline audit`, `triage` and `latency` on a real queue manager."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.runner import run

import openmsmq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS, ADMIN = r".\private$\orders", r".\private$\admin"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openmsmq.QueueManager]:
    """A queue manager with thirty orders, of which ten are read."""
    with openmsmq.embedded(tmp_path_factory.mktemp("qm")) as qm:
        orders = qm.create_queue(ORDERS, journal=True)
        qm.create_queue(ADMIN)
        properties: dict[str, Any] = {
            "journal": True,
            "acknowledge": "full",
            "admin_queue": ADMIN,
        }
        orders.send_many(openmsmq.Message(f"{n}", "order", **properties) for n in range(30))
        assert len(orders.receive_many(10, timeout=5)) == 10
        yield qm


def objects(manager: openmsmq.QueueManager, *arguments: str) -> list[dict[str, Any]]:
    outcome = run("pipeline", *arguments, "--json", "--socket", manager.address)
    assert (outcome.code, outcome.err) == (0, "")
    return [json.loads(line) for line in outcome.out.splitlines()]


@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(900)  # each source starts three processes of Spark
def test_audit_reads_queues_and_writes_table_and_report(
    manager: openmsmq.QueueManager, tmp_path: Path
) -> None:
    first, *rows = objects(
        manager,
        *("audit", "--sends", ";journal", "--evidence", ADMIN),
        *("--evidence", ORDERS, "--output", str(tmp_path / "out")),
    )
    assert (first["sends"], first["read"], first["arrived_unread"]) == (30, 10, 20)
    states = [row for row in rows if row["table"] == "states"]
    assert sum(row["messages"] for row in states) == 30
    assert Path(first["outputs"]["Report"]).is_file()
    assert (tmp_path / "out" / "messages" / "_SUCCESS").exists()


@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(900)  # as above
def test_triage_of_empty_dead_letter_queues_is_good_news(manager: openmsmq.QueueManager) -> None:
    outcome = run("pipeline", "triage", "--socket", manager.address)
    assert outcome.code == 0
    assert "Nothing has failed" in outcome.out


@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(900)  # as above
def test_latency_measures_a_queue(manager: openmsmq.QueueManager) -> None:
    first, *rows = objects(manager, "latency", ORDERS)
    assert first["messages"] == 20
    assert rows[0]["queue"].endswith(r"\private$\orders")
    assert 0 <= rows[0]["p50"] < 60


@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(900)  # as above
def test_a_queue_that_is_not_there_is_told_with_its_code(manager: openmsmq.QueueManager) -> None:
    outcome = run("pipeline", "latency", r".\private$\nowhere", "--socket", manager.address)
    assert (outcome.code, outcome.out) == (1, "")
    assert "MQ_ERROR_QUEUE_NOT_FOUND (0xC00E0003)" in outcome.err
    assert "Remedy: " in outcome.err


def test_a_folder_that_is_not_there_is_told_with_a_remedy(
    spark: "SparkSession", tmp_path: Path
) -> None:
    outcome = run("pipeline", "latency", str(tmp_path / "nothing"))
    assert outcome.code == 1
    assert "there is no folder" in outcome.err
    assert spark.range(1).count() == 1

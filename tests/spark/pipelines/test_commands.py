"""The commands of archive, decode and replay, with Spark and a queue manager."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.runner import run

import openmsmq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def totals(*arguments: str, code: int = 0) -> dict[str, Any]:
    outcome = run("pipeline", *arguments, "--json")
    assert outcome.code == code, outcome.err
    first: dict[str, Any] = json.loads(outcome.out.splitlines()[0])
    return first


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(300)
def test_archive_decode_and_replay_from_the_shell(spark: "SparkSession", tmp_path: Path) -> None:
    folder = str(tmp_path / "archive")
    with openmsmq.embedded() as manager:
        orders = manager.create_queue(r".\private$\orders")
        orders.send_many(openmsmq.Message(str(number), label="order") for number in range(10))
        manager.create_queue(r".\private$\copies")
        where = ("--socket", manager.address)
        told = totals("archive", folder, "--queue", r".\private$\orders", *where)
        assert (told["pipeline"], told["messages"]) == ("archive", 10)

        to = ("--to", r".\private$\copies", "--state", str(tmp_path / "state"), *where)
        dry = totals("replay", folder, "--label", "ord*", *to)
        assert (dry["selected"], dry["sent"], dry["dry_run"]) == (10, 0, True)
        assert totals("replay", folder, "--send", *to)["sent"] == 10
        assert manager.queue_info(r".\private$\copies")["messages"] == 10

    decoded = totals("decode", str(tmp_path / "archive" / "data"))
    assert (decoded["messages"], decoded["malformed"]) == (10, 0)

    assert totals("archive", folder, "--verify")["complete"] is True
    next((tmp_path / "archive" / "data").rglob("*.parquet")).unlink()
    assert totals("archive", folder, "--verify", code=1)["complete"] is False
    assert run("pipeline", "archive", str(tmp_path / "none"), "--verify").code == 1

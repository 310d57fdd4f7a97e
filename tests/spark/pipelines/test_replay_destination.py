"""The destination of a replay is looked at before anything else, as far as it can be."""

from pathlib import Path
from typing import Any

import pytest

import openmsmq
from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.pipelines.replay import check_destination, replay
from openmsmq.spark.pipelines.replay_filter import ReplayFilter
from openmsmq.spark.pipelines.replay_job import KEEP, ReplayJob
from openmsmq.wire.queue_error import QueueError

NOWHERE = r".\private$\nowhere"
SPARK: Any = None


def job(to: str | None, endpoint: str) -> ReplayJob:
    options = {"connectTimeout": "100ms", "minPartitions": "2"}
    return ReplayJob(SPARK, ";deadletter", to, ReplayFilter(), KEEP, "key", endpoint, options)


def test_a_destination_that_is_not_there_is_refused_without_spark(tmp_path: Path) -> None:
    with openmsmq.embedded(tmp_path / "qm") as manager:
        for send in (False, True):
            with pytest.raises(QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
                replay(
                    SPARK,
                    ";deadletter",
                    to=NOWHERE,
                    endpoint=manager.address,
                    send=send,
                    state=tmp_path / "state",
                )
        assert not (tmp_path / "state").exists()
        manager.create_queue(NOWHERE)
        check_destination(job(NOWHERE, manager.address), send=True)


def test_a_dry_run_does_without_a_queue_manager(tmp_path: Path) -> None:
    nobody = str(tmp_path / "nobody.sock")
    check_destination(job(NOWHERE, nobody), send=False)
    check_destination(job(None, nobody), send=True)
    with pytest.raises(ConnectionLost):
        check_destination(job(NOWHERE, nobody), send=True)

"""The destination of a replay is looked at before anything else, as far as it can be."""

from pathlib import Path
from typing import Any

import pytest

import openmsmq
from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.options.connection import ConnectionOptions
from openmsmq.spark.pipelines.replay.replaying import ask_manager, replay
from openmsmq.wire.codes.queue_error import QueueError

NOWHERE = r".\private$\nowhere"
SPARK: Any = None


def at(endpoint: str) -> ConnectionOptions:
    return ConnectionOptions(endpoint, timeout=0.1)


def test_a_destination_that_is_not_there_is_refused_without_spark(tmp_path: Path) -> None:
    with openmsmq.embedded(tmp_path / "qm") as manager:
        for send in (False, True):
            with pytest.raises(QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
                replay(
                    SPARK,
                    ";deadletter",
                    to=NOWHERE,
                    endpoint=manager.address,
                    # Other options than those of the connection are passed over here.
                    options={"minPartitions": "2"},
                    send=send,
                    state=tmp_path / "state",
                )
        assert not (tmp_path / "state").exists()
        manager.create_queue(NOWHERE)
        guid = manager.identity.guid
        assert ask_manager(at(manager.address), NOWHERE, send=True) == guid
        assert ask_manager(at(manager.address), None, send=False) == guid


def test_a_dry_run_does_without_a_queue_manager(tmp_path: Path) -> None:
    nobody = at(str(tmp_path / "nobody.sock"))
    assert ask_manager(nobody, NOWHERE, send=False) is None
    with pytest.raises(ConnectionLost):
        ask_manager(nobody, NOWHERE, send=True)

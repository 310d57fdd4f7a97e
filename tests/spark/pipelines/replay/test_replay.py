"""Replay: nothing in a dry run, everything once, and originals go only when copies are there."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.pipelines.replay.filter import ReplayFilter
from openmsmq.spark.pipelines.replay.mark import MARK, ReplayMark, read_mark
from openmsmq.spark.pipelines.replay.replaying import ReplayResult, replay
from openmsmq.spark.pipelines.replay.state import Run, chunk_name
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AGAIN = r".\private$\again"
DEAD = ";deadletter"


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def manager() -> Iterator[QueueManager]:
    """A queue manager with six dead letters, and a transactional queue to send them to."""
    with openmsmq.embedded() as manager:
        manager.create_queue(AGAIN, transactional=True)
        orders = manager.create_queue(r".\private$\orders")
        orders.send_many(
            openmsmq.Message(
                f"body {number}",
                label=f"order {number}",
                time_to_be_received=0,
                dead_letter=True,
                app_specific=number,
                extension=b"mine",
            )
            for number in range(6)
        )
        yield manager


def again(
    spark: "SparkSession", manager: QueueManager, tmp_path: Path, **changes: Any
) -> ReplayResult:
    # Otherwise the copies would expire as the originals did.
    given: dict[str, Any] = {"to": AGAIN, "key": "test", "keep_timeouts": False}
    # A name that Spark would take for a pattern.
    folder = tmp_path / "state[1]"
    return replay(spark, DEAD, endpoint=manager.address, state=folder, **(given | changes))


def labels(manager: QueueManager, queue: str) -> list[str]:
    return [message.label for message in manager.open_queue(queue).cursor()]


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(300)
def test_a_replay_sends_once_and_then_removes(
    spark: "SparkSession", manager: QueueManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = {message.label: message for message in manager.open_queue(DEAD).cursor()}
    assert len(originals) == 6

    dry = again(spark, manager, tmp_path, only=ReplayFilter(label="order *"))
    assert (dry.dry_run, dry.selected, dry.sent) == (True, 6, 0)
    assert sum(group[-1] for group in dry.groups) == 6
    assert labels(manager, AGAIN) == []
    assert not (tmp_path / "state[1]").exists()

    few = ReplayFilter(reason="NACK_RECEIVE_TIMEOUT", where="app_specific < 2")
    first = again(spark, manager, tmp_path, only=few, send=True, correlation="new")
    assert (first.selected, first.sent, first.removed) == (2, 2, 0)

    # Killed after the queue manager has taken the chunk, before it is noted.
    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Run, "note_sent", die)
        with pytest.raises(Killed):
            again(spark, manager, tmp_path, send=True)
    assert len(labels(manager, AGAIN)) == 6

    last = again(spark, manager, tmp_path, send=True, remove=True, output=tmp_path / "out")
    assert (last.selected, last.already_sent) == (6, 6)
    assert last.removed == 6
    assert labels(manager, DEAD) == []
    copies = list(manager.open_queue(AGAIN).cursor())
    assert [copy.label for copy in copies] == [f"order {number}" for number in range(6)]
    for copy in copies:
        original = originals[copy.label]
        assert (copy.body, copy.app_specific) == (original.body, original.app_specific)
        assert copy.extension.startswith(b"mine")
        assert read_mark(copy.extension) == ReplayMark("test", original.id)
        assert copy.class_ == 0
    assert [copy.correlation_id for copy in copies[:2]] == [
        originals[copy.label].id for copy in copies[:2]
    ]
    assert copies[5].correlation_id is None
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"correlation": "old"}, "neither keep nor new"),
        ({"rate": 0.0}, "sends nothing"),
        ({"key": "a/b"}, "the key 'a/b'"),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(PipelineError, match=problem):
        replay(None, DEAD, state=tmp_path, **changes)  # type: ignore[arg-type]  # not used


def test_originals_of_an_archive_stay(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="from a queue only"):
        replay(None, str(tmp_path), remove=True)  # type: ignore[arg-type]  # not used


@pytest.mark.parametrize(
    "extension",
    [
        None,
        b"",
        b"mine",
        MARK.bytes_le,
        MARK.bytes_le + b"\0\0\0\2{}",
        MARK.bytes_le + b"\0\0\0\1{",
    ],
)
def test_an_extension_without_a_mark_has_none(extension: bytes | None) -> None:
    assert read_mark(extension) is None


def test_the_name_of_a_chunk_is_made_of_its_messages() -> None:
    name = chunk_name("key", [("q", "a"), (None, "b")])
    assert name == chunk_name("key", [(None, "b"), ("q", "a")])
    assert len({name, chunk_name("other", [("q", "a"), (None, "b")]), chunk_name("key", [])}) == 3

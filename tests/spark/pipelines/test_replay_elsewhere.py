"""Replay to queues of another machine, which nobody here knows to be transactional or not."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import Message
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.pipelines.replay.replaying import ReplayResult, replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_SECONDS = 60.0
DEAD = ";deadletter"
DEAD_EXACT = ";deadxact"
PLAIN = r".\private$\plain"
EXACT = r".\private$\exact"


@pytest.fixture
def managers(tmp_path: Path) -> Iterator[tuple[QueueManager, QueueManager, str]]:
    """Two queue managers, and how the first calls private queues of the second."""
    ours, theirs = new_address(), new_address()
    with (
        openmsmq.embedded(tmp_path / "a", bind=ours, binary_port=1801, name="alpha") as alpha,
        openmsmq.embedded(tmp_path / "b", bind=theirs, binary_port=1801, name="beta") as beta,
    ):
        yield alpha, beta, rf"DIRECT=TCP:{theirs}\private$"


def labels(manager: QueueManager, queue: str) -> list[str]:
    return sorted(message.label for message in manager.open_queue(queue).cursor())


def eventually(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not check():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(600)
def test_copies_are_what_the_originals_were(
    spark: "SparkSession", managers: tuple[QueueManager, QueueManager, str], tmp_path: Path
) -> None:
    alpha, beta, far = managers
    plain = beta.create_queue(PLAIN)
    exact = beta.create_queue(EXACT, transactional=True)

    def expired(label: str) -> Message:
        return Message(label, label, time_to_be_received=0, dead_letter=True, priority=5)

    alpha.send(rf"{far}\plain", expired("plain"))
    for label in ("first", "second"):
        alpha.send(rf"{far}\exact", expired(label), transaction="single")
    eventually(lambda: labels(alpha, DEAD) == ["plain"])
    eventually(lambda: labels(alpha, DEAD_EXACT) == ["first", "second"])

    def again(source: str, *, remove: bool) -> ReplayResult:
        state = tmp_path / f"state{source}"
        return replay(
            spark,
            source,
            endpoint=alpha.address,
            send=True,
            keep_timeouts=False,
            state=state,
            remove=remove,
        )

    exactly = again(DEAD_EXACT, remove=False)
    assert (exactly.sent, exactly.elsewhere, exactly.removed) == (2, 2, 0)
    found = [exact.receive(timeout=WAIT_SECONDS) for _ in range(2)]
    assert [(each.label, each.transactional) for each in found] == [
        ("first", True),
        ("second", True),
    ]
    assert labels(alpha, DEAD_EXACT) == ["first", "second"]

    result = again(DEAD, remove=True)
    assert (result.sent, result.elsewhere, result.removed) == (1, 1, 1)
    copy = plain.receive(timeout=WAIT_SECONDS)
    assert (copy.label, copy.transactional, copy.priority) == ("plain", False, 5)
    assert labels(alpha, DEAD) == []


def test_a_summary_claims_no_more_than_is_known() -> None:
    far = ReplayResult("key", False, 3, 0, 0, 3, 0, 0.0, (), elsewhere=2).summary()
    assert far.headline == "Sent 3 messages, 2 of them on the way to other machines"
    assert "2 messages for other machines may not have arrived" in far.warnings[0]
    near = ReplayResult("key", False, 3, 0, 1, 3, 0, 0.0, ()).summary()
    assert near.headline == "Sent 3 messages"
    assert near.warnings == ("1 rows are reports, encrypted or malformed, and stay out.",)

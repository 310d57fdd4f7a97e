"""The machinery of the benchmark against other brokers, with the two that are always here."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bench.brokers import Options, Run, present
from bench.peers.board import Consumer, Producer, Slot, new_board
from bench.peers.brokers import Broker, Floor, OpenMsmq
from bench.peers.machine import is_in_memory, process_tree
from bench.peers.measure import (
    measure_flow,
    measure_latency,
    measure_memory,
    measure_restart,
    measure_transactions,
)
from bench.peers.worker import Task
from rich.console import Console

pytestmark = pytest.mark.timeout(300)


def ours(folder: Path) -> Broker:
    return OpenMsmq(folder, compiled=False)


def test_a_producer_stays_within_its_window_and_ends_when_told() -> None:
    with new_board() as (_, board):
        producer = Producer(board, window=10)
        assert producer.room(4) == 4
        producer.sent = 10
        assert producer.room(4) == 0
        board[Slot.RECEIVED] = 8
        assert producer.room(20) == 8
        board[Slot.STOP] = 1
        assert producer.room(4) == -1


def test_a_producer_with_a_count_sends_that_many() -> None:
    with new_board() as (_, board):
        producer = Producer(board, count=5)
        assert producer.room(4) == 4
        producer.sent = 4
        assert producer.room(4) == 1
        producer.sent = 5
        assert producer.room(4) == -1


def test_a_body_that_is_not_the_one_sent_is_an_error() -> None:
    with new_board() as (_, board):
        consumer = Consumer(board)
        with pytest.raises(ValueError, match="3 bytes"):
            consumer.hit(b"cut")
        assert board[Slot.RECEIVED] == 0


@pytest.mark.parametrize("make", [Floor, ours])
@pytest.mark.parametrize("mode", ["express", "durable"])
def test_messages_flow_and_none_is_lost(
    tmp_path: Path, make: Callable[[Path], Broker], mode: str
) -> None:
    with make(tmp_path) as broker:
        flow = measure_flow(broker, Task(broker.address, mode, "flow", seconds=0.3))
        processes = broker.processes()
    assert flow.per_second > 0
    assert flow.lost == 0
    assert broker.processes() == []
    assert not any(process_tree(process) for process in processes)


@pytest.mark.timeout(60)
def test_a_producer_that_waits_for_its_consumer_goes_on(tmp_path: Path) -> None:
    """Even if everything it sent is confirmed by then."""
    with Floor(tmp_path) as broker:
        task = Task(broker.address, "durable", "flow", seconds=0.3, window=10)
        assert measure_flow(broker, task).lost == 0


def test_everything_else_is_measured_on_our_own_queue_manager(tmp_path: Path) -> None:
    with ours(tmp_path) as broker:
        latency = measure_latency(broker, Task(broker.address, "durable", "latency", seconds=0.3))
        assert 0 < latency.p50 <= latency.p99
        batches = Task(broker.address, "transactional", "batches", seconds=0.3, batch=10)
        assert measure_transactions(broker, batches) > 0
        filled = Task(broker.address, "durable", "filled", count=500)
        assert measure_memory(broker, filled) > 1
        seconds, back = measure_restart(broker, Task(broker.address, "durable", "kept", count=500))
        assert seconds > 0
        assert back == 500


def test_a_client_that_fails_says_why(tmp_path: Path) -> None:
    with Floor(tmp_path) as broker, pytest.raises(RuntimeError, match="KeyError"):
        measure_flow(broker, Task(broker.address, "no such mode", "flow", seconds=0.3))


def test_a_peer_that_fails_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(Options(quick=True, only=("floor",)), tmp_path, Console(quiet=True))
    monkeypatch.setattr("bench.peers.brokers.Floor.command", lambda _: ["false"])
    run.all()
    assert "did not start" in run.missing["floor"]
    assert run.figures() == {}


def test_a_peer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SystemExit, match="no peer 'kafka'"):
        present(Options(only=("kafka",)))


def test_memory_is_told_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mounts").write_text("/dev/vda / ext4 rw 0 0\ntmpfs /ram tmpfs rw 0 0\n")
    monkeypatch.setattr("bench.peers.machine._PROC", tmp_path)
    assert not is_in_memory(Path("/ramp/data"))
    assert is_in_memory(Path("/ram/data"))

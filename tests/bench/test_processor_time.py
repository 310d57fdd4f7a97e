"""Where processor time goes."""

from collections import Counter
from pathlib import Path

from bench.peers.brokers import OpenMsmq
from bench.peers.worker import Task
from bench.processor_time import (
    FUNCTIONS,
    function_table,
    leaves,
    measure_threads,
    part_of,
    part_table,
    thread_table,
)
from bench.report import markdown

LINES = [
    "main (openmsmq/cli/__init__.py:10);_run (openmsmq/net/local/connection.py:7) 3",
    "main (openmsmq/cli/__init__.py:10);_run (openmsmq/net/local/connection.py:9) 1",
    "main (openmsmq/cli/__init__.py:10);insert (openmsmq/core/arrivals.py:90) 4",
    "not a frame 5",
]


def test_samples_are_counted_by_the_function_that_ran() -> None:
    assert leaves(LINES) == Counter(
        {
            ("openmsmq/net/local/connection.py", "_run"): 4,
            ("openmsmq/core/arrivals.py", "insert"): 4,
        }
    )


def test_functions_belong_to_parts_of_the_program() -> None:
    assert part_of("/x/src/openmsmq/store/frame.py") == "store"
    assert part_of("asyncio/runners.py") == "event loop and others"
    shown = markdown(part_table({"express": leaves(LINES)}))
    assert "| queues | 50 |" in shown
    assert "| local protocol: sockets and frames | 50 |" in shown


def test_the_functions_that_take_most_come_first() -> None:
    found = Counter({(f"src/openmsmq/core/f{n}.py", "f"): n for n in range(1, 31)})
    rows = markdown(function_table("express", found)).splitlines()
    assert rows[4].startswith("| core/f30.py: f | ")
    assert len(rows) == 4 + FUNCTIONS


def test_threads_are_told_apart(tmp_path: Path) -> None:
    with OpenMsmq(tmp_path, compiled=False) as broker:
        found = measure_threads(broker, Task(broker.address, "durable", "flow", seconds=2.0))
    assert found.loop[0] > 0
    assert found.others[1] > 0
    assert "| durable |" in markdown(thread_table({"durable": found}, "pure Python"))

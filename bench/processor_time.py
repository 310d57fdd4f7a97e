"""Where the processor time of the queue manager goes, per message.

Reproduce with `python -m bench processor-time`. One producer and one consumer, as in `brokers`.
The kernel tells what each thread took, by itself and in system calls: exact, for the modules that
run (compiled ones if there are any). Then py-spy samples the same in pure Python, where each
function can be seen: what holds the interpreter, by part of the program and by function.
"""

import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.brokers import Options, data_folder
from bench.peers import install
from bench.peers.brokers import Broker, OpenMsmq
from bench.peers.install import Missing
from bench.peers.machine import thread_times
from bench.peers.measure import WARM_UP_SECONDS, measure_flow
from bench.peers.worker import Task
from bench.report import write_tables

MODES: Final = ("express", "durable")
SAMPLES_PER_SECOND: Final = 400
FUNCTIONS: Final = 12
# Client processes start before the warm-up does.
BEGIN_SECONDS: Final = 1.0 + WARM_UP_SECONDS
_FRAME: Final = re.compile(r"(\S+) \((.*?)(?::\d+)?\)$")
# By the path of the function that runs; the first that fits.
PARTS: Final = (
    ("openmsmq/net/local/", "local protocol: sockets and frames"),
    ("openmsmq/protocol/local/", "local protocol: requests and replies"),
    ("openmsmq/wire/", "packets"),
    ("openmsmq/core/", "queues"),
    ("openmsmq/store/", "store"),
    ("openmsmq/service/", "group commit and events"),
    ("openmsmq/server/", "group commit and events"),
    ("", "event loop and others"),
)


@dataclass(frozen=True, slots=True)
class Threads:
    """Microseconds per message, user and system, of the event loop and of the other threads."""

    per_second: float
    loop: tuple[float, float]
    others: tuple[float, float]


@contextlib.contextmanager
def beside(work: threading.Thread) -> Iterator[None]:
    work.start()
    try:
        yield
    finally:
        work.join()


def measure_threads(broker: Broker, task: Task) -> Threads:
    """What the threads of the queue manager take while messages flow."""
    samples: list[tuple[float, dict[int, tuple[float, float]]]] = []
    process = broker.processes()[0]

    def sample() -> None:
        time.sleep(BEGIN_SECONDS)
        samples.append((time.monotonic(), thread_times(process)))
        time.sleep(task.seconds - WARM_UP_SECONDS / 2)
        samples.append((time.monotonic(), thread_times(process)))

    with beside(threading.Thread(target=sample)):
        flow = measure_flow(broker, task)
    (start, before), (end, after) = samples
    count = flow.per_second * (end - start)
    sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
    for thread, times in after.items():
        for kind in (0, 1):
            earlier = before.get(thread, (0.0, 0.0))[kind]
            sums[thread == process][kind] += (times[kind] - earlier) / count * 1e6
    return Threads(
        flow.per_second, (sums[True][0], sums[True][1]), (sums[False][0], sums[False][1])
    )


def sample_functions(broker: Broker, task: Task, program: Path) -> Counter[tuple[str, str]]:
    """How often each function of each file was found holding the interpreter.

    Raises:
        Missing: py-spy cannot look into the process.
    """
    with tempfile.NamedTemporaryFile(prefix="openmsmq-profile-") as file:
        failed: list[str] = []

        def record() -> None:
            time.sleep(BEGIN_SECONDS)
            options = f"--gil --format raw --rate {SAMPLES_PER_SECOND} --output {file.name}".split()
            options += ["--duration", str(max(int(task.seconds), 1))]
            process = str(broker.processes()[0])
            command = [str(program), "record", *options, "--pid", process]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                failed.append((done.stderr.strip() or "no word").splitlines()[-1])

        with beside(threading.Thread(target=record)):
            measure_flow(broker, task)
        if failed:
            raise Missing(f"py-spy failed: {failed[0]}")
        return leaves(Path(file.name).read_text().splitlines())


def leaves(lines: list[str]) -> Counter[tuple[str, str]]:
    """The functions that ran, by file and name, from the lines `frame;frame;... count`."""
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        frame = _FRAME.match(stack.rpartition(";")[2])
        if frame is not None:
            found[frame[2], frame[1]] += int(count)
    return found


def part_of(file: str) -> str:
    """The part of the program that a file belongs to."""
    return next(part for path, part in PARTS if path in file)


def thread_table(found: dict[str, Threads], how: str) -> Table:
    table = Table(
        *(
            "flow",
            "messages/s",
            "event loop",
            "in system calls",
            "store threads",
            "in system calls",
        ),
        title=f"Processor time of the queue manager, µs per message, {how}",
    )
    for name, threads in found.items():
        times = [f"{each:.2f}" for each in (*threads.loop, *threads.others)]
        table.add_row(name, f"{threads.per_second:,.0f}", *times)
    return table


def part_table(sampled: dict[str, Counter[tuple[str, str]]]) -> Table:
    table = Table("part", *sampled, title="Who holds the interpreter, pure Python, % of samples")
    for _, part in PARTS:
        shares = []
        for found in sampled.values():
            count = sum(n for (file, _), n in found.items() if part_of(file) == part)
            shares.append(f"{100 * count / max(found.total(), 1):.0f}")
        table.add_row(part, *shares)
    return table


def function_table(mode: str, found: Counter[tuple[str, str]]) -> Table:
    table = Table("function", "%", title=f"The functions that take most, {mode}")
    for (file, name), count in found.most_common(FUNCTIONS):
        short = file.rpartition("openmsmq/")[2]
        table.add_row(f"{short}: {name}", f"{100 * count / max(found.total(), 1):.1f}")
    return table


def present(options: Options) -> None:
    """Measure and print it."""
    console = Console(stderr=options.as_json)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    threads: dict[str, Threads] = {}
    sampled: dict[str, Counter[tuple[str, str]]] = {}
    missing = ""
    with data_folder() as folder:
        for mode in MODES:
            console.print(f"processor time: {mode}", style="dim")
            with OpenMsmq(folder, compiled=options.compiled) as broker:
                task = Task(broker.address, mode, mode, seconds=options.seconds)
                threads[mode] = measure_threads(broker, task)
            try:
                with OpenMsmq(folder, compiled=False) as broker:
                    task = Task(broker.address, mode, mode, seconds=options.seconds)
                    sampled[mode] = sample_functions(broker, task, install.need_sampler())
            except Missing as exc:
                missing = str(exc)
    if options.as_json:
        for mode, times in threads.items():
            named = {f"{file}: {name}": n for (file, name), n in sampled.get(mode, {}).items()}
            print(json.dumps({"benchmark": "processor-time", "flow": mode, "samples": named}))
            print(json.dumps({"benchmark": "processor-time", "flow": mode, "loop": times.loop}))
            print(json.dumps({"benchmark": "processor-time", "flow": mode, "store": times.others}))
        return
    how = "compiled modules" if options.compiled else "pure Python"
    tables = [thread_table(threads, how)]
    if sampled:
        tables += [part_table(sampled), *(function_table(*each) for each in sampled.items())]
    for table in tables:
        console.print(table)
    if missing:
        console.print(f"[red]no samples[/red]: {missing}", highlight=False)
    if options.write:
        write_tables("processor-time", tables)

"""openmsmq beside the brokers people know and beside a floor, in one run, as ratios.

Reproduce with `python -m bench brokers` (or `make bench`); `--quick` for a first look, `--only
redis,floor` for some of the peers, `--json` for one object per line. openmsmq runs the modules that
`make compile` compiled if they fit the sources, with `--pure` always pure Python. As root on Debian
it installs peers that are missing (`--no-install` forbids it); a peer that cannot be had is named
below the tables.

One producer process, one consumer process, one queue, bodies of 1 KiB, each peer with the Python
client that its users use. Each round runs every peer once, in turn, each on fresh data on disk;
figures are medians over the rounds. What is durable was flushed before it was confirmed; `per
flush` comes from the kernel's count. `bench/peers` has the rules that all client programs follow.
"""

import json
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.peers import install
from bench.peers.brokers import ROOT, Broker, Floor, OpenMsmq, RabbitMQ, Redis
from bench.peers.install import Missing
from bench.peers.machine import is_in_memory
from bench.peers.measure import (
    Flow,
    Latency,
    measure_flow,
    measure_latency,
    measure_memory,
    measure_native,
    measure_restart,
    measure_transactions,
)
from bench.peers.worker import Task
from bench.report import write_tables
from bench.targets import TARGETS, Figures, Target, Verdict, verdict

PEERS: Final = ("openmsmq", "floor", "rabbitmq", "redis")
QUEUED: Final = 100_000
BATCH: Final = 100
ROUNDS: Final = 3
SECONDS: Final = 5.0
QUICK_SECONDS: Final = 2.0
# More than this much of a processor taken by others, and a figure is marked.
NOISE: Final = 0.15


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured."""

    quick: bool = False
    only: tuple[str, ...] = PEERS
    install: bool = True
    compiled: bool = False
    as_json: bool = False
    write: bool = False

    @property
    def rounds(self) -> int:
        return 1 if self.quick else ROUNDS

    @property
    def seconds(self) -> float:
        return QUICK_SECONDS if self.quick else SECONDS


class Run:
    """What was measured so far."""

    def __init__(self, options: Options, folder: Path, console: Console) -> None:
        self._options = options
        self._folder = folder
        self._console = console
        self.flows: dict[str, list[Flow]] = {}
        self.latencies: dict[str, list[Latency]] = {}
        self.numbers: dict[str, list[float]] = {}
        self.missing: dict[str, str] = {}

    def all(self) -> None:
        for number in range(self._options.rounds):
            for peer, work in WORK.items():
                if peer in self._options.only:
                    self._console.print(f"round {number + 1}: {peer}", style="dim")
                    self.attempt(peer, work)
        if "openmsmq" in self._options.only:
            self._console.print("memory and restart", style="dim")
            self.attempt("openmsmq", sizes)

    def attempt(self, peer: str, work: "Work") -> None:
        """Measure, unless the peer is missing; note it if it turns out to be."""
        if peer in self.missing:
            return
        try:
            work(self)
        except (Missing, RuntimeError) as exc:
            self.missing[peer] = str(exc)

    @property
    def options(self) -> Options:
        return self._options

    @property
    def folder(self) -> Path:
        return self._folder

    def task(self, broker: Broker, mode: str, queue: str, *, count: int = 0) -> Task:
        return Task(
            broker.address,
            mode,
            queue,
            seconds=0.0 if count else self._options.seconds,
            count=count,
            batch=BATCH,
        )

    def flow(self, broker: Broker, mode: str, name: str) -> None:
        self.keep(name, measure_flow(broker, self.task(broker, mode, f"flow-{mode}")))

    def keep(self, name: str, found: Flow) -> None:
        if found.lost:
            raise RuntimeError(f"{found.lost} messages were lost")
        self.flows.setdefault(name, []).append(found)

    def latency(self, broker: Broker, mode: str, name: str) -> None:
        found = measure_latency(broker, self.task(broker, mode, f"latency-{mode}"))
        self.latencies.setdefault(name, []).append(found)

    def transactions(self, broker: Broker, mode: str, name: str) -> None:
        self.number(name, measure_transactions(broker, self.task(broker, mode, f"batches-{mode}")))

    def number(self, name: str, value: float) -> None:
        self.numbers.setdefault(name, []).append(value)

    def figures(self) -> Figures:
        """The medians over the rounds, by name."""
        found: Figures = {}
        for name, flows in self.flows.items():
            found[name] = statistics.median([flow.per_second for flow in flows])
        for name, latencies in self.latencies.items():
            found[f"{name} p50"] = statistics.median([each.p50 for each in latencies])
            found[f"{name} p99"] = statistics.median([each.p99 for each in latencies])
        for name, values in self.numbers.items():
            found[name] = statistics.median(values)
        return found


Work = Callable[[Run], None]


def floor(run: Run) -> None:
    with Floor(run.folder) as broker:
        run.flow(broker, "express", "floor express")
        run.flow(broker, "durable", "floor durable")
    with Floor(run.folder) as broker:
        run.latency(broker, "durable", "floor latency")


def openmsmq(run: Run) -> None:
    with OpenMsmq(run.folder, compiled=run.options.compiled) as broker:
        run.flow(broker, "express", "openmsmq express")
        run.flow(broker, "durable", "openmsmq durable")
        run.latency(broker, "durable", "openmsmq latency")
        run.transactions(broker, "transactional", "openmsmq transactions")


def sizes(run: Run) -> None:
    for mode in ("express", "durable"):
        with OpenMsmq(run.folder, compiled=run.options.compiled) as broker:
            run.number("openmsmq empty MB", broker.resident_bytes() / 1e6)
            task = run.task(broker, mode, "filled", count=QUEUED)
            run.number(f"openmsmq {mode} MB", measure_memory(broker, task))
    with OpenMsmq(run.folder, compiled=run.options.compiled) as broker:
        task = run.task(broker, "durable", "filled", count=QUEUED)
        seconds, back = measure_restart(broker, task)
        if back < QUEUED:
            raise RuntimeError(f"{QUEUED - back} messages did not come back after a crash")
        run.number("openmsmq restart seconds", seconds)


def redis(run: Run) -> None:
    install.need_redis(install=run.options.install)
    install.need_clients()
    with Redis(run.folder, durable=False) as broker:
        run.flow(broker, "express", "redis express")
    with Redis(run.folder, durable=True) as broker:
        run.flow(broker, "durable", "redis durable")
        run.latency(broker, "durable", "redis latency")


def rabbitmq(run: Run) -> None:
    install.need_rabbitmq(install=run.options.install)
    install.need_clients()
    with RabbitMQ(run.folder) as broker:
        run.flow(broker, "express", "rabbitmq express")
        for kind in ("classic", "quorum"):
            run.flow(broker, kind, f"rabbitmq {kind}")
            run.latency(broker, kind, f"rabbitmq {kind} latency")
        run.transactions(broker, "classic", "rabbitmq transactions")
        try:
            program = install.need_native_client(install=run.options.install)
        except Missing as exc:
            run.missing["rabbitmq native"] = str(exc)
            return
        for kind in ("classic", "quorum"):
            rate = measure_native(program, broker.port, kind, run.options.seconds)
            run.number(f"rabbitmq {kind} native", rate)


WORK: Final[dict[str, Work]] = {
    "floor": floor,
    "openmsmq": openmsmq,
    "rabbitmq": rabbitmq,
    "redis": redis,
}


@contextmanager
def data_folder() -> Iterator[Path]:
    """A temporary folder on a disk: what is flushed to memory proves nothing."""
    folder = Path(tempfile.gettempdir()).resolve()
    if is_in_memory(folder):
        folder = ROOT / "build"
        folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="openmsmq-bench-", dir=folder) as name:
        yield Path(name)


def present(options: Options) -> None:
    """Measure everything and print it."""
    for name in set(options.only) - set(PEERS):
        raise SystemExit(f"bench: there is no peer {name!r}; there are {', '.join(PEERS)}")
    console = Console(stderr=options.as_json)
    how = "compiled modules (make compile)" if options.compiled else "pure Python"
    console.print(f"openmsmq runs {how}", style="dim")
    # Whoever ends this also ends the brokers.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with data_folder() as folder:
        run = Run(options, folder, console)
        run.all()
    show_run("brokers", run, TARGETS, console)


def show_run(name: str, run: Run, targets: tuple[Target, ...], console: Console) -> None:
    """Print what was measured, and which targets are met."""
    figures = run.figures()
    if run.options.as_json:
        for flow_name, flows in run.flows.items():
            for flow in flows:
                print(json.dumps({"benchmark": name, "flow": flow_name, **asdict(flow)}))
        print(json.dumps({"benchmark": name, "figures": figures, "missing": run.missing}))
        for target in targets:
            print(json.dumps({"benchmark": name, **asdict(verdict(target, figures))}))
        return
    tables = (
        flow_table(run.flows),
        number_table(figures, run.flows),
        target_table(figures, targets),
    )
    for table in tables:
        console.print(table)
    if run.options.write:
        write_tables(name, tables)
    for peer, why in run.missing.items():
        console.print(f"[red]{peer}[/red] is missing: {why}", highlight=False)


def flow_table(flows: dict[str, list[Flow]]) -> Table:
    table = Table(
        *("flow", "messages/s", "min - max", "broker", "producer", "consumer", "per flush"),
        title="End to end, 1 KiB; processor time in µs per message",
        caption="* others kept the machine busy meanwhile",
    )
    for name, found in flows.items():
        rates = [flow.per_second for flow in found]
        noisy = "*" if max(flow.others for flow in found) > NOISE else ""
        flushed = [flow.per_flush for flow in found if flow.per_flush]
        table.add_row(
            name,
            f"{statistics.median(rates):,.0f}{noisy}",
            f"{min(rates):,.0f} - {max(rates):,.0f}",
            f"{statistics.median([flow.broker for flow in found]):.2f}",
            f"{statistics.median([flow.producer for flow in found]):.2f}",
            f"{statistics.median([flow.consumer for flow in found]):.2f}",
            f"{statistics.median(flushed):,.0f}" if len(flushed) == len(found) else "none",
        )
    return table


def number_table(figures: Figures, flows: dict[str, list[Flow]]) -> Table:
    table = Table("other figures", "value", title="One in flight (ms), transactions of 100, sizes")
    for name, value in figures.items():
        if name not in flows:
            table.add_row(name, f"{value:,.3f}" if value < 10 else f"{value:,.0f}")
    return table


def target_table(figures: Figures, targets: tuple[Target, ...]) -> Table:
    table = Table("target", "wanted", "measured", "", title="Targets, in this run")
    for target in targets:
        result = verdict(target, figures)
        table.add_row(target.name, target.wanted, result.shown, _mark(result))
    return table


def _mark(result: Verdict) -> str:
    if result.met is None:
        return "[yellow]not measured"
    return "[green]met" if result.met else "[red]missed"

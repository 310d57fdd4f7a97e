"""Remote read beside the local protocol, impacket, Samba and a bare server, in one run.

Reproduce with `python -m bench remote-read`; `--quick` for a first look, `--json` for one object
per line. Client and server run the modules that `make compile` compiled if they fit the sources,
with `--pure` always pure Python.

Messages are recoverable and have bodies of 1 KiB; every message is received and acknowledged, by
one reader in a process of its own. An empty call is R_GetServerPort; the bare server only cuts PDUs
and answers. Each round runs everything in turn; figures are medians over the rounds.
"""

import json
import signal
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench import ndr
from bench.brokers import Options, data_folder, target_table
from bench.peers import dcerpcd
from bench.peers.brokers import HOST, Broker
from bench.peers.empty_calls import EmptyCalls, processor_time
from bench.peers.install import Missing
from bench.peers.remote_site import BareServer, RemoteSite
from bench.report import write_tables
from bench.targets import REMOTE_READ_TARGETS, Figures, verdict

NAME: Final = "remote-read"
LOCAL_MESSAGES: Final = 60_000
MANY_MESSAGES: Final = 20_000
FEW_MESSAGES: Final = 1_500
IMPACKET_MESSAGES: Final = 300
IN_FLIGHT: Final = (1, 16)


class Run:
    """What was measured so far."""

    def __init__(self, options: Options, folder: Path, console: Console) -> None:
        self._options = options
        self._folder = folder
        self._console = console
        self._numbers: dict[str, list[float]] = {}
        self.missing: dict[str, str] = {}

    def all(self) -> None:
        for number in range(self._options.rounds):
            self._console.print(f"remote read: round {number + 1}", style="dim")
            with RemoteSite(self._folder, compiled=self._options.compiled) as site:
                assert isinstance(site, RemoteSite)
                site.create_queue()
                self._readers(site)
                self._empty_calls(site)
                self._samba(site)
        theirs, ours = ndr.run()
        self._add("impacket NDR of R_StartReceive", theirs.per_second)
        self._add("NDR of R_StartReceive", ours.per_second)

    def figures(self) -> Figures:
        return {name: statistics.median(found) for name, found in self._numbers.items()}

    def _add(self, name: str, number: float) -> None:
        self._numbers.setdefault(name, []).append(number)

    def _readers(self, site: RemoteSite) -> None:
        share = 3 if self._options.quick else 1
        for name, kind, count, authenticated in (
            ("local receive", "local", LOCAL_MESSAGES, False),
            ("many in flight", "many", MANY_MESSAGES, False),
            ("many in flight, privacy", "many", MANY_MESSAGES, True),
            ("one in flight, privacy", "one", FEW_MESSAGES, True),
            ("impacket, one in flight, privacy", "impacket", IMPACKET_MESSAGES, True),
        ):
            self._add(name, site.read(kind, count // share, authenticated=authenticated))

    def _empty_calls(self, site: RemoteSite) -> None:
        with BareServer(self._folder) as bare:
            for in_flight in IN_FLIGHT:
                self._empty_call(f"bare server, {in_flight} in flight µs", bare, in_flight)
        for in_flight in IN_FLIGHT:
            self._empty_call(f"empty call, {in_flight} in flight µs", site, in_flight)

    def _empty_call(self, name: str, broker: Broker, in_flight: int) -> None:
        calls = EmptyCalls(HOST, broker.port, binds=isinstance(broker, RemoteSite))
        self._add(name, processor_time(broker, calls, in_flight, self._options.seconds))
        calls.close()

    def _samba(self, site: RemoteSite) -> None:
        if "samba" in self.missing:
            return
        try:
            dcerpcd.need_samba(install=self._options.install)
            with dcerpcd.SambaServer(self._folder):
                theirs = dcerpcd.calls_per_second(
                    dcerpcd.HOST, dcerpcd.EPM_PORT, self._options.seconds
                )
            self._add("Samba's client and server", theirs)
            ours = dcerpcd.calls_per_second(HOST, site.port, self._options.seconds)
            self._add("Samba's client, this server", ours)
        except (Missing, RuntimeError) as exc:
            self.missing["samba"] = str(exc)


def figure_table(figures: Figures) -> Table:
    table = Table("measured", "per second", title="Remote read, 1 KiB, recoverable")
    for name, value in figures.items():
        if not name.endswith("µs"):
            table.add_row(name, f"{value:,.0f}")
    return table


def processor_table(figures: Figures) -> Table:
    table = Table("server", "µs per empty call", title="Processor time of servers")
    for name, value in figures.items():
        if name.endswith("µs"):
            table.add_row(name.removesuffix(" µs"), f"{value:.2f}")
    return table


def present(options: Options) -> None:
    """Measure and print it."""
    console = Console(stderr=options.as_json)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with data_folder() as folder:
        run = Run(options, folder, console)
        run.all()
    figures = run.figures()
    tables = [
        figure_table(figures),
        processor_table(figures),
        target_table(figures, REMOTE_READ_TARGETS),
    ]
    if options.as_json:
        print(json.dumps({"benchmark": NAME, "figures": figures, "missing": run.missing}))
        for target in REMOTE_READ_TARGETS:
            print(json.dumps({"benchmark": NAME, **asdict(verdict(target, figures))}))
    else:
        for table in tables:
            console.print(table)
    for peer, why in run.missing.items():
        console.print(f"[red]{peer}[/red] is missing: {why}", highlight=False)
    if options.write:
        write_tables(NAME, tables)

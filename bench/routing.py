"""Messages through one router, beside the same messages sent directly.

Reproduce with `python -m bench routing`; add `--json` for one object per line.

Three queue managers in processes of their own, on one machine and one directory. The sender has an
out-routing server or none; a round ends when all messages are in the queue of the receiver. The
figures are messages per second, medians over the rounds, which alternate; and the processor time
that the router takes for a message beside what the receiver takes for it (receiving into a queue)
and the sender (sending out of one).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import openmsmq
from bench.report import Result
from openmsmq import Message
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.service.directory_file import DirectoryFileOnDisk

MESSAGES: Final = 20_000
ROUNDS: Final = 3
NAMES: Final = ("alpha", "gate", "beta")
NETWORK: Final = "127.0.91"
PORTS: Final = ("ping", "rpc", "qm2qm", "epm", "http", "https", "console", "local")
# How many times the time of a direct message one through a router may take.
LIMITS: Final = {"express": 1 / 0.55, "recoverable": 1 / 0.45}
QUEUE: Final = r".\private$\bench"
_START_SECONDS: Final = 60.0
_ROUND_SECONDS: Final = 300.0


class Server:
    """One `openmsmq serve`."""

    def __init__(self, folder: Path, name: str, hosts: dict[str, str]) -> None:
        self.data = folder / name
        config = folder / f"{name}.toml"
        settings: dict[str, object] = {
            "data": str(self.data),
            "name": name,
            "bind": hosts[name],
            "directory": str(folder / "directory.json"),
            "log_level": "warning",
            **{f"{port}_port": "off" for port in PORTS},
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        table = ", ".join(f'{each} = "{address}"' for each, address in hosts.items())
        config.write_text("\n".join([*lines, f"hosts = {{{table}}}"]))
        ready = folder / f"{name}.ready"
        command = [sys.executable, "-c", "from openmsmq.cli import main; main()"]
        options = ["serve", "--config", str(config), "--ready-file", str(ready)]
        self.process = subprocess.Popen([*command, *options])
        deadline = time.monotonic() + _START_SECONDS
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} does not start")
            time.sleep(0.02)

    def connect(self) -> openmsmq.QueueManager:
        return openmsmq.connect(str(self.data / "openmsmq.sock"))

    def processor_seconds(self) -> float:
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def servers() -> Iterator[tuple[dict[str, Server], TopologyEditor]]:
    """Three queue managers with one directory; the second routes."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openmsmq-routing-")))
        hosts = {name: f"{NETWORK}.{number}" for number, name in enumerate(NAMES, 2)}
        running = {}
        for name in NAMES:
            running[name] = Server(folder, name, hosts)
            stack.callback(running[name].stop)
        file = DirectoryFileOnDisk(folder / "directory.json")
        topology = TopologyEditor(LocalDirectory(file), utc=time.time())
        topology.set_server("gate", routing=True)
        yield running, topology


class Round:
    """One flow of messages: how fast, and what each process took for a message."""

    def __init__(self, running: dict[str, Server], name: str, delivery: str, count: int) -> None:
        before = {each: server.processor_seconds() for each, server in running.items()}
        with running["alpha"].connect() as sender, running["beta"].connect() as receiver:
            began = time.monotonic()
            with sender.open_queue(name, "send") as queue:
                queue.send_many([Message(bytes(100), delivery=delivery) for _ in range(count)])
            deadline = began + _ROUND_SECONDS
            while receiver.queue_info(QUEUE)["messages"] < count:
                if time.monotonic() > deadline:
                    raise RuntimeError("not all messages arrived")
                time.sleep(0.01)
            self.per_second = count / (time.monotonic() - began)
            with receiver.open_queue(QUEUE) as queue:
                queue.purge()
        self.cost = {
            each: (server.processor_seconds() - before[each]) / count
            for each, server in running.items()
        }


def run(count: int = MESSAGES, rounds: int = ROUNDS) -> list[Result]:
    results = []
    with servers() as (running, topology):
        with running["beta"].connect() as receiver:
            receiver.create_queue(QUEUE)
            guid = receiver.status()["guid"].strip("{}")
        name = rf"PRIVATE={guid}\00000005"
        for delivery in ("express", "recoverable"):
            direct, through = [], []
            for _ in range(rounds):
                topology.set_server("alpha", out_servers=())
                direct.append(Round(running, name, delivery, count))
                topology.set_server("alpha", out_servers=("gate",))
                through.append(Round(running, name, delivery, count))
            floor = statistics.median(each.per_second for each in direct)
            rate = statistics.median(each.per_second for each in through)
            results += [
                Result(f"{delivery}, direct", floor),
                Result(f"{delivery}, through one router", rate, floor / rate, LIMITS[delivery]),
                _router_cost(delivery, direct, through),
            ]
    return results


def _router_cost(delivery: str, direct: list[Round], through: list[Round]) -> Result:
    """Messages per second of processor time at the router; the ratio is to both ends together."""
    router = statistics.median(each.cost["gate"] for each in through)
    ends = statistics.median(each.cost["alpha"] + each.cost["beta"] for each in direct)
    return Result(f"{delivery}, processor time of the router", 1 / router, router / ends, 1.0)

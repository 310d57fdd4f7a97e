"""How each broker is started on loopback with its data in a folder, and stopped by process id."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Final

from .machine import cpu_seconds, is_running, process_tree, resident_bytes

HOST: Final = "127.0.0.1"
ROOT: Final = Path(__file__).resolve().parents[2]
COMPILED: Final = ROOT / "build" / "compiled"
START_SECONDS: Final = 90.0
STOP_SECONDS: Final = 30.0
RABBITMQ: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Broker(ABC):
    """A broker that runs while the `with` block does, on data that starts empty."""

    name: str
    client: str
    """Which `client_*` module talks to it."""
    foreign: bool = True
    """Whether its client needs the peers' environment."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder / self.name
        self.port: Final = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]: ...

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def environment(self) -> dict[str, str]:
        """Variables for the broker, and for its clients unless they are foreign."""
        return {}

    def configure(self) -> None:
        """Write what the broker needs into its folder, which is empty."""
        self.folder.mkdir(parents=True)

    def answers(self) -> bool:
        """Whether it takes connections."""
        with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), timeout=1):
            return True
        return False

    def __enter__(self) -> "Broker":
        shutil.rmtree(self.folder, ignore_errors=True)
        self.configure()
        self.launch()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def launch(self, *, wait: bool = True) -> None:
        """Start it on the data that are there."""
        with (self.folder / "output.log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                cwd=ROOT,
                env={**os.environ, **self.environment()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while wait and not self.answers():
            if self._process.poll() is not None or time.monotonic() > end:
                text = (self.folder / "output.log").read_text(errors="replace")
                self.stop(signal.SIGKILL)
                raise RuntimeError(f"{self.name} did not start:\n{text[-2000:]}")
            time.sleep(0.02)

    def processes(self) -> list[int]:
        return process_tree(self._process.pid) if self._process is not None else []

    def stop(self, kind: signal.Signals) -> None:
        """End the processes that this broker was started as."""
        running = self.processes()
        for process in running if kind is signal.SIGKILL else running[:1]:
            _signal(process, kind)
        end = time.monotonic() + STOP_SECONDS
        while any(map(is_running, running)):
            if self._process is not None:
                self._process.poll()
            if time.monotonic() > end:
                for process in running:
                    _signal(process, signal.SIGKILL)
                end += STOP_SECONDS
            time.sleep(0.01)
        if self._process is not None:
            self._process.wait()
            self._process = None

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.processes())

    def resident_bytes(self) -> int:
        return resident_bytes(self.processes())


def _signal(process: int, kind: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, kind)


class Floor(Broker):
    name = "floor"
    client = "floor"
    foreign = False

    def command(self) -> list[str]:
        return [sys.executable, "-m", "bench.peers.floor", self.address, str(self.folder)]


class OpenMsmq(Broker):
    """Server and client programs run compiled modules if there are any."""

    name = "openmsmq"
    client = "openmsmq"
    foreign = False

    def __init__(self, folder: Path, *, compiled: bool) -> None:
        super().__init__(folder)
        self._compiled = compiled

    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(COMPILED)} if self._compiled else {}

    @property
    def address(self) -> str:
        return str(self.folder / "openmsmq.sock")

    def answers(self) -> bool:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(self.address)
            return True
        return False

    def command(self) -> list[str]:
        program = str(Path(sys.executable).with_name("openmsmq"))
        off = [f"--{each}-port=off" for each in ("binary", "ping", "rpc", "qm2qm", "epm", "http")]
        return [program, "serve", f"--data={self.folder}", "--console-port=off", *off]


class Redis(Broker):
    """Without `durable` nothing is written; with it each write is synced before it is confirmed."""

    name = "redis"
    client = "redis"

    def __init__(self, folder: Path, *, durable: bool) -> None:
        super().__init__(folder)
        self._durable = durable

    def command(self) -> list[str]:
        log = ["--appendonly", "yes", "--appendfsync", "always"] if self._durable else []
        where = ["--bind", HOST, "--port", str(self.port), "--dir", str(self.folder)]
        return ["redis-server", *where, "--save", "", *log]


class RabbitMQ(Broker):
    name = "rabbitmq"
    client = "rabbitmq"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._epmd_port = free_port()
        self._distribution_port = free_port()

    def configure(self) -> None:
        super().configure()
        listener = f"listeners.tcp.1 = {HOST}:{self.port}\nlog.console = false\n"
        (self.folder / "rabbitmq.conf").write_text(listener)
        (self.folder / "enabled_plugins").write_text("[].\n")
        (self.folder / "rabbitmq-env.conf").write_text("")

    def environment(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            "HOME": folder,
            "RABBITMQ_NODENAME": "bench@localhost",
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/rabbitmq-env.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def command(self) -> list[str]:
        # Not Debian's wrapper: that one changes the user and writes to folders of the system.
        return [str(RABBITMQ)]

    def processes(self) -> list[int]:
        """The Erlang machine first: the shell around it passes no signal on."""
        running = super().processes()
        return sorted(running, key=lambda process: not _command_name(process).startswith("beam"))

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        # The name server is a daemon of its own, alone on our port.
        where = {**os.environ, "ERL_EPMD_PORT": str(self._epmd_port)}
        subprocess.run(["epmd", "-kill"], env=where, stdout=subprocess.DEVNULL, check=False)


def _command_name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""

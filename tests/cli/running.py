"""A queue manager in a process of its own, and `openmsmq` commands that talk to it."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from openmsmq.cli import main

PROGRAM: Final = str(Path(sys.executable).with_name("openmsmq"))
SECONDS: Final = 60
PORTS: Final = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https", "console")


class Outcome(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8")

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects, one from each line."""
        return [json.loads(line) for line in self.raw.splitlines()]

    @property
    def object(self) -> dict[str, Any]:
        """The only JSON object."""
        (only,) = self.objects
        return only


class Manager:
    """A queue manager that serves a data directory."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        ready = data.with_name(f"{data.name}.ready")
        ready.unlink(missing_ok=True)
        ports = [word for port in PORTS for word in (f"--{port}-port", "off")]
        command = ["serve", "--data", str(data), "--ready-file", str(ready), *ports, *options]
        with data.with_name(f"{data.name}.log").open("ab") as log:
            self.process = subprocess.Popen([PROGRAM, *command], stdout=log, stderr=log)
        deadline = time.monotonic() + SECONDS
        while not ready.exists():
            assert self.process.poll() is None, data.with_name(f"{data.name}.log").read_text()
            assert time.monotonic() < deadline, "the queue manager does not start"
            time.sleep(0.01)

    @property
    def program(self) -> str:
        return PROGRAM

    @property
    def socket(self) -> str:
        return str(self.data / "openmsmq.sock")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a shell whose commands talk to this queue manager."""
        return {**os.environ, "OPENMSMQ_SOCKET": self.socket}

    def run(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        """Run a command inside this process, as a shell without a terminal would."""
        return run([*arguments, "--socket", self.socket], stdin)

    def start(self, *arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
        """Start a command as a process of its own."""
        return subprocess.Popen([PROGRAM, *arguments], env=self.environment, **streams)

    def stop(self) -> int:
        """Stop it cleanly; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


def interrupt(process: "subprocess.Popen[bytes]") -> int:
    """Press Ctrl-C, again if it came just before a system call; return the exit code."""
    for _ in range(SECONDS):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(3)
    raise AssertionError("it does not end")


def run(arguments: Sequence[str], stdin: bytes = b"") -> Outcome:
    """Run a command inside this process."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before = (sys.stdin, sys.stdout, sys.stderr)
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        main(arguments)
    except SystemExit as exc:
        code = exc.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    out, err = (_written(stream) for stream in streams[1:])
    assert isinstance(code, int | None)
    return Outcome(code or 0, out, err.decode("utf-8"))


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.detach()
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()

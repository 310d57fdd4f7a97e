"""Starts `openmsmq serve` again and again without loading the program each time.

A process that has everything loaded forks for each start; the child is the command itself.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]


class Zygote:
    """Forks queue managers on request."""

    def __init__(self, log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.adversity.zygote"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def start(self, *arguments: str) -> int:
        """Start a queue manager; returns its process id."""
        return int(self._ask("start\t" + "\t".join(arguments)))

    def spawn(self, *arguments: str) -> "Forked":
        """Start a queue manager as a process that can be asked and waited for."""
        return Forked(self, self.start(*arguments))

    def wait(self, pid: int) -> int:
        """Wait for the end of a process; returns its exit code, negative for a signal."""
        return int(self._ask(f"wait\t{pid}"))

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


class Forked:
    """A queue manager that a zygote has started; as much of a `Popen` as tests need."""

    def __init__(self, zygote: Zygote, pid: int) -> None:
        self._zygote = zygote
        self._exit_code: int | None = None
        self.pid = pid

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        if self._exit_code is None:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
            return self.wait() if state in "ZX" else None
        return self._exit_code

    def wait(self) -> int:
        """Wait for the end; returns the exit code, negative for a signal."""
        if self._exit_code is None:
            self._exit_code = self._zygote.wait(self.pid)
        return self._exit_code


def main() -> None:
    """Read requests until the other side is gone."""
    import uvloop  # noqa: F401 - as above

    import openmsmq.cli.manager.serve
    import openmsmq.server.process  # noqa: F401 - loaded before the first start

    children: set[int] = set()
    for line in sys.stdin:
        word, *arguments = line.rstrip("\n").split("\t")
        if word == "start":
            pid = os.fork()
            if pid == 0:
                be_the_command(arguments)
            children.add(pid)
            answer = pid
        else:
            answer = os.waitstatus_to_exitcode(os.waitpid(int(arguments[0]), 0)[1])
            children.discard(int(arguments[0]))
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def be_the_command(arguments: list[str]) -> None:
    """In the child: what `openmsmq` does with these arguments."""
    from openmsmq.cli import main as openmsmq

    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    try:
        openmsmq(arguments)
    except SystemExit as exc:
        os._exit(int(exc.code or 0))
    finally:
        os._exit(70)


if __name__ == "__main__":
    main()

"""A queue manager whose queues are read remotely, and a bare server beside it."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import openmsmq
from openmsmq.service.account_file import AccountFile

from .board import BODY
from .brokers import HOST, ROOT, Floor, OpenMsmq

USER: Final = "reader"
PASSWORD: Final = "correct horse"  # noqa: S105 - of an account that ends with the run
QUEUE: Final = r".\private$\remote"
TOGETHER: Final = 1_000
READ_SECONDS: Final = 300


class BareServer(Floor):
    """Cuts PDUs and answers."""

    name = "rpc-floor"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "bench.peers.rpc_floor", self.address]


class RemoteSite(OpenMsmq):
    """Takes calls at every level, and knows one account."""

    name = "remote-site"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "OPENMSMQ_RPC_MINIMUM_LEVEL": "none"}

    def configure(self) -> None:
        super().configure()
        self.account = AccountFile(self.folder).add(USER, PASSWORD, None)

    def command(self) -> list[str]:
        kept = [each for each in super().command() if each != "--rpc-port=off"]
        return [*kept, f"--rpc-port={self.port}"]

    def answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), timeout=1):
            return super().answers()
        return False

    @property
    def rpc_address(self) -> str:
        return f"{HOST}:{self.port}"

    def create_queue(self) -> None:
        """The queue that readers read; the account and Anonymous Logon may."""
        with openmsmq.connect(Path(self.address)) as manager:
            manager.create_queue(QUEUE)
            for principal in (str(self.account.sid), "anonymous"):
                manager.grant(QUEUE, principal, ["receive", "peek"])

    def fill(self, count: int) -> None:
        """Put so many recoverable messages into the queue."""
        with (
            openmsmq.connect(Path(self.address)) as manager,
            manager.open_queue(QUEUE, access="send") as queue,
        ):
            for start in range(0, count, TOGETHER):
                number = min(TOGETHER, count - start)
                queue.send_many([openmsmq.Message(BODY, delivery="recoverable")] * number)

    def read(self, kind: str, count: int, *, authenticated: bool) -> float:
        """Messages per second of one reader in a process of its own.

        Raises:
            RuntimeError: the reader failed, or left messages.
        """
        self.fill(count)
        address = self.address if kind == "local" else self.rpc_address
        credentials = [USER, PASSWORD] if authenticated else []
        done = subprocess.run(
            [
                *(sys.executable, "-m", "bench.peers.remote_reader", kind),
                *(address, QUEUE, str(count)),
                *credentials,
            ],
            cwd=ROOT,
            env={**os.environ, **self.environment()},
            capture_output=True,
            text=True,
            timeout=READ_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"reader {kind}: {(done.stderr.strip() or 'no word')[-500:]}")
        with openmsmq.connect(Path(self.address)) as manager:
            left = manager.queue_info(QUEUE)["messages"]
        if left:
            raise RuntimeError(f"reader {kind} left {left} messages")
        return (count - 1) / float(done.stdout.split()[-1])

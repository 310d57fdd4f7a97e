"""A store whose disk does what the test says."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from openmsmq.store.interface import Finding, Step, Write
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError


class FakeStep:
    """A piece of maintenance."""

    def __init__(self, run: Callable[[], None], finish: Callable[[], None]) -> None:
        self.run = run
        self.finish = finish


class FakeStore(MemoryStore):
    """A memory store with a slow disk, faults and maintenance on demand.

    While `slow` is set, each write waits until `let_go` is called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.slow = False
        self.full = False
        self.own_writes = 0
        self.steps: list[Step] = []
        self.findings: list[Finding] = []
        self.fail_in = ""
        self.log: list[str] = []
        self.sizes: list[int] = []
        self._gate = threading.Semaphore(0)
        self.entered = threading.Semaphore(0)

    def let_go(self) -> None:
        """Let one write finish."""
        self._gate.release()

    def _fault(self, where: str) -> None:
        self.log.append(where)
        if self.fail_in == where:
            raise StoreError(f"fault in {where}")
        if self.fail_in == f"{where}!":
            raise RuntimeError(f"bug in {where}")

    def begin(self, batches: Sequence[Batch]) -> Any:
        self._fault("begin")
        self.sizes.append(sum(map(len, batches)))
        if not batches:
            self.own_writes -= 1
        return super().begin(batches)

    def write(self, write: Write) -> None:
        self.entered.release()
        if self.slow:
            self._gate.acquire()
        self._fault("write")
        super().write(write)

    def finish(self, write: Write) -> None:
        self._fault("finish")
        super().finish(write)

    @property
    def wants_write(self) -> bool:
        return self.own_writes > 0

    def room(self, size: int = 0, *, urgent: bool = False) -> bool:  # noqa: ARG002 - as stores do
        return not self.full

    def maintain(self) -> Step | None:
        self._fault("maintain")
        return self.steps.pop(0) if self.steps else None

    def take_findings(self) -> list[Finding]:
        found, self.findings = self.findings, []
        return found

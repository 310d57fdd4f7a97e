"""Slow checks of messages: signatures, decryption, a directory over the network.

A `Verifier` selects the messages to check. A few cheap checks are made in place. Otherwise all
checks of one read form one `CheckJob`: a worker runs it while the queue manager continues, and no
message of that read, or of later reads of the connection, goes into a queue before.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun, split_runs

from .failed_checks import FailedChecks

if TYPE_CHECKING:
    from openmsmq.core.transfer.incoming.inlet import Inlet, WaitingReception
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.codes.message_class import MessageClass

# The number of cheap checks that one read may have in place.
FEW_CHECKS: Final = 4


class Verdict:
    """The result of a check: the message as it is delivered, or why it is refused.

    `failed` says that a signature or a decryption failed, which is limited per address.
    """

    __slots__ = ("failed", "packet", "refusal")

    def __init__(
        self, packet: bytes, refusal: MessageClass | None = None, *, failed: bool = False
    ) -> None:
        self.packet = packet
        self.refusal = refusal
        self.failed = failed


class Check(Protocol):
    """A check of one message."""

    @property
    def cheap(self) -> bool:
        """Whether it may be made in place; never if it needs a private key or the network."""

    def make(self) -> Verdict:
        """Make the check, in any thread; an exception closes the connection of the message."""


class Verifier(Protocol):
    """Selects the messages that need a check before they go into a queue.

    Its methods are called for each read and must not fail: errors in a packet are found by
    `Check.make`.
    """

    def concerns(self, head: UserMessage, origin: Origin) -> bool:
        """Whether messages with the headers of this one need a check."""

    def check(self, message: UserMessage, origin: Origin) -> Check:
        """The check of one of them; its receiver-only bits are clear."""


class CheckJob:
    """The checks of one read: `run` it in any thread, then return it.

    Afterwards `runs` has the messages of the read as they are delivered, in their order, and
    `refused` the others.
    """

    __slots__ = ("_checks", "failures", "inlet", "reception", "refused", "runs")

    def __init__(
        self,
        inlet: Inlet,
        reception: WaitingReception,
        runs: list[UserMessageRun],
        checks: dict[UserMessageRun, list[Check]],
    ) -> None:
        self.inlet = inlet
        self.reception = reception
        self.runs = runs
        self.refused: dict[UserMessageRun, MessageClass] = {}
        # The number of failed signatures and decryptions.
        self.failures = 0
        self._checks = checks

    @property
    def in_place(self) -> bool:
        """Whether it is short enough to need no worker."""
        checks = [check for checks in self._checks.values() for check in checks]
        return len(checks) <= FEW_CHECKS and all(check.cheap for check in checks)

    def run(self) -> None:
        """Make all checks."""
        runs: list[UserMessageRun] = []
        refused: dict[UserMessageRun, MessageClass] = {}
        for run in self.runs:
            checks = self._checks.get(run)
            if checks is None:
                runs.append(run)
                continue
            if len(checks) == 1:
                verdict = checks[0].make()
                alone = UserMessageRun(UserMessage(verdict.packet))
                runs.append(alone)
                if verdict.refusal is not None:
                    self.failures += verdict.failed
                    refused[alone] = verdict.refusal
                continue
            accepted: list[bytes] = []
            for check in checks:
                verdict = check.make()
                if verdict.refusal is None:
                    accepted.append(verdict.packet)
                    continue
                self.failures += verdict.failed
                runs += split_runs(accepted, signatures_differ=True)
                accepted = []
                alone = UserMessageRun(UserMessage(verdict.packet))
                refused[alone] = verdict.refusal
                runs.append(alone)
            runs += split_runs(accepted, signatures_differ=True)
        self.runs = runs
        self.refused = refused


class Checks:
    """The checks of all connections: jobs for workers, and waiting bytes.

    Addresses take turns, so that the jobs of one do not delay those of others.

    Args:
        verifier: selects the messages that need a check.
        max_bytes: the limit of messages that wait for checks.
        max_failed: failed checks per address and minute.
    """

    __slots__ = ("_max_bytes", "bytes", "failed", "jobs", "verifier", "waiting")

    def __init__(self, verifier: Verifier, max_bytes: int, max_failed: int) -> None:
        self.verifier = verifier
        self._max_bytes = max_bytes
        # Jobs that no worker has taken, by address; the next address comes first.
        self.jobs: dict[str, deque[CheckJob]] = {}
        self.failed = FailedChecks(max_failed)
        # Reads that wait for their checks or behind other reads, and their bytes.
        self.waiting = 0
        self.bytes = 0

    def has_room(self, size: int) -> bool:
        """Whether messages of this size may wait; a single read always may."""
        return not self.bytes or self.bytes + size <= self._max_bytes

    def wait(self, size: int) -> None:
        """Count a waiting read."""
        self.waiting += 1
        self.bytes += size

    def end(self, size: int) -> None:
        """Remove a read from the count."""
        self.waiting -= 1
        self.bytes -= size
        assert (self.waiting > 0) == (self.bytes > 0)  # noqa: S101

    def add(self, job: CheckJob) -> None:
        """Queue a job for a worker."""
        self.jobs.setdefault(job.reception.origin.address, deque()).append(job)

    def take(self) -> CheckJob | None:
        """The next job that no worker has taken; None if there is none."""
        while self.jobs:
            address, jobs = next(iter(self.jobs.items()))
            del self.jobs[address]
            job = jobs.popleft()
            if jobs:
                self.jobs[address] = jobs
            if not job.reception.ended:
                return job
        return None

"""Running a job: batch by batch, each step on disk before the next."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Final, NamedTuple

from openmsmq.client import ConnectionLost, QueueManager
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .dry_run import dry_run
from .holding import held_job
from .job import STOP, Batch, Entry, Job, Journal
from .spec import JobKind
from .steps import STEPS, Done, save_all, settle

PATIENCE_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.1
# Stages lost in a restart of the queue manager are created again.
_AGAIN: Final = (Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE)
_MOST_TRIES: Final = 5

Connect = Callable[[], QueueManager]
Progress = Callable[[int, int], None]


class JobReport(NamedTuple):
    """The results of a job, real or expected: the number of messages by outcome."""

    id: str
    state: str
    done: int
    refused: int
    gone: int
    left: int
    # The reasons of refusals, with counts.
    reasons: dict[str, int]


class JobRunner:
    """Carries out a job, or the rest of one that was stopped or killed.

    Args:
        job: from `plan_job` or `load_job`.
        connect: opens a connection; called again when one is lost.
        patience: seconds to wait for an unreachable queue manager.
        progress: called with the number of processed messages, and the total.
        stopped: called before each batch; True stops the job, which can be resumed.
        interrupted: called before each batch; True ends this run, and the job stays unfinished.
    """

    def __init__(
        self,
        job: Job,
        connect: Connect,
        *,
        patience: float = PATIENCE_SECONDS,
        progress: Progress | None = None,
        stopped: Callable[[], bool] | None = None,
        interrupted: Callable[[], bool] | None = None,
    ) -> None:
        self._job = job
        self._connect = connect
        self._patience = patience
        self._progress = progress
        self._asked = stopped or _never
        self._interrupted = interrupted or _never
        self._manager: QueueManager | None = None

    def dry_run(self) -> JobReport:
        """Report the expected results, after the same checks; nothing is changed."""
        try:
            refused, gone = dry_run(self._connected(), self._job)
        finally:
            self._hang_up()
        total = len(self._job.messages)
        return JobReport(
            self._job.plan.id,
            "dry run",
            total - len(refused) - gone,
            len(refused),
            gone,
            0,
            dict(Counter(refused)),
        )

    def run(self) -> JobReport:
        """Carry out the rest.

        Raises:
            QueueError: another process runs the job, or all of it was refused.
            ConnectionLost: the queue manager did not return; resume the job later.
        """
        job = self._job
        with held_job(job), closing(Journal(job)) as journal:
            (job.folder / STOP).unlink(missing_ok=True)
            try:
                self._run(journal)
            finally:
                self._hang_up()
        return report_of(job)

    def _run(self, journal: Journal) -> None:
        job = self._job
        if job.finished:
            return
        if job.spec.kind is JobKind.SAVE:
            # The file is written as a whole.
            save_all(self._connected(), job, journal, self._paced(journal, job.batches))
        else:
            left = [batch for batch in job.batches if batch.number not in job.done]
            for batch in self._paced(journal, left):
                self._carry_out(journal, batch)
        if len(job.done) == len(job.batches):
            journal.write("finish")

    def _paced(self, journal: Journal, batches: list[Batch]) -> Iterator[Batch]:
        """Batches at the rate of the job, until it is stopped."""
        job = self._job
        rate = job.spec.rate
        started = time.monotonic()
        handled = 0
        for batch in batches:
            if self._interrupted():
                return
            if self._stopped():
                journal.write("stop")
                return
            yield batch
            handled += len(batch.messages)
            if self._progress is not None:
                self._progress(batch.start + len(batch.messages), len(job.messages))
            if rate is not None:
                self._wait(started + handled / rate)

    def _stopped(self) -> bool:
        return self._asked() or self._job.asked_to_stop

    def _wait(self, until: float) -> None:
        """Wait for the time of the next batch, or until the job is stopped."""
        while (left := until - time.monotonic()) > 0 and not self._ends():
            time.sleep(min(left, _PAUSE_SECONDS))

    def _ends(self) -> bool:
        return self._interrupted() or self._stopped()

    def _carry_out(self, journal: Journal, batch: Batch) -> None:
        """Carry out one batch, again after a loss of the connection."""
        tries = 0
        while True:
            # Out of patience it raises, and the job can be resumed.
            manager = self._connected()
            try:
                begun = self._job.begun.get(batch.number)
                if begun is not None and self._was_done(journal, manager, batch, begun):
                    return
                done = STEPS[self._job.spec.kind](manager, self._job, batch, journal)
                # On disk with the beginning of the next step, or with the end of the job.
                journal.add("done", batch=batch.number, **done.values())
                return
            except ConnectionLost:
                self._hang_up()
            except QueueError as exc:
                tries += 1
                if exc.code not in _AGAIN or tries >= _MOST_TRIES:
                    raise
                self._hang_up()

    def _was_done(
        self, journal: Journal, manager: QueueManager, batch: Batch, begun: Entry
    ) -> bool:
        """Whether a step took effect that has a begin and no end in the journal."""
        done: Done | None = settle(manager, self._job, batch, begun)
        if done is None:
            return False
        journal.write("done", batch=batch.number, **done.values())
        return True

    def _connected(self) -> QueueManager:
        """Open a connection; wait for the queue manager.

        Raises:
            ConnectionLost: it was not reachable in time.
            QueueError: it is not the queue manager of the job.
        """
        deadline = time.monotonic() + self._patience
        while self._manager is None:
            try:
                self._manager = self._connect()
            except ConnectionLost:
                if time.monotonic() > deadline or self._ends():
                    raise
                time.sleep(_PAUSE_SECONDS)
        self._job.check_queue_manager(self._manager.identity)
        return self._manager

    def _hang_up(self) -> None:
        manager, self._manager = self._manager, None
        if manager is not None:
            with suppress(ConnectionLost, QueueError):
                manager.close()


def report_of(job: Job) -> JobReport:
    """The results of a job so far."""
    counts = job.counts()
    return JobReport(
        job.plan.id,
        job.state,
        counts["done"] + counts["undone"],
        counts["refused"],
        counts["gone"],
        counts["left"],
        job.refusals(),
    )


def _never() -> bool:
    return False

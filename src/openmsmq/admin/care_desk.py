"""The care desk: searches and jobs on behalf of users, in threads of their own."""

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from openmsmq.care.durable import write_durably
from openmsmq.care.jobs import (
    Job,
    JobKind,
    JobReport,
    JobRunner,
    JobSpec,
    UndoReport,
    job_ids,
    load_job,
    plan_job,
    undo_job,
)
from openmsmq.client import QueueManager, connect
from openmsmq.wire.errors import ConfigError, MsmqError

from .console import ANSWER_SECONDS, Console
from .trust.person import Person
from .trust.problems import Problem

T = TypeVar("T")
OWNER: Final = "owner.json"
FILES: Final = "files"
# A file without a job is deleted after this time.
UNUSED_SECONDS: Final = 3600.0
MOST_RUNNING: Final = 8


class Owner(msgspec.Struct, frozen=True):
    """The user who began a job, and the time when it ended."""

    principal: str
    credential: str


class RunningJob:
    """A job that runs in a thread."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        # The console ends: the job continues with the next one.
        self.interrupt = threading.Event()
        self.handled = 0
        self.fault = ""
        self.task: asyncio.Task[None] | None = None


class CareDesk:
    """Runs the functions of `openmsmq.care`, which block, for users of the console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        folder = console.settings.folder
        self.folder: Final = None if folder is None else folder / "jobs"
        self._running: dict[str, RunningJob] = {}
        self._faults: dict[str, str] = {}
        # Separate threads, because these are slow: all other blocking calls share a few threads.
        self._job_threads = ThreadPoolExecutor(MOST_RUNNING, "job")
        self._search_threads = ThreadPoolExecutor(console.settings.console_searches, "search")
        console.meters.jobs = self.job_counts

    async def start(self) -> None:
        """Continue the jobs that the end of an earlier console interrupted."""
        for job in await asyncio.to_thread(self.jobs):
            # A dry run has no owner.
            begun = job.state == "planned" and (job.folder / OWNER).exists()
            if begun or job.state == "unfinished":
                self.run(job)

    async def stop(self) -> None:
        """Stop waiting for jobs; they continue with the next console."""
        for running in self._running.values():
            running.interrupt.set()
        for running in list(self._running.values()):
            if running.task is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(running.task), 1.0)

    def connect(self, principal: str) -> QueueManager:
        """A blocking connection for a person; close it."""
        settings = self._console.settings
        return connect(
            settings.address,
            token=settings.token,
            ca_file=settings.ca_file,
            timeout=5 * ANSWER_SECONDS,
            act_for=principal,
        )

    async def call(self, person: Person, work: Callable[[QueueManager], T]) -> T:
        """Run a blocking function in a thread, for a person."""
        return await self._call(None, person, work)

    async def search(self, person: Person, work: Callable[[QueueManager], T]) -> T:
        """The same for a search, which may be slow."""
        return await self._call(self._search_threads, person, work)

    async def _call(
        self, threads: Executor | None, person: Person, work: Callable[[QueueManager], T]
    ) -> T:
        def work_in_thread() -> T:
            with self.connect(person.principal) as manager:
                return work(manager)

        return await asyncio.get_running_loop().run_in_executor(threads, work_in_thread)

    # Jobs

    def job_counts(self) -> dict[str, int]:
        """The number of running jobs, and of jobs that failed since the start."""
        return {"running": len(self._running), "failed": len(self._faults)}

    def jobs(self) -> list[Job]:
        """Every job, the newest first."""
        if self.folder is None or not self.folder.exists():
            return []
        found = []
        for identifier in reversed(job_ids(self.folder)):
            with contextlib.suppress(ConfigError):
                found.append(load_job(self.folder / identifier))
        return found

    def job(self, identifier: str) -> Job:
        """One job.

        Raises:
            Problem: 404, there is none.
        """
        if self.folder is not None and identifier in job_ids(self.folder):
            return load_job(self.folder / identifier)
        raise no_job(identifier)

    def owner(self, job: Job) -> Owner:
        """The user who began a job."""
        try:
            return msgspec.json.decode((job.folder / OWNER).read_bytes(), type=Owner)
        except (OSError, msgspec.MsgspecError):
            return Owner("", "")

    def state(self, job: Job) -> str:
        """The state of a job: `running`, `failed`, or its own state."""
        if job.plan.id in self._running:
            return "running"
        return "failed" if self._faults.get(job.plan.id) else job.state

    def fault(self, job: Job) -> str:
        """Why a job failed."""
        return self._faults.get(job.plan.id, "")

    def handled(self, job: Job) -> int:
        """The number of messages that a job has processed."""
        running = self._running.get(job.plan.id)
        return max(running.handled if running else 0, len(job.messages) - job.counts()["left"])

    async def plan(self, person: Person, spec: JobSpec) -> Job:
        """Find the messages of a job and write its plan."""
        folder = self._jobs_folder()
        return await self.call(person, lambda manager: plan_job(manager, spec, folder))

    async def dry_run(self, person: Person, spec: JobSpec) -> tuple[Job, JobReport]:
        """The expected results of a job, from its checks; nothing is changed."""
        job = await self.plan(person, spec)
        runner = JobRunner(job, lambda: self.connect(person.principal), patience=ANSWER_SECONDS)
        try:
            return job, await asyncio.to_thread(runner.dry_run)
        finally:
            await asyncio.to_thread(_forget, job.folder)

    async def begin(self, person: Person, spec: JobSpec) -> Job:
        """Plan a job and run it."""
        if len(self._running) >= MOST_RUNNING:
            raise Problem(429, "Too many jobs run.", remedy="Wait for one to end.", retry_after=5)
        job = await self.plan(person, spec)
        owner = msgspec.json.encode(Owner(person.principal, person.credential))
        write_durably(job.folder / OWNER, owner)
        self.run(job)
        return job

    def run(self, job: Job) -> None:
        """Run a job, or the rest of it, for the user who began it."""
        identifier = job.plan.id
        if identifier in self._running:
            raise Problem(409, f"Job {identifier} runs already.")
        running = RunningJob()
        principal = self.owner(job).principal

        def progress(handled: int, total: int) -> None:
            del total
            running.handled = handled

        runner = JobRunner(
            job,
            lambda: self.connect(principal),
            progress=progress,
            stopped=running.stop.is_set,
            interrupted=running.interrupt.is_set,
        )

        async def run() -> None:
            try:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._job_threads, runner.run)
            except MsmqError as exc:
                self._faults[identifier] = str(exc)
            finally:
                del self._running[identifier]

        self._faults.pop(identifier, None)
        self._running[identifier] = running
        running.task = asyncio.create_task(run())

    def stop_job(self, job: Job) -> None:
        """Stop a job after its current step; it can be resumed."""
        running = self._running.get(job.plan.id)
        if running is None:
            raise Problem(409, f"Job {job.plan.id} does not run.")
        running.stop.set()

    def when_ended(self, identifier: str, action: Callable[[], None]) -> None:
        """Call a function when a running job has ended; at once if it has."""
        running = self._running.get(identifier)
        if running is None or running.task is None:
            action()
        else:
            running.task.add_done_callback(lambda _: action())

    # Files of jobs

    def new_file(self, suffix: str = ".omq") -> Path:
        """A name for the file of a save or a load."""
        folder = self._jobs_folder().with_name(FILES)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._forget_files(folder)
        return folder / (secrets.token_hex(16) + suffix)

    def keep_file(self, content: bytes) -> Path:
        """Keep the file of a load until the job is forgotten."""
        file = self.new_file(".jsonl" if content[:1] == b"{" else ".omq")
        write_durably(file, content)
        return file

    def saved_file(self, job: Job) -> Path | None:
        """The file that a save wrote, if it exists."""
        if job.spec.kind is not JobKind.SAVE or not job.finished:
            return None
        file = Path(job.spec.file)
        return file if file.exists() else None

    def _forget_files(self, folder: Path) -> None:
        """Delete the files of unknown jobs."""
        known = {job.spec.file for job in self.jobs()}
        for file in folder.iterdir():
            with contextlib.suppress(OSError):
                if str(file) not in known and time.time() - file.stat().st_mtime > UNUSED_SECONDS:
                    file.unlink()

    async def undo(self, person: Person, job: Job) -> UndoReport:
        """Undo a job: put its messages back."""
        return await self.call(person, lambda manager: undo_job(manager, job))

    async def wait_for(self, job: Job, seconds: float) -> Job:
        """Wait for a short job to end, so that its result is in the answer."""
        running = self._running.get(job.plan.id)
        if running is not None and running.task is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(running.task), seconds)
        return await asyncio.to_thread(self.job, job.plan.id)

    def _jobs_folder(self) -> Path:
        if self.folder is None:
            raise Problem(
                409,
                "This console keeps no jobs.",
                cause="It was started without a folder.",
                remedy="Start it with --folder.",
            )
        return self.folder


def no_job(identifier: str) -> Problem:
    """There is no such job, or none that the person may know of."""
    return Problem(404, f"There is no job {identifier}.", remedy="Jobs lists those that exist.")


def _forget(folder: Path) -> None:
    """Delete the plan of a dry run."""
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()

"""A job on disk: its plan, its messages, and the journal of completed steps.

Files in the folder of a job:

    plan.json       the plan; written last, so a job without it was not planned completely
    messages.jsonl  the messages in the order of processing
    journal.jsonl   a line for each step, on disk before the next begins; the last may be cut short
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from openmsmq.care.durable import make_directory, sync_file, write_durably
from openmsmq.care.packet_files import PacketFile
from openmsmq.care.places import PlaceKind, place_of
from openmsmq.client.backend.interface import Identity
from openmsmq.net.local.paths import default_data_directory
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

from .spec import JobKind, JobSpec

PLAN: Final = "plan.json"
MESSAGES: Final = "messages.jsonl"
JOURNAL: Final = "journal.jsonl"
VARIABLE: Final = "OPENMSMQ_JOBS"
# A file that asks the process that runs the job to stop.
STOP: Final = "stop"
# The time for which a finished job can be viewed and undone.
KEPT_SECONDS: Final = 30 * 86_400.0
# The approximate size of one step in bytes.
BATCH_BYTES: Final = 4 * 1024 * 1024


class Outcome(StrEnum):
    """The outcome of one message."""

    # Sent, moved, copied, removed, saved: the purpose of the job.
    DONE = "done"
    # The queue, or a check, refused it; it stays in place.
    REFUSED = "refused"
    # It was missing, or another reader had it.
    GONE = "gone"
    # An undo has put it back.
    UNDONE = "undone"


class PlannedMessage(msgspec.Struct, array_like=True, frozen=True):
    """A message to be processed by a job."""

    source: str
    lookup_id: int
    id: str
    destination: str
    message_class: int
    transactional: bool
    size: int
    label: str


class Result(msgspec.Struct, frozen=True):
    """The outcome of a message, and why."""

    outcome: Outcome
    text: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `plan.json`."""

    id: str
    spec: JobSpec
    created: float
    queue_manager: str
    messages: int
    bytes: int


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the journal.

    Attributes:
        step: `begin` before a batch is carried out, `done` after it; `stop`, `finish`;
            `undoing` before and `undo` after a batch was put back.
        batch: its number.
        refused: the reasons, by index in the batch.
        gone: indexes of missing messages.
        first: the arrival sequence of the first message that was published.
        lookup_ids: new ones of moved messages.
    """

    step: str
    time: float
    batch: int = -1
    refused: dict[int, str] = msgspec.field(default_factory=dict)
    gone: list[int] = msgspec.field(default_factory=list)
    first: int = 0
    lookup_ids: list[int] = msgspec.field(default_factory=list)


_decode_entry: Final = msgspec.json.Decoder(Entry).decode
_decode_message: Final = msgspec.json.Decoder(PlannedMessage).decode
_encode: Final = msgspec.json.encode


class Batch:
    """The messages of one step, all with one source, destination and kind of message."""

    def __init__(self, number: int, start: int, messages: list[PlannedMessage]) -> None:
        self.number = number
        # The index of the first in the whole job.
        self.start = start
        self.messages = messages
        self.lookup_ids = [message.lookup_id for message in messages]


class Job:
    """A planned job, and its progress."""

    def __init__(self, folder: Path, plan: Plan, messages: list[PlannedMessage]) -> None:
        self.folder = folder
        self.plan = plan
        self.messages = messages
        self.batches = cut(self.messages, plan.spec)
        # The file that a load sends.
        self.file = PacketFile(Path(plan.spec.file))
        self.begun: dict[int, Entry] = {}
        self.done: dict[int, Entry] = {}
        self.undoing: dict[int, Entry] = {}
        self.undone: dict[int, Entry] = {}
        self.finished = False
        self.stopped = False
        for entry in _read_lines(folder / JOURNAL, _decode_entry):
            self._apply(entry)

    @property
    def spec(self) -> JobSpec:
        return self.plan.spec

    @property
    def state(self) -> str:
        """`planned`, `unfinished`, `stopped`, `finished`, `undoing` or `undone`."""
        if self.undoing or self.undone:
            return "undone" if self.undone.keys() >= self.done.keys() else "undoing"
        if self.finished:
            return "finished"
        if self.stopped:
            return "stopped"
        return "unfinished" if self.begun else "planned"

    @property
    def ended(self) -> bool:
        """Whether it cannot continue: it is finished, or its undo has begun."""
        return self.state in ("finished", "undoing", "undone")

    @property
    def left_to_undo(self) -> list[Batch]:
        """The batches that were carried out and not undone, the last first."""
        return [
            batch
            for batch in reversed(self.batches)
            if batch.number in self.done and batch.number not in self.undone
        ]

    @property
    def can_be_undone(self) -> bool:
        """Whether messages can go back in place: none can be put into a journal."""
        kind = self.spec.kind
        if kind not in (JobKind.MOVE, JobKind.RETRY):
            return kind in (JobKind.COPY, JobKind.LOAD)
        return all(place_of(name).kind is not PlaceKind.JOURNAL for name in self.spec.sources)

    @property
    def producer(self) -> str:
        """The producer name of the job."""
        return f"job/{self.plan.id}"

    def _apply(self, entry: Entry) -> None:
        if entry.step == "begin":
            self.begun[entry.batch] = entry
            self.stopped = False
        elif entry.step == "done":
            self.done[entry.batch] = entry
        elif entry.step == "undoing":
            self.undoing[entry.batch] = entry
        elif entry.step == "undo":
            self.undone[entry.batch] = entry
        elif entry.step == "stop":
            self.stopped = True
        elif entry.step == "finish":
            self.finished = True

    def ask_to_stop(self) -> None:
        """Ask the process that runs the job to stop it after the current step."""
        (self.folder / STOP).touch()

    @property
    def asked_to_stop(self) -> bool:
        """Whether a stop was requested."""
        return (self.folder / STOP).exists()

    def check_queue_manager(self, identity: Identity) -> None:
        """Refuse another queue manager than that of the job, whose lookup ids differ.

        Raises:
            QueueError: this is another one.
        """
        if identity.guid != self.plan.queue_manager:
            raise QueueError(
                Hresult.MQ_ERROR_ILLEGAL_OPERATION,
                f"job {self.plan.id} is not a job of {identity.name}, but of the queue manager "
                f"{self.plan.queue_manager}",
                cause="Another queue manager has other messages under the same lookup ids.",
                remedy="Name its own queue manager with --socket.",
            )

    def forget(self) -> None:
        """Remove the job from disk; it can no longer be resumed or undone."""
        (self.folder / PLAN).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def results(self) -> Iterator[tuple[PlannedMessage, Result | None]]:
        """The outcome of each message; None for those not processed yet."""
        for batch in self.batches:
            yield from zip(batch.messages, self.batch_results(batch), strict=True)

    def batch_results(self, batch: Batch) -> list[Result | None]:
        """The outcome of each message of a batch."""
        done = self.done.get(batch.number)
        if done is None:
            return [None] * len(batch.messages)
        undone = self.undone.get(batch.number)
        return [_result(place, done, undone) for place in range(len(batch.messages))]

    def counts(self) -> dict[str, int]:
        """The number of messages by outcome, and `left`."""
        counts = dict.fromkeys((*Outcome, "left"), 0)
        for batch in self.batches:
            size = len(batch.messages)
            done, undone = self.done.get(batch.number), self.undone.get(batch.number)
            if done is None:
                counts["left"] += size
                continue
            handled = size - len(done.refused) - len(done.gone)
            back = 0 if undone is None else handled - len(undone.gone)
            counts[Outcome.REFUSED] += len(done.refused)
            counts[Outcome.GONE] += len(done.gone)
            counts[Outcome.UNDONE] += back
            counts[Outcome.DONE] += handled - back
        return counts

    def refusals(self) -> dict[str, int]:
        """The reasons of refusals, with counts."""
        refused = (entry.refused.values() for entry in self.done.values())
        return dict(Counter(chain.from_iterable(refused)))


def _result(place: int, done: Entry, undone: Entry | None) -> Result:
    if place in done.refused:
        return Result(Outcome.REFUSED, done.refused[place])
    if place in done.gone:
        return Result(Outcome.GONE, "it was not there any more, or another reader had it")
    if undone is not None and place not in undone.gone:
        return Result(Outcome.UNDONE)
    return Result(Outcome.DONE)


class Journal:
    """Appends to the journal of a job; a line is on disk when `write` returns, not after `add`."""

    def __init__(self, job: Job) -> None:
        self._job = job
        path = job.folder / JOURNAL
        _cut_torn_line(path)
        self._file: BinaryIO = path.open("ab")
        sync_file(path)

    def write(self, step: str, **values: Any) -> Entry:
        """Write a step."""
        entry = self.add(step, **values)
        os.fsync(self._file.fileno())
        return entry

    def add(self, step: str, **values: Any) -> Entry:
        """Write a step that need not be on disk before the next `write`.

        It survives a kill of this process. After a crash of the machine the loss is determined
        again: only the end of the newest step can be missing.
        """
        entry = Entry(step=step, time=time.time(), **values)
        self._file.write(_encode(entry) + b"\n")
        self._file.flush()
        self._job._apply(entry)
        return entry

    def close(self) -> None:
        """Close the file, with everything in it on disk."""
        os.fsync(self._file.fileno())
        self._file.close()


def cut(messages: list[PlannedMessage], spec: JobSpec) -> list[Batch]:
    """Cut messages into batches, always in the same way."""
    most = spec.step if spec.rate is None else max(1, min(spec.step, int(spec.rate)))
    batches: list[Batch] = []
    part: list[PlannedMessage] = []
    size = start = 0
    for place, message in enumerate(messages):
        if part and (
            len(part) >= most
            or size + message.size > BATCH_BYTES
            or _group(message) != _group(part[0])
        ):
            batches.append(Batch(len(batches), start, part))
            part, size, start = [], 0, place
        part.append(message)
        size += message.size
    if part:
        batches.append(Batch(len(batches), start, part))
    return batches


def _group(message: PlannedMessage) -> tuple[str, str, bool]:
    return message.source, message.destination, message.transactional


def jobs_directory() -> Path:
    """The directory of jobs: `$OPENMSMQ_JOBS`, else beside the default data directory."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else default_data_directory() / "jobs"


def job_ids(directory: Path) -> list[str]:
    """The jobs in a directory, the oldest first."""
    return sorted(path.parent.name for path in directory.glob(f"*/{PLAN}"))


def forget_old_jobs(directory: Path, now: float) -> None:
    """Remove jobs that ended long ago."""
    for identifier in job_ids(directory):
        folder = directory / identifier
        ended = folder / JOURNAL
        if ended.exists() and ended.stat().st_mtime < now - KEPT_SECONDS:
            job = load_job(folder)
            if job.ended:
                job.forget()


def store_job(folder: Path, plan: Plan, messages: list[PlannedMessage]) -> Job:
    """Write a new job; it exists once `plan.json` does."""
    make_directory(folder)
    write_durably(folder / MESSAGES, b"".join([_encode(each) + b"\n" for each in messages]))
    write_durably(folder / PLAN, _encode(plan))
    return Job(folder, plan, messages)


def load_job(folder: Path) -> Job:
    """Read a job back.

    Raises:
        ConfigError: there is no such job, or its files are damaged.
    """
    try:
        plan = msgspec.json.decode((folder / PLAN).read_bytes(), type=Plan)
        return Job(folder, plan, list(_read_lines(folder / MESSAGES, _decode_message)))
    except FileNotFoundError as exc:
        raise ConfigError(
            f"{folder.name}: no such job in {folder.parent}",
            cause="The id is misspelt, the job ended over 30 days ago, or another user began it.",
            remedy=f"Compare the id with `openmsmq job list`; ${VARIABLE} names where jobs are.",
        ) from exc
    except (OSError, msgspec.MsgspecError) as exc:
        raise ConfigError(f"{folder}: {exc}") from exc


def _read_lines(path: Path, decode: Any) -> Iterator[Any]:
    """The lines of a file; a last line without its end was not written completely."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield decode(line)


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)

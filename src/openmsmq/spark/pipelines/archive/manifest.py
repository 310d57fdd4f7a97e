"""The manifest of an archive: its ranges of queues, and their files.

One numbered JSON document per step, a batch or a compaction, each with the SHA-256 of the
previous one, which reveals changes and removals. A document that ends in `.pending` belongs
to a step that has begun; renaming it ends the step.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from openmsmq.care.durable import make_directory, sync_directory, write_durably
from openmsmq.spark.pipelines.support.errors import PipelineError

VERSION: Final = 1
FOLDER: Final = "_manifest"
BATCH: Final = "batch"
COMPACTION: Final = "compaction"
_LOCAL: Final = "DIRECT=OS:.\\"
_DONE: Final = ".json"
_PENDING: Final = ".pending"


@dataclass(frozen=True, slots=True)
class Range:
    """What one batch took from one queue: `after` < arrival sequence <= `upto`.

    Attributes:
        incarnation: another one when the queue was deleted and created again.
        count, digest: of the sequences in the range.
    """

    queue: str
    incarnation: str
    after: int
    upto: int
    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Loss:
    """What an archive lacks of a queue, and somebody has accepted; `text` says it for people.

    Attributes:
        incarnation: that of the queue which had the messages.
        after: the arrival sequence after which something is missing.
    """

    queue: str
    incarnation: str
    after: int
    text: str


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of messages of one queue that arrived on one day (UTC); `path` is relative."""

    path: str
    queue: str
    date: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Step:
    """One document of the manifest.

    Attributes:
        number: its place in the manifest.
        kind: `BATCH` or `COMPACTION`.
        archive: identifier of the archive.
        previous: SHA-256 of the document before; empty for the first one.
        query, batch: the batch of the streaming query, for a batch.
        ranges: what a batch took.
        files: what was added.
        removed: files that a compaction has replaced.
        made: when, in ISO 8601.
        losses: what is missing from here on, and was accepted.
    """

    number: int
    kind: str
    archive: str
    previous: str
    made: str
    query: str = ""
    batch: int = -1
    ranges: tuple[Range, ...] = ()
    files: tuple[DataFile, ...] = ()
    removed: tuple[DataFile, ...] = ()
    losses: tuple[Loss, ...] = ()

    def to_json(self) -> bytes:
        """The document, for people as well."""
        document = {"v": VERSION, **asdict(self)}
        if not self.losses:
            del document["losses"]
        return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Read a document.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        document: dict[str, Any] = json.loads(data)
        if document.pop("v") != VERSION:
            raise ValueError("a version that is not known here")
        return cls(
            **{
                **document,
                "ranges": tuple(Range(**values) for values in document["ranges"]),
                "files": tuple(DataFile(**values) for values in document["files"]),
                "removed": tuple(DataFile(**values) for values in document["removed"]),
                "losses": tuple(Loss(**values) for values in document.get("losses", ())),
            }
        )


@dataclass(slots=True)
class Manifest:
    """All steps of an archive, in order."""

    folder: Path
    steps: list[Step] = field(default_factory=list)
    last_digest: str = ""

    @classmethod
    def load(cls, archive: Path) -> Self:
        """Read the manifest of an archive; an empty one if there is none.

        Raises:
            PipelineError: it is damaged.
        """
        manifest = cls(archive / FOLDER)
        for number, path in enumerate(manifest.documents()):
            data = path.read_bytes()
            try:
                step = Step.from_json(data)
            except (ValueError, KeyError, TypeError) as exc:
                raise _damaged(path, f"it cannot be read: {exc}") from exc
            if step.number != number or path.name != _name(number, _DONE):
                raise _damaged(path, f"document {number} is missing")
            if step.previous != manifest.last_digest:
                raise _damaged(path, "the document before it was changed")
            manifest._append(step, data)
        return manifest

    def documents(self) -> list[Path]:
        """The files of all finished steps, in order."""
        return sorted(self.folder.glob(f"*{_DONE}"))

    def files(self) -> list[DataFile]:
        """The files that hold the messages now."""
        current: dict[str, DataFile] = {}
        for step in self.steps:
            for file in step.removed:
                current.pop(file.path, None)
            current.update((file.path, file) for file in step.files)
        return list(current.values())

    def removed(self) -> set[str]:
        """Paths of the files that compactions have replaced."""
        return {file.path for step in self.steps for file in step.removed}

    def ranges(self) -> Iterator[tuple[int, Range]]:
        """Every range with the number of its step, in the order in which they were taken."""
        for step in self.steps:
            for range_ in step.ranges:
                yield step.number, range_

    def losses(self) -> list[Loss]:
        """What is missing and was accepted."""
        return [loss for step in self.steps for loss in step.losses]

    def has_batch(self, query: str, batch: int) -> bool:
        """Whether this batch of a query is in the archive."""
        return any(step.query == query and step.batch == batch for step in self.steps)

    def ends(self) -> dict[tuple[str, str], int]:
        """How far each queue is archived, by queue and incarnation."""
        ends: dict[tuple[str, str], int] = {}
        for _, range_ in self.ranges():
            key = range_.queue, range_.incarnation
            ends[key] = max(ends.get(key, 0), range_.upto)
        return ends

    def begin(self, step: Step) -> None:
        """Write down a step that has begun."""
        make_directory(self.folder)
        write_durably(self.folder / _name(step.number, _PENDING), step.to_json())

    def finish(self, step: Step) -> None:
        """End a step: from here on it counts."""
        data = step.to_json()
        pending = self.folder / _name(step.number, _PENDING)
        pending.replace(self.folder / _name(step.number, _DONE))
        sync_directory(self.folder)
        self._append(step, data)

    def pending(self) -> Step | None:
        """The step that has begun and not ended, left behind by a run that was killed."""
        path = self.folder / _name(len(self.steps), _PENDING)
        return Step.from_json(path.read_bytes()) if path.exists() else None

    def forget_pending(self) -> None:
        """Give up steps that have begun and not ended."""
        for path in self.folder.glob(f"*{_PENDING}"):
            path.unlink()

    def _append(self, step: Step, data: bytes) -> None:
        self.steps.append(step)
        self.last_digest = hashlib.sha256(data).hexdigest()


def range_name(queue: str) -> str:
    r"""The name that ranges have for a queue: `DIRECT=OS:.\name`, whatever the computer's name.

    Rows have the name of the computer, which may change; offsets do without.
    """
    scheme, _, rest = queue.partition("DIRECT=OS:")
    computer, separator, name = rest.partition("\\")
    return _LOCAL + name if not scheme and computer and separator else queue


def gaps(ranges: Iterable[Range], accepted: Iterable[Loss] = ()) -> list[str]:
    """What is missing or twice between consecutive ranges of each queue, in words."""
    texts: list[str] = []
    known = {(loss.queue, loss.incarnation, loss.after) for loss in accepted}
    last: dict[str, Range] = {}
    for range_ in ranges:
        before = last.get(range_.queue)
        if before is not None and before.incarnation != range_.incarnation:
            if (before.queue, before.incarnation, before.upto) not in known:
                texts.append(created_again(before.queue, before.upto))
        elif before is not None and range_.after > before.upto:
            texts.append(f"{range_.queue}: nothing covers ({before.upto}, {range_.after}]")
        elif before is not None and range_.after < before.upto:
            texts.append(f"{range_.queue}: ({range_.after}, {before.upto}] is covered twice")
        last[range_.queue] = range_
    return texts


def created_again(queue: str, after: int) -> str:
    """What is lost with a queue that was deleted and created again."""
    return (
        f"{queue}: the queue was created again after sequence {after}; "
        "what was in it then is unknown"
    )


def _name(number: int, suffix: str) -> str:
    return f"{number:010d}{suffix}"


def _damaged(path: Path, detail: str) -> PipelineError:
    return PipelineError(
        f"the manifest {path} is damaged: {detail}",
        cause="A file of the archive was changed, deleted or only copied in part.",
        remedy="Bring the folder _manifest back from a copy of the archive.",
    )

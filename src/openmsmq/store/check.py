"""`store check`: reads every byte of a store that is not in use, without changes."""

from dataclasses import dataclass
from pathlib import Path

from openmsmq.wire.errors import StoreError

from .file_store import LOCK_NAME
from .files import Files, RealFiles
from .interface import Finding, Progress
from .log_format import KIND_ROLL, Damage, UnknownVersion, tag_of
from .log_reader import SegmentReader, Tear
from .recovery import Meter, Reader
from .segments import segment_name
from .snapshot import load_snapshot, snapshot_name


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """The result of a check."""

    segments: int = 0
    snapshots: int = 0
    batches: int = 0
    messages: int = 0
    message_bytes: int = 0
    rows: int = 0
    damage: tuple[Finding, ...] = ()
    """Damage; a start refuses if a live message or the log after the snapshot is affected."""
    repairable: tuple[Finding, ...] = ()
    """Faults that the next start repairs without loss."""

    @property
    def sound(self) -> bool:
        return not self.damage


def check_store(
    directory: Path, progress: Progress | None = None, *, files: Files | None = None
) -> StoreReport:
    """Check the store in a directory.

    Raises:
        StoreError: there is no store, or it is in use.
    """
    files = files or RealFiles()
    try:
        if not files.names(directory):
            raise StoreError(f"{directory}: there is no store here")
        lock = files.lock(directory / LOCK_NAME)
        try:
            return _Check(files, directory).run(progress)
        finally:
            lock.close()
    except OSError as exc:
        raise StoreError(f"{exc.filename or directory}: {exc.strerror or exc}") from exc


class _Check:
    """One check in progress."""

    def __init__(self, files: Files, directory: Path) -> None:
        self._files = files
        self._directory = directory
        self._reader = Reader(files, directory)
        self._batches = 0
        self._damage: dict[Finding, None] = {}
        self._tears: dict[int, Finding] = {}
        self._repairable: tuple[Finding, ...] = ()

    def run(self, progress: Progress | None) -> StoreReport:
        reader = self._reader
        if reader.empty:
            raise StoreError(f"{self._directory}: there is no store here")
        meter = Meter(progress, len(reader.generations) + len(reader.segments) + 1)
        for generation in reader.generations:
            path = self._directory / snapshot_name(generation)
            try:
                load_snapshot(self._files, path, generation)
            except (Damage, UnknownVersion) as exc:
                self._note(exc, path.name)
            meter.add(1)
        for number in reader.segments:
            self._check_segment(number)
            meter.add(1)
        try:
            recovered = reader.read()
        except (Damage, UnknownVersion) as exc:
            self._note(exc, self._directory.name)
            self._damage.update(dict.fromkeys(self._tears.values()))
            meter.end()
            return self._report()
        meter.end()
        # The end of the log may be torn; elsewhere the same bytes are damage.
        if recovered.tear is not None:
            self._repairable = (self._tears.pop(recovered.tear[0]),)
        self._damage.update(dict.fromkeys(self._tears.values()))
        return self._report(
            messages=len(recovered.index.entries),
            message_bytes=recovered.index.message_bytes,
            rows=len(recovered.index.rows),
        )

    def _report(self, *, messages: int = 0, message_bytes: int = 0, rows: int = 0) -> StoreReport:
        return StoreReport(
            segments=len(self._reader.segments),
            snapshots=len(self._reader.generations),
            batches=self._batches,
            messages=messages,
            message_bytes=message_bytes,
            rows=rows,
            damage=tuple(self._damage),
            repairable=self._repairable,
        )

    def _note(self, exc: Damage | UnknownVersion, file: str) -> None:
        if isinstance(exc, Damage):
            finding = Finding(exc.file, exc.offset, exc.reason)
        else:
            finding = Finding(file, 8, str(exc))
        self._damage[finding] = None

    def _check_segment(self, number: int) -> None:
        try:
            reader = self._reader.open(number, None)
        except (Damage, UnknownVersion) as exc:
            self._note(exc, segment_name(number))
            return
        try:
            self._walk(reader)
        except Damage as exc:
            self._note(exc, reader.name)
        finally:
            reader.close()

    def _walk(self, reader: SegmentReader) -> None:
        """Every frame, and the zeros after the last."""
        place = reader.first_place()
        tag = tag_of(reader.header.store_id)
        while True:
            frame = reader.frame(place, tag)
            if isinstance(frame, Tear):
                finding = Finding(reader.name, frame.offset, frame.reason)
                self._tears[reader.header.number] = finding
                return
            if frame is None:
                return
            self._batches += 1
            place = frame.next_place
            if frame.header.kind == KIND_ROLL:
                break
        if reader.last_written(place.offset) > place.offset:
            raise reader.damage(place.offset, "bytes after the end of the segment's log")

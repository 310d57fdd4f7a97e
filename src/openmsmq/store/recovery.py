"""Recovery from the files of a data directory: the newest valid snapshot, and the log after it.

This module does not write: the file store repairs the faults, `store check` only reports them.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from isal.isal_zlib import crc32

from openmsmq.wire.errors import StoreError

from .files import Files
from .frame import Place
from .index import Index
from .interface import Finding, Progress
from .log_format import (
    ENTRY,
    FIRST_FRAME,
    KIND_ROLL,
    Damage,
    UnknownVersion,
    tag_of,
)
from .log_reader import Frame, SegmentReader, Tear
from .segments import segment_name, segment_number
from .snapshot import (
    NEXT_NAME,
    Loaded,
    Snapshot,
    load_snapshot,
    peek_snapshot,
    snapshot_generation,
    snapshot_name,
)

RESTORING_NAME: Final = "restoring"
"""Exists during a restore; it gets its final name when everything else is durable."""
RESTORED_NAME: Final = "restored"
FIRST_SEQUENCE: Final = 1


@dataclass(slots=True, kw_only=True)
class Found:
    """The state of a store, read from its files."""

    store_id: bytes
    index: Index
    end: Place
    """The end of the log."""
    last: tuple[Place, int] | None = None
    """Place and length of the last frame."""
    tear: tuple[int, Tear] | None = None
    """The bytes to be cut off, and their segment."""
    spoiled: list[int] = field(default_factory=list)
    """Unusable segments without any frame."""
    start: Place
    """The position where reading of the log began."""
    durable: int = 0
    """The sequence number that the log is known to have reached."""
    snapshots: list[Snapshot] = field(default_factory=list)
    """Oldest first; the last one was used."""
    sizes: dict[int, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    operations: int = 0
    """How many operations were read from the log."""
    logged_bytes: int = 0
    """How many bytes were read from the log."""


class Meter:
    """Reports the progress of reads to a function."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def add(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    def end(self) -> None:
        self.add(self._total)


class Reader:
    """Reads one data directory."""

    def __init__(self, files: Files, directory: Path) -> None:
        self._files = files
        self.directory = directory
        names = files.names(directory)
        if RESTORING_NAME in names:
            raise StoreError(f"{directory}: a restore was interrupted here; restore again")
        self.segments = sorted(n for n in map(segment_number, names) if n is not None)
        self.generations = sorted(g for g in map(snapshot_generation, names) if g is not None)
        self.restored = RESTORED_NAME in names
        self.leftovers = [n for n in names if n.endswith(".new") or n == NEXT_NAME]

    @property
    def empty(self) -> bool:
        return not self.segments and not self.generations

    def open(self, number: int, store_id: bytes | None) -> SegmentReader:
        """A segment, its header checked against the name and the store."""
        name = segment_name(number)
        try:
            file = self._files.open(self.directory / name)
        except FileNotFoundError as exc:
            raise Damage(name, 0, "the file is missing") from exc
        try:
            reader = SegmentReader(file, name)
            if reader.header.number != number:
                raise reader.damage(0, f"this is segment {reader.header.number}, renamed")
            if store_id is not None and reader.header.store_id != store_id:
                raise reader.damage(0, "this segment belongs to another store")
        except (Damage, UnknownVersion):
            file.close()
            raise
        return reader

    def read(self, progress: Progress | None = None, *, verify_limit: int = 0) -> Found:
        """The newest state in the files; read it once.

        Segments before the snapshot are checked too, up to `verify_limit` bytes of them.

        Raises:
            Damage: with file and offset.
            UnknownVersion: a later version of the program wrote the files.
        """
        sizes = {number: self._size(segment_name(number)) for number in self.segments}
        snapshot_size = self._size(snapshot_name(self.generations[-1])) if self.generations else 0
        meter = Meter(progress, snapshot_size + sum(sizes.values()))
        recovered = self._base(meter)
        recovered.sizes = sizes
        self._replay(recovered, meter)
        self._check_rest(recovered)
        live = recovered.index.live
        for number in [n for n, weight in live.items() if not weight]:
            del live[number]
        for number in live:
            if number not in sizes:
                raise Damage(segment_name(number), 0, "the file is missing")
        for number in (n for n in self.segments if n <= recovered.start.segment):
            if number in live and sizes[number] <= verify_limit:
                verify_limit -= sizes[number]
                self._verify(recovered, number)
            meter.add(sizes[number])
        meter.end()
        return recovered

    def _size(self, name: str) -> int:
        file = self._files.open(self.directory / name)
        try:
            return file.size()
        finally:
            file.close()

    def _base(self, meter: Meter) -> Found:
        """The position where reading of the log begins, and the state there."""
        findings: list[Finding] = []
        older: list[Snapshot] = []
        loaded: Loaded | None = None
        for generation in reversed(self.generations):
            path = self.directory / snapshot_name(generation)
            try:
                if loaded is None:
                    loaded = load_snapshot(self._files, path, generation, meter.add)
                else:
                    older.insert(0, peek_snapshot(self._files, path, generation))
            except Damage as exc:
                findings.append(Finding(exc.file, exc.offset, f"{exc.reason}; not used"))
        if loaded is None:
            return self._without_snapshot(findings)
        return Found(
            store_id=loaded.store_id,
            index=loaded.index,
            start=loaded.snapshot.start,
            end=loaded.snapshot.start,
            durable=loaded.durable,
            snapshots=[*older, loaded.snapshot],
            findings=findings,
        )

    def _without_snapshot(self, findings: list[Finding]) -> Found:
        """The log alone, which must then be complete."""
        if not self.segments or self.segments[0] != 1:
            if findings:
                first = findings[0]
                raise Damage(first.file, first.offset, f"{first.reason}, and the log is not whole")
            raise Damage(segment_name(1), 0, "the file is missing, and there is no snapshot")
        reader = self.open(1, None)
        reader.close()
        start = Place(1, FIRST_FRAME, FIRST_SEQUENCE)
        return Found(
            store_id=reader.header.store_id,
            index=Index(),
            start=start,
            end=start,
            findings=findings,
        )

    def _replay(self, recovered: Found, meter: Meter) -> None:
        """Follow the log to its end."""
        while self._replay_segment(recovered):
            meter.add(recovered.sizes[recovered.end.segment - 1])
        if recovered.end.sequence < recovered.durable:
            raise Damage(
                segment_name(recovered.end.segment),
                recovered.end.offset,
                f"the log ends before batch {recovered.end.sequence}, "
                f"but it was durable up to batch {recovered.durable - 1}",
            )

    def _replay_segment(self, recovered: Found) -> bool:
        """Follow the log through one segment; return whether it continues in the next."""
        tag = tag_of(recovered.store_id)
        reader = self.open(recovered.end.segment, recovered.store_id)
        try:
            while True:
                place = recovered.end
                frame = reader.frame(place, tag)
                if isinstance(frame, Tear):
                    recovered.tear = (place.segment, frame)
                    recovered.findings.append(
                        Finding(reader.name, frame.offset, f"{frame.reason}; cut off")
                    )
                    return False
                if frame is None:
                    return False
                header = frame.header
                recovered.last = (place, header.length)
                recovered.logged_bytes += header.length
                if header.kind == KIND_ROLL:
                    recovered.end = Place(place.segment + 1, FIRST_FRAME, place.sequence + 1)
                    return True
                recovered.index.apply(reader.changes(frame))
                recovered.operations += (
                    header.puts + header.moves + header.updates + header.deletes + header.rows
                )
                recovered.end = frame.next_place
        finally:
            reader.close()

    def _check_rest(self, recovered: Found) -> None:
        """Check that segments after the end of the log are empty."""
        for number in self.segments:
            if number > recovered.end.segment:
                reader = self.open(number, recovered.store_id)
                try:
                    self._check_unused(recovered, reader)
                finally:
                    reader.close()

    def _check_unused(self, recovered: Found, reader: SegmentReader) -> None:
        if reader.last_written(FIRST_FRAME) == FIRST_FRAME:
            return
        end = recovered.end
        if reader.later_frame(
            Place(reader.header.number, FIRST_FRAME, 0), tag_of(recovered.store_id)
        ):
            raise Damage(
                segment_name(end.segment),
                end.offset,
                f"batch {end.sequence} is missing; batches follow in {reader.name}",
            )
        recovered.spoiled.append(reader.header.number)
        recovered.findings.append(
            Finding(reader.name, FIRST_FRAME, "a segment that was never used is not zero; removed")
        )

    def _verify(self, recovered: Found, number: int) -> None:
        """Check a segment that the log was not read from.

        Damage outside of live data does no harm and is only reported.
        """
        reader = self.open(number, recovered.store_id)
        limit = recovered.start.offset if number == recovered.start.segment else reader.size
        try:
            self._walk(reader, limit)
        except Damage as exc:
            check_live(reader, recovered.index)
            recovered.findings.append(
                Finding(exc.file, exc.offset, f"{exc.reason}; no live message is affected")
            )
        finally:
            reader.close()

    def _walk(self, reader: SegmentReader, limit: int) -> None:
        """Check the frames up to `limit`."""
        tag = tag_of(reader.header.store_id)
        place = reader.first_place()
        while place.offset < limit:
            frame = reader.frame(place, tag)
            if not isinstance(frame, Frame):
                raise reader.damage(place.offset, f"batch {place.sequence} is damaged")
            if frame.header.kind == KIND_ROLL:
                break
            place = frame.next_place


def check_live(reader: SegmentReader, index: Index) -> None:
    """Check every live packet in a segment, one by one.

    Raises:
        Damage: one is damaged.
    """
    number = reader.header.number
    places = []
    for key, entry in index.entries.items():
        _, segment, offset, size, crc, _ = ENTRY.unpack_from(entry)
        if segment == number:
            places.append((offset, size, crc, key))
    for offset, size, crc, key in sorted(places):
        packet = reader.view(offset, size)
        if len(packet) != size or crc32(packet) != crc:
            raise reader.damage(offset, f"the packet of message {key} is damaged")

"""The segment files: their names, their creation, and the end of the log."""

import errno
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from .files import File, Files
from .frame import Place
from .log_format import FIRST_FRAME, FRAME_HEADER_SIZE, SegmentHeader, roll_frame

NEW_SUFFIX: Final = ".new"
_OPEN_FILES: Final = 64
NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def segment_name(number: int) -> str:
    """The file name of a segment."""
    return f"segment-{number:08d}.log"


def segment_number(name: str) -> int | None:
    """The number in the file name of a segment, or None for other files."""
    digits = name.removeprefix("segment-").removesuffix(".log")
    if digits.isascii() and digits.isdigit() and segment_name(int(digits)) == name:
        return int(digits)
    return None


class Segments:
    """The segments of one data directory.

    `ensure` and `writer` may run concurrently in two threads; the rest is the owner's.
    """

    def __init__(self, files: Files, directory: Path, store_id: bytes) -> None:
        self._files = files
        self.directory = directory
        self._store_id = store_id
        self.sizes: dict[int, int] = {}
        """All existing segments, and those that the log has entered and `ensure` will create."""
        self.ready: set[int] = set()
        """The existing segments."""
        self._lock = threading.Lock()
        self._writer: tuple[int, File] | None = None
        self._readers: OrderedDict[int, File] = OrderedDict()

    def path(self, number: int) -> Path:
        return self.directory / segment_name(number)

    def add(self, number: int, size: int) -> None:
        """A segment that was found in the directory."""
        self.sizes[number] = size
        self.ready.add(number)

    def ensure(self, number: int, size: int) -> None:
        """Create the segment unless it exists: whole, zero and durable before it has its name."""
        with self._lock:
            if number in self.ready:
                return
            path = self.path(number)
            new = path.with_suffix(NEW_SUFFIX)
            file = self._files.create(new)
            try:
                file.allocate(size)
                file.write(0, [SegmentHeader(number, self._store_id, size).serialize()])
                file.flush()
            except OSError:
                self._files.unlink(new)
                raise
            finally:
                file.close()
            self._files.rename(new, path)
            self._files.sync_directory(self.directory)
            self.ready.add(number)

    def writer(self, number: int) -> File:
        """The segment open for writing; one at a time."""
        if self._writer is not None:
            if self._writer[0] == number:
                return self._writer[1]
            self._writer[1].close()
            self._writer = None
        file = self._files.open(self.path(number))
        self._writer = (number, file)
        return file

    def reader(self, number: int) -> File:
        """The segment open for the owner to read."""
        file = self._readers.get(number)
        if file is None:
            file = self._files.open(self.path(number))
            self._readers[number] = file
            if len(self._readers) > _OPEN_FILES:
                self._readers.popitem(last=False)[1].close()
        else:
            self._readers.move_to_end(number)
        return file

    def forget(self, number: int) -> None:
        """The segment is about to be removed."""
        del self.sizes[number]
        self.ready.discard(number)
        file = self._readers.pop(number, None)
        if file is not None:
            file.close()

    def close(self) -> None:
        for file in self._readers.values():
            file.close()
        self._readers.clear()
        if self._writer is not None:
            self._writer[1].close()
            self._writer = None


class Placement(NamedTuple):
    """The position of a frame, and the changes needed before it."""

    place: Place
    end: Place
    entered: Sequence[tuple[int, int]] = ()
    """Number and size of the segments that the log enters."""
    rolls: Sequence[tuple[Place, bytes]] = ()
    """The frames that end the segments that it leaves."""


class Tail:
    """The end of the log, including frames that are begun and not yet written."""

    __slots__ = ("_segment_size", "_sizes", "_store_tag", "place")

    def __init__(
        self, place: Place, *, sizes: dict[int, int], segment_size: int, store_tag: int
    ) -> None:
        self.place = place
        self._sizes = sizes
        self._segment_size = segment_size
        self._store_tag = store_tag

    @property
    def remaining(self) -> int:
        """The maximum length of a frame in the current segment."""
        return self._sizes[self.place.segment] - self.place.offset - FRAME_HEADER_SIZE

    def plan(self, length: int) -> Placement:
        """The position that a frame would get."""
        place = self.place
        segment, offset, sequence = place
        size = self._sizes[segment]
        if offset + length + FRAME_HEADER_SIZE <= size:
            return Placement(place, Place(segment, offset + length, sequence + 1))
        entered: list[tuple[int, int]] = []
        rolls: list[tuple[Place, bytes]] = []
        while offset + length + FRAME_HEADER_SIZE > size:
            roll = roll_frame(self._store_tag, segment, sequence)
            rolls.append((Place(segment, offset, sequence), roll))
            segment += 1
            offset = FIRST_FRAME
            sequence += 1
            needed = max(self._segment_size, FIRST_FRAME + length + FRAME_HEADER_SIZE)
            size = self._sizes.get(segment, needed)
            entered.append((segment, size))
        place = Place(segment, offset, sequence)
        return Placement(place, Place(segment, offset + length, sequence + 1), entered, rolls)

    def take(self, placement: Placement) -> None:
        """Reserve the position of the frame."""
        self.place = placement.end
        if placement.entered:
            self._sizes.update(placement.entered)

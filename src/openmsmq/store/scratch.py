"""Scratch files: express messages above the memory budget, never flushed, lost at next start."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from openmsmq.wire.errors import StoreError

from .files import File, Files

_PREFIX: Final = "scratch-"
_CHUNK_SIZE: Final = 64 << 20
_OFFSET_BITS: Final = 32
_SIZE_BITS: Final = 32
_OFFSET_MASK: Final = (1 << _OFFSET_BITS) - 1
_SIZE_MASK: Final = (1 << _SIZE_BITS) - 1
# Adjacent packets are read together up to this size.
_READ_SIZE: Final = 1 << 20


class _Chunk:
    """One scratch file."""

    __slots__ = ("end", "file", "live", "path")

    def __init__(self, file: File, path: Path) -> None:
        self.file = file
        self.path = path
        self.end = 0
        self.live = 0


class FileScratch:
    """Packets in files that are filled in turn and removed when all their packets are freed.

    A handle is the number of the file, the offset and the size, packed into one int.
    """

    def __init__(self, files: Files, directory: Path, *, chunk_size: int = _CHUNK_SIZE) -> None:
        self._files = files
        self._directory = directory
        self._chunk_size = chunk_size
        self._chunks: dict[int, _Chunk] = {}
        self._current = 0

    @property
    def disk_bytes(self) -> int:
        return sum(chunk.end for chunk in self._chunks.values())

    def put_many(self, packets: Sequence[bytes]) -> list[int]:
        handles: list[int] = []
        try:
            while len(handles) < len(packets):
                handles += self._fill(packets[len(handles) :])
        except OSError as exc:
            for handle in handles:
                self.free(handle)
            raise StoreError(f"scratch file: {exc.strerror or exc}") from exc
        return handles

    def _fill(self, packets: Sequence[bytes]) -> list[int]:
        """Write the packets that fit into the current file, at least one, in one call."""
        chunk = self._chunk()
        handles: list[int] = []
        end = chunk.end
        for packet in packets:
            if end >= self._chunk_size:
                break
            handles.append((self._current << _OFFSET_BITS | end) << _SIZE_BITS | len(packet))
            end += len(packet)
        chunk.file.write(chunk.end, packets[: len(handles)])
        chunk.end = end
        chunk.live += len(handles)
        return handles

    def _chunk(self) -> _Chunk:
        chunk = self._chunks.get(self._current)
        if chunk is not None and chunk.end < self._chunk_size:
            return chunk
        path = self._directory / f"{_PREFIX}{self._current + 1}"
        fresh = _Chunk(self._files.create(path), path)
        self._current += 1
        self._chunks[self._current] = fresh
        return fresh

    def get_many(self, handles: Sequence[int]) -> list[bytes]:
        found: dict[int, bytes] = {}
        # Consecutive messages mostly left memory together: their packets are adjacent.
        run: list[int] = []
        begin = end = 0
        for handle in sorted(handles):
            place, size = handle >> _SIZE_BITS, handle & _SIZE_MASK
            if place != end or end - begin >= _READ_SIZE:
                self._read_run(begin, end, run, found)
                run = []
                begin = end = place
            run.append(handle)
            end += size
        self._read_run(begin, end, run, found)
        return [found[handle] for handle in handles]

    def _read_run(self, begin: int, end: int, run: list[int], found: dict[int, bytes]) -> None:
        """Read adjacent packets together; each place begins with the number of the file."""
        if not run:
            return
        chunk = self._chunks[begin >> _OFFSET_BITS]
        start = begin & _OFFSET_MASK
        try:
            data = chunk.file.read(start, end - begin)
        except OSError as exc:
            raise StoreError(f"{chunk.path.name}: {exc.strerror or exc}") from exc
        if len(data) != end - begin:
            raise StoreError(f"{chunk.path.name} at offset {start}: the file is truncated")
        for handle in run:
            at = (handle >> _SIZE_BITS) - begin
            found[handle] = data[at : at + (handle & _SIZE_MASK)]

    def free(self, handle: int) -> None:
        number = handle >> _SIZE_BITS + _OFFSET_BITS
        chunk = self._chunks[number]
        chunk.live -= 1
        if not chunk.live:
            if number == self._current:
                chunk.end = 0
            else:
                self._remove(number)

    def _remove(self, number: int) -> None:
        chunk = self._chunks.pop(number)
        chunk.file.close()
        self._files.unlink(chunk.path)

    def close(self) -> None:
        for number in list(self._chunks):
            self._remove(number)


def remove_scratch(files: Files, directory: Path) -> None:
    """Remove the files of an earlier process."""
    for name in files.names(directory):
        if name.startswith(_PREFIX):
            files.unlink(directory / name)

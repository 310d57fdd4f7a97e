"""Scratch files: express messages above the memory budget, never flushed, gone at next start."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from openmsmq.wire.errors import StoreError

from .files import File, Files

_PREFIX: Final = "scratch-"
_CHUNK_SIZE: Final = 64 << 20
_OFFSET_BITS: Final = 32
_SIZE_BITS: Final = 32


class _Chunk:
    """One scratch file."""

    __slots__ = ("end", "file", "live", "path")

    def __init__(self, file: File, path: Path) -> None:
        self.file = file
        self.path = path
        self.end = 0
        self.live = 0


class FileScratch:
    """Packets in files that are filled one after the other and removed when all of it is freed.

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

    def put(self, packet: bytes) -> int:
        try:
            chunk = self._chunk()
            chunk.file.write(chunk.end, [packet])
        except OSError as exc:
            raise StoreError(f"scratch file: {exc.strerror or exc}") from exc
        handle = (self._current << _OFFSET_BITS | chunk.end) << _SIZE_BITS | len(packet)
        chunk.end += len(packet)
        chunk.live += 1
        return handle

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
        packets: list[bytes] = []
        for handle in handles:
            size = handle & ((1 << _SIZE_BITS) - 1)
            offset = handle >> _SIZE_BITS & ((1 << _OFFSET_BITS) - 1)
            chunk = self._chunks[handle >> _SIZE_BITS + _OFFSET_BITS]
            try:
                packet = chunk.file.read(offset, size)
            except OSError as exc:
                raise StoreError(f"{chunk.path.name}: {exc.strerror or exc}") from exc
            if len(packet) != size:
                raise StoreError(f"{chunk.path.name} at offset {offset}: the file is truncated")
            packets.append(packet)
        return packets

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
    """Discard what an earlier process left."""
    for name in files.names(directory):
        if name.startswith(_PREFIX):
            files.unlink(directory / name)

"""A disk in memory that can lose power at any write or flush, flip bits and run full.

What was not flushed survives a power cut in any subset of its sectors, and names that were not
synced in any subset of the changes. A `random.Random` decides, so every run can be repeated.
"""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from openmsmq.wire.errors import StoreError

SECTOR = 512


class PowerCut(BaseException):
    """The machine stops here. Not an Exception: nothing may catch and go on."""


@dataclass
class Inode:
    """Contents as the machine sees them, and as the disk has them."""

    seen: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    unflushed: list["Change"] = field(default_factory=list)
    """What happened since the last flush, in order."""


@dataclass(frozen=True)
class Change:
    """A write, or a change of size where there are no bytes."""

    offset: int
    piece: bytes | None
    through: bool = False
    """Durable, although earlier changes are not."""


@dataclass(frozen=True)
class Rename:
    source: Path
    target: Path


@dataclass(frozen=True)
class Link:
    path: Path
    inode: Inode


@dataclass(frozen=True)
class Unlink:
    path: Path


NameChange = Rename | Link | Unlink


def apply_write(data: bytearray, offset: int, piece: bytes) -> None:
    if len(data) < offset + len(piece):
        data.extend(bytes(offset + len(piece) - len(data)))
    data[offset : offset + len(piece)] = piece


def resize(data: bytearray, size: int) -> None:
    if size < len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


class SimulatedDisk:
    """Implements `Files`; `events` counts everything that changes the disk."""

    def __init__(self, *, capacity: int = 1 << 40) -> None:
        self.capacity = capacity
        self.names_seen: dict[Path, Inode] = {}
        self.names_durable: dict[Path, Inode] = {}
        self.unsynced: list[NameChange] = []
        self.locks: set[Path] = set()
        self.opened: set[SimulatedFile] = set()
        self.events = 0
        self.cut_at: int | None = None
        """The number of the event at which the power goes."""
        self.fail_at: int | None = None
        """The number of the event that fails with EIO."""
        self.log: list[str] = []

    # What the machine does

    def event(self, what: str) -> None:
        self.events += 1
        self.log.append(what)
        if self.events == self.fail_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO), what)
        if self.events == self.cut_at:
            raise PowerCut(what)

    @property
    def used(self) -> int:
        return sum(len(inode.seen) for inode in self.names_seen.values())

    def claim(self, more: int) -> None:
        if more > 0 and self.used + more > self.capacity:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open(self, path: Path) -> "SimulatedFile":
        inode = self.names_seen.get(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return self._opened(inode, path)

    def _opened(self, inode: Inode, path: Path) -> "SimulatedFile":
        file = SimulatedFile(self, inode, path)
        self.opened.add(file)
        return file

    def create(self, path: Path) -> "SimulatedFile":
        inode = self.names_seen.get(path)
        if inode is None:
            inode = Inode()
            self.names_seen[path] = inode
            self.unsynced.append(Link(path, inode))
            self.event(f"create {path.name}")
        else:
            SimulatedFile(self, inode, path).truncate(0)
        return self._opened(inode, path)

    def names(self, directory: Path) -> list[str]:
        return [path.name for path in self.names_seen if path.parent == directory]

    def make_directory(self, path: Path) -> None:
        """Directories are always there."""

    def rename(self, source: Path, target: Path) -> None:
        self.unsynced.append(Rename(source, target))
        self.names_seen[target] = self.names_seen.pop(source)
        self.event(f"rename {source.name} {target.name}")

    def unlink(self, path: Path) -> None:
        if path in self.names_seen:
            self.unsynced.append(Unlink(path))
            del self.names_seen[path]
            self.event(f"unlink {path.name}")

    def sync_directory(self, path: Path) -> None:
        self.event(f"sync {path}")
        for change in self.unsynced:
            self._change_durable(change)
        self.unsynced.clear()

    def free_bytes(self, directory: Path) -> int:  # noqa: ARG002 - one disk for all
        return self.capacity - self.used

    def lock(self, path: Path) -> "SimulatedFile":
        if path in self.locks:
            raise StoreError(f"{path.parent} is in use by process 1")
        self.locks.add(path)
        file = self.create(path) if path not in self.names_seen else self.open(path)
        file.locked = path
        return file

    def _change_durable(self, change: NameChange) -> None:
        match change:
            case Link(path, inode):
                self.names_durable[path] = inode
            case Unlink(path):
                self.names_durable.pop(path, None)
            case Rename(source, target):
                inode_or_none = self.names_durable.pop(source, None)
                if inode_or_none is not None:
                    self.names_durable[target] = inode_or_none

    # What happens to the machine

    def restart(self, random: Random, *, keep: float = 0.5) -> "SimulatedDisk":
        """The disk after a power cut: what was unflushed is there with probability `keep`."""
        after = SimulatedDisk(capacity=self.capacity)
        for name_change in self.unsynced:
            if random.random() < keep:
                self._change_durable(name_change)
        fresh: dict[int, Inode] = {}
        for path, inode in self.names_durable.items():
            if id(inode) not in fresh:
                data = bytearray(inode.durable)
                for change in inode.unflushed:
                    _persist(data, change, random, 1.0 if change.through else keep)
                fresh[id(inode)] = Inode(bytearray(data), data)
            after.names_seen[path] = after.names_durable[path] = fresh[id(inode)]
        return after

    def kill(self) -> "SimulatedDisk":
        """The disk after the process alone has died: everything that was written is there."""
        after = SimulatedDisk(capacity=self.capacity)
        after.names_seen = dict(self.names_seen)
        after.names_durable = dict(self.names_durable)
        after.unsynced = list(self.unsynced)
        return after

    def contents(self, path: Path) -> bytearray:
        return self.names_seen[path].seen

    def overwrite(self, path: Path, offset: int, piece: bytes) -> None:
        """Damage, durable at once."""
        inode = self.names_seen[path]
        apply_write(inode.seen, offset, piece)
        apply_write(inode.durable, offset, piece)

    def flip(self, path: Path, bit: int) -> None:
        """One bit turns over."""
        byte = self.names_seen[path].seen[bit // 8]
        self.overwrite(path, bit // 8, bytes([byte ^ 1 << bit % 8]))

    def cut(self, path: Path, size: int) -> None:
        """A file loses its end."""
        inode = self.names_seen[path]
        resize(inode.seen, size)
        resize(inode.durable, size)

    def lose(self, path: Path) -> None:
        """A file is gone."""
        del self.names_seen[path]
        self.names_durable.pop(path, None)


def _persist(data: bytearray, change: Change, random: Random, keep: float) -> None:
    """A change reaches the disk sector by sector, or not."""
    offset, piece = change.offset, change.piece
    if piece is None:
        if random.random() < keep:
            resize(data, offset)
        return
    start = 0
    while start < len(piece):
        end = min(len(piece), start + SECTOR - (offset + start) % SECTOR)
        if random.random() < keep:
            apply_write(data, offset + start, piece[start:end])
        start = end


class SimulatedFile:
    """Implements `File`."""

    def __init__(self, disk: SimulatedDisk, inode: Inode, path: Path) -> None:
        self._disk = disk
        self._inode = inode
        self._path = path
        self.locked: Path | None = None

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._inode.seen[offset : offset + size])

    def write(self, offset: int, buffers: Sequence[bytes]) -> None:
        piece = b"".join(buffers)
        self._disk.claim(offset + len(piece) - len(self._inode.seen))
        apply_write(self._inode.seen, offset, piece)
        self._inode.unflushed.append(Change(offset, piece))
        self._disk.event(f"write {self._path.name} {offset} {len(piece)}")

    def write_through(self, offset: int, buffers: Sequence[bytes]) -> None:
        """Flushes these bytes and no others, as the real one does."""
        self.write(offset, buffers)
        self._disk.event(f"flush {self._path.name}")
        unflushed = self._inode.unflushed
        unflushed[-1] = replace(unflushed[-1], through=True)
        if all(change.through for change in unflushed):
            self._settle()

    def flush(self) -> None:
        self._disk.event(f"flush {self._path.name}")
        self._settle()

    def _settle(self) -> None:
        for change in self._inode.unflushed:
            if change.piece is None:
                resize(self._inode.durable, change.offset)
            else:
                apply_write(self._inode.durable, change.offset, change.piece)
        self._inode.unflushed.clear()

    def allocate(self, size: int) -> None:
        if size > len(self._inode.seen):
            self._disk.claim(size - len(self._inode.seen))
            self.truncate(size)

    def truncate(self, size: int) -> None:
        resize(self._inode.seen, size)
        self._inode.unflushed.append(Change(size, None))
        self._disk.event(f"resize {self._path.name} {size}")

    def size(self) -> int:
        return len(self._inode.seen)

    def close(self) -> None:
        self._disk.opened.discard(self)
        if self.locked is not None:
            self._disk.locks.discard(self.locked)
            self.locked = None

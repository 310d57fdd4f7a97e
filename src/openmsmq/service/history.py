"""The history of messages on disk: a few files, of which the oldest is removed at the limit.

Records are passed to the operating system once a second, and not flushed: a crash of the machine
may lose the last of them, a kill of the process those of the last second.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from openmsmq.core.tracing import TraceLog
from openmsmq.wire.history_record import RECORD_SIZE, Happening, HistoryReader, HistoryRecord
from openmsmq.wire.scalars import GUID_SIZE

FILES: Final = 8
PREFIX: Final = "history-"
_NAMELESS: Final = "?"


class HistoryFiles:
    """Writes the records of a queue manager, up to a limit.

    Args:
        folder: the folder of the files.
        limit: the total size of the files in bytes; 0 keeps none.
        trace: the source of the records.
    """

    def __init__(self, folder: Path, limit: int, trace: TraceLog) -> None:
        self._folder = folder
        self._limit = limit
        self._trace = trace
        self._size = 0
        self._descriptor: int | None = None
        if limit:
            folder.mkdir(parents=True, exist_ok=True)
            self._continue_file()

    def _paths(self) -> list[Path]:
        """The files, the oldest first."""
        return sorted(self._folder.glob(f"{PREFIX}*"))

    def _continue_file(self) -> None:
        """Continue the newest file, so that a restart removes no older one."""
        paths = self._paths()
        if not paths:
            self._begin_file()
            return
        self._remove_oldest(FILES)
        descriptor = self._open(paths[-1])
        size = os.fstat(descriptor).st_size
        # A crash of the machine may have cut the last record off.
        self._size = size - size % RECORD_SIZE
        os.ftruncate(descriptor, self._size)
        if self._size >= self._limit // FILES:
            self._begin_file()

    def _begin_file(self) -> None:
        paths = self._paths()
        number = int(paths[-1].name.removeprefix(PREFIX)) + 1 if paths else 1
        self._remove_oldest(FILES - 1)
        self._open(self._folder / f"{PREFIX}{number:010}")
        self._size = 0

    def _remove_oldest(self, most: int) -> None:
        """Remove the oldest files above this number and the size limit."""
        paths = self._paths()
        sizes = [path.stat().st_size for path in paths]
        while len(paths) > most or sum(sizes) > self._limit:
            paths.pop(0).unlink(missing_ok=True)
            sizes.pop(0)

    def _open(self, path: Path) -> int:
        self.close()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = descriptor = os.open(path, flags, 0o600)
        self._trace.forget_names()
        return descriptor

    def write(self) -> None:
        """Write the records since the last call.

        Raises:
            OSError: the disk is full or broken; these records are lost.
        """
        if self._descriptor is None or not len(self._trace):
            return
        data = self._trace.take()
        self._size += len(data)
        os.write(self._descriptor, data)
        if self._size >= self._limit // FILES:
            self._begin_file()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def find(self, identifier: bytes) -> dict[str, Any]:
        """The records of a message; runs in a thread."""
        source, ordinal = identifier[:GUID_SIZE], int.from_bytes(identifier[GUID_SIZE:], "little")
        since: float | None = None
        events: list[dict[str, Any]] = []
        keys: set[int] = set()
        for names, record in self._records():
            if since is None:
                since = record.utc
            if _concerns(record, source, ordinal, keys):
                events.append(
                    {
                        "time": record.utc,
                        "event": _word(record.kind),
                        "place": names.get(record.place, _NAMELESS),
                        "reason": record.reason,
                    }
                )
        return {"kept": self._limit > 0, "since": since, "events": events}

    def _records(self) -> Iterator[tuple[dict[int, str], HistoryRecord]]:
        if not self._limit:
            return
        for path in self._paths():
            reader = HistoryReader()
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                # It was the oldest, and was removed meanwhile.
                continue
            for record in reader.read(data):
                yield reader.names, record


def _concerns(record: HistoryRecord, source: bytes, ordinal: int, keys: set[int]) -> bool:
    """Whether a record is about the message; its keys are found in its arrivals."""
    if record.kind in (Happening.ARRIVED, Happening.DROPPED):
        place = ordinal - record.ordinal
        if record.source != source or not 0 <= place < record.messages:
            return False
        if record.kind == Happening.ARRIVED:
            keys.add(record.key + place)
        return True
    return any(record.key <= key < record.key + record.messages for key in keys)


def _word(kind: int) -> str:
    try:
        return Happening(kind).name.lower()
    except ValueError:
        return _NAMELESS

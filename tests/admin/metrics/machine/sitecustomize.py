"""A machine with faults: programs under this path see the clock and the disk that a file says.

`FAULTY_MACHINE` names a JSON file: `clock_seconds` that the clock is ahead, `sync_seconds` that the
disk takes longer, `free_bytes` that it has left. A write of at least `hold_before`, `hold_amid` or
`hold_after` bytes stands still before it, halfway or after it, and the file `held` next to the JSON
file says so. Without the file all is well.
"""

import json
import os
import time
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(os.environ["FAULTY_MACHINE"])
_TIME: Final = time.time
_STATVFS: Final = os.statvfs
_FDATASYNC: Final = os.fdatasync
_PWRITEV: Final = os.pwritev


def _fault(name: str) -> float | None:
    try:
        faults: dict[str, float] = json.loads(_FILE.read_text())
    except (OSError, ValueError):
        return None
    return faults.get(name)


def _time() -> float:
    return _TIME() + (_fault("clock_seconds") or 0.0)


def _statvfs(path: Any) -> os.statvfs_result:
    status = _STATVFS(path)
    free = _fault("free_bytes")
    if free is None:
        return status
    blocks = int(free) // status.f_frsize
    return os.statvfs_result((*status[:3], blocks, blocks, *status[5:]))


def _fdatasync(fd: Any) -> None:
    time.sleep(_fault("sync_seconds") or 0.0)
    _FDATASYNC(fd)


def _pwritev(fd: int, buffers: Any, offset: int, flags: int = 0, /) -> int:
    if not flags:
        return _PWRITEV(fd, buffers, offset, flags)
    time.sleep(_fault("sync_seconds") or 0.0)
    size = sum(memoryview(buffer).nbytes for buffer in buffers)
    _hold("hold_before", size)
    if _holds("hold_amid", size):
        _PWRITEV(fd, [b"".join(buffers)[: size // 2]], offset, flags)
        _hold("hold_amid", size)
    written = _PWRITEV(fd, buffers, offset, flags)
    _hold("hold_after", size)
    return written


def _holds(name: str, size: int) -> bool:
    least = _fault(name)
    return least is not None and size >= least


def _hold(name: str, size: int) -> None:
    while _holds(name, size):
        _FILE.with_name("held").touch()
        time.sleep(0.01)


time.time = _time
os.statvfs = _statvfs
os.fdatasync = _fdatasync
os.pwritev = _pwritev

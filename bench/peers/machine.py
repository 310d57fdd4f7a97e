"""What Linux says of processes, the disk and the processors."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE_SIZE: Final = os.sysconf("SC_PAGE_SIZE")
_PROC: Final = Path("/proc")


def _status(process: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name; none when the process is gone."""
    try:
        text = (_PROC / str(process) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def process_tree(root: int) -> list[int]:
    """A process and everything below it that runs."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _status(int(entry.name))) and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root] if is_running(root) else []
    for process in found:
        found += children.get(process, [])
    return found


def is_running(process: int) -> bool:
    fields = _status(process)
    return bool(fields) and fields[0] != "Z"


def cpu_seconds(processes: list[int]) -> float:
    """Processor time of the processes so far, threads that have ended included."""
    total = 0.0
    for process in processes:
        with suppress(OSError):
            total += time.clock_gettime(_cpu_clock(process))
    return total


def _cpu_clock(process: int) -> int:
    """The clock of the processor time of a process, as clock_getcpuclockid(3) makes it on Linux.

    It counts nanoseconds, up to the last tick of a process that runs; /proc counts ticks.
    """
    return ~process << 3 | 2


def thread_times(process: int) -> dict[int, tuple[float, float]]:
    """User and system seconds of each thread of a process so far."""
    found: dict[int, tuple[float, float]] = {}
    for entry in (_PROC / str(process) / "task").iterdir():
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
        found[int(entry.name)] = (int(fields[11]) / TICKS, int(fields[12]) / TICKS)
    return found


def resident_bytes(processes: list[int]) -> int:
    total = 0
    for process in processes:
        fields = _status(process)
        if fields:
            total += int(fields[21])
    return total * PAGE_SIZE


def busy_seconds() -> float:
    """Time that all processors together were not idle, interrupts and stolen time included."""
    fields = [int(field) for field in (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS


def flush_count(folder: Path) -> int:
    """Completed flushes of the disk that holds the folder; so no broker is taken at its word."""
    device = folder.stat().st_dev
    wanted = [str(os.major(device)), str(os.minor(device))]
    for line in (_PROC / "diskstats").read_text().splitlines():
        fields = line.split()
        if fields[:2] == wanted and len(fields) > 18:
            return int(fields[18])
    return 0


def is_in_memory(folder: Path) -> bool:
    """Whether the folder is on no disk."""
    best = ("", "")
    for line in (_PROC / "mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        if folder.is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1] in {"tmpfs", "ramfs"}

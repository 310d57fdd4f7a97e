"""What a fuzz run checks: only the allowed errors, in bounded time and memory."""

import gc
import os
import signal
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Final

from tests.fuzz.giants import giants
from tests.fuzz.mutation import mutate
from tests.fuzz.seeds import load
from tests.fuzz.targets import TARGETS, Target

SMALL_SIZE: Final = 0x10000
# Up to 64 KiB in 10 ms, and in proportion beyond.
LIMIT_SECONDS: Final = 0.010
# Other work on the machine slows one run down, hardly all of these.
RERUNS: Final = 7
HANG_SECONDS: Final = 10.0
GIANT_SIZES: Final = (SMALL_SIZE, 4 * SMALL_SIZE, 16 * SMALL_SIZE)
# What a parser may hold of an input: copies of it as text, and objects for its parts.
PEAK_FACTOR: Final = 40
PEAK_BASE_BYTES: Final = 4 << 20


class Hang(BaseException):
    """A parser that does not come to an end."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An input that breaks a rule."""

    source: str
    target: str
    reason: str
    data: bytes


@dataclass(slots=True)
class Report:
    """What came out of some inputs in one process."""

    inputs: int = 0
    accepted: int = 0
    slowest_share: float = 0.0
    slowest: str = ""
    violations: list[Violation] = field(default_factory=list)
    process: int = 0
    memory_bytes: int = 0


@lru_cache(maxsize=1)
def _corpus(only: tuple[str, ...]) -> list[bytes]:
    return load(only)


def targets_named(words: Sequence[str]) -> tuple[Target, ...]:
    """The parsers with one of these words in their names; all without any.

    Raises:
        ValueError: there is no such parser.
    """
    if not words:
        return TARGETS
    targets = tuple(
        target for target in TARGETS if any(word in target.name.lower() for word in words)
    )
    if not targets:
        raise ValueError(f"no parser has one of these words in its name: {', '.join(words)}")
    return targets


def run_mutated(
    seed: int, start: int, stop: int, only: tuple[str, ...] = (), through: tuple[str, ...] = ()
) -> Report:
    """Check the mutated inputs with these numbers.

    Args:
        only: words in the names of the part of the corpus that is mutated; all without any.
        through: words in the names of the parsers that take the inputs; all without any.
    """
    report = Report()
    corpus, targets = _corpus(only), targets_named(through)
    with _watchdog():
        for index in range(start, stop):
            _check(f"{seed}-{index}", mutate(seed, index, corpus), report, targets)
    gc.collect()
    report.process = os.getpid()
    report.memory_bytes = memory_bytes()
    return report


def run_giants(size: int) -> Report:
    """Check the packets that were made to be slow."""
    report = Report()
    for name, data in giants(size):
        with _watchdog():
            _check(f"giant-{name}-{size}", data, report, TARGETS)
        _check_peak(f"giant-{name}-{size}", data, report)
    return report


def run_files(paths: Sequence[Path]) -> Report:
    """Check inputs that were saved."""
    report = Report()
    with _watchdog():
        for path in paths:
            _check(path.stem, path.read_bytes(), report, TARGETS)
    return report


@contextmanager
def _watchdog() -> Iterator[None]:
    """Make a hang an error, as long as `_check` winds up the timer."""
    before = signal.signal(signal.SIGVTALRM, _hang)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise Hang


def limit_seconds(target: Target, size: int) -> float:
    return LIMIT_SECONDS * target.slack * max(1.0, size / SMALL_SIZE)


def _check(source: str, data: bytes, report: Report, targets: tuple[Target, ...]) -> None:
    report.inputs += 1
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
    started = time.process_time()
    for target in targets:
        try:
            report.accepted += target(data)
        except Hang:
            report.violations.append(Violation(source, target.name, "does not end", data))
            return
        except Exception as exc:  # noqa: BLE001 (any other error is the finding)
            reason = f"{type(exc).__name__}: {exc}"
            report.violations.append(Violation(source, target.name, reason, data))
            return
    # All parsers together seldom need what each of them may: then there is no need to look closer.
    if time.process_time() - started > LIMIT_SECONDS:
        _check_time(source, data, report, targets)


def _check_time(source: str, data: bytes, report: Report, targets: tuple[Target, ...]) -> None:
    for target in targets:
        limit = limit_seconds(target, len(data))
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
        elapsed = min(_measure(target, data, limit))
        if elapsed > limit:
            reason = f"{elapsed * 1000:.1f} ms for {len(data)} bytes"
            report.violations.append(Violation(source, target.name, reason, data))
        if elapsed / limit > report.slowest_share:
            report.slowest_share = elapsed / limit
            report.slowest = f"{target.name} of {source}: {elapsed * 1000:.1f} ms"


def _measure(target: Target, data: bytes, limit: float) -> Iterator[float]:
    for _ in range(RERUNS):
        started = time.process_time()
        target(data)
        elapsed = time.process_time() - started
        yield elapsed
        if elapsed <= limit:
            return


def _check_peak(source: str, data: bytes, report: Report) -> None:
    limit = PEAK_BASE_BYTES + PEAK_FACTOR * len(data)
    for target in TARGETS:
        tracemalloc.start()
        target(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if peak > limit:
            reason = f"{peak >> 10} KiB for {len(data)} bytes"
            report.violations.append(Violation(source, target.name, reason, data))


def memory_bytes() -> int:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")

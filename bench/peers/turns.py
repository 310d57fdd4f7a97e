"""`openmsmq serve` that tells how long the turns of its event loop are.

Arguments: a file, the seconds of a window, and those of `openmsmq`. The file gets a line for each
window: when it ended, and the longest turn in it, in processor time of the thread. The loop never
waits here: something is always due, and runs once in each turn.
"""

import asyncio
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import uvloop


class Window(NamedTuple):
    """When it ended, on the monotonic clock, and its longest turn in seconds."""

    end: float
    longest: float


class Turns:
    """Measures every turn of the loop that it is started in."""

    def __init__(self, file: TextIO, window: float) -> None:
        self._file = file
        self._window = window
        self._end = time.monotonic() + window
        self._longest = 0.0
        self._turned = time.thread_time()

    def start(self) -> None:
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._longest = max(self._longest, time.thread_time() - self._turned)
        if (now := time.monotonic()) >= self._end:
            self._file.write(f"{now} {self._longest}\n")
            self._end, self._longest = now + self._window, 0.0
        self.start()
        self._turned = time.thread_time()


def read_windows(file: Path) -> list[Window]:
    """What was measured so far."""
    # The last line may not be whole yet.
    lines = file.read_text().split("\n")[:-1]
    return [Window(*map(float, line.split())) for line in lines]


def main() -> None:
    file: Final = open(sys.argv[1], "w", buffering=1)  # noqa: SIM115, PTH123 - until the end
    window = float(sys.argv[2])
    run = uvloop.run

    def measured(serving: Coroutine[Any, Any, Any]) -> object:
        async def serve() -> object:
            Turns(file, window).start()
            return await serving

        return run(serve())

    uvloop.run = measured  # type: ignore[assignment]
    from openmsmq.cli import main as openmsmq

    sys.argv[1:] = sys.argv[3:]
    openmsmq()


if __name__ == "__main__":
    main()

"""A queue manager that has its process to itself, until a signal ends it."""

import asyncio
import resource
import signal
from collections.abc import Callable
from typing import Final

from openmsmq.service.logs import FEW_FILES, log_event
from openmsmq.store.interface import Progress

from .config import Config
from .process import QueueManagerProcess

# Files that are no clients: segments, sessions with other queue managers, what the program needs.
OTHER_FILES: Final = 1_000


def allow_files(wanted: int) -> None:
    """Raise the limit of open files to this count, or as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log_event(FEW_FILES, allowed=allowed, wanted=wanted)


async def serve(
    config: Config,
    *,
    progress: Progress | None = None,
    ready: Callable[[dict[str, str]], None] | None = None,
) -> None:
    """Run a queue manager until SIGTERM or SIGINT; SIGHUP lets it reload."""
    hangups: list[int] = []
    signal.signal(signal.SIGHUP, lambda number, _frame: hangups.append(number))
    allow_files(config.max_connections + OTHER_FILES)
    process = QueueManagerProcess(config)
    loop = asyncio.get_running_loop()

    def listen_to_signals() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, process.request_stop)

    await process.start(progress, listen_to_signals)
    loop.add_signal_handler(signal.SIGHUP, process.reload)
    if hangups:
        # One that came during the start.
        process.reload()
    if ready is not None:
        ready(process.endpoints)
    try:
        await process.run()
    finally:
        # The loop gives its signals back when it ends, and by default this one kills.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])

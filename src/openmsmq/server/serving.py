"""A queue manager in a process of its own, until a signal ends it."""

import asyncio
import signal
from collections.abc import Callable

from openmsmq.store.interface import Progress

from .config import Config
from .open_files import OTHER_FILES, allow_files
from .process import QueueManagerProcess


async def serve(
    config: Config,
    *,
    progress: Progress | None = None,
    ready: Callable[[dict[str, str]], None] | None = None,
    reread: Callable[[], Config] | None = None,
) -> None:
    """Run a queue manager until SIGTERM or SIGINT; SIGHUP lets it reload.

    The service manager that started it is notified of its state.
    """
    hangups: list[int] = []
    signal.signal(signal.SIGHUP, lambda number, _frame: hangups.append(number))
    needed = config.max_connections + OTHER_FILES
    remote = config.rpc_max_connections + config.http_max_connections
    allow_files(needed, needed + remote)
    process = QueueManagerProcess(config, reread=reread)
    loop = asyncio.get_running_loop()

    def listen_to_signals() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, process.request_stop)

    await process.start(progress, listen_to_signals)
    loop.add_signal_handler(signal.SIGHUP, process.reload)
    if hangups:
        # A signal that came during the start.
        process.reload()
    if ready is not None:
        ready(process.endpoints)
    process.notifier.ready(process.status_line)
    try:
        await process.run()
    finally:
        # The loop restores its signal handlers at its end, and the default one kills the process.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])

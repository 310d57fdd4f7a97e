"""Facts outside of samples: expiry of certificates, and clocks of other queue managers."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.wire.errors import MsmqError

if TYPE_CHECKING:
    from .console import Console

LOOK_SECONDS: Final = 60.0
# The number of queues checked in one round, those with new messages first.
MOST_QUEUES: Final = 50
# The number of clocks that are remembered: the last noted ones.
MOST_CLOCKS: Final = 100
# A wrong clock is forgotten after this time without another message that shows it.
REMEMBERED_SECONDS: Final = 24 * 3600.0


class Surroundings:
    """Checks once a minute.

    Attributes:
        certificates: the expiry of each certificate by the key that names it, or why it is unknown.
        clocks: the lead of the clocks of other queue managers, by their GUID. A message
            that arrived before it was sent shows it; a clock that is behind looks like a slow one.
            At most `MOST_CLOCKS`.
    """

    def __init__(self, console: "Console") -> None:
        self._console = console
        self.certificates: dict[str, float | str] = {}
        self.clocks: dict[str, float] = {}
        self._noted: dict[str, float] = {}
        self._arrived: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self.certificates = await asyncio.to_thread(
                ends_of, self._console.settings.certificates
            )
            # If the queue manager does not answer, the next round looks again.
            with suppress(MsmqError):
                await self.look_at_clocks(time.time())
            await asyncio.sleep(LOOK_SECONDS)

    async def look_at_clocks(self, utc: float) -> None:
        """Compare the times at which the newest messages were sent and arrived."""
        manager = await self._console.manager()
        own = manager.identity.guid.casefold()
        # The first check may be before the first sample.
        picture = await self._console.sampler.fresh(LOOK_SECONDS)
        arrived = picture.columns.get("arrived_messages", ())
        counts = {
            queue.path: int(arrived[queue.row])
            for queue in picture.queues.values()
            if queue.kind == "queue"
        }
        new = [path for path, count in counts.items() if count > self._arrived.get(path, 0)]
        self._arrived = counts
        for path in new[:MOST_QUEUES]:
            try:
                async with manager.open_queue(f".\\{path}", "peek") as queue:
                    page = await queue.ranges.browse(backwards=True, count=1, head_bytes=0)
            except MsmqError:
                # Deleted meanwhile, or not readable for the console.
                continue
            for message in page.messages:
                peer = message.source_queue_manager
                ahead = message.sent_time.timestamp() - message.arrived_time.timestamp()
                if peer.casefold() != own:
                    self.note(peer, ahead, utc)
        for peer in [peer for peer, then in self._noted.items() if utc - then > REMEMBERED_SECONDS]:
            self._forget(peer)

    def note(self, peer: str, ahead: float, utc: float) -> None:
        """Record the lead of a peer's clock from one message; correct ones are removed."""
        if peer in self.clocks:
            self._forget(peer)
        if ahead > self._console.settings.console_clock_seconds:
            if len(self.clocks) == MOST_CLOCKS:
                self._forget(next(iter(self.clocks)))
            self.clocks[peer], self._noted[peer] = ahead, utc

    def _forget(self, peer: str) -> None:
        del self.clocks[peer], self._noted[peer]


def ends_of(files: dict[str, Path]) -> dict[str, float | str]:
    """The expiry of certificates, the first of a file; or why it is unknown."""
    found: dict[str, float | str] = {}
    if not files:
        return found
    # Some 10 MB, which a console without certificates does not need.
    from cryptography import x509

    for key, file in files.items():
        try:
            chain = x509.load_pem_x509_certificates(file.read_bytes())
            found[key] = min(each.not_valid_after_utc.timestamp() for each in chain)
        except (OSError, ValueError) as exc:
            found[key] = str(exc)
    return found

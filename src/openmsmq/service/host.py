"""The host of a queue manager: batches to the store, events and replies to whom they concern."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from openmsmq.core.events import Event, ReadEnded, ReadSatisfied
from openmsmq.core.queue_manager import QueueManager
from openmsmq.net.local.connection import LocalConnection
from openmsmq.protocol.local.session import ReadTag
from openmsmq.store.interface import Store
from openmsmq.wire.errors import StoreError

from .group_commit import GroupCommit
from .logs import DISK_FULL, DISK_HAS_ROOM, log_event

# A timer never sleeps longer: a clock that jumps is noticed this soon.
LONGEST_SLEEP: Final = 60.0
# What must fit besides everything begun before new messages are let in.
ROOM_BYTES: Final = 4 * 1024 * 1024


class Host:
    """Owns the queue manager's turn of the event loop.

    Whoever changes something calls `wake`. Once in a turn the events are handed out, the store is
    set to work and the timer is set.
    """

    def __init__(
        self, manager: QueueManager, store: Store, *, store_failed: Callable[[StoreError], None]
    ) -> None:
        self.manager = manager
        self._store = store
        self._store_failed = store_failed
        self._loop = asyncio.get_running_loop()
        self._held: dict[int, list[tuple[LocalConnection, bytes]]] = {}
        self._durable_number = 0
        self._woken = False
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self.commit: Final = GroupCommit(
            store, take_batch=manager.take_batch, durable=self._durable, failed=self._failed
        )

    def tick(self) -> None:
        """Tell the queue manager what time it is."""
        self.manager.set_time(now=time.monotonic(), utc=time.time())

    def wake(self) -> None:
        """There may be something to store or to tell."""
        if not self._woken and not self._stopped:
            self._woken = True
            self._loop.call_soon(self._turn)

    def release(self, depends: int, connection: LocalConnection, data: bytes) -> None:
        """Send a reply once batch `depends` is on disk."""
        if depends <= self._durable_number:
            connection.write(data)
        else:
            self._held.setdefault(depends, []).append((connection, data))

    def _turn(self) -> None:
        self._woken = False
        if self._stopped:
            return
        self._tell(self.manager.take_events())
        self.commit.kick()
        self._set_timer()

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, ReadSatisfied):
                if isinstance(event.read.tag, ReadTag):
                    event.read.tag.session.read_satisfied(event, event.read.tag.request)
            elif isinstance(event, ReadEnded) and isinstance(event.read.tag, ReadTag):
                event.read.tag.session.read_ended(event, event.read.tag.request)

    def _durable(self, number: int) -> None:
        self._durable_number = number
        self.manager.durable(number)
        for depends in [held for held in self._held if held <= number]:
            for connection, data in self._held.pop(depends):
                connection.write(data)
        self._watch_room()

    def _watch_room(self) -> None:
        """Refuse new messages while the disk is full."""
        full = not self._store.room(ROOM_BYTES)
        if full != self.manager.state.local.throttled:
            if full:
                self.manager.begin_flow_control()
                log_event(DISK_FULL)
            else:
                self.manager.end_flow_control()
                log_event(DISK_HAS_ROOM)

    def _failed(self, error: StoreError) -> None:
        self._stopped = True
        self._store_failed(error)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.manager.next_timer()
        if due is not None:
            delay = min(max(due - time.monotonic(), 0.0), LONGEST_SLEEP)
            self._timer = self._loop.call_later(delay, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.manager.handle_timer(now=time.monotonic(), utc=time.time())
        self.wake()

    async def close(self) -> None:
        """Make everything durable and stop."""
        if not self._stopped:
            self._tell(self.manager.take_events())
            await self.commit.drain()
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        self.commit.close()

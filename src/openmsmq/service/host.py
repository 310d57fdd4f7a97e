"""The host of a queue manager: batches to the store, events and replies to whom they concern."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from openmsmq.core.events import Event
from openmsmq.core.queue_manager import QueueManager
from openmsmq.store.interface import Finding, Store

from .group_commit import GroupCommit
from .logs import DAMAGE_FOUND, DISK_FULL, DISK_HAS_ROOM, log_event
from .upkeep import Upkeep

# A timer never sleeps longer: a clock that jumps is noticed this soon.
LONGEST_SLEEP: Final = 60.0
# What must fit besides everything begun before new messages are let in.
ROOM_BYTES: Final = 4 * 1024 * 1024
# How often the room on the disk is looked at when nobody writes, and other slow things are done.
SLOW_SECONDS: Final = 1.0
# How long after the last write the store does work of its own that needs a flush.
QUIET_SECONDS: Final = 0.02
# What may wait for the disk before no more requests are carried out.
MAX_WAITING_BYTES: Final = 64 * 1024 * 1024

E = TypeVar("E", bound=Event)
Listener = Callable[[Any], None]


class Host:
    """Owns the queue manager's turn of the event loop.

    Whoever changes something calls `wake`. Once in a turn the events are handed out, the store is
    set to work and the timer is set.

    Args:
        failed: told of a fault after which only a restart helps; nothing is said any more.
    """

    def __init__(
        self, manager: QueueManager, store: Store, *, failed: Callable[[Exception], None]
    ) -> None:
        self.manager = manager
        self._store = store
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._held: dict[int, list[tuple[Callable[[Any], None], Any]]] = {}
        self._durable_number = 0
        self._waiting_bytes = 0
        self._when_free: list[Callable[[], None]] = []
        self._listeners: dict[type[Event], list[Listener]] = {}
        self._slow: list[Callable[[], None]] = [self._watch_room]
        self._turns: list[Callable[[], None]] = []
        self._durables: list[Callable[[int], None]] = []
        self._woken = False
        self._stopped = False
        self._timer: asyncio.TimerHandle | None = None
        self._quiet_timer: asyncio.TimerHandle | None = None
        self.upkeep: Final = Upkeep(
            store, stepped=self._stepped, found=found_damage, failed=self._fail
        )
        self.commit: Final = GroupCommit(
            store,
            take_batch=self._take_batch,
            durable=self._durable,
            between=self.upkeep.look,
            failed=self._fail,
        )
        self._slow_timer = self._loop.call_later(SLOW_SECONDS, self._on_slow_timer)
        self._watch_room()

    # Whom to tell

    def listen(self, kind: type[E], listener: Callable[[E], None]) -> None:
        """Hand events of this kind to a listener, in the turn in which they happen."""
        self._listeners.setdefault(kind, []).append(cast(Listener, listener))

    def every_turn(self, action: Callable[[], None]) -> None:
        """Call back in each turn, after the events are handed out."""
        self._turns.append(action)

    def every_flush(self, action: Callable[[int], None]) -> None:
        """Call back with the number of the last batch that is on disk, after each flush."""
        self._durables.append(action)

    def every_second(self, action: Callable[[], None]) -> None:
        """Call back about once a second."""
        self._slow.append(action)

    def when_durable(self, depends: int, action: Callable[[Any], None], argument: object) -> None:
        """Call `action(argument)` once batch `depends` is on disk."""
        if depends <= self._durable_number:
            action(argument)
        else:
            self._held.setdefault(depends, []).append((action, argument))

    # Work that comes in

    def tick(self) -> None:
        """Tell the queue manager what time it is."""
        self.manager.set_time(now=time.monotonic(), utc=time.time())

    def take_in(self, size: int) -> None:
        """So many bytes of requests were carried out."""
        self._waiting_bytes += size

    @property
    def saturated(self) -> bool:
        """Whether enough waits for the disk: no more requests for now."""
        return self._waiting_bytes >= MAX_WAITING_BYTES or self._stopped

    def when_free(self, action: Callable[[], None]) -> None:
        """Call back when it is saturated no longer."""
        self._when_free.append(action)

    def wake(self) -> None:
        """There may be something to store or to tell."""
        if not self._woken and not self._stopped:
            self._woken = True
            self._loop.call_soon(self._turn)

    # The turn

    def _turn(self) -> None:
        self._woken = False
        if self._stopped:
            return
        try:
            self._tell()
            self.commit.kick()
            self._set_timer()
        except Exception as exc:  # noqa: BLE001 - what was not told is lost: a restart is needed
            self._fail(exc)

    def _tell(self) -> None:
        """Hand out events, also those that the listeners cause."""
        while events := self.manager.take_events():
            for event in events:
                for listener in self._listeners.get(type(event), ()):
                    listener(event)
        for action in self._turns:
            action()

    def _take_batch(self) -> Any:
        taken = self.manager.take_batch()
        self._waiting_bytes = 0
        waiting, self._when_free = self._when_free, []
        for action in waiting:
            action()
        if taken is None:
            self._expect_quiet()
        return taken

    def _durable(self, number: int) -> None:
        self._durable_number = number
        self.manager.durable(number)
        for listener in self._durables:
            listener(number)
        held = self._held
        for depends in sorted([each for each in held if each <= number]):
            for action, argument in held.pop(depends):
                action(argument)
        self._watch_room()

    # Timers

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
        try:
            self.manager.handle_timer(now=time.monotonic(), utc=time.time())
        except Exception as exc:  # noqa: BLE001 - as in `_turn`
            self._fail(exc)
        self.wake()

    def _on_slow_timer(self) -> None:
        self._slow_timer = self._loop.call_later(SLOW_SECONDS, self._on_slow_timer)
        for action in self._slow:
            action()
        self.commit.kick()

    def _expect_quiet(self) -> None:
        if self._quiet_timer is None and self._store.wants_write and not self._stopped:
            self._quiet_timer = self._loop.call_later(QUIET_SECONDS, self._on_quiet)

    def _on_quiet(self) -> None:
        self._quiet_timer = None
        if self.commit.writing:
            # The next time that nothing is to be written comes by itself.
            return
        self.commit.write_own()

    def _stepped(self) -> None:
        """The store made a step: there may be another one, or something to write."""
        self._watch_room()
        if not self.commit.writing:
            self.commit.kick()

    def _watch_room(self) -> None:
        """Refuse new messages while the disk is full."""
        full = not self._store.room(ROOM_BYTES)
        if full != self.manager.state.local.throttled:
            self.manager.outgoing.set_throttled(throttled=full)
            log_event(DISK_FULL if full else DISK_HAS_ROOM)

    # The end

    def _fail(self, error: Exception) -> None:
        if not self._stopped:
            self._stopped = True
            self.upkeep.end()
            self._failed(error)

    async def drain(self) -> None:
        """Hand out what happened and return when all of it is on disk."""
        if not self._stopped:
            self._turn()
            await self.commit.drain()

    async def close(self) -> None:
        """Make everything durable and stop."""
        await self.drain()
        self._stopped = True
        for timer in (self._timer, self._quiet_timer, self._slow_timer):
            if timer is not None:
                timer.cancel()
        await self.upkeep.close()
        await self.commit.drain()
        self.commit.close()


def found_damage(finding: Finding) -> None:
    log_event(DAMAGE_FOUND, file=finding.file, offset=finding.offset, what=finding.reason)

"""Engine: the turn of one queue manager, without sockets, threads or a clock.

How to use it
    1. `enter` with the time, then pass in one input: bytes for a protocol, a request of a
       client, an operation of the queue manager.
    2. `work`: events reach the owners of waiting reads, listeners and carriers, then the outputs
       send. `has_work` says whether there is work.
    3. `take_write`: if it returns a write, carry out `store.write`, in any thread, then `enter`
       and `written`: effects that waited for that batch at the gate are released. Then `work`:
       carriers send messages that waited for the disk, after the replies of the gate.
    4. `take_job`: carry out `run` of each job, in any thread and any order, then `enter` and
       `job_done`: messages that waited for their checks are delivered. Then `work` again.
    5. `handle_timer` when `next_timer` says so, then `work`.

    `take_step` and `stepped` are the same for the store's own maintenance; `take_step` comes before
    `take_write`, because some steps can only begin between two writes.

    After an exception out of the engine only a restart restores a known state: stop.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from openmsmq.core.events import Event, ReadEnded, ReadSatisfied, ReceptionEnded
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.timers import earlier
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.transfer.checks.checks import CheckJob
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.carrier import CARRIER_EVENTS, Carrier
from openmsmq.store.interface import Step, Store, Write

Effect = Callable[[Any], None]


class Gate:
    """Effects that wait for batches, released in the order of the batches.

    Effects of the same batch are released in the order in which they came.
    """

    __slots__ = ("_held", "durable_number")

    def __init__(self) -> None:
        # Every batch up to this number is on disk.
        self.durable_number = 0
        self._held: dict[int, list[tuple[Effect, Any]]] = {}

    @property
    def holds(self) -> bool:
        """Whether effects are waiting."""
        return bool(self._held)

    def when_durable(self, depends: int, effect: Effect, argument: object) -> None:
        """Call `effect(argument)` once batch `depends` is on disk; at once if it is already."""
        if depends <= self.durable_number:
            effect(argument)
        else:
            self._held.setdefault(depends, []).append((effect, argument))

    def open(self, number: int) -> None:
        """All batches up to this number are on disk: release the effects that waited for them."""
        assert number > self.durable_number, "batches become durable in order"  # noqa: S101
        self.durable_number = number
        effects = self._held
        for depends in sorted([depends for depends in effects if depends <= number]):
            for effect, argument in effects.pop(depends):
                effect(argument)


MAX_WAITING_BYTES: Final = 64 * 1024 * 1024
# The space required besides everything begun before new messages are accepted.
ROOM_BYTES: Final = 4 * 1024 * 1024
# The pause after the last write before the store may do work of its own that needs a flush.
QUIET_SECONDS: Final = 0.02
# How often an idle store is asked for maintenance.
LOOK_SECONDS: Final = 0.05

E = TypeVar("E", bound=Event)
Listener = Callable[[Any], None]
Action = Callable[[], None]
Question = Callable[[], bool]


class Engine:
    """Drives one queue manager over one store.

    Args:
        max_waiting_bytes: the size of requests that may wait for the disk before no more are
        carried out.
    """

    __slots__ = (
        "_carriers",
        "_listeners",
        "_look_at",
        "_max_waiting_bytes",
        "_now",
        "_outputs",
        "_quiet_at",
        "_step",
        "_store",
        "_untold",
        "_waiting_bytes",
        "_when_free",
        "_writing",
        "gate",
        "manager",
    )

    def __init__(
        self, manager: QueueManager, store: Store, *, max_waiting_bytes: int = MAX_WAITING_BYTES
    ) -> None:
        self.manager = manager
        self.gate = Gate()
        self._store = store
        self._carriers: list[Carrier] = []
        self._listeners: dict[type[Event], list[Listener]] = {
            ReadSatisfied: [tell_satisfied],
            ReadEnded: [tell_ended],
            ReceptionEnded: [self._tell_received],
        }
        self._outputs: list[tuple[Action, Question]] = []
        self._now = 0.0
        self._writing: tuple[int, Write] | None = None
        # Whether batches became durable since carriers were last notified.
        self._untold = False
        self._quiet_at: float | None = None
        self._step: Step | None = None
        self._look_at = 0.0
        self._max_waiting_bytes = max_waiting_bytes
        self._waiting_bytes = 0
        self._when_free: list[Action] = []

    # Parts

    def add_carrier(self, carrier: Carrier) -> None:
        """Give a protocol that carries messages its part of every turn."""
        self._carriers.append(carrier)

    def carries(self, transport: Transport) -> bool:
        """Whether there is a carrier for a transport."""
        return any(transport in carrier.carries for carrier in self._carriers)

    def listen(self, kind: type[E], listener: Callable[[E], None]) -> None:
        """Hand events of this kind to a listener."""
        self._listeners.setdefault(kind, []).append(cast(Listener, listener))

    def add_output(self, output: Action, has_output: Question | None = None) -> None:
        """Call back in each turn, after the events, to send pending output.

        Args:
            has_output: whether there may be output; without it `output` is called always.
        """
        self._outputs.append((output, has_output or always))

    # Inputs

    def enter(self, *, now: float, utc: float) -> None:
        """Set the time; must come before anything else in a turn."""
        self._now = now
        self.manager.set_time(now=now, utc=utc)

    def take_in(self, size: int) -> None:
        """Count the bytes of requests that were carried out."""
        self._waiting_bytes += size

    @property
    def saturated(self) -> bool:
        """Whether too many bytes wait for the disk to accept more requests."""
        return self._waiting_bytes >= self._max_waiting_bytes

    def when_free(self, action: Action) -> None:
        """Call back once it is no longer saturated."""
        self._when_free.append(action)

    # The turn

    @property
    def idle(self) -> bool:
        """Whether a turn would find no event, nothing to store and no message to check."""
        manager = self.manager
        return manager.idle and not manager.incoming.checks.jobs

    @property
    def has_work(self) -> bool:
        """Whether there are events, checks or output; otherwise `work` does nothing."""
        if self.manager.has_events or self.manager.incoming.checks.jobs:
            return True
        if self._untold and any(carrier.waits_for_disk for carrier in self._carriers):
            return True
        return any(has_output() for _, has_output in self._outputs)

    def work(self) -> None:
        """Dispatch events and send output, until nothing is left."""
        self._tell_durable()
        self._hand_out_events()
        self._send()
        while self.manager.has_events:
            self._hand_out_events()
            self._send()

    def _send(self) -> None:
        for output, has_output in self._outputs:
            if has_output():
                output()

    def _hand_out_events(self) -> None:
        """Dispatch events to listeners and carriers, and the events that follow."""
        manager = self.manager
        while manager.has_events:
            for event in manager.take_events():
                kind = type(event)
                for listener in self._listeners.get(kind, ()):
                    listener(event)
                if kind in CARRIER_EVENTS:
                    self._tell_carriers(event)

    def _tell_carriers(self, event: Event) -> None:
        """Notify every carrier, or that of the outgoing queue if the event is about one."""
        queue: Queue | None = getattr(event, "queue", None)
        if queue is not None and queue.outgoing is None:
            return
        transport = queue.outgoing.transport if queue is not None and queue.outgoing else None
        for carrier in self._carriers:
            if transport is None or transport in carrier.carries:
                carrier.core_event(event, now=self._now)

    # The disk

    @property
    def writing(self) -> tuple[int, Write] | None:
        """The write in progress and the batch it makes durable; 0 is work of the store's own."""
        return self._writing

    def take_write(self) -> Write | None:
        """Begin the next write; None while one is in progress or there is nothing to write."""
        if self._writing is not None:
            return None
        numbered_batch = self.manager.take_batch()
        self._waiting_bytes = 0
        waiting, self._when_free = self._when_free, []
        for action in waiting:
            action()
        if numbered_batch is not None:
            number, batch = numbered_batch
            self._quiet_at = None
            return self._begin(number, self._store.begin([batch]))
        if self._store.wants_write:
            if self._quiet_at is None:
                self._quiet_at = self._now + QUIET_SECONDS
            elif self._quiet_at <= self._now:
                self._quiet_at = None
                return self._begin(0, self._store.begin([]))
        return None

    def _begin(self, number: int, write: Write) -> Write:
        self._writing = number, write
        return write

    def written(self) -> None:
        """The write that was taken last is on disk."""
        assert self._writing is not None, "nothing is being written"  # noqa: S101
        number, write = self._writing
        self._writing = None
        self._store.finish(write)
        if number:
            self.manager.durable(number)
            self.gate.open(number)
            self._untold = True
        self.watch_room()

    def _tell_durable(self) -> None:
        """Notify carriers that more batches are on disk."""
        if self._untold:
            self._untold = False
            for carrier in self._carriers:
                carrier.durable(now=self._now)

    def flush(self) -> None:
        """Write the current batches synchronously."""
        while (write := self.take_write()) is not None:
            self._store.write(write)
            self.written()
            self._tell_durable()

    def watch_room(self) -> None:
        """Refuse new messages while the disk is full; `FlowControlChanged` says so."""
        full = not self._store.room(ROOM_BYTES)
        if full != self.manager.throttled:
            self.manager.outgoing.set_throttled(throttled=full)

    # Checks of received messages

    def take_job(self) -> CheckJob | None:
        """The next checks for a worker, or None. Many may run at a time."""
        checks = self.manager.incoming.checks
        return checks.take() if checks.jobs else None

    def job_done(self, job: CheckJob, error: Exception | None = None) -> None:
        """A job has run, or failed, which closes one connection."""
        job.inlet.checked(job, error)

    def _tell_received(self, event: ReceptionEnded) -> None:
        event.owner.received(event.read, event.received, now=self._now)

    # Maintenance of the store

    def take_step(self) -> Step | None:
        """Begin the next step of maintenance, if one is due and none is in progress."""
        if self._step is not None or self._now < self._look_at:
            return None
        self._step = self._store.maintain()
        if self._step is None:
            self._look_at = self._now + LOOK_SECONDS
        return self._step

    def stepped(self) -> None:
        """The step that was taken last has run."""
        assert self._step is not None, "no step is under way"  # noqa: S101
        step, self._step = self._step, None
        step.finish()
        self._look_at = 0.0
        self.watch_room()

    # Time

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        due = earlier(self.manager.next_timer(), self._quiet_at)
        for carrier in self._carriers:
            due = earlier(due, carrier.next_timer())
        return due

    def handle_timer(self, *, now: float, utc: float) -> None:
        """Handle the timers that are due."""
        self.enter(now=now, utc=utc)
        due = self.manager.next_timer()
        if due is not None and due <= now:
            self.manager.handle_timer(now=now, utc=utc)
        for carrier in self._carriers:
            carrier.handle_timer(now=now)


def always() -> bool:
    """Whether an output without `has_output` may have data to send."""
    return True


def tell_satisfied(event: ReadSatisfied) -> None:
    """Deliver the messages to the owner of the read."""
    if event.read.tag is not None:
        event.read.tag.satisfied(event)


def tell_ended(event: ReadEnded) -> None:
    """Tell the owner of the read that there is no message."""
    if event.read.tag is not None:
        event.read.tag.ended(event)

"""One run of the simulation: a seed decides everything, faults come and stop, promises must hold.

At least three queue managers, 300 messages and 10 faults. When the faults are over, time goes on
until nothing moves any more, and longer, so that idle sessions and old histories go, too.

What may happen all the same, because no protocol can exclude it:
- A message whose time runs out at its source after it was sent may be given up there although it
  arrived (`Entry.in_doubt`).
- Express messages are lost with the memory of either end, and come twice if the destination lost
  its memory of having received them.
- A plain message that is too old when it arrives leaves no dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from openmsmq.core.tables import Table
from openmsmq.protocol.binary.cleanup import STREAM_TIMER

from .faults import FAULTS, inject
from .ledger import Ledger, Violation
from .node import Node, Ways
from .workload import ADMIN, ORDERED, PLAIN, Workload
from .world import START_NOW, World

MESSAGES: Final = 300
_ACTIVE_SECONDS: Final = 150.0
_SETTLE_STEP: Final = 60.0
# The last interval of the resend ladder is six hours.
_SETTLE_SECONDS: Final = 24 * 3600.0
# Several times what a run has; one with more goes round in circles.
_MOST_ENTRIES: Final = 20_000
_QUIET_SECONDS: Final = 4000.0
_TAG: Final = re.compile(rb"#(\d{6})#")


class Simulation:
    """One seed."""

    def __init__(
        self,
        seed: int,
        *,
        trace: Callable[[str], None] | None = None,
        faults: tuple[str, ...] = FAULTS,
    ) -> None:
        self.world = World(seed, trace=trace)
        random = self.world.random
        self.ledger = Ledger()
        self.nodes = []
        for number in range(random.choice((3, 3, 4))):
            ways = Ways(
                eager=random.random() < 0.4,
                forgetful=0.05 if random.random() < 0.4 else 0.0,
                memory_budget=random.choice((0, 2000, 1 << 20)),
                window_size=random.choice((2, 8, 64, 1024)),
                files=random.random() < 0.2,
            )
            node = Node(self.world, "ABCD"[number], f"10.0.0.{number + 1}", ways)
            node.on_transmit = self._transmitted
            self.nodes.append(node)
        self.workload = Workload(self.world, self.ledger, self.nodes)
        self._faults = faults
        self.faults = 0

    def _transmitted(self, node: Node, data: bytes) -> None:
        for tag in _TAG.findall(data):
            entry = self.ledger.entries[tag.decode()]
            if entry.source is node:
                entry.transmitted = True

    def run(self) -> None:
        """Let it all happen, then look.

        Raises:
            Violation: a promise was broken.
        """
        world = self.world
        self._schedule()
        world.run_until(START_NOW + _ACTIVE_SECONDS)
        self._calm()
        deadline = world.now + _SETTLE_SECONDS
        while not self._settled():
            if world.now > deadline or world.entries > _MOST_ENTRIES:
                raise Violation(f"it never settles: {self._unsettled()}")
            world.run_until(world.now + _SETTLE_STEP)
            self._read_all()
        world.run_until(world.now + _QUIET_SECONDS)
        world.say("settled")
        self.ledger.collect(self.nodes, ADMIN)
        self.ledger.check()
        for node in self.nodes:
            check_leaks(node)
            check_restart(node)
            check_rows(node)

    def _schedule(self) -> None:
        world = self.world
        random = world.random
        # About three messages a time.
        for _ in range(MESSAGES // 2):
            world.after(random.uniform(0, _ACTIVE_SECONDS * 0.8), self.workload.send)
        for node in self.nodes:
            for path in (PLAIN, ORDERED):
                self._read_later(node, path)
        for _ in range(random.randint(10, 25)):
            world.after(random.uniform(0, _ACTIVE_SECONDS), self._fault)
        for _ in range(random.randint(0, 2)):
            purge = partial(self.workload.purge, random.choice(self.nodes), PLAIN)
            world.after(random.uniform(0, _ACTIVE_SECONDS), purge)
        for _ in range(random.randint(0, 2)):
            purge = partial(self.workload.purge, random.choice(self.nodes), ORDERED)
            world.after(random.uniform(0, _ACTIVE_SECONDS), purge)
        for _ in range(random.choice((0, 0, 1, 3))):
            replace = partial(self.workload.replace, random.choice(self.nodes))
            world.after(random.uniform(0, _ACTIVE_SECONDS), replace)

    def _read_later(self, node: Node, path: str) -> None:
        def read() -> None:
            self.workload.read(node, path)
            if not self.workload.calm:
                self._read_later(node, path)

        self.world.after(self.world.random.expovariate(0.5), read)

    def _fault(self) -> None:
        self.faults += 1
        inject(self.world, self.nodes, self._faults)

    def _calm(self) -> None:
        """No more faults; whoever is down comes back by itself."""
        self.world.say("calm")
        self.workload.calm = True
        for node in self.nodes:
            node.listening = True
            node.slowness = 1.0
            node.doomed = False

    def _read_all(self) -> None:
        for node in self.nodes:
            for path in (PLAIN, ORDERED):
                self.workload.read(node, path)

    def _settled(self) -> bool:
        return not any(self._left(node) for node in self.nodes)

    def _left(self, node: Node) -> list[str]:
        if not node.up:
            return ["down"]
        state = node.qm.state
        left = [
            f"{queue.path} {queue.lanes.count}+{len(queue.locked)}"
            for queue in state.queues.values()
            if queue.outgoing is not None and queue.count
        ]
        for path in (PLAIN, ORDERED):
            queue = state.paths.get(path)
            if queue is None or not self.workload.is_there(node, path):
                left.append(f"{path} is not there")
            elif queue.count:
                left.append(f"{queue.path} {queue.lanes.count}+{len(queue.locked)}")
        return left

    def _unsettled(self) -> str:
        return "; ".join(
            f"{node.name}: {left}" for node in self.nodes if (left := self._left(node))
        )


def check_leaks(node: Node) -> None:
    """Nothing is left in memory or on disk that serves no message."""
    state = node.qm.state
    binary = node.binary
    sender = binary._sender
    found = {
        "transactions": len(state.transactions),
        "descriptors": len(state.descriptors),
        "expiry timers": sum(len(bucket) for bucket in state.expiry._buckets.values()),
        "unstored changes": len(state.outbox.batch),
        "connections": len(binary._connections),
        "waiting for disk": len(binary._waiting),
        "timers": len(binary._agenda._deadlines.keys() - {STREAM_TIMER}),
        "counted streams": state.stream_count.total
        - sum(len(queue.incoming) for queue in state.queues.values())
        - len(state.abandoned_streams),
        "history": len(state.message_history),
        "awaiting final acks": len(sender._awaiting),
        "positions": sum(len(each.plain) + len(each.ordered) for each in sender.transfers.values()),
        "awaited": sum(each.awaiting for each in sender.transfers.values()),
    }
    express = sum(
        1 for queue in state.queues.values() for message in queue.lanes if not message.traits & 1
    )
    found["scratch"] = max(len(state.scratch_handles) - express, 0)
    _no_leaks(node, found)


def check_rows(node: Node) -> None:
    """Nothing is left on disk that serves no message; after a start."""
    rows: dict[int, int] = {}
    for table, _, _ in node.rows:
        rows[table] = rows.get(table, 0) + 1
    outgoing = len(node.qm.state.outgoing)
    found = {
        "rows of transactions": rows.get(Table.TRANSACTIONS, 0),
        "rows of the history": rows.get(Table.HISTORY, 0),
        # One for the last sequence, one for each outgoing queue at most.
        "rows of sequences": max(rows.get(Table.SEQUENCES, 0) - 1 - outgoing, 0),
    }
    _no_leaks(node, found)


def _no_leaks(node: Node, found: dict[str, int]) -> None:
    leaks = {what: count for what, count in found.items() if count}
    if leaks:
        raise Violation(f"{node.name} leaks {leaks}")


def check_restart(node: Node) -> None:
    """What a start finds on disk is what is in memory, but for express messages."""
    memory = picture(node, recoverable_only=True)
    node.crash(0.0)
    node.world.run_until(node.world.now)
    disk = picture(node, recoverable_only=False)
    if memory != disk:
        for path in sorted(memory.keys() | disk.keys()):
            if memory.get(path) != disk.get(path):
                raise Violation(
                    f"{node.name} restarts with {path} {disk.get(path)}, not {memory.get(path)}"
                )


def picture(node: Node, *, recoverable_only: bool) -> dict[str, list[tuple[int, int]]]:
    """The messages of each queue: lookup id and traits."""
    queues = {}
    for queue in node.qm.state.queues.values():
        messages = [
            (message.lookup_id, message.traits)
            for message in queue.lanes
            if message.traits & 1 or not recoverable_only
        ]
        if messages:
            queues[queue.path] = messages
    return queues

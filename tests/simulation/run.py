"""One run of the simulation: a seed decides everything, faults come and stop, promises must hold.

With `web`, half of the messages go over HTTP, the others by the binary protocol. With `multicast`
there are messages to a group besides (`multicast.py`). In a third of the seeds messages are signed,
encrypted, or both. In half of them some messages are sent with a time at which they appear. In a
quarter queues have retry policies, so that messages rest, come back, and become poison.

At least three queue managers, 300 messages and 10 faults. Applications are clients of the local
protocol that die at any moment. What was sent and received is what is on disk, which a client may
have been told or not; nothing is told before. When the faults are over, time goes on
until nothing moves any more, and longer, so that idle sessions and old histories go, too.

What may happen all the same, because no protocol can exclude it:
- A message whose time runs out at its source after it was sent may be given up there although it
  arrived (`Entry.in_doubt`).
- A message over HTTP that is refused for want of a queue is given up, but a copy of it may be on
  its way over an older connection and find a queue that was created meanwhile.
- Express messages are lost with the memory of either end, and come twice if the destination lost
  its memory of having received them.
- An express message is lost if a node that is eager (`Ways.eager`) said that it came before it
  left it out, because it could not be routed or came after one that could not
  (`Entry.forgotten`).
- What a read without a transaction took from the queue is gone even if its client died before the
  reply came.
- A plain message that is too old when it arrives leaves no dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from openmsmq.core.model.queue import QueueRole
from openmsmq.engine.engine import MAX_WAITING_BYTES

from .applications import ADMIN, ORDERED, PLAIN, POISON
from .checks import check_leaks, check_restart, check_rows, check_start
from .client import check_held
from .faults import FAULTS, inject
from .ledger import Ledger, Violation
from .multicast import GroupNetwork, MulticastTraffic
from .node import USER, Node, guid_at
from .routed_sites import RoutedSites
from .secured import SecuredMachines, SecurityDice, check_sent
from .ways import Ways
from .workload import Workload
from .world import START_NOW, World

MESSAGES: Final = 300
_ACTIVE_SECONDS: Final = 150.0
_SETTLE_STEP: Final = 60.0
# The last interval of the resend ladder is six hours.
_SETTLE_SECONDS: Final = 24 * 3600.0
# Several times what a run has; one with more goes round in circles. Seed 257 has 70,398, seed 51
# 20,829: their checks take up to 200 s, longer than a session waits for an acknowledgment, so that
# sessions end and their messages are sent again, up to 45 times. With checks of 60 s at most seed
# 51 has 10,375.
_MOST_ENTRIES: Final = 150_000
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
        web: bool = False,
        multicast: bool = False,
        routed: bool | None = None,
        secure: bool | None = None,
        delayed: bool | None = None,
        policies: bool | None = None,
    ) -> None:
        self.world = World(seed, trace=trace)
        random = self.world.random
        if multicast:
            self.world.groups = GroupNetwork(self.world)
        # Dice of its own, so that a seed means the same with and without checks.
        checks = Random(f"checks {seed}")
        self.ledger = Ledger()
        self.nodes = []
        # A third of the seeds has routers, with dice of their own.
        self._routing = Random(f"routing {seed}")
        is_routed = seed % 3 == 2 and not web if routed is None else routed
        hops = self._routing.randint(1, 3) if is_routed else 0
        count = random.choice((3, 3, 4)) + hops
        names = ["ABCDEFG"[number] for number in range(count)]
        addresses = [f"10.0.0.{number + 1}" for number in range(count)]
        guids = dict(zip(names, map(guid_at, addresses), strict=True))
        # Another third has signed and encrypted messages, and so have some of those with routers.
        is_secure = seed % 3 == 1 and not is_routed if secure is None else secure
        if secure is None and routed is None and is_routed:
            is_secure = seed % 9 == 8
        machines = SecuredMachines(guids, USER) if is_secure else None
        self.sites: RoutedSites | None = None
        if hops:
            self.sites = RoutedSites(self._routing, guids, names[-hops:], machines)
        for number in range(count):
            ways = Ways(
                eager=random.random() < 0.4,
                forgetful=0.05 if random.random() < 0.4 else 0.0,
                memory_budget=random.choice((0, 2000, 1 << 20)),
                window_size=random.choice((2, 8, 64, 1024)),
                max_waiting_bytes=random.choice((100, MAX_WAITING_BYTES)),
                files=random.random() < 0.2,
                checks=checks.choice((0.0, 0.0, 0.2, 0.8)),
                web=web,
                secure=is_secure,
            )
            directory = self.sites.open() if self.sites is not None else None
            if machines is not None and directory is None:
                directory = machines.open()
            node = Node(self.world, names[number], addresses[number], ways, directory, machines)
            node.on_transmit = self._transmitted
            node.on_forgotten = self._forgotten
            node.on_boot = partial(check_start, ledger=self.ledger)
            self.nodes.append(node)
        if self.sites is not None:
            self.ledger.hops = tuple(self.nodes[-hops:])
        dice = Random(f"web {seed}") if web else None
        security = SecurityDice(seed) if is_secure else None
        # Half of the seeds has messages that appear later.
        is_delayed = seed % 2 == 1 if delayed is None else delayed
        delays = Random(f"delays {seed}") if is_delayed else None
        # A quarter has queues with retry policies.
        has_policies = seed % 4 == 3 if policies is None else policies
        care = Random(f"policies {seed}") if has_policies else None
        self.workload = Workload(self.world, self.ledger, self.nodes, dice, security, delays, care)
        self.multicast: MulticastTraffic | None = None
        if self.world.groups is not None:
            self.multicast = MulticastTraffic(self.world, self.world.groups, self.nodes)
        self._faults = faults
        self.faults = 0

    def _transmitted(self, node: Node, data: bytes) -> None:
        check_sent(self.ledger.entries, data)
        for tag in _TAG.findall(data):
            entry = self.ledger.entries[tag.decode()]
            # The acknowledgment did not reach this node, which has it still.
            entry.forgotten = False
            if entry.source is node:
                entry.transmitted = True

    def _forgotten(self, tag: str) -> None:
        self.ledger.entries[tag].forgotten = True

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
        # What clients are about to do is done within the first step.
        world.run_until(world.now + _SETTLE_STEP)
        while not self._settled():
            if world.now > deadline or world.entries > self._most_entries:
                raise Violation(f"it never settles: {self._unsettled()}")
            self._read_all()
            world.run_until(world.now + _SETTLE_STEP)
        world.say("settled")
        self._end_clients()
        world.run_until(world.now + _QUIET_SECONDS)
        self.ledger.collect(self.nodes, ADMIN)
        self.ledger.check()
        if self.multicast is not None:
            self.multicast.check()
        for node in self.nodes:
            check_leaks(node)
            check_restart(node)
            check_rows(node)

    @property
    def _most_entries(self) -> int:
        return _MOST_ENTRIES if self.multicast is None else 2 * _MOST_ENTRIES

    def _schedule(self) -> None:
        world = self.world
        random = world.random
        # About three messages a time.
        for _ in range(MESSAGES // 2):
            world.after(random.uniform(0, _ACTIVE_SECONDS * 0.8), self.workload.send)
        for node in self.nodes:
            for path in (PLAIN, ORDERED):
                for _ in range(random.choice((1, 1, 2))):
                    self.workload.keep_reading(node, path)
        for _ in range(random.randint(10, 25)):
            world.after(random.uniform(0, _ACTIVE_SECONDS), self._fault)
        for _ in range(random.randint(0, 2)):
            purge = partial(self.workload.purge, random.choice(self.nodes), PLAIN)
            world.after(random.uniform(0, _ACTIVE_SECONDS), purge)
        for _ in range(random.randint(0, 2)):
            purge = partial(self.workload.purge, random.choice(self.nodes), ORDERED)
            world.after(random.uniform(0, _ACTIVE_SECONDS), purge)
        if self.multicast is not None:
            self.multicast.schedule(_ACTIVE_SECONDS * 0.9)
        if self.sites is not None:
            for _ in range(self._routing.randint(2, 12)):
                world.after(self._routing.uniform(0, _ACTIVE_SECONDS), self._change_topology)
            # A queue that is created again has another number, which no name has any more.
            return
        for _ in range(random.choice((0, 0, 1, 3))):
            replace = partial(self.workload.replace, random.choice(self.nodes))
            world.after(random.uniform(0, _ACTIVE_SECONDS), replace)

    def _change_topology(self) -> None:
        assert self.sites is not None
        change = self.sites.change()
        self.world.say(f"topology: {change}")
        self.world.count(f"topology: {change.partition(' ')[0]}")

    def _fault(self) -> None:
        self.faults += 1
        inject(self.world, self.nodes, self._faults)

    def _calm(self) -> None:
        """No more faults; whoever is down comes back by itself."""
        self.world.say("calm")
        self.workload.calm = True
        if self.world.groups is not None:
            self.world.groups.calm = True
        if self.sites is not None:
            self.sites.heal()
        for node in self.nodes:
            node.listening = True
            node.slowness = 1.0
            node.doomed = False

    def _read_all(self) -> None:
        for node in self.nodes:
            for path in (PLAIN, ORDERED, *POISON):
                self.workload.read_all(node, path)
            for path in (PLAIN, ORDERED):
                self.workload.release(node, path)

    def _end_clients(self) -> None:
        """Nobody waits for a reply; then those that wait for messages go."""
        for node in self.nodes:
            for client in list(node.clients):
                client.check_answered()
                client.die()
            check_held(node)

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
        waiting = node.qm.incoming.checks.waiting
        if waiting:
            # Whoever acknowledges eagerly has told the source already.
            left.append(f"{waiting} reads wait for checks")
        for path in (PLAIN, ORDERED):
            queue = state.paths.get(path)
            if queue is None or not self.workload.is_there(node, path):
                left.append(f"{path} is not there")
            elif queue.count:
                left.append(f"{queue.path} {queue.lanes.count}+{len(queue.locked)}")
        left += [
            f"{queue.path} {queue.count}, {len(queue.delayed)} later"
            for queue in state.queues.values()
            if queue.delayed or (queue.count and queue.role is QueueRole.SUBQUEUE)
        ]
        # An eager node has acknowledged them, so that no outgoing queue holds them any more.
        if waiting := node.qm.incoming.checks.waiting:
            left.append(f"{waiting} waiting for checks")
        return left

    def _unsettled(self) -> str:
        return "; ".join(
            f"{node.name}: {left}" for node in self.nodes if (left := self._left(node))
        )

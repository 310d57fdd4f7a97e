"""Which applications run, where and when; administrators replace queues."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, Final

from .applications import ADMIN, ORDERED, PLAIN, Reader, Sender, purge
from .client import Client
from .ledger import EXPRESS, NA, NR, PA, PR, RECOVERABLE, TRANSACTIONAL, Entry, Ledger
from .node import USER, Node
from .routed_sites import queue_number
from .secured import SecurityDice
from .world import World

_ACKNOWLEDGMENTS: Final = (0, 0, 0, PA, PA | NA, PR | NR, PA | PR | NA | NR, NA | NR)


class Workload:
    """The applications of a run."""

    def __init__(
        self,
        world: World,
        ledger: Ledger,
        nodes: list[Node],
        web: Random | None = None,
        security: SecurityDice | None = None,
        delays: Random | None = None,
        policies: Random | None = None,
    ) -> None:
        self._world = world
        self._ledger = ledger
        self._nodes = nodes
        self._random: Random = world.random
        self.calm = False
        # Decides which messages go over HTTP; None for a run without it.
        self._web = web
        # Decides which messages are signed and encrypted; None for a run without.
        self._security = security
        # Decides which messages appear later; None for a run without such.
        self._delays = delays
        # The life of a node and the batch in which its queue was last created.
        self._created = dict.fromkeys(nodes, (0, 0))
        for node in nodes:
            qm = node.operate()
            plain, ordered = _policy(policies), _policy(policies)
            node.retries = policies is not None
            qm.create_queue(f".\\{PLAIN}", caller=USER, **plain)
            qm.create_queue(f".\\{ORDERED}", caller=USER, transactional=True, **ordered)
            qm.create_queue(f".\\{ADMIN}", caller=USER)
            node.service()
            node.flush()
            node.numbers = {path: queue_number(node, path) for path in (PLAIN, ORDERED, ADMIN)}

    def send(self) -> None:
        """Some application sends something somewhere."""
        random = self._random
        source = random.choice(self._nodes)
        others = [node for node in self._nodes if node is not source]
        destination = random.choice(others) if random.random() < 0.95 else source
        if not source.up:
            self._world.after(random.uniform(0, 10), self.send)
            return
        kind = random.choice((EXPRESS, RECOVERABLE, RECOVERABLE, TRANSACTIONAL, TRANSACTIONAL))
        queue = ORDERED if kind == TRANSACTIONAL else PLAIN
        if destination is source and not self.is_there(source, queue):
            return
        entries = [
            self._ledger.new(kind, source, destination, queue) for _ in range(random.randint(1, 5))
        ]
        web = self._web is not None and destination is not source and self._web.random() < 0.5
        for entry in entries:
            self._decorate(entry)
            entry.web = web
        if self._delays is not None and self._delays.random() < 0.25:
            wait = self._delays.choice((0.0, 0.2, 3.0, 20.0, 90.0))
            for entry in entries:
                entry.posted_at = self._world.now
                entry.due = entry.posted_at + wait
        elif self._security is not None:
            there = self.is_there(destination, queue)
            number = queue_number(destination, queue) if there else 0
            self._security.decorate(entries, number, web=web)
        Client(source, lambda client: Sender(client, self._ledger, entries).run(), calm=self.calm)

    def is_there(self, node: Node, path: str) -> bool:
        """Whether a node has a queue, and not another one in its place."""
        queue = node.qm.state.paths.get(path)
        transactional = path.startswith(ORDERED)
        return queue is not None and queue.properties.transactional == transactional

    def _decorate(self, entry: Entry) -> None:
        random = self._random
        if random.random() < 0.15:
            entry.time_to_reach_queue = random.choice((1, 5, 30, 120))
        if random.random() < 0.15:
            entry.time_to_be_received = random.choice((1, 5, 30, 120))
        entry.negative_journaling = random.random() < 0.4
        entry.positive_journaling = random.random() < 0.3
        entry.acknowledgments = random.choice(_ACKNOWLEDGMENTS)

    def _reader(self, path: str, client: Client) -> Reader:
        return Reader(client, self._ledger, path, calm=lambda: self.calm)

    def keep_reading(self, node: Node, path: str) -> None:
        """Let an application read until it is calm; another one follows it when it is gone."""
        reader: Client | None = None

        def look() -> None:
            nonlocal reader
            if self.calm:
                return
            if node.up and (reader is None or not reader.alive):
                reader = Client(node, lambda client: self._reader(path, client).run(), calm=False)
            self._world.after(self._random.expovariate(0.3), look)

        look()

    def read_all(self, node: Node, path: str) -> None:
        """Let an application take what is there."""
        there = node.up and self.is_there(node, path)
        if there and node.qm.state.paths[path].lanes.count:
            Client(node, lambda client: self._reader(path, client).read_all(), calm=True)

    def release(self, node: Node, path: str) -> None:
        """Let an operator give back what a queue holds as poison."""
        if node.up and self.is_there(node, path):
            node.operate().set_aside.release(f".\\{path}", None, caller=USER)
            node.service()

    def purge(self, node: Node, path: str) -> None:
        """Let an administrator empty a queue."""
        if node.up:
            Client(node, partial(purge, ledger=self._ledger, path=path), calm=self.calm)

    # Replacing a queue

    def replace(self, node: Node) -> None:
        """An administrator deletes the transactional queue of a node and creates it again.

        Now and then one without transactions is there in the meantime.
        """
        queue = node.qm.state.paths.get(ORDERED)
        # What a transaction has received is not taken away from it.
        if not node.up or queue is None or queue.locked:
            if not self.calm:
                self._world.after(self._random.uniform(0, 5), partial(self.replace, node))
            return
        self._world.say(f"{node.name} deletes {ORDERED} with {queue.count} messages")
        self._world.count("queue replaced")
        self._ledger.doubt(node, ORDERED)
        node.operate().delete_queue(queue, caller=USER)
        node.service()
        self._created[node] = node.life, 0
        wrong = self._random.random() < 0.3
        delay = self._random.choice((0.0, 0.1, 3.0, 20.0))
        self._world.after(delay, partial(self._create, node, transactional=not wrong))

    def _create(self, node: Node, *, transactional: bool) -> None:
        """Go on until a transactional queue is there for good: a crash may take it away again."""
        self._ledger.doubt(node, ORDERED)
        delay = 1.0
        if node.up:
            qm = node.operate()
            queue = qm.state.paths.get(ORDERED)
            if queue is not None and not queue.properties.transactional:
                qm.delete_queue(queue, caller=USER)
                queue = None
            if queue is None:
                self._world.say(f"{node.name} creates {ORDERED}, transactional {transactional}")
                qm.create_queue(f".\\{ORDERED}", caller=USER, transactional=transactional)
                self._created[node] = node.life, qm.state.outbox.number
                delay = 1.0 if transactional else self._random.choice((0.1, 3.0, 20.0))
            node.service()
            life, number = self._created[node]
            if queue is not None and (
                node.life != life or number <= qm.state.outbox.durable_number
            ):
                return
        self._world.after(delay, partial(self._create, node, transactional=True))


def _policy(dice: Random | None) -> dict[str, Any]:
    """What a queue does with messages that readers give back."""
    if dice is None:
        return {}
    return {
        "receive_error_handling": dice.choice(("move", "hold")),
        "receive_retry_count": dice.choice((0, 1)),
        "retry_cycle_delay": dice.choice((1, 10)),
        "max_retry_cycles": dice.choice((0, 1, 2)),
    }

"""What applications do: send, receive in transactions or not, give up, purge, replace queues."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final
from uuid import UUID

from openmsmq.core.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.packets import packets_of
from openmsmq.core.reading import Read
from openmsmq.wire.base_header import INFINITE
from openmsmq.wire.queue_address import NO_QUEUE, QueueAddress, direct_address
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.user_message import UserMessage
from openmsmq.wire.user_message_builder import build_user_message

from .ledger import EXPRESS, NA, NR, PA, PR, RECOVERABLE, TRANSACTIONAL, Entry, Ledger
from .node import USER, Node
from .world import World

PLAIN: Final = r"private$\plain"
ORDERED: Final = r"private$\ordered"
ADMIN: Final = r"private$\admin"
_ACKNOWLEDGMENTS: Final = (0, 0, 0, PA, PA | NA, PR | NR, PA | PR | NA | NR, NA | NR)


class Workload:
    """The applications of a run."""

    def __init__(self, world: World, ledger: Ledger, nodes: list[Node]) -> None:
        self._world = world
        self._ledger = ledger
        self._nodes = nodes
        self._random: Random = world.random
        self._transactions = 0
        self.calm = False
        # The life of a node and the batch in which its queue was last created.
        self._created = dict.fromkeys(nodes, (0, 0))
        for node in nodes:
            qm = node.operate()
            qm.create_queue(f".\\{PLAIN}", caller=USER)
            qm.create_queue(f".\\{ORDERED}", caller=USER, transactional=True)
            qm.create_queue(f".\\{ADMIN}", caller=USER)
            node.service()
            node.flush()

    # Sending

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
        count = random.randint(1, 5)
        entries = [
            self._ledger.new(kind, source, destination, queue, self._world.now)
            for _ in range(count)
        ]
        for entry in entries:
            self._decorate(entry)
        self._enqueue(source, entries)

    def is_there(self, node: Node, path: str) -> bool:
        """Whether a node has a queue, and not another one in its place."""
        queue = node.qm.state.paths.get(path)
        return queue is not None and queue.properties.transactional == (path == ORDERED)

    def _decorate(self, entry: Entry) -> None:
        random = self._random
        if random.random() < 0.15:
            entry.time_to_reach_queue = random.choice((1, 5, 30, 120))
        if random.random() < 0.15:
            entry.time_to_be_received = random.choice((1, 5, 30, 120))
        entry.negative_journaling = random.random() < 0.4
        entry.positive_journaling = random.random() < 0.3
        entry.acknowledgments = random.choice(_ACKNOWLEDGMENTS)

    def _enqueue(self, source: Node, entries: list[Entry]) -> None:
        name = f"TCP:{entries[0].destination.address}\\{entries[0].queue}"
        admin = direct_address(f"TCP:{source.address}\\{ADMIN}")
        packets = [_packet(entry, name, admin) for entry in entries]
        qm = source.operate()
        descriptor = qm.open_queue(f"DIRECT={name}", QueueAccessType.SEND, caller=USER)
        if entries[0].kind == TRANSACTIONAL:
            transaction = qm.begin(self._identifier())
            qm.enqueue_many(descriptor, packets, transaction)
            if self._random.random() < 0.1:
                qm.abort(transaction.identifier)
                depends = None
            else:
                depends = qm.commit(transaction.identifier)
        else:
            depends = qm.enqueue_many(descriptor, packets).depends
        qm.close_queue(descriptor)
        self._world.say(
            f"{source.name} sends {entries[0].kind} {[entry.tag for entry in entries]}"
            f" to {entries[0].destination.name}{' and aborts' if depends is None else ''}"
        )
        if depends is not None:
            source.when_durable(depends, lambda: _mark_sent(entries))
        source.service()

    def _identifier(self) -> UUID:
        self._transactions += 1
        return UUID(int=self._transactions)

    # Receiving

    def read(self, node: Node, path: str) -> None:
        """Some application receives a few messages, or all when it is calm."""
        random = self._random
        if (
            not node.up
            or not self.is_there(node, path)
            or not node.qm.state.paths[path].lanes.count
        ):
            return
        limit = 1000 if self.calm else random.randint(1, 6)
        qm = node.operate()
        descriptor = qm.open_queue(f".\\{path}", QueueAccessType.RECEIVE, caller=USER)
        transaction = qm.begin(self._identifier()) if path == ORDERED else None
        try:
            read = qm.dequeue_many(descriptor, max_count=limit, timeout=0, transaction=transaction)
        except QueueError:
            # What was there has just expired.
            if transaction is not None:
                qm.abort(transaction.identifier)
            qm.close_queue(descriptor)
            node.service()
            return
        assert isinstance(read, Read)
        found = [
            (self._ledger.entries[UserMessage(packet).label], message.lookup_id)
            for packet, message in zip(read.packets, read.messages, strict=True)
        ]
        if transaction is None:
            node.when_durable(read.depends, lambda: self._received(found))
            qm.close_queue(descriptor)
        else:
            life = node.life
            delay = 0.0 if self.calm else random.choice((0.0, 0.1, 3.0))
            decided = partial(self._decide, node, life, transaction.identifier, descriptor, found)
            self._world.after(delay, decided)
        node.service()

    def _decide(
        self,
        node: Node,
        life: int,
        transaction: UUID,
        descriptor: OpenQueueDescriptor,
        found: list[tuple[Entry, int]],
    ) -> None:
        if not node.alive(life):
            return
        qm = node.operate()
        if not self.calm and self._random.random() < 0.2:
            self._world.say(f"{node.name} aborts {[entry.tag for entry, _ in found]}")
            qm.abort(transaction)
        else:
            depends = qm.commit(transaction)
            node.when_durable(depends, lambda: self._received(found))
        qm.close_queue(descriptor)
        node.service()

    def _received(self, found: list[tuple[Entry, int]]) -> None:
        now = self._world.now
        if found:
            entry = found[0][0]
            self._world.say(f"{entry.destination.name} receives {[each.tag for each, _ in found]}")
        for entry, lookup_id in found:
            entry.received.append((lookup_id, now))

    # Purging

    def purge(self, node: Node, path: str) -> None:
        """An administrator empties a queue."""
        if not node.up or not self.is_there(node, path):
            return
        qm = node.operate()
        queue = qm.state.paths[path]
        held = [*queue.lanes, *queue.locked.values()]
        gone = [UserMessage(packet).label for packet in packets_of(qm.state, held)]
        self._world.say(f"{node.name} purges {gone} from {path}")
        for label in gone:
            self._ledger.entries[label].purged = True
        descriptor = qm.open_queue(f".\\{path}", QueueAccessType.RECEIVE, caller=USER)
        qm.purge(descriptor)
        qm.close_queue(descriptor)
        node.service()

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


def _mark_sent(entries: list[Entry]) -> None:
    for entry in entries:
        entry.sent = True


def _packet(entry: Entry, name: str, admin: QueueAddress) -> bytes:
    reach = entry.time_to_reach_queue
    receive = entry.time_to_be_received
    return build_user_message(
        body=f"#{entry.tag}#".encode(),
        label=entry.tag,
        destination_queue=direct_address(name),
        delivery_mode=0 if entry.kind == EXPRESS else 1,
        time_to_reach_queue=INFINITE if reach is None else reach,
        time_to_be_received=INFINITE if receive is None else receive,
        negative_journaling=entry.negative_journaling,
        positive_journaling=entry.positive_journaling,
        acknowledgments=entry.acknowledgments,
        admin_queue=admin if entry.acknowledgments else NO_QUEUE,
    )

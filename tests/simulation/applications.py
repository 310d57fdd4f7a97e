"""What applications do, each a script of a client: send, receive in many ways, purge."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Final

from openmsmq.core.model.message import PositionState
from openmsmq.core.rows.packets import packets_of
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
)
from openmsmq.wire.packets.base_header import INFINITE

from .client import Answered, Client, Script
from .ledger import EXPRESS, TRANSACTIONAL, Entry, Ledger
from .node import USER, Node
from .secured import check_received, secured_packet

PLAIN: Final = r"private$\plain"
ORDERED: Final = r"private$\ordered"
ADMIN: Final = r"private$\admin"
POISON: Final = (rf"{PLAIN};poison", rf"{ORDERED};poison")
SINGLE: Final = -1
_TIMEOUTS: Final = 0.0, 0.0, 0.0, 0.5, 5.0, 30.0, None
_LONG_TIMEOUTS: Final = 5.0, 30.0, None
Found = list[tuple[Entry, int]]
Way = Callable[["Reader"], Script]


def call(
    client: Client, kind: Callable[..., local.Request], *fields: Any, **named: Any
) -> Generator[int | float, local.AnyReply | None, Any]:
    """Post a request and wait for its reply."""
    return (yield client.post(kind, *fields, **named))


# Sending


class Sender:
    """Sends some messages to one queue, once."""

    def __init__(self, client: Client, ledger: Ledger, entries: list[Entry]) -> None:
        self._client = client
        self._ledger = ledger
        self._entries = entries

    def run(self) -> Script:
        client, entries = self._client, self._entries
        first = entries[0]
        name, destination = _addressed(
            first.destination, first.queue, web=first.web, number=first.number
        )
        admin_name, admin = _addressed(client.node, ADMIN)
        packets = [
            secured_packet(entry, name, admin_name, USER)
            if entry.signed or entry.encrypted
            else _packet(entry, destination, admin)
            for entry in entries
        ]
        opened = yield from call(client, local.OpenQueue, name, "send")
        if isinstance(opened, local.Failed):
            # The local queue is not there just now.
            return
        handle = opened.value["handle"]
        if entries[0].kind != TRANSACTIONAL:
            yield client.post(local.Send, handle, packets, answered=self._sent, **self._later())
        elif client.random.random() < 0.3:
            yield client.post(
                local.Send, handle, packets, SINGLE, answered=self._sent, **self._later()
            )
        else:
            yield from self._transaction(handle, packets)
        if client.random.random() < 0.2:
            yield client.post(local.CloseQueue, handle)

    def _transaction(self, handle: int, packets: list[bytes]) -> Script:
        """In one or two requests, which wait for each other or not."""
        client = self._client
        random = client.random
        patient = random.random() < 0.3
        middle = random.randrange(len(packets))
        transaction = client.post(local.BeginTransaction)
        for part in (slice(middle), slice(middle, None)):
            if packets[part]:
                placed = partial(self._placed, self._entries[part])
                number = client.post(
                    *(local.Send, handle, packets[part], transaction),
                    answered=placed,
                    **self._later(),
                )
                if patient:
                    yield number
        if random.random() < 0.1:
            yield client.post(local.EndTransaction, transaction, commit=False)
        else:
            yield client.post(local.EndTransaction, transaction, commit=True, answered=self._sent)

    def _later(self) -> dict[str, Any]:
        """When the messages are to appear, by the clock of their queue manager."""
        due = self._entries[0].due
        if due is None:
            return {}
        node = self._client.node
        return {"deliver_at": node.utc + due - node.world.now}

    def _placed(self, entries: list[Entry], _reply: local.AnyReply, _depends: int) -> None:
        """A message has its place in a local queue from the send on, in others from the commit."""
        if entries[0].destination is entries[0].source:
            self._ledger.number(entries, self._client.node.world.now)

    def _sent(self, reply: local.AnyReply, depends: int) -> None:
        if isinstance(reply, local.Done):
            node = self._client.node
            self._ledger.number([each for each in self._entries if not each.order], node.world.now)
            node.world.say(
                f"{node.name} sends {self._entries[0].kind} {[each.tag for each in self._entries]}"
                f" to {self._entries[0].destination.name}, batch {depends}"
            )
            node.when_on_disk(depends, partial(_mark_sent, self._entries))


def _mark_sent(entries: list[Entry]) -> None:
    for entry in entries:
        entry.sent = True


def _addressed(
    node: Node, path: str, *, web: bool = False, number: int = 0
) -> tuple[str, QueueAddress]:
    """The name of a queue and its address: one that is routed where there are routers.

    Args:
        number: that of the queue in private names, if one is to be used.
    """
    if web:
        url = f"HTTP://{node.address}/msmq/{path}".replace("\\", "/")
        return f"DIRECT={url}", direct_address(url)
    if node.directory is None or (node.ways.secure and not number):
        name = f"TCP:{node.address}\\{path}"
        return f"DIRECT={name}", direct_address(name)
    number = number or node.numbers[path]
    return rf"PRIVATE={node.guid}\{number:08x}", private_address(node.guid, number)


def _packet(entry: Entry, destination: QueueAddress, admin: QueueAddress) -> bytes:
    reach = entry.time_to_reach_queue
    receive = entry.time_to_be_received
    return build_user_message(
        body=f"#{entry.tag}#".encode(),
        label=entry.tag,
        destination_queue=destination,
        delivery_mode=0 if entry.kind == EXPRESS else 1,
        time_to_reach_queue=INFINITE if reach is None else reach,
        time_to_be_received=INFINITE if receive is None else receive,
        negative_journaling=entry.negative_journaling,
        positive_journaling=entry.positive_journaling,
        acknowledgments=entry.acknowledgments,
        admin_queue=admin if entry.acknowledgments else NO_QUEUE,
    )


# Receiving


class Reader:
    """Reads one queue, in one way after the other, until it is calm."""

    def __init__(
        self, client: Client, ledger: Ledger, path: str, *, calm: Callable[[], bool]
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._path = path
        self._calm = calm
        self._handle = 0
        self._queue_deleted = False

    def run(self) -> Script:
        client = self._client
        opened = yield from call(client, local.OpenQueue, f".\\{self._path}", "receive")
        if isinstance(opened, local.Failed):
            return
        self._handle = opened.value["handle"]
        ways = ORDERED_WAYS if self._path == ORDERED else PLAIN_WAYS
        while not (self._calm() or self._queue_deleted):
            yield client.random.expovariate(0.5)
            yield from client.random.choice(ways)(self)

    def read_all(self) -> Script:
        """Receive everything that is there, once."""
        client = self._client
        opened = yield from call(client, local.OpenQueue, f".\\{self._path}", "receive")
        handle = opened.value["handle"]
        if self._path in (PLAIN, POISON[0]):
            yield client.post(local.Receive, handle, count=1000, answered=self._received)
            return
        transaction = client.post(local.BeginTransaction)
        found: Found = []
        yield client.post(
            *(local.Receive, handle),
            count=1000,
            transaction=transaction,
            answered=partial(self._note, found),
        )
        yield client.post(
            local.EndTransaction, transaction, commit=True, answered=self._took(found)
        )

    def _receive(
        self,
        *,
        answered: Answered,
        timeouts: Sequence[float | None] = _TIMEOUTS,
        **options: Any,
    ) -> int:
        """Begin to receive a few messages."""
        random = self._client.random
        return self._client.post(
            *(local.Receive, self._handle),
            count=random.randint(1, 6),
            timeout=random.choice(timeouts),
            answered=answered,
            **options,
        )

    # The ways

    def at_once(self) -> Script:
        """The messages are gone when they are shown."""
        yield self._receive(answered=self._received)

    def cancelled(self) -> Script:
        """The client loses its patience."""
        client = self._client
        number = self._receive(answered=self._received)
        yield client.random.choice((0.0, 0.1, 2.0))
        yield client.post(local.Cancel, number)
        yield number

    def in_two_phases(self) -> Script:
        """The messages are locked first; some are received, the others go back."""
        client = self._client
        random = client.random
        found: Found = []
        reply = yield self._receive(answered=partial(self._note, found), two_phase=True)
        if not isinstance(reply, local.Messages):
            return
        yield random.choice((0.0, 0.1, 3.0))
        middle = random.randint(0, len(found))
        taken, returned = reply.lookup_ids[:middle], reply.lookup_ids[middle:]
        if returned:
            # What the program has seen and gives back counts as a failure.
            handed = returned if client.node.retries else []
            client.post(local.EndReceive, self._handle, returned, delete=False, handed=handed)
        if taken:
            del found[middle:]
            yield client.post(
                *(local.EndReceive, self._handle, taken),
                delete=True,
                before=partial(self._leave_out_purged, found),
                answered=self._took(found),
            )

    def by_lookup_id(self) -> Script:
        """Peek first, then receive what was seen, if nobody else did."""
        client = self._client
        number = client.post(
            local.Receive, self._handle, "peek", count=3, timeout=client.random.choice(_TIMEOUTS)
        )
        reply = yield number
        if isinstance(reply, local.Messages):
            lookup_id = client.random.choice(reply.lookup_ids)
            yield client.post(
                local.Lookup, self._handle, lookup_id, receive=True, answered=self._received
            )

    def in_a_transaction(self) -> Script:
        client = self._client
        random = client.random
        transaction = client.post(local.BeginTransaction)
        found: Found = []
        number = self._receive(answered=partial(self._note, found), transaction=transaction)
        commit = random.random() < 0.8
        waits = random.random() < 0.1
        if not waits:
            reply = yield number
            commit = commit and isinstance(reply, local.Messages)
            waits = random.random() < 0.4
            if waits:
                # Another read stands in line when the transaction ends or the client dies.
                number = self._receive(answered=self._received, timeouts=_LONG_TIMEOUTS)
            if isinstance(reply, local.Messages):
                yield random.choice((0.0, 0.1, 3.0))
        answered = self._took(found) if commit else None
        yield client.post(local.EndTransaction, transaction, commit=commit, answered=answered)
        if waits:
            client.post(local.Cancel, number)
            yield number

    # What counts

    def _found(self, reply: local.Messages) -> Found:
        found: Found = []
        for packet, lookup_id in zip(reply.packets, reply.lookup_ids, strict=True):
            message = UserMessage(packet)
            entry = self._ledger.entries[message.label]
            check_received(entry, message, self._client.node)
            found.append((entry, lookup_id))
        return found

    def _note(self, found: Found, reply: local.AnyReply, _depends: int) -> None:
        """Messages were locked."""
        self._look(reply)
        if isinstance(reply, local.Messages):
            found += self._found(reply)

    def _look(self, reply: local.AnyReply) -> None:
        if isinstance(reply, local.Failed):
            self._queue_deleted |= reply.code == Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE

    def _took(self, found: Found) -> Answered:
        """Messages that were locked are removed once the answer is on disk."""

        def answered(reply: local.AnyReply, depends: int) -> None:
            if isinstance(reply, local.Done) and found:
                self._count(found, depends)

        return answered

    def _received(self, reply: local.AnyReply, depends: int) -> None:
        """Messages are removed once the answer that has them is on disk."""
        self._look(reply)
        if isinstance(reply, local.Messages):
            self._count(self._found(reply), depends)

    def _leave_out_purged(self, found: Found) -> None:
        """What was purged while it was locked leaves as purged when the read ends."""
        locked = self._client.node.qm.state.paths[self._path].locked
        found[:] = [pair for pair in found if locked[pair[1]].state != PositionState.PURGE_PENDING]

    def _count(self, found: Found, depends: int) -> None:
        node = self._client.node
        node.world.say(f"{node.name} receives {[each.tag for each, _ in found]}, batch {depends}")
        node.when_on_disk(depends, partial(_mark_received, found, node))


def _mark_received(found: Found, node: Node) -> None:
    for entry, lookup_id in found:
        entry.received.append((lookup_id, node.world.now))


def purge(client: Client, ledger: Ledger, path: str) -> Script:
    """An administrator empties a queue."""
    opened = yield from call(client, local.OpenQueue, f".\\{path}", "receive")
    if isinstance(opened, local.Failed):
        return
    handle = opened.value["handle"]
    yield client.post(local.Purge, handle, before=partial(_mark_purged, client.node, ledger, path))


def _mark_purged(node: Node, ledger: Ledger, path: str) -> None:
    queue = node.qm.state.paths.get(path)
    if queue is None:
        return
    held = [*queue.lanes, *queue.locked.values()]
    tags = [UserMessage(packet).label for packet in packets_of(node.qm.state, held)]
    node.world.say(f"{node.name} purges {tags} from {path}")
    for tag in tags:
        ledger.entries[tag].purged = True


ORDERED_WAYS: Final[tuple[Way, ...]] = (
    *[Reader.in_a_transaction] * 6,
    *(Reader.at_once, Reader.in_two_phases),
)
PLAIN_WAYS: Final[tuple[Way, ...]] = (
    *(Reader.at_once, Reader.at_once, Reader.cancelled),
    *(Reader.in_two_phases, Reader.in_two_phases, Reader.by_lookup_id),
)

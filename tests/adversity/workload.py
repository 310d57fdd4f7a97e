"""Clients that send, receive and move without pause, and note what they were told."""

import random
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.adversity.ledger import GONE, Ledger
from tests.server.raw_client import RawClient, packet

from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

PLAIN: Final = r".\private$\plain"
ASIDE: Final = PLAIN + ";aside"
TRANSACTIONAL: Final = r".\private$\transactional"
SECOND: Final = r".\private$\second"
NOISE: Final = r".\private$\noise"
PLACES: Final = (PLAIN, ASIDE, TRANSACTIONAL, SECOND)
READ_BYTES: Final = 1 << 22


class Worker:
    """One client with its own connection and its own chance."""

    def __init__(self, socket: Path, ledger: Ledger, seed: int) -> None:
        self.ledger = ledger
        self.chance = random.Random(seed)
        self.client = RawClient.connect(socket)
        self._prefix = b"%d-" % seed
        self._count = 0

    def make(self, queue: str, *, express: bool = False) -> tuple[bytes, bytes]:
        """The body of a new message, and its packet."""
        self._count += 1
        size = self.chance.choice((0, 100, 1000, 3000, 50_000 if self._count % 50 == 0 else 10))
        body = self._prefix + b"%d:" % self._count
        content = body + self.chance.randbytes(size)
        return body, packet(content, queue.removeprefix(".\\"), express=express)

    def make_some(self, queue: str) -> tuple[list[bytes], list[bytes]]:
        made = [self.make(queue) for _ in range(self.chance.randint(1, 12))]
        return [body for body, _ in made], [each for _, each in made]

    def read(self, handle: int, place: str, **parameters: object) -> local.Messages | None:
        """Read and note who was shown; None when nothing came in time."""
        try:
            found = self.client.receive(handle, max_bytes=READ_BYTES, **parameters)
        except QueueError:
            return None
        self.ledger.seen(identify(self.ledger, found.packets, found.lookup_ids), place)
        return found

    def send(self, handle: int, bodies: list[bytes], packets: list[bytes], number: int) -> None:
        first = self.client.send(handle, *packets, transaction=number)
        for offset, body in enumerate(bodies):
            self.ledger.numbered(body, first + offset)


def body_of(raw: bytes) -> bytes:
    """The part of the body that names the message."""
    return UserMessage(raw).body.partition(b":")[0] + b":"


def identify(ledger: Ledger, packets: list[bytes], lookup_ids: list[int]) -> list[bytes]:
    """Note the names and numbers under which messages are shown; returns their bodies."""
    bodies = []
    for raw, lookup_id in zip(packets, lookup_ids, strict=True):
        body = body_of(raw)
        ledger.named(body, lookup_id)
        ledger.numbered(body, UserMessage(raw).identifier.ordinal)
        bodies.append(body)
    return bodies


# What workers do, over and over


def send_plain(worker: Worker) -> Callable[[], None]:
    handle = worker.client.open(PLAIN, "send")

    def work() -> None:
        bodies, packets = worker.make_some(PLAIN)
        change = worker.ledger.begin(bodies, GONE, PLAIN)
        worker.send(handle, bodies, packets, 0)
        worker.ledger.done(change)

    return work


def receive_plain(worker: Worker) -> Callable[[], None]:
    """In two phases, so that it is known which messages a lost answer speaks of."""
    client = worker.client
    places = [(place, client.open(place)) for place in (PLAIN, ASIDE)]

    def work() -> None:
        place, handle = worker.chance.choice(places)
        found = worker.read(handle, place, count=15, timeout=0.02, two_phase=True)
        if found is not None:
            change = worker.ledger.begin(list(map(body_of, found.packets)), place, GONE)
            client.value(local.EndReceive(client.next_id(), handle, found.lookup_ids, True))
            worker.ledger.done(change)

    return work


def move_aside(worker: Worker) -> Callable[[], None]:
    client = worker.client
    handle, target = client.open(PLAIN), client.open(ASIDE, "move")

    def work() -> None:
        found = worker.read(handle, PLAIN, action="peek", count=10, timeout=0.02)
        if found is None:
            return
        some = worker.chance.randint(1, len(found.packets))
        bodies = [body_of(each) for each in found.packets[-some:]]
        change = worker.ledger.begin(bodies, PLAIN, ASIDE)
        try:
            client.value(local.Move(client.next_id(), handle, target, found.lookup_ids[-some:]))
        except QueueError:
            # A receiver was faster.
            worker.ledger.refused(change)
        else:
            worker.ledger.done(change)

    return work


def send_transactional(worker: Worker) -> Callable[[], None]:
    client = worker.client
    handle = client.open(TRANSACTIONAL, "send")

    def work() -> None:
        number = client.begin()
        sent: list[bytes] = []
        for _ in range(worker.chance.randint(1, 3)):
            bodies, packets = worker.make_some(TRANSACTIONAL)
            worker.send(handle, bodies, packets, number)
            sent += bodies
        if worker.chance.random() < 0.2:
            client.end(number, commit=False)
            return
        change = worker.ledger.begin(sent, GONE, TRANSACTIONAL)
        client.end(number, commit=True)
        worker.ledger.done(change)

    return work


def carry_over(worker: Worker) -> Callable[[], None]:
    """Receive from one queue and send to another in one transaction."""
    client = worker.client
    source, target = client.open(TRANSACTIONAL), client.open(SECOND, "send")

    def work() -> None:
        number = client.begin()
        found = worker.read(source, TRANSACTIONAL, count=10, timeout=0.02, transaction=number)
        if found is None:
            client.end(number, commit=False)
            return
        old = [body_of(each) for each in found.packets]
        new, packets = worker.make_some(SECOND)
        worker.send(target, new, packets, number)
        if worker.chance.random() < 0.2:
            client.end(number, commit=False)
            return
        gone = worker.ledger.begin(old, TRANSACTIONAL, GONE)
        come = worker.ledger.begin(new, GONE, SECOND)
        client.end(number, commit=True)
        worker.ledger.done(gone)
        worker.ledger.done(come)

    return work


def receive_second(worker: Worker) -> Callable[[], None]:
    client = worker.client
    handle = client.open(SECOND)

    def work() -> None:
        number = client.begin()
        found = worker.read(handle, SECOND, count=20, timeout=0.02, transaction=number)
        if found is None:
            client.end(number, commit=False)
            return
        change = worker.ledger.begin(list(map(body_of, found.packets)), SECOND, GONE)
        client.end(number, commit=True)
        worker.ledger.done(change)

    return work


def make_noise(worker: Worker) -> Callable[[], None]:
    """Express messages: nothing is promised, but no number is used again."""
    client = worker.client
    sender, receiver = client.open(NOISE, "send"), client.open(NOISE)

    def work() -> None:
        made = [worker.make(NOISE, express=True) for _ in range(20)]
        worker.send(sender, [body for body, _ in made], [each for _, each in made], 0)
        worker.read(receiver, NOISE, count=15, timeout=0.0)

    return work


KINDS: Final = (
    send_plain,
    send_plain,
    receive_plain,
    move_aside,
    send_transactional,
    carry_over,
    receive_second,
    make_noise,
)


class Load:
    """All workers at once, until the queue manager is gone."""

    def __init__(self, socket: Path, ledger: Ledger, seed: int) -> None:
        self.faults: list[BaseException] = []
        self._socket = socket
        self._ledger = ledger
        self._threads = [
            threading.Thread(target=self._run, args=(kind, seed * 100 + index))
            for index, kind in enumerate(KINDS)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, kind: Callable[[Worker], Callable[[], None]], seed: int) -> None:
        try:
            worker = Worker(self._socket, self._ledger, seed)
            with worker.client:
                work = kind(worker)
                while True:
                    work()
        except OSError:
            # The plug was pulled.
            return
        except BaseException as exc:  # noqa: BLE001 - the test looks at it
            self.faults.append(exc)

    def join(self) -> None:
        """Wait until all have noticed; raises the first fault."""
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        for fault in self.faults:
            raise fault


def contents(client: RawClient, ledger: Ledger) -> dict[str, list[bytes]]:
    """What is in all places now."""
    return {place: in_place(client, ledger, place) for place in PLACES}


def in_place(client: RawClient, ledger: Ledger, place: str) -> list[bytes]:
    request = local.PeekRange(client.next_id(), client.open(place, "peek"), 0, (1 << 56) - 1)
    client.post(request)
    bodies: list[bytes] = []
    while True:
        block = client.wait(request)
        assert isinstance(block, local.Block)
        packets = [block.blob[start:end] for start, end in pairwise((0, *block.ends))]
        bodies += identify(ledger, packets, list(block.lookup_ids))
        if block.last:
            return bodies

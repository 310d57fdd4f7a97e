"""The part of the demonstration that starts two queue managers and lets them talk."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import openmsmq
from openmsmq import Message, QueueManager
from openmsmq.wire.errors import ConfigError

COUNT: Final = 200
# UDP needs no privilege; nothing leaves loopback.
MULTICAST: Final[dict[str, Any]] = {
    "multicast_encapsulation": "udp",
    "multicast_rate": 1e6,
    "multicast_window_seconds": 60.0,
}
WAIT_SECONDS: Final = 60.0
# Tried in this order: a queue manager that already runs may have the first ones.
ADDRESSES: Final = tuple(f"127.0.{third}.{last}" for third in (0, 77) for last in range(2, 20, 2))


class Transfer(NamedTuple):
    """How one kind of message fared."""

    kind: str
    sent: int
    arrived: int
    in_order: bool
    # None where nothing is acknowledged.
    acknowledged: int | None
    seconds: float

    @property
    def good(self) -> bool:
        acknowledged = self.acknowledged in (None, self.sent)
        return self.sent == self.arrived and acknowledged and self.in_order


class Route(NamedTuple):
    """A transport, and how it names queues of the receiver and of the sender."""

    words: str
    target: str
    admin: str


class Pair(NamedTuple):
    """Two queue managers; the second has the queues `plain` and `exact`."""

    sender: QueueManager
    receiver: QueueManager
    sender_address: str
    receiver_address: str
    receiver_data: Path

    @property
    def group(self) -> str:
        return _group(self.receiver_address)


@contextmanager
def two_queue_managers() -> Iterator[Pair]:
    """Two queue managers with files of their own, each at an address of its own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openmsmq-demo-")))
        free = iter(ADDRESSES)
        # The directory names the second one by its host name, which only the first needs.
        receiver_address, receiver = _start(stack, folder, "beta", free, {})
        hosts = {"beta": receiver_address}
        sender_address, sender = _start(stack, folder, "alpha", free, hosts)
        sender.create_queue(r".\private$\acknowledgments")
        receiver.create_queue(r".\private$\plain")
        receiver.create_queue(r".\private$\multicast", multicast=_group(receiver_address))
        receiver.create_queue(r".\private$\exact", transactional=True)
        yield Pair(sender, receiver, sender_address, receiver_address, folder / "beta")


def _group(address: str) -> str:
    """A multicast address that no other demonstration on this machine has at the same time."""
    return f"239.255.{address.removeprefix('127.0.')}:8001"


def _start(
    stack: ExitStack, folder: Path, name: str, addresses: Iterator[str], hosts: dict[str, str]
) -> tuple[str, QueueManager]:
    for address in addresses:
        try:
            started = openmsmq.embedded(
                folder / name,
                name=name,
                bind=address,
                binary_port=1801,
                rpc_port=0,
                http_port=0,
                directory=folder / "directory.json",
                hosts=hosts,
                **MULTICAST,
            )
        except ConfigError:
            continue
        return address, stack.enter_context(started)
    raise ConfigError(f"binary_port: port 1801 is taken at all of {', '.join(ADDRESSES)}")


def routes(pair: Pair) -> Iterator[Route]:
    """The transports between the two."""
    yield Route(
        "",
        rf"DIRECT=TCP:{pair.receiver_address}\private$",
        rf"DIRECT=TCP:{pair.sender_address}\private$\acknowledgments",
    )
    sender, receiver = (
        manager.status()["endpoints"]["http"] for manager in (pair.sender, pair.receiver)
    )
    yield Route(
        " over HTTP",
        f"DIRECT=HTTP://{receiver}/msmq/private$",
        f"DIRECT=HTTP://{sender}/msmq/private$/acknowledgments",
    )


def transfers(pair: Pair) -> Iterator[Transfer]:
    """Send messages of every kind from one to the other, over every transport."""
    for route in routes(pair):
        yield from _transfers(pair, route)
    yield _multicast(pair)


def _multicast(pair: Pair) -> Transfer:
    """Send recoverable messages by multicast, which nobody acknowledges."""
    started = time.monotonic()
    for number in range(COUNT):
        message = Message(b"%d" % number, "multicast", delivery="recoverable")
        pair.sender.send(f"MULTICAST={pair.group}", message)
    numbers = [int(text) for text in _take(pair.receiver, "multicast")]
    seconds = time.monotonic() - started
    in_order = numbers == sorted(numbers)
    return Transfer("recoverable by multicast", COUNT, len(numbers), in_order, None, seconds)


def _transfers(pair: Pair, route: Route) -> Iterator[Transfer]:
    """Send messages of every kind over a transport, with acknowledgments."""
    separator = "/" if "://" in route.target else "\\"
    for kind, queue, delivery in (
        ("express", "plain", "express"),
        ("recoverable", "plain", "recoverable"),
        ("transactional", "exact", "recoverable"),
    ):
        started = time.monotonic()
        target, admin = f"{route.target}{separator}{queue}", route.admin
        messages = [
            Message(
                b"%d" % number,
                kind,
                delivery=delivery,
                acknowledge="positive-arrival",
                admin_queue=admin,
            )
            for number in range(COUNT)
        ]
        if kind == "transactional":
            with pair.sender.transaction() as work:
                for message in messages:
                    pair.sender.send(target, message, transaction=work)
        else:
            for message in messages:
                pair.sender.send(target, message)
        arrived = _take(pair.receiver, queue)
        acknowledged = len(_take(pair.sender, "acknowledgments"))
        numbers = [int(text) for text in arrived]
        yield Transfer(
            kind + route.words,
            COUNT,
            len(numbers),
            numbers == sorted(numbers),
            acknowledged,
            time.monotonic() - started,
        )


def _take(manager: QueueManager, queue: str) -> list[str]:
    """The next messages of a queue, all of those that are to come."""
    bodies: list[str] = []
    deadline = time.monotonic() + WAIT_SECONDS
    with manager.open_queue(rf".\private$\{queue}") as opened:
        while len(bodies) < COUNT and time.monotonic() < deadline:
            bodies += [str(message.body) for message in opened.receive_many(COUNT, timeout=1.0)]
    return bodies

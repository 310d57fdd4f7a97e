"""The part of the demonstration that starts two queue managers and lets them talk."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import openmsmq
from openmsmq import Message, QueueManager
from openmsmq.wire.errors import ConfigError

COUNT: Final = 200
WAIT_SECONDS: Final = 60.0
# Tried in this order: a queue manager that already runs may have the first ones.
ADDRESSES: Final = tuple(f"127.0.{third}.{last}" for third in (0, 77) for last in range(2, 20, 2))


class Transfer(NamedTuple):
    """How one kind of message fared."""

    kind: str
    sent: int
    arrived: int
    in_order: bool
    acknowledged: int
    seconds: float

    @property
    def good(self) -> bool:
        return self.sent == self.arrived == self.acknowledged and self.in_order


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


@contextmanager
def two_queue_managers() -> Iterator[Pair]:
    """Two queue managers with files of their own, each at an address of its own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openmsmq-demo-")))
        free = iter(ADDRESSES)
        managers, addresses = [], []
        for name in ("alpha", "beta"):
            address, manager = _start(stack, folder / name, name, free)
            managers.append(manager)
            addresses.append(address)
        managers[0].create_queue(r".\private$\acknowledgments")
        managers[1].create_queue(r".\private$\plain")
        managers[1].create_queue(r".\private$\exact", transactional=True)
        yield Pair(managers[0], managers[1], addresses[0], addresses[1], folder / "beta")


def _start(
    stack: ExitStack, data: Path, name: str, addresses: Iterator[str]
) -> tuple[str, QueueManager]:
    for address in addresses:
        try:
            started = openmsmq.embedded(
                data, name=name, bind=address, binary_port=1801, rpc_port=0, http_port=0
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
    sender, receiver = (each.status()["endpoints"]["http"] for each in (pair.sender, pair.receiver))
    yield Route(
        " over HTTP",
        f"DIRECT=HTTP://{receiver}/msmq/private$",
        f"DIRECT=HTTP://{sender}/msmq/private$/acknowledgments",
    )


def transfers(pair: Pair) -> Iterator[Transfer]:
    """Send messages of every kind from one to the other, over every transport."""
    for route in routes(pair):
        yield from _transfers(pair, route)


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
        numbers = [int(each) for each in arrived]
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
    found: list[str] = []
    deadline = time.monotonic() + WAIT_SECONDS
    with manager.open_queue(rf".\private$\{queue}") as opened:
        while len(found) < COUNT and time.monotonic() < deadline:
            found += [str(each.body) for each in opened.receive_many(COUNT, timeout=1.0)]
    return found

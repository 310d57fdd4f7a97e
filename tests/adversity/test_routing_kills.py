"""Queue managers in sites, in processes of their own; routers are killed while messages cross.

Transactional messages must arrive exactly once and in order, recoverable ones must not be lost.
Some are signed and encrypted; they go to a queue that takes no others.
"""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from tests.adversity.link_proxy import LinkProxy
from tests.adversity.test_transfer_kills import PORTS, Node, committed
from tests.interop.loopback import new_address
from tests.security.signatures.signer import signing_key

import openmsmq
from openmsmq import Message
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.service.directory_file import DirectoryFileOnDisk

ORDERED = r".\private$\ring"
PLAIN = r".\private$\plain"
MARKER = r".\private$\marker"
SAFE = r".\private$\safe"
ADMIN = r".\private$\admin"
# In the order in which they are created, from the number of the first private queue on.
QUEUES: dict[str, dict[str, Any]] = {
    ORDERED: {"transactional": True},
    PLAIN: {},
    MARKER: {"transactional": True},
    SAFE: {"transactional": True, "authenticate": True, "privacy": "body"},
    ADMIN: {},
}
FIRST_NUMBER = 5
BATCH = 50
# Of the numbers that are sent, each such one is sent signed and encrypted, too.
SECURED = 10


class RoutedNode(Node):
    """`openmsmq serve` with a directory; others find it over the proxy."""

    def __init__(self, folder: Path, name: str, addresses: dict[str, tuple[str, str]]) -> None:
        self.protocol = "binary"
        self.public, self.real = addresses[name]
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.config = self.folder / "config.toml"
        settings: dict[str, object] = {
            "data": str(self.folder / "data"),
            "name": name,
            "bind": self.real,
            "addresses": [self.public],
            "directory": str(folder / "directory.json"),
            "log_level": "warning",
            "resend_timeouts_short": 2.0,
            **{f"{port}_port": "off" for port in PORTS},
            "binary_port": 1801,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        hosts = ", ".join(f'{each} = "{public}"' for each, (public, _) in addresses.items())
        self.config.write_text("\n".join([*lines, f"hosts = {{{hosts}}}"]))
        self.start()

    def private_name(self, path: str) -> str:
        """The name of a queue that is routed."""
        with self.connect() as manager:
            guid = manager.status()["guid"].strip("{}")
            number = FIRST_NUMBER + list(QUEUES).index(path)
            return rf"PRIVATE={guid}\{number:08x}"


@contextmanager
def routed(
    folder: Path,
    sites: dict[str, tuple[str, ...]],
    routers: frozenset[str],
    links: tuple[tuple[str, str], ...],
    seed: int,
) -> Iterator[tuple[dict[str, RoutedNode], LinkProxy]]:
    """Queue managers by name, in their sites; every router is a gate of the links it touches."""
    addresses = {name: (new_address(), new_address()) for name in sites}
    nodes = {}
    proxy = LinkProxy(dict(addresses.values()), seed, port=1801)
    try:
        for name in sites:
            nodes[name] = RoutedNode(folder, name, addresses)
        file = DirectoryFileOnDisk(folder / "directory.json")
        topology = TopologyEditor(LocalDirectory(file), utc=time.time())
        for at, site in enumerate(sorted({site for each in sites.values() for site in each})):
            topology.add_site(site, identifier=identifier(at))
        for name, places in sites.items():
            topology.set_server(name, sites=places, routing=name in routers)
        for at, (one, other) in enumerate(links):
            gates = [name for name in routers if {one, other} & set(sites[name])]
            topology.add_link(one, other, identifier=identifier(100 + at), cost=1, gates=gates)
        yield nodes, proxy
    finally:
        for node in nodes.values():
            if node.process.poll() is None:
                node.kill()
        proxy.close()


def identifier(number: int) -> UUID:
    return UUID(int=0xABC000 + number)


class Names(NamedTuple):
    """The queues at the destination, and that for acknowledgments at the source."""

    ordered: str
    plain: str
    safe: str
    admin: str

    @classmethod
    def of(cls, source: RoutedNode, target: RoutedNode) -> "Names":
        ordered, plain, safe = map(target.private_name, (ORDERED, PLAIN, SAFE))
        return cls(ordered, plain, safe, source.private_name(ADMIN))


def secret(number: int, admin_queue: str) -> Message:
    """A signed and encrypted message, whose arrival is to be acknowledged."""
    return Message(
        b"%d" % number,
        sign=True,
        certificate=signing_key("soak", bits=1024),
        encrypt=True,
        acknowledge="arrival",
        admin_queue=admin_queue,
    )


def send_all(node: Node, names: Names, count: int) -> None:
    """Send numbers in order, each plain and in a transaction, and some of them secured."""
    sent = 0
    while sent < count:
        try:
            with node.connect() as manager:
                sent = committed(manager)
                while sent < count:
                    upto = min(sent + BATCH, count)
                    send_batch(manager, names, range(sent, upto))
                    sent = upto
        except openmsmq.ConnectionLost:
            time.sleep(0.05)


def send_batch(manager: openmsmq.QueueManager, names: Names, numbers: range) -> None:
    # Plain ones first: they may come twice if the answer of the commit is lost.
    with manager.open_queue(names.plain, access="send") as queue:
        queue.send_many([Message(b"%d" % each, delivery="recoverable") for each in numbers])
    with manager.transaction() as work:
        for number in numbers:
            manager.send(names.ordered, Message(b"%d" % number), transaction=work)
            if number % SECURED == 0:
                manager.send(names.safe, secret(number, names.admin), transaction=work)
        manager.send(MARKER, Message(b"%d" % numbers.stop), transaction=work)


def arrived(node: Node, path: str) -> list[int]:
    """What a queue holds; nothing is taken out of it."""
    try:
        with node.connect() as manager:
            return [int(each.body) for each in manager.open_queue(path, access="peek").cursor()]
    except openmsmq.ConnectionLost:
        return []


def all_there(node: Node, count: int) -> bool:
    """Whether everything has arrived."""
    with node.connect() as manager:
        if manager.queue_info(ORDERED)["messages"] < count:
            return False
    return len(arrived(node, SAFE)) >= len(range(0, count, SECURED)) and set(
        arrived(node, PLAIN)
    ) >= set(range(count))


def check_secured(node: Node) -> None:
    """What came into the safe queue was signed and encrypted."""
    with node.connect() as manager:
        for message in manager.open_queue(SAFE, access="peek").cursor():
            assert (message.authenticated, message.encrypted) == (True, True)
            assert message.authentication_level == "sig20"


def check_acknowledgments(node: Node, count: int) -> None:
    """Every secured message was acknowledged, none as refused or lost."""
    deadline = time.monotonic() + 60
    expected = len(range(0, count, SECURED))
    while True:
        with node.connect() as manager:
            acknowledgments = list(manager.open_queue(ADMIN, access="peek").cursor())
        classes = {message.class_name for message in acknowledgments}
        assert classes <= {"MQMSG_CLASS_ACK_REACH_QUEUE"}, classes
        if len({message.correlation_id for message in acknowledgments}) == expected:
            return
        assert time.monotonic() < deadline, f"{len(acknowledgments)} of {expected} acknowledged"
        time.sleep(0.5)


def run(
    folder: Path,
    sites: dict[str, tuple[str, ...]],
    routers: frozenset[str],
    links: tuple[tuple[str, str], ...],
    *,
    source: str,
    target: str,
    count: int,
    kills: int,
    seed: int,
    seconds: float,
) -> None:
    chance = random.Random(seed)
    with routed(folder, sites, routers, links, seed) as (nodes, proxy):
        for name in (source, target):
            with nodes[name].connect() as manager:
                for path, properties in QUEUES.items():
                    manager.create_queue(path, **properties)
        with nodes[source].connect() as manager:
            manager.register_certificate(signing_key("soak", bits=1024).certificate)
        deadline = time.monotonic() + seconds
        names = Names.of(nodes[source], nodes[target])
        sender = threading.Thread(target=send_all, args=(nodes[source], names, count), daemon=True)
        sender.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.2, 1.0))
            proxy.cut()
            victim = nodes[chance.choice(sorted(routers))]
            victim.kill()
            victim.start()
        sender.join(max(deadline - time.monotonic(), 0.1))
        while time.monotonic() < deadline and not all_there(nodes[target], count):
            time.sleep(0.5)
        assert arrived(nodes[target], ORDERED) == list(range(count))
        assert set(arrived(nodes[target], PLAIN)) == set(range(count))
        assert arrived(nodes[target], SAFE) == list(range(0, count, SECURED))
        check_secured(nodes[target])
        with nodes[source].connect() as manager:
            way = manager.route(names.ordered)
        assert [step["name"] for step in way["path"][1:]], "no router was on the way"
        while time.monotonic() < deadline and waiting(nodes[source]):
            time.sleep(0.5)
        # Every acknowledgment has come back over the routers.
        assert waiting(nodes[source]) == 0
        check_acknowledgments(nodes[source], count)


def waiting(node: Node) -> int:
    """How many messages the outgoing queues of a queue manager still hold."""
    with node.connect() as manager:
        return sum(queue["messages"] for queue in manager.outgoing())


@pytest.mark.timeout(150)
def test_messages_through_a_router_that_is_killed_arrive_once_and_in_order(tmp_path: Path) -> None:
    run(
        tmp_path,
        {"alpha": ("A",), "gate": ("A", "B"), "beta": ("B",)},
        frozenset(("gate",)),
        (("A", "B"),),
        source="alpha",
        target="beta",
        count=200,
        kills=5,
        seed=1,
        seconds=120,
    )


@pytest.mark.soak
@pytest.mark.timeout(580)
@pytest.mark.parametrize("part", range(10))
def test_messages_over_three_sites_arrive_through_kills(tmp_path: Path, part: int) -> None:
    """20,000 of each kind and 40 kills in all, in parts, so that a long run can be resumed."""
    run(
        tmp_path,
        {
            "alpha": ("A",),
            "one": ("A",),
            "two": ("M",),
            "three": ("M",),
            "four": ("B",),
            "beta": ("B",),
        },
        frozenset(("one", "two", "three", "four")),
        (("A", "M"), ("M", "B")),
        source="alpha",
        target="beta",
        count=2_000,
        kills=4,
        seed=100 + part,
        seconds=540,
    )

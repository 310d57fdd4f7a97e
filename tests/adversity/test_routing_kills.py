"""Queue managers in sites, in processes of their own; routers are killed while messages cross.

Transactional messages must arrive exactly once and in order, recoverable ones must not be lost.
"""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest
from tests.adversity.link_proxy import LinkProxy
from tests.adversity.test_transfer_kills import PORTS, Node, committed
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import Message
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.service.directory_file import DirectoryFileOnDisk

ORDERED = r".\private$\ring"
PLAIN = r".\private$\plain"
MARKER = r".\private$\marker"


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
            number = {ORDERED: 5, PLAIN: 6, MARKER: 7}[path]
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


def send_all(node: Node, ordered: str, plain: str, count: int) -> None:
    """Send numbers in order to both queues, ten in one transaction and ten plain ones."""
    sent = 0
    while sent < count:
        try:
            with node.connect() as manager:
                sent = committed(manager)
                while sent < count:
                    upto = min(sent + 10, count)
                    # Plain ones first: they may come twice if the answer of the commit is lost.
                    for number in range(sent, upto):
                        message = Message(b"%d" % number, delivery="recoverable")
                        manager.send(plain, message)
                    with manager.transaction() as work:
                        for number in range(sent, upto):
                            manager.send(ordered, Message(b"%d" % number), transaction=work)
                        manager.send(MARKER, Message(b"%d" % upto), transaction=work)
                    sent = upto
        except openmsmq.ConnectionLost:
            time.sleep(0.05)


def arrived(node: Node, path: str) -> list[int]:
    """What a queue holds; nothing is taken out of it."""
    try:
        with node.connect() as manager:
            return [int(each.body) for each in manager.open_queue(path, access="peek").cursor()]
    except openmsmq.ConnectionLost:
        return []


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
                manager.create_queue(ORDERED, transactional=True)
                manager.create_queue(PLAIN)
                manager.create_queue(MARKER, transactional=True)
        deadline = time.monotonic() + seconds
        ordered, plain = (nodes[target].private_name(path) for path in (ORDERED, PLAIN))
        sender = threading.Thread(
            target=send_all, args=(nodes[source], ordered, plain, count), daemon=True
        )
        sender.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.2, 1.0))
            proxy.cut()
            victim = nodes[chance.choice(sorted(routers))]
            victim.kill()
            victim.start()
        sender.join(max(deadline - time.monotonic(), 0.1))
        while time.monotonic() < deadline:
            if len(arrived(nodes[target], ORDERED)) >= count and set(
                arrived(nodes[target], PLAIN)
            ) >= set(range(count)):
                break
            time.sleep(0.5)
        assert arrived(nodes[target], ORDERED) == list(range(count))
        assert set(arrived(nodes[target], PLAIN)) == set(range(count))
        with nodes[source].connect() as manager:
            way = manager.route(ordered)
        assert [step["name"] for step in way["path"][1:]], "no router was on the way"
        while time.monotonic() < deadline and waiting(nodes[source]):
            time.sleep(0.5)
        # Every acknowledgment has come back over the routers.
        assert waiting(nodes[source]) == 0


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
@pytest.mark.timeout(1800)
def test_messages_over_three_sites_arrive_through_thirty_kills(tmp_path: Path) -> None:
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
        count=20_000,
        kills=30,
        seed=2,
        seconds=1700,
    )

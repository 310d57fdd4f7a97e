"""The part of the demonstration that sends a message through a router and shows its way."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

import openmsmq
from openmsmq import Message, QueueManager
from openmsmq.cli.directory.command import editor
from openmsmq.cli.queues.route import route_lines
from openmsmq.wire.errors import ConfigError

WAIT_SECONDS: Final = 60.0
BODY: Final = "through a router"
# Tried in this order: a queue manager that already runs may have the first ones.
NETWORKS: Final = ("127.0.78", "127.0.79", "127.0.80")
_SITES: Final = {"alpha": ("Berlin",), "gate": ("Berlin", "Paris"), "beta": ("Paris",)}
_WIDTH: Final = 77


class Routed(NamedTuple):
    """The way of a message, and what became of it."""

    lines: list[str]
    arrived: bool
    acknowledged: bool
    forwarded: int
    seconds: float

    @property
    def good(self) -> bool:
        return self.arrived and self.acknowledged and self.forwarded > 0


def send_through_router() -> Routed:
    """Send a transactional message from one site to another, over a gate that is in both.

    Raises:
        ConfigError: there is no address for the queue managers.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openmsmq-demo-")))
        managers = _start(stack, folder)
        _describe(folder / "directory.json")
        alpha, gate, beta = (managers[name] for name in _SITES)
        queue = beta.create_queue(r".\routed", transactional=True)
        name = f"PUBLIC={queue.info()['guid'].strip('{}')}"
        started = time.monotonic()
        lines = list(route_lines(alpha.route(name), _WIDTH))
        alpha.send(name, Message(BODY), transaction="single")
        with beta.open_queue(r".\routed") as opened:
            messages = opened.receive_many(1, timeout=WAIT_SECONDS)
        acknowledged = _waits_for_nothing(alpha)
        return Routed(
            lines,
            [message.body for message in messages] == [BODY],
            acknowledged,
            _forwarded(gate.status()),
            time.monotonic() - started,
        )


def _start(stack: ExitStack, folder: Path) -> dict[str, QueueManager]:
    """Three queue managers that share a directory, at addresses of one network."""
    for network in NETWORKS:
        hosts = {name: f"{network}.{number}" for number, name in enumerate(_SITES, 2)}
        with ExitStack() as attempt:
            try:
                managers = {
                    name: attempt.enter_context(_embedded(folder, name, hosts)) for name in hosts
                }
            except ConfigError:
                continue
            stack.push(attempt.pop_all())
            return managers
    raise ConfigError(f"binary_port: port 1801 is taken at all of {', '.join(NETWORKS)}")


def _embedded(
    folder: Path, name: str, hosts: dict[str, str]
) -> AbstractContextManager[QueueManager]:
    directory = folder / "directory.json"
    return openmsmq.embedded(
        folder / name,
        name=name,
        bind=hosts[name],
        binary_port=1801,
        hosts=hosts,
        directory=directory,
    )


def _describe(directory: Path) -> None:
    """Say who is where, as `openmsmq directory` does."""
    topology = editor(directory)
    for site in ("Berlin", "Paris"):
        topology.add_site(site, identifier=uuid4())
    for name, sites in _SITES.items():
        topology.set_server(name, sites=sites, routing=name == "gate")
    topology.add_link("Berlin", "Paris", identifier=uuid4(), cost=5, gates=("gate",))


def _waits_for_nothing(manager: QueueManager) -> bool:
    """Whether everything that was sent is acknowledged by its destination."""
    return any(
        not any(queue["messages"] for queue in manager.outgoing()) for _ in _tries(WAIT_SECONDS)
    )


def _tries(seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        yield
        time.sleep(0.1)


def _forwarded(status: dict[str, Any]) -> int:
    counters: dict[str, int] = status["counters"]
    return sum(
        count
        for name, count in counters.items()
        if name.startswith("msmq_forwarded_messages_total")
    )

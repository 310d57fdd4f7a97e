"""Three queue managers in processes of their own, killed and cut off at random.

Transactional messages go round a ring; each must arrive exactly once, in order.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.adversity.link_proxy import LinkProxy
from tests.adversity.request_proxy import RequestProxy
from tests.adversity.zygote import Forked, Zygote
from tests.interop.loopback import new_address
from tests.net.certificate import Authority

import openmsmq
from openmsmq import Message

PORTS = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https", "console", "local")
# Where the queue managers listen, by protocol.
LISTENING = {"binary": 1801, "http": 28080, "https": 28443}
QUEUE = r".\private$\ring"
START_SECONDS = 240.0


class Node:
    """`openmsmq serve` that is started again whenever it was killed."""

    # Starts it without loading the program each time; None does load it.
    zygote: Zygote | None = None

    def __init__(
        self,
        folder: Path,
        name: str,
        protocol: str,
        zygote: Zygote,
        authority: Authority | None = None,
    ) -> None:
        self.zygote = zygote
        self.protocol = protocol
        self.real = new_address()
        self.public = new_address()
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.config = self.folder / "config.toml"
        settings: dict[str, object] = {
            "data": str(self.folder / "data"),
            "name": name,
            "bind": self.real,
            "addresses": [self.public],
            "segment_bytes": 4 * 1024 * 1024,
            "log_level": "warning",
            **{f"{port}_port": "off" for port in PORTS},
            f"{protocol}_port": LISTENING[protocol],
        }
        if protocol in ("http", "https"):
            settings[f"{protocol}_host"] = f"{self.public}:{LISTENING[protocol]}"
            settings |= {"srmp_retransmission_seconds": 1.0, "resend_timeouts_short": 2.0}
            settings |= {"resend_timeouts_medium": 2.0, "resend_timeouts_long": 2.0}
            settings["resend_timeouts_final"] = 2.0
        if authority is not None:
            certificate, key = authority.issue(self.public)
            settings |= {"https_certificate": str(certificate), "https_key": str(key)}
            settings["https_ca"] = str(authority.file)
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        self.config.write_text("\n".join(lines))
        self.process: subprocess.Popen[bytes] | Forked
        self.start()

    @property
    def destination(self) -> str:
        """The queue of this machine, as others name it."""
        if self.protocol != "binary":
            where = f"{self.public}:{LISTENING[self.protocol]}"
            return f"DIRECT={self.protocol.upper()}://{where}/msmq/private$/ring"
        return rf"DIRECT=TCP:{self.public}\private$\ring"

    @property
    def socket(self) -> str:
        return str(self.folder / "data" / "openmsmq.sock")

    @property
    def log(self) -> Path:
        """What queue managers have to say; all that a zygote starts share a file."""
        return (self.folder.parent if self.zygote is not None else self.folder) / "log"

    def start(self) -> None:
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        options = ["serve", "--config", str(self.config), "--ready-file", str(ready)]
        if self.zygote is not None:
            self.process = self.zygote.spawn(*options)
        else:
            command = [sys.executable, "-c", "from openmsmq.cli import main; main()"]
            with self.log.open("ab") as log:
                self.process = subprocess.Popen([*command, *options], stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "the queue manager does not start"
            time.sleep(0.01)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def connect(self) -> openmsmq.QueueManager:
        """A connection, once the queue manager is there again."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return openmsmq.connect(self.socket)
            except openmsmq.ConnectionLost:
                assert time.monotonic() < deadline, self.log.read_text()[-2000:]
                time.sleep(0.05)


@contextmanager
def ring(
    folder: Path,
    seed: int,
    protocol: str,
    names: tuple[str, ...] = ("alpha", "beta", "gamma"),
    *,
    hostile: bool = False,
) -> Iterator[tuple[list[Node], LinkProxy | RequestProxy]]:
    authority = Authority(folder) if protocol == "https" else None
    with Zygote(folder / "log") as zygote:
        nodes = [Node(folder, name, protocol, zygote, authority) for name in names]
        addresses = {node.public: node.real for node in nodes}
        # It knows requests, which TLS hides.
        kind = RequestProxy if hostile else LinkProxy
        proxy = kind(addresses, seed, port=LISTENING[protocol])
        try:
            yield nodes, proxy
        finally:
            for node in nodes:
                if node.process.poll() is None:
                    node.kill()
            proxy.close()


def send_all(node: Node, target: Node, count: int, batch: int) -> None:
    """Send numbers in order, one transaction at a time.

    A commit whose answer was lost may have taken effect: the outgoing side is asked how far it got
    by a marker queue that the same transaction writes.
    """
    sent = 0
    while sent < count:
        try:
            with node.connect() as manager:
                sent = committed(manager)
                while sent < count:
                    upto = min(sent + batch, count)
                    with manager.transaction() as work:
                        for number in range(sent, upto):
                            message = Message(b"%d" % number)
                            manager.send(target.destination, message, transaction=work)
                        marker = Message(b"%d" % upto)
                        manager.send(r".\private$\marker", marker, transaction=work)
                    sent = upto
        except openmsmq.ConnectionLost:
            time.sleep(0.05)


def committed(manager: openmsmq.QueueManager) -> int:
    """How many messages were sent by transactions that took effect."""
    last = 0
    for message in manager.open_queue(r".\private$\marker", access="peek").cursor():
        last = int(message.body)
    return last


def receive_all(node: Node, count: int, found: list[int], deadline: float) -> None:
    """Receive in transactions; what was not committed is there again after a crash."""
    in_doubt = False
    while len(found) < count and time.monotonic() < deadline:
        try:
            with node.connect() as manager:
                if in_doubt:
                    # It may be killed meanwhile, too: then this is asked again.
                    note_done(manager, found)
                    in_doubt = False
                queue = manager.open_queue(QUEUE)
                while len(found) < count and time.monotonic() < deadline:
                    with manager.transaction() as work:
                        taken = queue.receive_many(200, timeout=1.0, transaction=work)
                        numbers = [int(message.body) for message in taken]
                        if numbers:
                            done = Message(b"%d" % (numbers[-1] + 1))
                            manager.send(r".\private$\done", done, transaction=work)
                    found += numbers
        except openmsmq.ConnectionLost:
            in_doubt = True
            time.sleep(0.05)


def note_done(manager: openmsmq.QueueManager, found: list[int]) -> None:
    """After a lost answer: the commit took effect if its own marker is there."""
    last = -1
    for message in manager.open_queue(r".\private$\done", access="peek").cursor():
        last = int(message.body) - 1
    while found and found[-1] > last:
        found.pop()
    found.extend(range(found[-1] + 1 if found else 0, last + 1))


def run(
    folder: Path,
    *,
    count: int,
    kills: int,
    batch: int,
    seed: int,
    seconds: float,
    protocol: str = "binary",
    hostile: bool = False,
) -> None:
    chance = random.Random(seed)
    with ring(folder, seed, protocol, hostile=hostile) as (nodes, proxy):
        for node in nodes:
            with node.connect() as manager:
                for name in ("ring", "marker", "done"):
                    manager.create_queue(rf".\private$\{name}", transactional=True)
        deadline = time.monotonic() + seconds
        found: list[list[int]] = [[] for _ in nodes]
        threads = []
        for index, node in enumerate(nodes):
            target = nodes[(index + 1) % len(nodes)]
            threads.append(threading.Thread(target=send_all, args=(node, target, count, batch)))
            arguments = (node, count, found[index], deadline)
            threads.append(threading.Thread(target=receive_all, args=arguments))
        for thread in threads:
            thread.daemon = True
            thread.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.2, 1.2))
            proxy.cut()
            victim = chance.choice(nodes)
            victim.kill()
            victim.start()
        for thread in threads:
            thread.join(max(deadline - time.monotonic(), 0.1))
        for numbers in found:
            assert numbers == list(range(count))
        for node in nodes:
            with node.connect() as manager:
                assert manager.queue_info(QUEUE)["messages"] == 0


@pytest.mark.timeout(150)
def test_messages_arrive_exactly_once_through_kills_and_cuts(tmp_path: Path) -> None:
    run(tmp_path, count=400, kills=4, batch=10, seed=1, seconds=120)


@pytest.mark.timeout(150)
def test_messages_over_http_arrive_exactly_once_through_kills_and_cuts(tmp_path: Path) -> None:
    run(tmp_path, count=300, kills=6, batch=10, seed=3, seconds=120, protocol="http")


@pytest.mark.timeout(150)
def test_messages_over_https_arrive_exactly_once_through_kills_and_cuts(tmp_path: Path) -> None:
    run(tmp_path, count=60, kills=3, batch=10, seed=5, seconds=120, protocol="https")


def send_recoverable(node: Node, target: Node, count: int, batch: int) -> None:
    """Send numbers; what was not confirmed is sent again."""
    sent = 0
    while sent < count:
        try:
            with (
                node.connect() as manager,
                manager.open_queue(target.destination, access="send") as queue,
            ):
                while sent < count:
                    upto = min(sent + batch, count)
                    queue.send_many(
                        [
                            Message(b"%d" % number, delivery="recoverable")
                            for number in range(sent, upto)
                        ]
                    )
                    sent = upto
        except openmsmq.ConnectionLost:
            time.sleep(0.05)


def run_recoverable(
    folder: Path, *, count: int, kills: int, batch: int, seed: int, seconds: float
) -> None:
    """Recoverable messages from one queue manager to another: none is lost."""
    chance = random.Random(seed)
    with ring(folder, seed, "http", ("alpha", "beta"), hostile=True) as (nodes, proxy):
        source, target = nodes
        with target.connect() as manager:
            manager.create_queue(QUEUE)
        deadline = time.monotonic() + seconds
        thread = threading.Thread(
            target=send_recoverable, args=(source, target, count, batch), daemon=True
        )
        thread.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.2, 1.2))
            proxy.cut()
            victim = chance.choice(nodes)
            victim.kill()
            victim.start()
        thread.join(max(deadline - time.monotonic(), 0.1))
        numbers: set[int] = set()
        while len(numbers) < count and time.monotonic() < deadline:
            time.sleep(0.2)
            with target.connect() as manager:
                cursor = manager.open_queue(QUEUE, access="peek").cursor()
                numbers = {int(message.body) for message in cursor}
        assert numbers == set(range(count))
        assert isinstance(proxy, RequestProxy)
        assert proxy.repeated
        assert proxy.delayed


@pytest.mark.timeout(150)
def test_messages_over_http_arrive_exactly_once_through_a_hostile_proxy(tmp_path: Path) -> None:
    run(tmp_path, count=60, kills=1, batch=10, seed=9, seconds=120, protocol="http", hostile=True)


@pytest.mark.timeout(150)
def test_recoverable_messages_over_http_are_not_lost_through_kills_and_cuts(tmp_path: Path) -> None:
    run_recoverable(tmp_path, count=300, kills=3, batch=10, seed=6, seconds=120)


@pytest.mark.soak
@pytest.mark.timeout(1500)
def test_ten_thousand_recoverable_messages_over_http_are_not_lost(tmp_path: Path) -> None:
    run_recoverable(tmp_path, count=10_000, kills=30, batch=50, seed=7, seconds=1400)


@pytest.mark.soak
@pytest.mark.timeout(1500)
def test_a_thousand_messages_over_https_arrive_exactly_once_through_thirty_kills(
    tmp_path: Path,
) -> None:
    run(tmp_path, count=340, kills=30, batch=10, seed=8, seconds=1400, protocol="https")


@pytest.mark.soak
@pytest.mark.timeout(1500)
def test_ten_thousand_messages_over_http_arrive_exactly_once_through_thirty_kills(
    tmp_path: Path,
) -> None:
    run(
        tmp_path,
        count=3_400,
        kills=30,
        batch=20,
        seed=4,
        seconds=1400,
        protocol="http",
        hostile=True,
    )


@pytest.mark.soak
@pytest.mark.timeout(1500)
def test_twenty_thousand_messages_arrive_exactly_once_through_thirty_kills(tmp_path: Path) -> None:
    run(tmp_path, count=6_700, kills=30, batch=20, seed=2, seconds=1400)

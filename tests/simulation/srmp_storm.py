"""Two queue managers that speak SRMP over a network of the worst kind, on virtual time.

Connections are cut, answers get lost, requests come twice or much later, hosts are not reachable,
a disk is full, strangers forge receipts, and machines lose their power between any two steps.
Whatever happens, every transactional message arrives once and in order, every recoverable one once,
a message that does not arrive in its time is a dead letter, a positive receipt is true, and in the
end nothing waits any more.
"""

from __future__ import annotations

from random import Random

from tests.protocol.srmp.naive import envelope, post, stream_receipt
from tests.protocol.srmp.web import ORDERS, Node, Web, url

PLAIN = r".\private$\plain"
DEADLETTER = r".\system$;DEADLETTER"
DEADXACT = r".\system$;DEADXACT"
STEPS = 120
CALM_SECONDS = 100_000.0


class Violation(AssertionError):
    """Something happened that must not happen."""


class StormyWeb(Web):
    """A network that loses, repeats and delays what it carries."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = Random(seed)
        self.stormy = True
        # Copies of requests on their way: when, where to, and the bytes.
        self.late: list[tuple[float, Node, bytes]] = []

    def _happens(self, probability: float) -> bool:
        return self.stormy and self.random.random() < probability

    def carry(self, node: Node, number: int, data: bytes) -> bool:
        """Whether data arrives; a copy may arrive besides, now or later."""
        target = self.nodes[self.links[node.name, number][0]]
        if not number & 1 and self._happens(0.15):
            self.late.append((self.now + self.random.choice((0.0, 0.3, 25.0)), target, data))
        if self._happens(0.1):
            self.cut_link(node, number)
            return False
        return True

    def cut_link(self, node: Node, number: int) -> None:
        """Break one connection."""
        other = self.links.pop((node.name, number))
        del self.links[other]
        node.http.connection_lost(number)
        self.nodes[other[0]].enter()
        self.nodes[other[0]].http.connection_lost(other[1])

    def bring_late(self) -> None:
        """Bring the copies that are due; nobody reads the answers."""
        due = [each for each in self.late if each[0] <= self.now]
        self.late = [each for each in self.late if each[0] > self.now]
        for _, target, data in due:
            self.knock(target, data)


class Storm:
    """One run: what was sent, what was received, and what must hold."""

    def __init__(self, seed: int) -> None:
        self.web = StormyWeb(seed)
        self.random = self.web.random
        self.alpha = self.web.node("alpha")
        self.beta = self.web.node("beta")
        for node in (self.alpha, self.beta):
            node.create(transactional=True)
            node.create(PLAIN)
        self.web.stormy = False
        self.web.run()
        self.web.stormy = True
        self.count = 0
        # Messages that may expire.
        self.mortal: set[bytes] = set()
        # By the machine that receives.
        self.sent: dict[str, dict[str, list[bytes]]] = {}
        self.received: dict[str, dict[str, list[bytes]]] = {}
        for node in (self.alpha, self.beta):
            self.sent[node.name] = {ORDERS: [], PLAIN: []}
            self.received[node.name] = {ORDERS: [], PLAIN: []}

    def run(self) -> None:
        """Let it storm, then let everything calm down, and look."""
        for _ in range(STEPS):
            self._step()
        self.web.stormy = False
        self.web.down.clear()
        for seconds in (30.0, 30.0, *[CALM_SECONDS / 10] * 10):
            self.web.pass_time(seconds)
            self.web.bring_late()
            self.web.run()
            for node in (self.alpha, self.beta):
                self._read(node)
        self._check_end()

    def _step(self) -> None:
        random, web = self.random, self.web
        source, target = random.sample((self.alpha, self.beta), 2)
        what = random.random()
        if what < 0.35:
            self._send(source, target)
        elif what < 0.5:
            self._read(target)
        elif what < 0.6:
            self._crash(source)
        elif what < 0.7:
            web.down ^= {source.name}
        elif what < 0.75:
            web.cut(source)
        elif what < 0.8:
            self._fill(source, target)
        elif what < 0.85:
            self._forge(source, target)
        elif what < 0.95:
            self._stall(source, target)
        web.bring_late()
        web.pass_time(random.choice((0.0, 0.1, 0.6, 5.0, 21.0, 40.0)))
        self._check()

    def _send(self, source: Node, target: Node) -> None:
        bodies = [b"%d" % (self.count + each) for each in range(self.random.randint(1, 4))]
        self.count += len(bodies)
        asks = self.random.random() < 0.3
        if self.random.random() < 0.7:
            life = 0xFFFFFFFF
            if self.random.random() < 0.2:
                asks, life = True, self.random.choice((1, 10, 25))
                self.mortal.update(bodies)
            source.send(
                url(target), *bodies, tx=True, negative_journaling=asks, time_to_reach_queue=life
            )
            path = ORDERS
        else:
            source.send(url(target, "plain"), *bodies, delivery_mode=1, negative_journaling=asks)
            path = PLAIN
        # A program hears of it when it is on disk.
        source.engine.flush()
        self.sent[target.name][path] += bodies

    def _read(self, node: Node) -> None:
        for path in (ORDERS, PLAIN):
            if node.qm.find_queue(path).lanes.count:
                bodies = [message.body for message in node.receive(path)]
                node.engine.flush()
                self.received[node.name][path] += bodies

    def _fill(self, source: Node, target: Node) -> None:
        """A machine has room for small messages only, for a while."""
        bodies = [b"%d" % (self.count + each) + b"." * (each % 2 * 5000) for each in range(6)]
        self.count += len(bodies)
        held = target.qm.state.totals.bytes // 1024
        target.qm.set_quotas(messages=held + 12, journals=1000)
        source.send(url(target), *bodies, tx=True)
        source.engine.flush()
        self.sent[target.name][ORDERS] += bodies
        self.web.pass_time(25.0)
        target.qm.set_quotas(messages=1_000_000, journals=1_000_000)

    def _stall(self, source: Node, target: Node) -> None:
        """A disk writes nothing for a while; the power may go meanwhile."""
        self._send(source, target)
        target.stalled = True
        self.web.pass_time(self.random.choice((0.1, 0.7, 3.0)))
        self._forge(source, target)
        self.web.run()
        if self.random.random() < 0.6:
            target.restart()
        target.stalled = False

    def _forge(self, source: Node, target: Node) -> None:
        """A stranger acknowledges everything that was sent, and guesses the token."""
        queue = source.qm.state.outgoing.get(f"DIRECT={url(target)}".lower())
        if queue is None or queue.outgoing is None or queue.outgoing.sequence is None:
            return
        sequence = queue.outgoing.sequence
        receipt = stream_receipt(sequence.last, number=sequence.identifier, guid=source.guid)
        text = envelope(
            f"http://{source.name}/msmq/private$/order_queue$?s={self.random.getrandbits(128):x}",
            utc=self.web.utc,
            label="QM Ordering Ack",
            message_class=255,
            entries=receipt,
        )
        self.web.knock(source, post(text, None))

    def _crash(self, node: Node) -> None:
        """The power goes: what is not on disk is lost."""
        node.work(flush=False)
        if self.random.random() < 0.5:
            self.web.connect(node)
            self.web.move(node)
            node.work(flush=False)
        node.restart()

    # What must hold

    def _check(self) -> None:
        for name, queues in self.received.items():
            node = self.web.nodes[name]
            self._check_order(name, queues[ORDERS] + node.bodies(ORDERS))
            plain = queues[PLAIN] + node.bodies(PLAIN)
            if len(set(plain)) != len(plain) or not set(plain) <= set(self.sent[name][PLAIN]):
                raise Violation(f"{name} has {plain} of {self.sent[name][PLAIN]}")
            self._check_receipts(node)

    def _check_order(self, name: str, ordered: list[bytes]) -> None:
        """What is here came in its order, and only messages that may expire are missing."""
        sent = iter(self.sent[name][ORDERS])
        for body in ordered:
            for expected in sent:
                if expected == body:
                    break
                if expected not in self.mortal:
                    raise Violation(f"{name} has {ordered} of {self.sent[name][ORDERS]}")
            else:
                raise Violation(f"{name} has {body!r} in {ordered} once too often")

    def _dead(self, node: Node) -> set[bytes]:
        return {body for body in node.bodies(DEADXACT) if body in self.mortal}

    def _check_receipts(self, node: Node) -> None:
        """What the other machine does not keep any more is here."""
        (other,) = (each for each in self.web.nodes.values() if each is not node)
        for path, queue in ((ORDERS, "orders"), (PLAIN, "plain")):
            kept = other.qm.state.outgoing.get(f"DIRECT={url(node, queue)}".lower())
            waiting = kept.count if kept is not None else 0
            arrived = {*self.received[node.name][path], *node.bodies(path)}
            dead = {body for body in self._dead(other) if body in self.sent[node.name][path]}
            if len(arrived | dead) + waiting < len(self.sent[node.name][path]):
                raise Violation(f"{node.name}: a message to {path} is nowhere")

    def _check_end(self) -> None:
        self._check()
        for name, queues in self.sent.items():
            for path, bodies in queues.items():
                found = self.received[name][path]
                (source,) = (node for other, node in self.web.nodes.items() if other != name)
                missing = set(bodies) - set(found) - self._dead(source)
                if missing or len(set(found)) != len(found):
                    raise Violation(f"{name} received {found} of {bodies} in {path}")
        for node in self.web.nodes.values():
            for queue in node.qm.outgoing.queues:
                if queue.count or (queue.outgoing is not None and queue.outgoing.sequence):
                    raise Violation(f"{node.name}: {queue.path} still holds {queue.count}")
            if node.bodies(DEADLETTER) or not set(node.bodies(DEADXACT)) <= self.mortal:
                raise Violation(f"{node.name} has dead letters")

"""Three queue managers that send by multicast and over HTTP, on a network of the worst kind.

Packets of multicast are lost, doubled and delayed; HTTP runs beside it. In half of the runs the
machine that sends loses its power now and then. Whatever happens, no queue gets a message twice, or
one that was not sent; without power cuts every queue gets every message, in order.
"""

from __future__ import annotations

from random import Random

from tests.protocol.multicast.lan import ONE, TWO, Lan, LanNode
from tests.protocol.srmp.web import ORDERS, url

STEPS = 25
# Longer than a source may be silent.
CALM_SECONDS = 400.0


class Violation(AssertionError):
    """Something happened that must not happen."""


class MulticastStorm:
    """One run: what was sent, and what must hold."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cuts = bool(seed % 2)
        self.lan = Lan(seed)
        self.alpha, self.beta, self.gamma = (
            self.lan.machine(name) for name in ("alpha", "beta", "gamma")
        )
        self.beta.listen(ONE)
        self.beta.listen(TWO)
        self.gamma.listen(ONE)
        for node in (self.alpha, self.beta):
            node.create(ORDERS, transactional=True)
        self.lan.run()
        self.sent: list[bytes] = []
        self.orders: list[bytes] = []

    def run(self) -> None:
        # Receivers hear of the source before the storm.
        self._send(1)
        self.lan.pass_time(2.0)
        self.lan.loss = self.random.choice((0.05, 0.1, 0.2))
        self.lan.duplicates = 0.05
        self.lan.delays = 0.001, 0.05
        for _ in range(STEPS):
            self._step()
            self._check()
        self.lan.loss = 0.0
        self.lan.pass_time(CALM_SECONDS)
        self._check()
        self._check_end()

    def _step(self) -> None:
        what = self.random.random()
        if what < 0.6:
            self._send(self.random.randint(1, 3))
        elif what < 0.8:
            body = b"order %d" % len(self.orders)
            self.alpha.send(url(self.beta), body, tx=True)
            self.alpha.engine.flush()
            self.orders.append(body)
        elif self.cuts:
            self.alpha.restart()
        self.lan.pass_time(self.random.choice((0.0, 0.05, 0.3, 2.0)))

    def _send(self, count: int) -> None:
        bodies: list[bytes] = []
        for _ in range(count):
            size = self.random.choice((0, 100, 3_000, 9_000))
            bodies.append(b"%d " % (len(self.sent) + len(bodies)) + b"x" * size)
        self.alpha.multicast_send(*bodies, delivery_mode=1)
        self.alpha.engine.flush()
        self.sent += bodies

    def _queues(self) -> list[tuple[LanNode, list[bytes]]]:
        return [
            (node, node.bodies(path))
            for node, path in ((self.beta, ONE), (self.beta, TWO), (self.gamma, ONE))
        ]

    def _check(self) -> None:
        known = set(self.sent)
        for node, bodies in self._queues():
            if len(set(bodies)) != len(bodies):
                raise Violation(f"{node.name} has a message twice")
            if not known.issuperset(bodies):
                raise Violation(f"{node.name} has a message that was not sent")
            if not self.cuts and bodies != self.sent[: len(bodies)]:
                raise Violation(f"{node.name} has messages out of order")

    def _check_end(self) -> None:
        for node, bodies in self._queues():
            if not self.cuts and bodies != self.sent:
                raise Violation(f"{node.name} has {len(bodies)} of {len(self.sent)} messages")
            if self.cuts and len(bodies) < len(self.sent) // 2:
                raise Violation(f"{node.name} has only {len(bodies)} of {len(self.sent)}")
            for receiver in node.multicast.receivers.values():
                if receiver.pgm.buffered_bytes:
                    raise Violation(f"{node.name} still keeps data that waits")
        if self.beta.bodies(ORDERS) != self.orders:
            raise Violation("HTTP beside multicast lost its order")
        if self.alpha.waiting().count:
            raise Violation("messages still wait")

"""A client of the local protocol on a node: a script that posts requests and waits for replies.

Requests go through the session of the queue manager and replies through the gate of its engine, as
in the process. A client may die at any moment and may leave its replies unread for a while.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from random import Random
from typing import Any, Final

from openmsmq.core.events import ReadSatisfied
from openmsmq.core.model.message import Message, PositionState
from openmsmq.core.transactions.transactions import OperationType
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.dispatch import HostedSession
from openmsmq.protocol.local.session import LocalSession, ReadTag
from openmsmq.wire.codes.hresult import Hresult

from .ledger import Violation
from .node import USER, Node

Script = Generator[int | float, local.AnyReply | None, None]
"""Yields the request whose reply it wants next, or how many seconds it does nothing."""
Answered = Callable[[local.AnyReply, int], None]
Before = Callable[[], None]

_LATENCY: Final = 0.0, 0.0, 0.001, 0.02
# Of the steps of a script: how many are the last, and how many the client leaves replies unread.
_DEATHS: Final = 0.03
_NAPS: Final = 0.02
# Floating point.
_EARLY: Final = 1e-6
# A reply that takes longer without a reason does not come.
_PATIENCE: Final = 1.0


class Client:
    """One session, and the application behind it."""

    def __init__(self, node: Node, script: Callable[[Client], Script], *, calm: bool) -> None:
        self.node = node
        self.random: Random = node.world.random
        self._calm = calm
        self.alive = True
        self._session = LocalSession(node.qm, node.client_service, USER, self._reply)
        self._hosted = HostedSession(node.engine, node.tick, self._session)
        self._last_id = 0
        # Requests that wait because too much waits for the disk.
        self._requests: deque[tuple[local.Request, Before | None]] = deque()
        self._waits = False
        # Who is told what the queue manager answers, before the reply leaves.
        self._answered: dict[int, Answered] = {}
        # Requests without a reply, with the time at which each was posted or carried out.
        self._unanswered: dict[int, tuple[local.Request, float]] = {}
        self._coming: deque[local.AnyReply] = deque()
        self._naps = False
        self._replies: dict[int, local.AnyReply] = {}
        self._wanted = 0
        self._posted = False
        node.clients[self] = None
        self.post(local.Hello, local.VERSION)
        self._script = script(self)
        self._go_on(None)

    # The script

    def post(
        self,
        kind: Callable[..., local.Request],
        *fields: Any,
        answered: Answered | None = None,
        before: Before | None = None,
        **named: Any,
    ) -> int:
        """Send a request and return its id; yield that to wait for the reply.

        Args:
            answered: called when the queue manager has carried it out, with what it answers and
                the batch on which that depends.
            before: called just before.
        """
        self._last_id += 1
        request = kind(self._last_id, *fields, **named)
        if answered is not None:
            self._answered[request.id] = answered
        self._unanswered[request.id] = request, self.node.world.now
        self._requests.append((request, before))
        self._posted = True
        self._carry_out()
        return request.id

    def _go_on(self, reply: local.AnyReply | None) -> None:
        world = self.node.world
        while True:
            try:
                step = self._script.send(reply)
            except StopIteration:
                self.die()
                return
            if isinstance(step, float):
                world.after(step, self._rested)
                break
            reply = self._replies.pop(step, None)
            if reply is None:
                self._wanted = step
                break
        if self._posted:
            self._posted = False
            if not self._calm:
                self._misbehave()
            if self.alive:
                self.node.service()

    def _rested(self) -> None:
        if self.alive:
            self._go_on(None)

    def _misbehave(self) -> None:
        random = self.random
        chance = random.random()
        if chance < _DEATHS:
            self.node.world.count("clients that died")
            when = random.choice((0.0, random.uniform(0, 0.02), random.uniform(0, 5)))
            if when:
                self.node.world.after(when, self.die)
            else:
                # In the same turn: nothing that happened has been handed out yet.
                self.die()
        elif chance < _DEATHS + _NAPS and not self._naps:
            self._naps = True
            self._hosted.pause()
            self.node.world.after(random.uniform(0, 10), self._wake)

    def _wake(self) -> None:
        self._naps = False
        if self.alive:
            self._hosted.resume()
            for _ in range(len(self._coming)):
                self._arrive()
            if self.alive:
                self.node.service()

    # Requests

    def _carry_out(self) -> None:
        engine = self.node.engine
        while self._requests:
            if engine.saturated:
                if not self._waits:
                    self._waits = True
                    engine.when_free(self._free)
                return
            request, before = self._requests.popleft()
            if before is not None:
                before()
            self._unanswered[request.id] = request, self.node.world.now
            self._hosted.receive(local.encode(request))
            while self._hosted.busy:
                self._hosted.step()

    def _free(self) -> None:
        self._waits = False
        self.node.world.after(0.0, self._catch_up)

    def _catch_up(self) -> None:
        if self.alive:
            self._carry_out()
            self.node.service()

    # Replies

    def _reply(self, depends: int, payload: bytes) -> None:
        reply = local.decode_reply(payload)
        answered = self._answered.pop(reply.id, None)
        if answered is not None:
            answered(reply, depends)
        if depends:
            self.node.engine.gate.when_durable(depends, self._release, (depends, reply))
        else:
            self._release((0, reply))

    def _release(self, held: tuple[int, local.AnyReply]) -> None:
        """A reply leaves the queue manager."""
        depends, reply = held
        if depends > self.node.on_disk:
            raise Violation(
                f"{self.node.name} answers before batch {depends} is on disk, where"
                f" {self.node.on_disk} is the last: {reply}"
            )
        self._check_time(reply)
        if self.alive:
            if isinstance(reply, local.Messages):
                self.node.shown.update(zip(reply.lookup_ids, reply.packets, strict=True))
            self._coming.append(reply)
            self.node.world.after(self.random.choice(_LATENCY), self._arrive)

    def _check_time(self, reply: local.AnyReply) -> None:
        """A read waits as long as it was asked to, and no longer."""
        if isinstance(reply, local.Failed) and reply.code == Hresult.MQ_ERROR_IO_TIMEOUT:
            request, posted = self._unanswered[reply.id]
            assert isinstance(request, local.Receive)
            assert request.timeout is not None
            late = self.node.world.now - posted - request.timeout
            if not -_EARLY < late < _PATIENCE:
                raise Violation(f"{self.node.name} ends {request} {late:.3f} s late")

    def _arrive(self) -> None:
        """The client reads the next reply."""
        if not self._coming or self._naps:
            return
        reply = self._coming.popleft()
        del self._unanswered[reply.id]
        if reply.id == self._wanted:
            self._wanted = 0
            self._go_on(reply)
        else:
            self._replies[reply.id] = reply

    # The end

    def die(self) -> None:
        """The client is gone, whatever it was doing."""
        if not self.alive:
            return
        self._read_no_more()
        self._end()
        locked = self._locked()
        self._hosted.close()
        check_back(self.node, locked)
        self.node.service()
        check_held(self.node)

    def _locked(self) -> list[tuple[Message, object]]:
        """The messages that it has received and not decided on, each with what holds it."""
        holder = self._session.holder
        return [
            (message, transaction)
            for transaction in holder.transactions.values()
            for operation in transaction.operations
            if operation.operation_type is OperationType.DEQUEUE
            for message in operation.messages
        ] + [
            (message, descriptor)
            for descriptor in holder.open.values()
            for message in descriptor.locked.values()
        ]

    def _read_no_more(self) -> None:
        """Note what its reads got in this turn: it is gone from the queue, and nobody is told."""
        for event in self.node.qm.state.outbox.events:
            tag = event.read.tag if isinstance(event, ReadSatisfied) else None
            if isinstance(tag, ReadTag) and tag.session is self._session:
                assert isinstance(event, ReadSatisfied)
                answered = self._answered.pop(tag.request, None)
                if answered is not None:
                    ids = [message.lookup_id for message in event.messages]
                    reply = local.Messages(tag.request, event.packets, ids, [], [])
                    answered(reply, event.depends)

    def cut_off(self) -> None:
        """The machine stops: nobody closes the session."""
        self._end()

    def stop(self) -> None:
        """The queue manager stops, and carries out no more requests."""
        self._requests.clear()
        self._hosted.stop()

    def hang_up(self) -> None:
        """The queue manager stops, and has sent all replies."""
        self._end()
        self._hosted.close()

    def _end(self) -> None:
        self.alive = False
        del self.node.clients[self]
        self._requests.clear()
        self._coming.clear()
        self._script.close()

    def check_answered(self) -> None:
        """Every request has its reply, but for reads that still wait.

        Raises:
            Violation: a reply does not come.
        """
        for request, posted in self._unanswered.values():
            until = posted + _PATIENCE
            if isinstance(request, local.Receive) and request.id in self._session.holder.waiting:
                if request.timeout is None:
                    continue
                until += request.timeout
            if self.node.world.now > until:
                raise Violation(f"{self.node.name} does not answer {request} of {posted:.3f}")

    def held(self) -> tuple[int, int, int]:
        """How many queues it has open, transactions begun and reads waiting."""
        holder = self._session.holder
        return len(holder.open), len(holder.transactions), len(holder.waiting)


def check_back(node: Node, locked: list[tuple[Message, object]]) -> None:
    """What a client that died had locked is back in its place, once, or somebody else's.

    Raises:
        Violation: it is held for the dead, out of its place, or there twice.
    """
    for message, holder in locked:
        if message.holder is holder:
            raise Violation(f"{node.name} holds {message.lookup_id} for a client that died")
        places = [other.lookup_id for other in message.queue.lanes]
        expected = 1 if message.state == PositionState.AVAILABLE else 0
        if places.count(message.lookup_id) != expected or places != sorted(places):
            raise Violation(f"{node.name} gives back {message.lookup_id} among {places}")


def check_held(node: Node) -> None:
    """The queue manager holds for clients what their sessions know of, and nothing else.

    Raises:
        Violation: it holds something for nobody, or lost something.
    """
    state = node.qm.state
    held = (
        len(state.descriptors),
        len(state.transactions),
        sum(len(queue.waiting) for queue in state.queues.values()),
    )
    counts = [client.held() for client in node.clients]
    known = tuple(sum(each[part] for each in counts) for part in range(3))
    if held != known:
        raise Violation(
            f"{node.name} holds {held} queues, transactions and reads for clients of {known}"
        )

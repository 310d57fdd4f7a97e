"""Random work with delayed and poison messages, beside plain dicts that say where each must be."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.core.harness import ORDERS, RECEIVE, SEND, USER, Harness, packet

from openmsmq.core.messages.delayed import cancel, deliver_now
from openmsmq.core.messages.poison import release_held
from openmsmq.core.model.message import Message, PositionState
from openmsmq.core.model.read import Read
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

REST = 60
RETRIES = 1
CYCLES = 1
HANDLINGS = ("none", "move", "reject", "drop", "hold")


@dataclass
class Known:
    """What must be known of one message.

    `place` is `queue`, `delayed`, `retry`, `poison` or `held`; `due` is when it leaves a place.
    """

    place: str
    due: float = 0.0
    aborts: int = 0
    moves: int = 0


@dataclass
class Reference:
    """The rules of docs/poison.md and docs/delayed.md, in a few lines."""

    handling: str = "none"
    messages: dict[bytes, Known] = field(default_factory=dict)

    def at(self, place: str) -> list[bytes]:
        return sorted(body for body, known in self.messages.items() if known.place == place)

    def move(self, known: Known, place: str, utc: float) -> None:
        known.place, known.aborts = place, 0
        known.moves += 1
        known.due = int(utc) + REST

    def give_back(self, body: bytes, utc: float) -> None:
        """A read has failed."""
        known = self.messages[body]
        known.aborts += 1
        if self.handling == "none" or known.aborts <= RETRIES:
            return
        if known.moves // 2 < CYCLES:
            self.move(known, "retry", utc)
        elif self.handling == "move":
            self.move(known, "poison", utc)
        elif self.handling == "hold":
            known.place = "held"
        else:
            del self.messages[body]

    def tick(self, utc: float) -> None:
        """Time has passed."""
        for known in self.messages.values():
            if known.due > utc:
                continue
            if known.place == "delayed":
                known.place = "queue"
            elif known.place == "retry" and self.handling != "none":
                self.move(known, "queue", utc)

    def copy(self) -> Reference:
        messages = {body: replace(known) for body, known in self.messages.items()}
        return Reference(self.handling, messages)


class TimedMachine(RuleBasedStateMachine):
    """Every rule does the same to both; the invariant compares places and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = Harness()
        self.model = Reference()
        self.stored = Reference()
        self.bodies = 0

    @initialize(handling=st.sampled_from(HANDLINGS))
    def create(self, handling: str) -> None:
        self.harness.create(
            transactional=True,
            receive_retry_count=RETRIES,
            retry_cycle_delay=REST,
            max_retry_cycles=CYCLES,
            receive_error_handling=handling,
        )
        self.model.handling = handling
        self.flush()

    @property
    def utc(self) -> float:
        return self.harness.utc

    @rule(delay=st.sampled_from([None, 0.0, 0.5, 30.0, 90.0]), commits=st.booleans())
    def send(self, delay: float | None, *, commits: bool) -> None:
        self.bodies += 1
        body = b"%d" % self.bodies
        traffic = self.harness.qm.traffic
        transaction = traffic.begin(self.harness.guid())
        descriptor = self.harness.open(SEND)
        at = None if delay is None else self.utc + delay
        traffic.enqueue_many(descriptor, [packet(body)], transaction, deliver_at=at)
        self.harness.qm.close_queue(descriptor)
        if not commits:
            traffic.abort(transaction.identifier)
            return
        traffic.commit(transaction.identifier)
        self.model.messages[body] = Known("delayed" if delay else "queue", self.utc + (delay or 0))

    @rule(count=st.integers(1, 3), commits=st.booleans())
    def receive(self, count: int, *, commits: bool) -> None:
        traffic = self.harness.qm.traffic
        transaction = traffic.begin(self.harness.guid())
        reader = self.harness.open(RECEIVE)
        bodies: list[bytes] = []
        with contextlib.suppress(QueueError):
            read = traffic.dequeue_many(reader, max_count=count, timeout=0, transaction=transaction)
            assert isinstance(read, Read)
            bodies = [UserMessage(each).body for each in read.packets]
        if commits:
            traffic.commit(transaction.identifier)
            for body in bodies:
                assert self.model.messages.pop(body).place == "queue"
        else:
            traffic.abort(transaction.identifier)
            for body in bodies:
                self.model.give_back(body, self.utc)
        self.harness.qm.close_queue(reader)

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0, 30.0, 59.0, 60.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.harness.advance(seconds)
        self.model.tick(self.utc)

    @rule(handling=st.sampled_from(HANDLINGS))
    def set_policy(self, handling: str) -> None:
        queue = self.harness.qm.find_queue(ORDERS)
        self.harness.qm.set_queue(queue, caller=USER, receive_error_handling=handling)
        self.model.handling = handling
        self.harness.advance(0)
        self.model.tick(self.utc)

    @precondition(lambda self: self.model.at("delayed"))
    @rule(data=st.data(), delivers=st.booleans())
    def decide(self, data: st.DataObject, *, delivers: bool) -> None:
        body = data.draw(st.sampled_from(self.model.at("delayed")))
        queue = self.harness.qm.find_queue(ORDERS)
        ids = [each.lookup_id for each in queue.delayed.values() if self.body(each) == body]
        if delivers:
            deliver_now(self.harness.qm.state, queue, ids)
            self.model.messages[body].place = "queue"
        else:
            cancel(self.harness.qm.state, queue, ids, "somebody")
            del self.model.messages[body]

    @precondition(lambda self: self.model.at("held"))
    @rule()
    def release(self) -> None:
        queue = self.harness.qm.find_queue(ORDERS)
        release_held(self.harness.qm.state, queue, None)
        for body in self.model.at("held"):
            self.model.messages[body].place = "queue"
            self.model.messages[body].aborts = 0

    @rule()
    def flush(self) -> None:
        self.harness.settle()
        self.harness.flush()
        self.stored = self.model.copy()

    @rule(clean=st.booleans(), off=st.sampled_from([0.0, 45.0, 500.0]))
    def restart(self, off: float, *, clean: bool) -> None:
        if clean:
            self.flush()
        self.harness.utc += off
        self.harness.crash()
        self.model = self.stored.copy()
        self.harness.advance(0)
        self.model.tick(self.utc)

    def body(self, message: Message) -> bytes:
        return self.harness.body(message)

    @invariant()
    def places_and_counts_agree(self) -> None:
        self.harness.settle()
        state = self.harness.qm.state
        queue = self.harness.qm.find_queue(ORDERS)
        found: dict[str, list[Message]] = {
            "queue": list(queue.lanes),
            "delayed": list(queue.delayed.values()),
            "held": [each for each in queue.locked.values() if each.state == PositionState.HELD],
        }
        for name in ("retry", "poison"):
            subqueue = state.paths.get(f"{queue.path};{name}".lower())
            found[name] = [] if subqueue is None else list(subqueue.lanes)
        assert len(queue.locked) == len(found["held"])
        for place, messages in found.items():
            assert sorted(map(self.body, messages)) == self.model.at(place), place
            for message in messages:
                known = self.model.messages[self.body(message)]
                history = message.history
                counts = (0, 0) if history is None else (history.abort_count, history.move_count)
                assert counts == (known.aborts, known.moves), place


def test_delayed_and_poison_messages_are_where_the_rules_say() -> None:
    run_state_machine_as_test(
        TimedMachine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

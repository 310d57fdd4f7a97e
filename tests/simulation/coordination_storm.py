"""Transactions of a program with queue managers of two machines, which anything may interrupt.

Calls and their answers get lost or late, the program goes away, and both machines lose their power
between any two steps. Whatever happens, every message is in one of the two queues in the end, once;
what the program was told is true; and nobody is in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from tests.core.harness import RECEIVE, USER, Harness

from openmsmq.core.model.read import Read
from openmsmq.protocol.coordinator import CoordinatorServer, Participant, ParticipantSettings
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

ORDERS = r".\private$\orders"
MESSAGES = 6
STEPS = 160
SID = USER.sid.serialize()


class Violation(AssertionError):
    """Something happened that must not happen."""


class Call:
    """A call of a participant, at the coordinator."""

    def __init__(self, storm: Storm, number: int) -> None:
        self._storm = storm
        self._number = number
        self.caller = USER
        self.on_cancel: Callable[[Call], None] | None = None
        self.open = True

    def reply(self, response: Any, *, depends: int = 0) -> None:
        self.open = False
        gate = self._storm.home.engine.gate
        gate.when_durable(depends, self._leave, response)

    def _leave(self, response: Any) -> None:
        self._storm.answers.append((self._number, response))

    def fail(self, code: int) -> None:
        self.reply(SimpleNamespace(result=code, order=0))


class Program:
    """One transaction of a program."""

    def __init__(self) -> None:
        self.identifier: UUID | None = None
        self.ready = False
        self.bodies: list[bytes] = []
        # What it was told, and the batch that must be on disk before it hears of a commit.
        self.aborted = False
        self.depends: int | None = None
        self.asked = False

    def enlisted(self) -> None:
        self.ready = True

    def refused(self, error: QueueError) -> None:  # noqa: ARG002 - the interface
        self.aborted = True

    def done(self, value: None = None, depends: int = 0) -> None:  # noqa: ARG002 - the interface
        self.depends = depends

    def fail(self, error: QueueError) -> None:  # noqa: ARG002 - the interface
        self.aborted = True


class Storm:
    """One run."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.home = Harness()
        self.far = Harness()
        for machine in (self.home, self.far):
            machine.create(ORDERS, transactional=True)
        self.answers: list[tuple[int, Any]] = []
        self.committed: set[bytes] = set()
        self.program = Program()
        self.calm = False
        filling = self.far.qm.traffic.begin(self.far.guid())
        self.sent = [str(number).encode() for number in range(MESSAGES)]
        self.far.send(*self.sent, name=ORDERS, transaction=filling)
        self.far.qm.traffic.commit(filling.identifier)
        for machine in (self.home, self.far):
            machine.flush()
        self._boot_home()
        self._boot_far()

    def _boot_home(self) -> None:
        self.calls: dict[int, Call] = {}
        self.server = CoordinatorServer(self.home.qm, minimum_level=AuthnLevel.NONE)
        self.home.qm.coordination.url = CoordinatorUrl("10.0.0.1", 2103)
        self.program = Program()

    def _boot_far(self) -> None:
        self.answers.clear()
        self.waiting: set[int] = set()
        self.participant = Participant(self.far.qm, self.far.engine.gate, ParticipantSettings())

    # What happens

    def run(self) -> None:
        for _ in range(STEPS):
            self._step()
        self.calm = True
        self._leave()
        for _ in range(25):
            for machine in (self.home, self.far):
                machine.flush()
            self._pass_time(40.0)
            self._carry()
            self._answer()
        self._check()

    def _step(self) -> None:
        steps: list[tuple[int, Callable[[], None]]] = [
            (6, self._work),
            (6, self._carry),
            (6, self._answer),
            (3, lambda: self._flush(self.home)),
            (4, lambda: self._flush(self.far)),
            (1, self._crash_home),
            (1, self._crash_far),
            (1, self._leave),
            (1, lambda: self._pass_time(self.random.choice((0.5, 2.0, 40.0)))),
        ]
        weights = [weight for weight, _ in steps]
        self.random.choices(steps, weights)[0][1]()

    def _flush(self, machine: Harness) -> None:
        machine.flush()
        if machine is self.home:
            self._hear()

    def _hear(self) -> None:
        """The program is told of a commit once that is on disk."""
        program = self.program
        durable = self.home.engine.gate.durable_number
        if program.depends is not None and program.depends <= durable:
            self.committed |= set(program.bodies)
            self.program = Program()

    def _work(self) -> None:
        """The next thing that the program does."""
        program, home, far = self.program, self.home, self.far
        if program.identifier is None:
            program.identifier = home.guid()
            home.qm.traffic.begin(program.identifier)
            token = home.qm.coordination.token(program.identifier).serialize()
            try:
                self.participant.enlist(
                    program.identifier, token, address="10.0.0.1", caller=SID, owner=program
                )
            except QueueError:
                self._leave()
        elif program.aborted:
            self._leave()
        elif program.asked or not program.ready:
            return
        elif not program.bodies:
            self._receive(program, far, home)
        elif program.identifier in home.qm.coordination:
            program.asked = True
            home.qm.coordination.commit(program.identifier, program)
        else:
            self._leave()

    def _receive(self, program: Program, far: Harness, home: Harness) -> None:
        assert program.identifier is not None
        try:
            transaction = far.qm.enlisted.transaction(program.identifier, SID)
            descriptor = far.open(RECEIVE, ORDERS)
            read = far.qm.traffic.dequeue_many(descriptor, timeout=0.0, transaction=transaction)
            assert isinstance(read, Read)
            body = UserMessage(read.packets[0]).body
            own = home.qm.traffic.find_transaction(program.identifier)
            home.send(body, name=ORDERS, transaction=own)
            program.bodies.append(body)
        except QueueError:
            self._leave()

    def _leave(self) -> None:
        """The program goes away; a commit under way goes on."""
        program, self.program = self.program, Program()
        transactions = self.home.qm.state.transactions
        if program.identifier in transactions and not program.asked:
            assert program.identifier is not None
            self.home.qm.traffic.abort(program.identifier)

    # The network

    def _happens(self, probability: float) -> bool:
        return not self.calm and self.random.random() < probability

    def _carry(self) -> None:
        for request in self.participant.take_requests():
            if self._happens(0.1):
                self.participant.failed(request.number, "lost")
                continue
            self.waiting.add(request.number)
            call = self.calls[request.number] = Call(self, request.number)
            served = self.server.interface.operations[request.call.opnum]
            try:
                served.handler(call, request.request)  # type: ignore[arg-type]
            except QueueError as exc:
                call.fail(exc.code)

    def _answer(self) -> None:
        answers, self.answers = self.answers, []
        for number, response in answers:
            if number not in self.waiting:
                continue
            self.waiting.discard(number)
            if self._happens(0.1):
                self.participant.failed(number, "lost")
            else:
                self.participant.answered(number, response)

    def _cut(self) -> None:
        """Every connection breaks: both sides notice."""
        for number in sorted(self.waiting):
            call = self.calls.get(number)
            if call is not None and call.open and call.on_cancel is not None:
                call.open = False
                call.on_cancel(call)
        self.waiting.clear()
        self.answers.clear()

    def _crash_home(self) -> None:
        self.home.crash()
        lost = sorted(self.waiting)
        self.waiting.clear()
        self.answers.clear()
        self._boot_home()
        for number in lost:
            self.participant.failed(number, "the coordinator is gone")

    def _crash_far(self) -> None:
        self._cut()
        self.far.crash()
        self._boot_far()

    def _pass_time(self, seconds: float) -> None:
        for machine in (self.home, self.far):
            machine.advance(seconds)
        self.participant.handle_timer(now=self.far.now)
        self.server.handle_timer(now=self.home.now)

    # What must hold

    def _check(self) -> None:
        left, arrived = self.far.contents(ORDERS), self.home.contents(ORDERS)
        if sorted(left + arrived) != self.sent:
            raise Violation(f"left {left}, arrived {arrived}")
        if not self.committed <= set(arrived):
            raise Violation(f"told {self.committed}, arrived {arrived}")
        if self.far.qm.enlistments.in_doubt or len(self.far.qm.enlisted):
            raise Violation("the participant is in doubt")
        if list(self.home.qm.coordination):
            raise Violation("the coordinator has not forgotten")
        for machine in (self.home, self.far):
            if machine.qm.state.transactions:
                raise Violation(f"open: {machine.qm.state.transactions}")


def first_violation(seeds: range) -> tuple[int, str] | None:
    """The first seed that shows something wrong, and what."""
    for seed in seeds:
        try:
            Storm(seed).run()
        except Violation as exc:
            return seed, str(exc)
    return None

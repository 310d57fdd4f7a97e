"""The turn: writes one at a time, events until none is left, timers of all parts."""

import pytest
from tests.core.harness import ORDERS, RECEIVE, SEND, START_UTC, USER, packet
from tests.service.fake_store import FakeStep, FakeStore
from tests.service.hosted import make_manager

from openmsmq.core.events import (
    Event,
    FlowControlChanged,
    OutgoingAvailable,
    QueueCreated,
    QueueDeleted,
    ReadEnded,
    ReadSatisfied,
)
from openmsmq.core.model.outgoing_queue import OutgoingQueue
from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.transports import Transport
from openmsmq.engine.engine import LOOK_SECONDS, MAX_WAITING_BYTES, QUIET_SECONDS, Engine
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import StoreError


class FakeTransport:
    """Notes what the engine tells it."""

    carries = frozenset((Transport.BINARY,))

    def __init__(self) -> None:
        self.waits_for_disk = False
        self.events: list[Event] = []
        self.flushes: list[float] = []
        self.timers: list[float] = []
        self.timer: float | None = None

    def core_event(self, event: Event, *, now: float) -> None:  # noqa: ARG002 - as transports do
        self.events.append(event)

    def durable(self, *, now: float) -> None:
        self.flushes.append(now)

    def next_timer(self) -> float | None:
        return self.timer

    def handle_timer(self, *, now: float) -> None:
        self.timers.append(now)


class Case:
    """An engine that has nothing to do at 1,000 seconds."""

    def __init__(self, *, transport: FakeTransport | None = None) -> None:
        self.store = FakeStore()
        self.engine = Engine(make_manager(self.store), self.store)
        if transport is not None:
            self.engine.add_carrier(transport)
        self.at(1000.0)
        self.engine.work()
        self.engine.flush()
        self.store.log.clear()
        self.store.sizes.clear()

    def at(self, now: float) -> None:
        self.engine.enter(now=now, utc=START_UTC + now)

    def outgoing(self, transport: Transport) -> Queue:
        """A queue whose messages travel that way."""
        queue = self.engine.manager.queues[0]
        queue.outgoing = OutgoingQueue("DIRECT=OS:host\\private$\\q", transport)
        return queue

    def change(self, name: str = ORDERS) -> None:
        self.engine.manager.create_queue(name, caller=USER)


def test_one_write_is_under_way_at_a_time() -> None:
    case = Case()
    case.change()
    write = case.engine.take_write()
    assert write is not None
    case.change(r".\private$\more")
    assert case.engine.take_write() is None
    case.store.write(write)
    case.engine.written()
    assert case.engine.take_write() is not None
    assert len(case.store.sizes) == 2


def test_effects_and_transports_hear_of_a_batch_after_the_store_has_it() -> None:
    transport = FakeTransport()
    case = Case(transport=transport)
    case.change()
    number = case.engine.manager.state.outbox.number
    case.engine.gate.when_durable(number, case.store.log.append, "said")
    case.engine.work()
    transport.flushes.clear()
    write = case.engine.take_write()
    assert write is not None
    case.store.write(write)
    assert case.store.log == ["begin", "write"]
    case.at(1001.0)
    case.engine.written()
    assert case.store.log == ["begin", "write", "finish", "said"]
    # What the gate released leaves first; carriers send in the turn that follows, if they wait.
    assert transport.flushes == []
    assert not case.engine.has_work
    transport.waits_for_disk = True
    assert case.engine.has_work
    case.engine.work()
    assert transport.flushes == [1001.0]
    assert not case.engine.has_work
    case.engine.work()
    assert transport.flushes == [1001.0]


def test_nothing_is_written_that_was_not_taken() -> None:
    with pytest.raises(AssertionError, match="nothing is being written"):
        Case().engine.written()
    with pytest.raises(AssertionError, match="no step"):
        Case().engine.stepped()


@pytest.mark.parametrize("where", ["begin", "write", "finish", "begin!", "write!", "finish!"])
def test_a_fault_of_the_store_says_nothing(where: str) -> None:
    case = Case()
    case.change()
    said: list[str] = []
    case.engine.gate.when_durable(case.engine.manager.state.outbox.number, said.append, "a lie")
    case.store.fail_in = where
    with pytest.raises(RuntimeError if where.endswith("!") else StoreError):
        case.engine.flush()
    assert said == []


def test_events_reach_listeners_and_transports_until_there_are_no_more() -> None:
    transport = FakeTransport()
    case = Case(transport=transport)
    heard: list[str] = []

    def created(event: QueueCreated) -> None:
        heard.append(event.queue.path)
        if len(heard) == 1:
            case.change(r".\private$\second")

    case.engine.listen(QueueCreated, created)
    case.change()
    case.engine.work()
    assert heard == [r"private$\orders", r"private$\second"]
    assert transport.events == []
    case.engine.manager.outgoing.set_throttled(throttled=True)
    case.engine.work()
    assert [type(event) for event in transport.events] == [FlowControlChanged]


def test_what_an_output_causes_is_heard_and_sent_in_the_same_turn() -> None:
    transport = FakeTransport()
    case = Case(transport=transport)
    rounds: list[int] = []

    def output() -> None:
        rounds.append(len(transport.events))
        if len(rounds) == 1:
            queue = case.outgoing(Transport.BINARY)
            case.engine.manager.state.outbox.tell(OutgoingAvailable(queue=queue))

    case.engine.add_output(output)
    case.engine.work()
    assert rounds == [0, 1]


def test_an_output_without_anything_to_send_is_not_called() -> None:
    case = Case()
    waiting: list[str] = []
    sent: list[str] = []

    def output() -> None:
        sent.append(waiting.pop())

    case.engine.add_output(output, lambda: bool(waiting))
    case.engine.work()
    assert (sent, case.engine.has_work) == ([], False)
    waiting.append("one")
    assert case.engine.has_work
    case.engine.work()
    assert (sent, case.engine.has_work) == (["one"], False)


def test_events_are_work_until_they_are_handed_out() -> None:
    case = Case()
    assert not case.engine.has_work
    case.change()
    assert case.engine.has_work
    case.engine.work()
    assert not case.engine.has_work


class Owner:
    """Notes how its read ended."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def satisfied(self, event: ReadSatisfied) -> None:
        self.events.append(event)

    def ended(self, event: ReadEnded) -> None:
        self.events.append(event)


def test_the_owner_of_a_waiting_read_is_told_of_its_end() -> None:
    case = Case()
    manager = case.engine.manager
    case.change()
    descriptor = manager.open_queue(ORDERS, RECEIVE, caller=USER)
    owners = [Owner(), Owner()]
    reads = [
        manager.traffic.dequeue_many(descriptor, timeout=5.0, tag=tag)
        for tag in (owners[0], None, owners[1], None)
    ]
    sending = manager.open_queue(ORDERS, SEND, caller=USER)
    manager.traffic.enqueue_many(sending, [packet(b"one"), packet(b"two")])
    case.engine.work()
    (satisfied,) = owners[0].events
    assert isinstance(satisfied, ReadSatisfied)
    assert satisfied.read is reads[0]
    assert owners[1].events == []
    case.engine.handle_timer(now=1005.0, utc=START_UTC + 1005.0)
    case.engine.work()
    (ended,) = owners[1].events
    assert isinstance(ended, ReadEnded)
    assert ended.code == Hresult.MQ_ERROR_IO_TIMEOUT
    assert len(owners[0].events) == 1


def test_the_store_writes_for_itself_only_after_a_quiet_time() -> None:
    case = Case()
    case.store.own_writes = 1
    assert case.engine.take_write() is None
    quiet = 1000.0 + QUIET_SECONDS
    assert case.engine.next_timer() == quiet
    case.at(1000.0 + QUIET_SECONDS / 2)
    assert case.engine.take_write() is None
    case.change()
    write = case.engine.take_write()
    assert write is not None
    case.store.write(write)
    case.engine.written()
    # The wait begins anew.
    case.at(quiet)
    assert case.engine.take_write() is None
    case.at(quiet + QUIET_SECONDS)
    own = case.engine.take_write()
    assert own is not None
    assert case.store.sizes[-1] == 0
    before = case.engine.gate.durable_number
    case.store.write(own)
    case.engine.written()
    assert case.engine.gate.durable_number == before


def test_steps_of_the_store_come_one_at_a_time() -> None:
    case = Case()
    made: list[str] = []
    case.store.steps = [FakeStep(lambda: None, lambda: made.append("one"))]
    case.at(1000.0 + LOOK_SECONDS)
    step = case.engine.take_step()
    assert step is not None
    case.store.steps = [FakeStep(lambda: None, lambda: made.append("two"))]
    assert case.engine.take_step() is None
    step.run()
    case.engine.stepped()
    assert made == ["one"]
    assert case.engine.take_step() is not None


def test_a_store_without_steps_is_not_asked_all_the_time() -> None:
    case = Case()
    for _ in range(1000):
        case.engine.take_step()
    assert case.store.log.count("maintain") == 1
    case.at(1000.0 + LOOK_SECONDS)
    case.engine.take_step()
    assert case.store.log.count("maintain") == 2


def test_requests_wait_while_enough_waits_for_the_disk() -> None:
    case = Case()
    case.engine.take_in(MAX_WAITING_BYTES - 1)
    assert not case.engine.saturated
    case.engine.take_in(1)
    assert case.engine.saturated
    free: list[bool] = []
    case.engine.when_free(lambda: free.append(case.engine.saturated))
    case.engine.take_write()
    assert free == [False]
    case.engine.take_write()
    assert free == [False]


def test_a_full_disk_is_noticed_after_a_write() -> None:
    case = Case()
    case.store.full = True
    case.change()
    case.engine.flush()
    assert case.engine.manager.throttled
    case.store.full = False
    case.engine.watch_room()
    assert not case.engine.manager.throttled


def test_the_next_timer_is_that_of_whoever_is_first() -> None:
    transport = FakeTransport()
    case = Case(transport=transport)
    others = case.engine.next_timer()
    transport.timer = 1000.5
    assert case.engine.next_timer() == 1000.5
    case.engine.handle_timer(now=1000.5, utc=START_UTC + 1000.5)
    assert transport.timers == [1000.5]
    transport.timer = None
    assert case.engine.next_timer() == others


def test_events_of_an_outgoing_queue_reach_the_carrier_of_its_transport() -> None:
    transport = FakeTransport()
    case = Case(transport=transport)
    assert case.engine.carries(Transport.BINARY)
    assert not case.engine.carries(Transport.HTTP)
    tell = case.engine.manager.state.outbox.tell
    tell(OutgoingAvailable(queue=case.outgoing(Transport.HTTP)))
    case.engine.work()
    assert transport.events == []
    queue = case.outgoing(Transport.BINARY)
    tell(OutgoingAvailable(queue=queue))
    queue_here = case.engine.manager.queues[1]
    tell(QueueDeleted(queue=queue_here))
    case.engine.work()
    assert [type(event) for event in transport.events] == [OutgoingAvailable]

"""Mistakes in what a queue manager counts, each put in on purpose: the invariants notice."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.core.harness import OTHER_GUID, RECEIVE, USER, Harness, packet
from tests.core.invariants import Watch, check_engine
from tests.core.peers import Peer

from openmsmq.core.messages import delete_reasons, positions
from openmsmq.core.model.lanes import Lanes
from openmsmq.core.model.queue import Queue
from openmsmq.core.state import State
from openmsmq.core.traffic import Traffic
from openmsmq.core.transactions import transactions
from openmsmq.core.transfer.incoming.message_history import MessageIDHistory
from openmsmq.core.transfer.incoming.streams import StreamCount
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID

PAY = r".\private$\pay"
Patch = pytest.MonkeyPatch
Mutation = Callable[[Patch], None]


def work(look: Callable[[Harness], None]) -> None:
    """Something of everything; what is there is looked at after every step."""
    harness = Harness()
    harness.create()
    harness.create(PAY, transactional=True)
    steps: list[Callable[[], object]] = [
        lambda: harness.send(b"1", b"2", b"3"),
        lambda: harness.send(b"high", priority=7, time_to_be_received=1000),
        lambda: commit(harness),
        lambda: receive(harness, decide=Traffic.abort),
        lambda: receive(harness, decide=Traffic.commit),
        lambda: arrive(harness, 1),
        lambda: arrive(harness, 2),
        lambda: harness.qm.traffic.purge(harness.open(RECEIVE)),
        lambda: harness.drain(PAY),
        lambda: harness.qm.delete_queue(harness.qm.find_queue(PAY), caller=USER),
        harness.flush,
    ]
    for step in steps:
        step()
        look(harness)


def commit(harness: Harness) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"4", b"5", name=PAY, transaction=transaction)
    harness.qm.traffic.commit(transaction.identifier)


def receive(harness: Harness, *, decide: Callable[..., object]) -> None:
    transaction = harness.qm.traffic.begin(harness.guid())
    descriptor = harness.open(RECEIVE, PAY)
    harness.qm.traffic.dequeue_many(descriptor, max_count=1, transaction=transaction, timeout=0)
    check_engine(harness.engine)
    decide(harness.qm.traffic, transaction.identifier)
    harness.qm.close_queue(descriptor)


def arrive(harness: Harness, number: int) -> None:
    plain = packet(b"plain", message_id=number, source_queue_manager=OTHER_GUID)
    header = TransactionHeader(0, TxSequenceID.from_value(1 << 32), number, number - 1)
    ordered = packet(
        b"ordered",
        message_id=100 + number,
        source_queue_manager=OTHER_GUID,
        destination_queue=direct_address(r"OS:qm\private$\pay"),
        transaction_header=header,
    )
    Peer(harness).send(plain, ordered)


def test_nothing_is_wrong_with_the_queue_manager_itself() -> None:
    work(lambda harness: check_engine(harness.engine))


def forget_bytes_of_what_leaves(patch: Patch) -> None:
    def count_messages(state: State, queue: Queue, count: int, size: int) -> None:
        original(state, queue, count, max(size, 0))

    original = positions.count_messages
    patch.setattr(delete_reasons, "count_messages", count_messages)


def count_a_visible_message_twice(patch: Patch) -> None:
    def insert(self: Lanes, message: Any) -> None:
        original(self, message)
        self.count += 1

    original = Lanes.insert
    patch.setattr(Lanes, "insert", insert)


def give_back_without_unlocking(patch: Patch) -> None:
    patch.setattr(Queue, "forget_locked", lambda _self, _message: None)


def keep_bytes_of_committed_sends_reserved(patch: Patch) -> None:
    def commit_enqueue(state: State, *args: Any, **options: Any) -> Any:
        reserved = {queue: queue.reserved_bytes for queue in state.queues.values()}
        result = original(state, *args, **options)
        for queue, size in reserved.items():
            queue.reserved_bytes = size
        return result

    original: Callable[..., Any] = transactions._commit_enqueue
    patch.setattr(transactions, "_commit_enqueue", commit_enqueue)


def forget_a_stream_without_counting_it(patch: Patch) -> None:
    def add(self: StreamCount, address: str) -> None:
        original(self, address)
        self.total += 1

    original = StreamCount.add
    patch.setattr(StreamCount, "add", add)


def count_identifiers_twice(patch: Patch) -> None:
    def append(self: MessageIDHistory, group: Any) -> None:
        original(self, group)
        self._count += len(group.identifiers)

    original = MessageIDHistory._append
    patch.setattr(MessageIDHistory, "_append", append)


MUTATIONS: list[Mutation] = [
    forget_bytes_of_what_leaves,
    count_a_visible_message_twice,
    give_back_without_unlocking,
    keep_bytes_of_committed_sends_reserved,
    forget_a_stream_without_counting_it,
    count_identifiers_twice,
]


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.interpreted
def test_the_invariants_notice(mutation: Mutation, monkeypatch: Patch) -> None:
    mutation(monkeypatch)
    with pytest.raises(AssertionError):
        work(lambda harness: check_engine(harness.engine))


def test_a_watch_notices_in_the_step_in_which_it_happens() -> None:
    harness = Harness()
    harness.create()
    watch = Watch(harness.engine)
    watch.step()
    harness.send(b"1")
    watch.step()
    harness.qm.find_queue(r".\private$\orders").total_bytes += 1
    with pytest.raises(AssertionError, match="bytes"):
        watch.step()

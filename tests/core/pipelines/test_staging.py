"""Staged batches: whole or not at all, once."""

from struct import Struct

import pytest
from tests.core.harness import ORDERS, RECEIVE, STRANGER, USER, Harness, packet, refused

from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.pipelines.staging import recover_producers
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.settings import Settings
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.lookup_id import SEQUENCE_MASK
from openmsmq.wire.message.transaction_header import TRANSACTION_ID_SHIFT, TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader

PAY = r".\private$\pay"
REMOTE = r"DIRECT=OS:elsewhere\private$\q"


def stage(
    harness: Harness,
    batch: int,
    partition: int,
    *contents: bytes,
    name: str = ORDERS,
    attempt: int = 0,
) -> int:
    packets = [packet(body) for body in contents]
    stages = harness.qm.stages
    return stages.stage("query", batch, partition, attempt, name, packets, caller=USER)


def commit(harness: Harness, batch: int, *stages: tuple[int, int]) -> tuple[int, bool]:
    done = harness.qm.stages.commit_batch("query", batch, stages, caller=USER)
    return done.count, done.repeated


def test_stages_show_when_their_batch_is_committed_in_the_order_named(harness: Harness) -> None:
    stage(harness, 0, 1, b"c")
    assert stage(harness, 0, 0, b"a") == 1
    assert stage(harness, 0, 0, b"b") == 2
    stage(harness, 0, 1, b"lost attempt", attempt=1)
    assert harness.contents() == []
    assert commit(harness, 0, (0, 0), (1, 0)) == (3, False)
    assert harness.contents() == [b"a", b"b", b"c"]
    assert harness.qm.stages.size == 0
    harness.restart()
    assert harness.contents() == [b"a", b"b", b"c"]


def test_a_batch_is_published_once_also_after_a_restart(harness: Harness) -> None:
    stage(harness, 3, 0, b"a")
    commit(harness, 3, (0, 0))
    for _ in range(2):
        stage(harness, 3, 0, b"again")
        assert commit(harness, 3, (0, 0)) == (0, True)
        stage(harness, 2, 0, b"older")
        assert commit(harness, 2, (0, 0)) == (0, True)
        assert harness.contents() == [b"a"]
        assert harness.qm.stages.size == 0
        harness.restart()
    stage(harness, 4, 0, b"b")
    assert commit(harness, 4, (0, 0)) == (1, False)
    assert harness.contents() == [b"a", b"b"]


def test_messages_and_ledger_are_one_batch(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    stage(harness, 0, 0, b"a")
    stage(harness, 0, 1, b"b", b"c", b"d", name=PAY)
    harness.flush()
    done = harness.qm.stages.commit_batch("query", 0, [(0, 0), (1, 0)], caller=USER)
    taken = harness.qm.take_batch()
    assert taken is not None
    assert taken[0] == done.depends
    # The first and the last one of a transaction say so in their packets.
    assert (len(taken[1].put_keys), len(taken[1].updates)) == (2, 4)
    assert harness.qm.take_batch() is None
    harness.crash()
    assert harness.contents() == harness.contents(PAY) == []
    stage(harness, 0, 0, b"a")
    assert commit(harness, 0, (0, 0)) == (1, False)


def test_what_is_staged_is_stored_at_once_and_gone_after_a_restart(harness: Harness) -> None:
    assert stage(harness, 0, 0, b"a") == 1
    harness.flush()
    assert len(list(harness.store.recover(None).messages)) == 1
    harness.restart()
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        commit(harness, 0, (0, 0))
    harness.flush()
    assert list(harness.store.recover(None).messages) == []


@pytest.mark.parametrize("end", ["abort", "commit of another attempt", "expiry"])
def test_nothing_is_left_of_stages_that_are_not_published(harness: Harness, end: str) -> None:
    before = harness.qm.state.memory
    stage(harness, 0, 0, b"a", b"b")
    express = packet(b"express", delivery_mode=0)
    harness.qm.stages.stage("query", 0, 0, 0, ORDERS, [express], caller=USER)
    harness.flush()
    if end == "abort":
        harness.qm.stages.abort_batch("query", 0, caller=USER)
    elif end == "expiry":
        harness.advance(harness.settings.stage_seconds)
    else:
        commit(harness, 0)
    harness.flush()
    assert list(harness.store.recover(None).messages) == []
    assert harness.qm.state.memory == before


def test_a_batch_is_one_transaction_with_a_first_and_a_last_message(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    stage(harness, 0, 1, b"3", b"4", name=PAY)
    stage(harness, 0, 0, b"1", b"2", name=PAY)
    harness.flush()
    commit(harness, 0, (0, 0), (1, 0))
    harness.restart()
    found = [
        UserMessage(packet_of(harness.qm.state, each)) for each in harness.qm.find_queue(PAY).lanes
    ]
    assert [each.body for each in found] == [b"1", b"2", b"3", b"4"]
    assert [each.first_in_transaction for each in found] == [True, False, False, False]
    assert [each.last_in_transaction for each in found] == [False, False, False, True]
    assert len({each.transaction_flags >> TRANSACTION_ID_SHIFT for each in found}) == 1
    assert len({each.message_id for each in found}) == 4


def test_staged_messages_arrive_when_they_are_published(harness: Harness) -> None:
    packets = [packet(b"late", priority=1), packet(b"early", priority=7)]
    harness.qm.stages.stage("query", 0, 0, 0, ORDERS, packets, caller=USER)
    harness.advance(60)
    harness.send(b"between")
    commit(harness, 0, (0, 0))
    queue = harness.qm.find_queue(ORDERS)
    assert harness.contents() == [b"early", b"between", b"late"]
    arrived = sorted(queue.lanes, key=lambda message: message.sequence)
    assert [harness.body(message) for message in arrived] == [b"between", b"late", b"early"]
    assert {message.arrived for message in arrived} == {harness.utc}


def test_staged_messages_expire_like_others(harness: Harness) -> None:
    packets = [packet(b"1", time_to_be_received=10), packet(b"2", time_to_be_received=100)]
    harness.qm.stages.stage("query", 0, 0, 0, ORDERS, packets, caller=USER)
    harness.advance(50)
    commit(harness, 0, (0, 0))
    assert harness.contents() == [b"2"]
    harness.advance(51)
    assert harness.contents() == []
    harness.flush()
    assert list(harness.store.recover(None).messages) == []


def test_a_queue_that_changed_since_takes_no_staged_messages(harness: Harness) -> None:
    stage(harness, 0, 0, b"a")
    queue = harness.qm.find_queue(ORDERS)
    harness.qm.set_queue(queue, caller=USER, authentication=True)
    with refused("MQ_ERROR_QUEUE_NOT_AVAILABLE"):
        commit(harness, 0, (0, 0))
    harness.qm.set_queue(queue, caller=USER, authentication=False)
    assert commit(harness, 0, (0, 0)) == (1, False)


def test_a_queue_that_was_created_again_takes_staged_messages(harness: Harness) -> None:
    stage(harness, 0, 0, b"a")
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        commit(harness, 0, (0, 0))
    harness.create()
    assert commit(harness, 0, (0, 0)) == (1, False)
    harness.restart()
    assert harness.contents() == [b"a"]


def test_staged_messages_for_another_machine_are_numbered_when_they_are_published() -> None:
    harness = Harness(settings=Settings(memory_budget=0))
    header = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
    for partition in (1, 0):
        packets = [packet(b"%d" % partition, transaction_header=header)]
        harness.qm.stages.stage("query", 0, partition, 0, REMOTE, packets, caller=USER)
    harness.flush()
    commit(harness, 0, (0, 0), (1, 0))
    harness.restart()
    found = list(harness.qm.outgoing.find(REMOTE).lanes)
    assert [harness.body(message) for message in found] == [b"0", b"1"]
    assert [message.make_history().tx_sequence_number for message in found] == [1, 2]


def test_a_repeated_commit_waits_for_the_first_one_to_be_durable(harness: Harness) -> None:
    stage(harness, 0, 0, b"a")
    first = harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    second = harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    assert second.depends == first.depends > 0
    harness.flush()
    third = harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    assert third.depends == 0


def test_a_batch_with_a_missing_stage_is_not_published(harness: Harness) -> None:
    stage(harness, 0, 0, b"a")
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        commit(harness, 0, (0, 0), (1, 0))
    assert harness.contents() == []
    assert commit(harness, 0, (0, 0)) == (1, False)


def test_an_aborted_batch_is_forgotten_and_an_abort_after_the_commit_does_no_harm(
    harness: Harness,
) -> None:
    stage(harness, 0, 0, b"a")
    harness.qm.stages.abort_batch("query", 0, caller=USER)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        commit(harness, 0, (0, 0))
    stage(harness, 0, 0, b"a")
    commit(harness, 0, (0, 0))
    harness.qm.stages.abort_batch("query", 0, caller=USER)
    assert harness.contents() == [b"a"]
    assert commit(harness, 0) == (0, True)


def test_stages_go_in_transactions_where_the_queue_is_transactional(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    stage(harness, 0, 0, b"paid", name=PAY)
    commit(harness, 0, (0, 0))
    (message,) = harness.qm.find_queue(PAY).lanes
    assert message.transactional
    assert harness.qm.state.transactions == {}


@pytest.mark.parametrize("transactional", [True, False])
def test_stages_for_another_machine_go_as_their_packets_say(
    harness: Harness, *, transactional: bool
) -> None:
    header = TransactionHeader(0, TxSequenceID(0, 0), 0, 0) if transactional else None
    packets = [packet(b"1", transaction_header=header)]
    harness.qm.stages.stage("query", 0, 0, 0, REMOTE, packets, caller=USER)
    commit(harness, 0, (0, 0))
    (message,) = harness.qm.outgoing.find(REMOTE).lanes
    assert message.transactional is transactional


def test_a_refused_stage_leaves_nothing(harness: Harness) -> None:
    header = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
    stages = harness.qm.stages
    with refused("MQ_ERROR_TRANSACTION_USAGE"):
        stages.stage("q", 0, 0, 0, ORDERS, [packet(transaction_header=header)], caller=USER)
    assert (stages.size, len(stages)) == (0, 0)
    assert harness.qm.find_queue(ORDERS).counters.refused == {"MQ_ERROR_TRANSACTION_USAGE": 1}
    stage(harness, 0, 0, b"1")
    assert len(stages) == 1


def test_what_cannot_be_sent_is_refused_when_it_is_staged(harness: Harness) -> None:
    sender = SecurityHeader(int(SenderIdType.SID), STRANGER.sid.serialize())
    stages = harness.qm.stages
    with refused("MQ_ERROR_ACCESS_DENIED"):
        stages.stage("q", 0, 0, 0, ORDERS, [packet(security_header=sender)], caller=USER)
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        stages.stage("q", 0, 0, 0, ORDERS, [b"nonsense"], caller=USER)
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        stage(harness, 0, 0, b"1", name=r".\private$\nothing")
    with refused("MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"):
        stage(harness, 0, 0, b"1", name=f"{REMOTE},DIRECT=OS:third\\private$\\q")
    harness.create(r".\private$\small", quota=1)
    stage(harness, 0, 0, b"x" * 600, name=r".\private$\small")
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        stage(harness, 0, 0, b"x" * 600, name=r".\private$\small")
    assert not harness.qm.find_queue(ORDERS).descriptors


@pytest.mark.parametrize(
    ("producer", "batch"), [("", 0), ("x" * 257, 0), ("query", -1), ("query", 1 << 63)]
)
def test_a_producer_has_a_name_and_numbered_batches(
    harness: Harness, producer: str, batch: int
) -> None:
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.stages.stage(producer, batch, 0, 0, ORDERS, [packet()], caller=USER)
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.stages.commit_batch(producer, batch, [], caller=USER)


def test_a_batch_that_a_quota_refuses_is_not_published_at_all(harness: Harness) -> None:
    queue = harness.create(r".\private$\small", quota=1)
    stage(harness, 0, 0, b"a")
    stage(harness, 0, 1, b"x" * 600, name=r".\private$\small")
    harness.send(b"x" * 600, name=r".\private$\small")
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        commit(harness, 0, (0, 0), (1, 0))
    assert harness.contents() == []
    harness.drain(r".\private$\small")
    stage(harness, 0, 2, b"x" * 600)
    harness.qm.state.manager.queue_manager_quota = 1
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        commit(harness, 0, (0, 0), (1, 0), (2, 0))
    assert (queue.count, harness.contents()) == (0, [])


def test_a_queue_is_open_no_longer_than_the_batch_is_published(harness: Harness) -> None:
    stage(harness, 0, 0, b"a")
    commit(harness, 0, (0, 0))
    stage(harness, 1, 0, b"b")
    harness.qm.state.manager.queue_manager_quota = 0
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        commit(harness, 1, (0, 0))
    assert harness.qm.find_queue(ORDERS).descriptors == {}


def test_nobody_publishes_in_the_name_of_another(harness: Harness) -> None:
    stage(harness, 0, 0, b"mine")
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=STRANGER)
    harness.qm.stages.commit_batch("query", 9, [], caller=STRANGER)
    assert commit(harness, 0, (0, 0)) == (1, False)


def test_stages_whose_commit_never_comes_are_forgotten() -> None:
    harness = Harness(settings=Settings(stage_seconds=60))
    harness.create()
    stage(harness, 0, 0, b"a")
    harness.advance(30)
    stage(harness, 0, 1, b"b")
    assert harness.qm.next_timer() == harness.now + 30
    harness.advance(30)
    assert harness.qm.stages.size == len(packet(b"b"))
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        commit(harness, 0, (0, 0))
    harness.advance(30)
    assert (harness.qm.stages.size, harness.qm.next_timer()) == (0, None)


def test_staged_packets_leave_memory_when_it_is_short() -> None:
    harness = Harness(settings=Settings(memory_budget=300))
    harness.create()
    stage(harness, 0, 0, b"1", b"2")
    stage(harness, 0, 0, b"3", b"4")
    assert commit(harness, 0, (0, 0)) == (4, False)
    assert harness.contents() == [b"1", b"2", b"3", b"4"]
    stage(harness, 1, 0, b"5", b"6", b"7")
    harness.qm.stages.abort_batch("query", 1, caller=USER)
    assert harness.qm.stages.size == 0


def test_what_comes_too_late_for_its_batch_is_not_kept(harness: Harness) -> None:
    stage(harness, 1, 0, b"a")
    commit(harness, 1, (0, 0))
    assert stage(harness, 1, 0, b"late", attempt=1) == 1
    assert stage(harness, 0, 0, b"later", attempt=1) == 1
    assert harness.qm.stages.size == 0
    assert commit(harness, 1, (0, 1)) == (0, True)
    assert harness.contents() == [b"a"]


def test_one_attempt_can_be_forgotten_without_the_others(harness: Harness) -> None:
    stage(harness, 0, 0, b"kept")
    stage(harness, 0, 1, b"failed", attempt=7)
    stages = harness.qm.stages
    size = stages.size
    stages.abort_batch("query", 0, [(1, 7), (2, 0)], caller=USER)
    assert 0 < stages.size < size
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        commit(harness, 0, (1, 7))
    assert commit(harness, 0, (0, 0)) == (1, False)
    assert harness.contents() == [b"kept"]
    stage(harness, 1, 0, b"failed")
    stages.abort_batch("query", 1, [(0, 0)], caller=USER)
    assert (stages.size, stages.next_timer()) == (0, None)


def test_producers_that_are_long_gone_are_forgotten() -> None:
    harness = Harness(settings=Settings(producer_seconds=100))
    harness.create()
    stages = harness.qm.stages
    stages.commit_batch("old", 5, [], caller=USER)
    harness.advance(60)
    commit(harness, 1)
    harness.advance(60)
    assert stages.commit_batch("old", 5, [], caller=USER).repeated
    commit(harness, 2)
    assert not stages.commit_batch("old", 5, [], caller=USER).repeated
    assert commit(harness, 2) == (0, True)


def test_a_restart_keeps_what_producers_are_remembered_by() -> None:
    harness = Harness(settings=Settings(producer_seconds=100))
    harness.create()
    for name in ("a", "b", "a"):
        harness.advance(40)
        batch = harness.qm.stages.last_batch(name, caller=USER).batch + 1
        harness.qm.stages.commit_batch(name, batch, [], caller=USER)
    harness.restart()
    assert [name[-1] for name in harness.qm.state.producers] == ["b", "a"]
    harness.advance(80)
    harness.qm.stages.commit_batch("c", 0, [], caller=USER)
    assert [name[-1] for name in harness.qm.state.producers] == ["a", "c"]
    harness.restart()
    assert [name[-1] for name in harness.qm.state.producers] == ["a", "c"]


# Messages that are sent again


def hold(harness: Harness, *lookup_ids: int) -> OpenQueueDescriptor:
    descriptor = harness.open(RECEIVE)
    held = harness.qm.traffic.hold_many(descriptor, lookup_ids)
    assert [message.lookup_id for message in held.messages] == list(lookup_ids)
    return descriptor


def test_a_commit_publishes_and_removes_in_one_batch(harness: Harness) -> None:
    harness.create(PAY)
    first, second = harness.send(b"a", b"b").lookup_ids
    source = hold(harness, first)
    stage(harness, 0, 0, b"a", name=PAY)
    harness.flush()
    done = harness.qm.stages.commit_batch(
        "query", 0, [(0, 0)], caller=USER, source=source, received=[first]
    )
    assert (done.count, done.repeated) == (1, False)
    assert done.first == done.last > second & SEQUENCE_MASK
    taken = harness.qm.take_batch()
    assert taken is not None
    assert taken[0] == done.depends
    assert harness.qm.take_batch() is None
    assert (harness.contents(), harness.contents(PAY)) == ([b"b"], [b"a"])


def test_before_the_batch_is_on_disk_a_crash_leaves_everything_in_its_place(
    harness: Harness,
) -> None:
    harness.create(PAY)
    (first,) = harness.send(b"a").lookup_ids
    source = hold(harness, first)
    stage(harness, 0, 0, b"a", name=PAY)
    harness.flush()
    harness.qm.stages.commit_batch(
        "query", 0, [(0, 0)], caller=USER, source=source, received=[first]
    )
    harness.crash()
    assert (harness.contents(), harness.contents(PAY)) == ([b"a"], [])
    assert harness.qm.stages.last_batch("query", caller=USER).batch == -1


def test_a_message_that_is_not_held_stops_the_commit(harness: Harness) -> None:
    harness.create(PAY)
    first, second = harness.send(b"a", b"b").lookup_ids
    source = hold(harness, first)
    stage(harness, 0, 0, b"a", name=PAY)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.stages.commit_batch(
            "query", 0, [(0, 0)], caller=USER, source=source, received=[first, second]
        )
    assert harness.contents(PAY) == []
    assert harness.qm.stages.last_batch("query", caller=USER).batch == -1


def test_the_place_of_a_batch_is_known_in_a_transactional_queue(harness: Harness) -> None:
    harness.create(PAY, transactional=True)
    stage(harness, 0, 0, b"a", b"b", b"c", name=PAY)
    done = harness.qm.stages.commit_batch("query", 0, [(0, 0)], caller=USER)
    sequences = [message.sequence for message in harness.qm.find_queue(PAY).lanes]
    assert sequences == [done.first, done.first + 1, done.last]


def test_the_last_batch_is_known_after_a_restart(harness: Harness) -> None:
    stage(harness, 5, 0, b"a", b"b")
    done = harness.qm.stages.commit_batch("query", 5, [(0, 0)], caller=USER)
    for _ in range(2):
        last = harness.qm.stages.last_batch("query", caller=USER)
        assert (last.batch, last.first, last.last) == (5, done.first, done.first + 1)
        again = harness.qm.stages.commit_batch("query", 5, [(0, 0)], caller=USER)
        assert (again.repeated, again.first, again.last) == (True, done.first, done.last)
        older = harness.qm.stages.commit_batch("query", 4, [], caller=USER)
        assert (older.first, older.last) == (0, 0)
        harness.restart()
    assert harness.qm.stages.last_batch("query", caller=STRANGER).batch == -1


def test_rows_of_earlier_versions_say_the_batch_only(harness: Harness) -> None:
    row = Struct("<qd").pack(7, harness.utc)
    recover_producers(harness.qm.state, {f"{USER.sid}/old".encode(): row})
    last = harness.qm.stages.last_batch("old", caller=USER)
    assert (last.batch, last.first, last.last) == (7, 0, 0)


# Checks


def check(harness: Harness, *sizes: int, queue: int = 0, manager: int = 0) -> list[int]:
    packets = [packet(bytes(size)) for size in sizes]
    checked = harness.qm.stages.check(
        ORDERS, packets, queue_bytes=queue, manager_bytes=manager, caller=USER
    )
    return [each.place for each in checked.refused]


def test_what_does_not_fit_is_known_before(harness: Harness) -> None:
    harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, quota=4)
    assert check(harness, 1000, 1000, 1000) == []
    assert check(harness, 1000, 5000, 1000, 3000, 100) == [1, 3]
    assert check(harness, 1000, queue=4000) == [0]
    assert check(harness, 1000, queue=4000 - 2000) == []
    assert harness.contents() == []
    assert harness.qm.stages.size == 0


def test_the_quota_of_the_queue_manager_counts_what_leaves(harness: Harness) -> None:
    harness.qm.state.manager.queue_manager_quota = 4
    harness.send(bytes(2000))
    assert check(harness, 1500) == [0] * (1500 + 2000 > 4096)
    assert check(harness, 1500, 1500) == [1]
    assert check(harness, 1500, 1500, manager=-1500) == []


def test_a_check_of_what_can_never_be_sent_is_refused(harness: Harness) -> None:
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        harness.qm.stages.check(
            ORDERS, [b"no message"], queue_bytes=0, manager_bytes=0, caller=USER
        )
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.qm.stages.check(
            r".\private$\none", [packet()], queue_bytes=0, manager_bytes=0, caller=USER
        )

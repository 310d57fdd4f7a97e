"""R_OpenQueueForMove, R_MoveMessage and R_PurgeQueue ([MS-MQRR] 3.1.4.6, .10, .11)."""

import pytest
from tests.core.harness import ORDERS, QM_GUID, USER
from tests.protocol.remote_read.harness import (
    DIRECT,
    INVALID_HANDLE,
    MOVE,
    NOT_AVAILABLE,
    NOT_FOUND,
    OK,
    PEEK,
    RR_ACK,
    TRANSACTION,
    TRANSACTION_SEQUENCE,
    TRANSACTION_USAGE,
    RemoteCase,
    open_request,
)

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_ACCESS_DENIED, STATUS_INVALID_PARAMETER
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.rpc_interfaces import remote_read as rr

STEPS = RemoteReadSettings(purge_step=10)
LOCKED = Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION
LEDGER = r".\private$\ledger"
LEDGER_DIRECT = r"DIRECT=OS:qm\private$\ledger"


@pytest.mark.spec("MQRR-3.1.4.10-03", "MQRR-3.1.4.10-11", "MQRR-3.1.4.11-05")
def test_a_message_moves_between_a_queue_and_its_subqueues() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    numbers = {name: reader.open_for_move(DIRECT + name)[0] for name in ("", ";a", ";b")}
    assert len({*numbers.values()} - {0}) == 3
    for source, target in (("", ";a"), (";a", ";b"), (";b", "")):
        opened = reader.open(DIRECT + source)
        assert opened.move(numbers[target], lookup_id) == OK
        assert case.bodies(ORDERS + target) == [b"x"]
        (message,) = case.qm.find_queue(ORDERS + target).lanes
        lookup_id = message.lookup_id


@pytest.mark.spec("MQRR-3.1.4.10-04")
def test_other_pairs_of_queues_are_refused() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    case.core.create(r".\private$\other")
    other = r"DIRECT=OS:qm\private$\other"
    opened = reader.open()
    for name in (DIRECT, other, other + ";a", DIRECT + ";JOURNAL"):
        number, _ = reader.open_for_move(name)
        assert opened.move(number, lookup_id) == STATUS_INVALID_PARAMETER
    number, _ = reader.open_for_move(DIRECT)
    assert reader.open(DIRECT + ";JOURNAL").move(number, lookup_id) == STATUS_INVALID_PARAMETER
    assert case.bodies() == [b"x"]


@pytest.mark.spec("MQRR-3.1.4.10-06", "MQRR-3.1.4.11-06")
def test_a_move_needs_a_target_that_this_client_has_open() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    opened = reader.open()
    number, target = reader.open_for_move(DIRECT + ";a")
    stranger = case.reader()
    assert stranger.open().move(number, lookup_id) == INVALID_HANDLE
    for wrong in (0, number + 1, 2**64 - 1):
        assert opened.move(wrong, lookup_id) == INVALID_HANDLE
    # In the same association, but another caller.
    root = case.reader(name="root", group=reader.connection.assoc_group_id)
    dead = root.open(f"MACHINE={QM_GUID};DEADLETTER")
    assert dead.move(number, lookup_id) == INVALID_HANDLE
    assert target.close().result == OK
    assert opened.move(number, lookup_id) == INVALID_HANDLE
    assert case.bodies() == [b"x"]


def test_a_target_goes_with_its_client() -> None:
    case = RemoteCase()
    reader = case.reader()
    reader.open_for_move(DIRECT + ";a")
    assert len(case.remote.move_targets) == 1
    reader.link.lose()
    assert len(case.remote.move_targets) == 0
    assert not case.qm.state.descriptors


def test_a_move_takes_a_handle_that_may_receive() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    number, target = reader.open_for_move(DIRECT + ";a")
    for opened in (reader.open(access=PEEK), target):
        assert opened.move(number, lookup_id) == Hresult.MQ_ERROR_ACCESS_DENIED
    assert case.bodies() == [b"x"]


@pytest.mark.spec("MQRR-3.1.4.10-08")
def test_a_message_that_is_not_there_does_not_move() -> None:
    case = RemoteCase()
    reader = case.reader()
    number, _ = reader.open_for_move(DIRECT + ";a")
    assert reader.open().move(number, 12345) == NOT_FOUND


@pytest.mark.spec("MQRR-3.1.4.10-09")
def test_a_message_of_another_reader_does_not_move() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    number, _ = reader.open_for_move(DIRECT + ";a")
    opened = reader.open()
    other = case.reader().open()
    other.start()
    assert opened.move(number, lookup_id) == LOCKED
    assert other.end(RR_ACK) == OK


def test_a_target_that_was_deleted_takes_nothing() -> None:
    case = RemoteCase()
    reader = case.reader()
    case.core.create(LEDGER)
    number, _ = reader.open_for_move(LEDGER_DIRECT)
    (lookup_id,) = case.send(b"x")
    case.qm.delete_queue(case.qm.find_queue(LEDGER), caller=USER)
    assert reader.open().move(number, lookup_id) == NOT_AVAILABLE


@pytest.mark.spec("MQRR-3.1.4.10-07")
def test_a_transaction_does_not_go_with_a_queue_that_is_not_transactional() -> None:
    case = RemoteCase()
    reader = case.reader()
    (lookup_id,) = case.send(b"x")
    number, _ = reader.open_for_move(DIRECT + ";a")
    assert reader.open().move(number, lookup_id, TRANSACTION) == TRANSACTION_USAGE
    assert case.bodies() == [b"x"]


def ledger() -> tuple[RemoteCase, int]:
    """A transactional queue with a message, and the lookup id of that."""
    case = RemoteCase()
    case.core.create(LEDGER, transactional=True)
    transaction = case.qm.traffic.begin(case.core.guid())
    address = direct_address(r"OS:qm\private$\ledger")
    case.core.send(b"x", name=LEDGER, transaction=transaction, destination_queue=address)
    case.qm.traffic.commit(transaction.identifier)
    case.turn()
    (message,) = case.qm.find_queue(LEDGER).lanes
    return case, message.lookup_id


@pytest.mark.spec("MQRR-3.1.4.10-10")
def test_a_transaction_that_is_not_enlisted_moves_nothing() -> None:
    case, lookup_id = ledger()
    reader = case.reader()
    opened = reader.open(LEDGER_DIRECT)
    number, _ = reader.open_for_move(LEDGER_DIRECT + ";a")
    assert opened.move(number, lookup_id, TRANSACTION) == TRANSACTION_SEQUENCE
    assert opened.move(number, 12345, TRANSACTION) == NOT_FOUND
    assert case.bodies(LEDGER) == [b"x"]
    local = case.core.open(QueueAccessType.RECEIVE, LEDGER)
    transaction = case.qm.traffic.begin(case.core.guid())
    case.qm.traffic.dequeue_many(local, timeout=0, transaction=transaction)
    assert opened.move(number, lookup_id, TRANSACTION) == LOCKED
    assert opened.move(number, lookup_id) == LOCKED
    case.qm.traffic.abort(transaction.identifier)
    assert opened.move(number, lookup_id) == OK
    assert case.bodies(LEDGER + ";a") == [b"x"]


def test_an_open_for_moves_may_be_shared() -> None:
    case = RemoteCase()
    reader = case.reader()
    for share in (0, 0):
        reader.do(rr.R_OPEN_QUEUE_FOR_MOVE, open_request(access=MOVE, share=share))
    assert len(case.queue.descriptors) == 2


# Purges


@pytest.mark.spec("MQRR-3.1.4.6-02")
def test_a_purge_removes_everything_and_what_is_locked_afterwards() -> None:
    case = RemoteCase()
    opened, other = case.reader().open(), case.reader().open()
    case.send(b"1", b"2", b"3")
    assert other.body() == b"1"
    assert opened.purge() == OK
    assert case.bodies() == []
    assert other.end(1) == OK
    assert case.bodies() == []
    assert not case.queue.locked


@pytest.mark.spec("MQRR-3.1.4.6-03")
def test_a_purge_needs_a_handle_that_may_receive() -> None:
    case = RemoteCase()
    reader = case.reader()
    case.send(b"x")
    _, target = reader.open_for_move(DIRECT)
    for opened in (reader.open(access=PEEK), target):
        assert opened.purge() == STATUS_ACCESS_DENIED
    assert case.bodies() == [b"x"]


def many(case: RemoteCase, count: int) -> None:
    case.send(*[b""] * count, delivery_mode=0)


def test_a_long_purge_goes_in_steps_between_which_others_are_served() -> None:
    case = RemoteCase(STEPS)
    reader, other = case.reader(), case.reader()
    opened, looks = reader.open(), other.open(access=PEEK)
    many(case, 25)
    purge = reader.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle))
    left = []
    while reader.answer(purge) is None:
        left.append(case.queue.count)
        assert looks.start(0x80000000).result == OK
        # What arrives meanwhile stays.
        case.send(b"late")
        assert case.server.next_timer() == case.now
        case.advance(0)
    assert left == [15, 6]
    assert reader.answer(purge).result == OK
    assert case.bodies() == [b"late", b"late"]
    assert case.server.next_timer() is None


def test_two_purges_take_turns() -> None:
    case = RemoteCase(STEPS)
    case.core.create(r".\private$\other")
    address = direct_address(r"OS:qm\private$\other")
    many(case, 25)
    case.core.send(
        *[b""] * 15, name=r".\private$\other", delivery_mode=0, destination_queue=address
    )
    reader = case.reader()
    purges = [
        reader.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle))
        for opened in (reader.open(), reader.open(r"DIRECT=OS:qm\private$\other"))
    ]
    case.advance(0)
    case.advance(0)
    assert reader.answer(purges[0]) is None
    assert reader.answer(purges[1]).result == OK
    case.advance(0)
    assert reader.answer(purges[0]).result == OK


def test_a_purge_ends_with_its_client_or_its_handle() -> None:
    case = RemoteCase(STEPS)
    many(case, 35)
    reader = case.reader()
    opened = reader.open()
    purge = reader.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle))
    opened.close()
    case.advance(0)
    assert reader.answer(purge).result == INVALID_HANDLE
    gone = case.reader()
    gone.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(gone.open().handle))
    gone.link.lose()
    case.advance(0)
    assert case.queue.count == 15
    assert case.server.next_timer() is None

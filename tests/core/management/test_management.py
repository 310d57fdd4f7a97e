"""Management: records, checks, and steps that are bounded by counts."""

from dataclasses import fields
from uuid import UUID

import pytest
from tests.core.harness import ADMINISTRATOR, ORDERS, RECEIVE, SEND, STRANGER, USER, Harness, packet
from tests.protocol.local.fake_service import PROCESS
from tests.security.accounts import FakeAccounts

from openmsmq.core.management.management import LIST_STEP, Management
from openmsmq.core.management.records import QueueDetails, QueueInfo
from openmsmq.core.model.queue import Queue
from openmsmq.security.permissions import PermissionChange
from openmsmq.security.right_missing import RightMissing
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError

ACCOUNTS = FakeAccounts()
QUEUES = 1000


@pytest.fixture
def harness() -> Harness:
    return Harness()


def management_of(harness: Harness) -> Management:
    return harness.qm.management


# Bounded steps


class CountedQueues(dict[int, Queue]):
    """The queues of a queue manager, with a count of how many were looked at."""

    looked_at = 0

    def __getitem__(self, number: int) -> Queue:
        self.looked_at += 1
        return super().__getitem__(number)

    def values(self) -> object:  # type: ignore[override]
        raise AssertionError("goes over all queues at once")


def test_no_step_of_a_list_looks_at_more_than_its_count_of_queues(harness: Harness) -> None:
    for number in range(QUEUES):
        harness.create(rf".\private$\q{number}")
    counted = CountedQueues(harness.qm.state.queues)
    harness.qm.state.queues = counted
    paths: list[str] = []
    steps = 0
    for part in management_of(harness).queues(caller=USER, include_system=False):
        steps += 1
        assert counted.looked_at <= LIST_STEP
        counted.looked_at = 0
        paths += [queue.path for queue in part]
    assert len(set(paths)) == len(paths) == QUEUES
    assert steps >= QUEUES // LIST_STEP
    # The status looks at none.
    assert management_of(harness).status(PROCESS, caller=USER).queues == QUEUES
    assert counted.looked_at == 0


def test_a_list_goes_on_while_queues_come_and_go(harness: Harness) -> None:
    for number in range(3 * LIST_STEP):
        harness.create(rf".\private$\q{number}")
    parts = management_of(harness).queues(caller=USER, include_system=False)
    found = {queue.path for queue in next(parts)}
    gone = harness.qm.find_queue(rf".\private$\q{3 * LIST_STEP - 1}")
    harness.qm.delete_queue(gone, caller=USER)
    harness.create(r".\private$\new")
    for part in parts:
        assert found.isdisjoint(queue.path for queue in part)
        found |= {queue.path for queue in part}
    expected = {rf"QM\private$\q{number}" for number in range(3 * LIST_STEP - 1)}
    assert expected <= found
    assert rf"QM\{gone.path}" not in found


def test_outgoing_queues_and_transactions_are_listed_in_steps(harness: Harness) -> None:
    for number in range(LIST_STEP + 1):
        harness.open(SEND, rf"DIRECT=TCP:10.0.0.1\private$\q{number}")
        harness.qm.traffic.begin(UUID(int=number + 1))
    outgoing = list(management_of(harness).outgoing(caller=ADMINISTRATOR))
    assert [len(part) for part in outgoing] == [LIST_STEP, 1]
    transactions = management_of(harness).transactions(caller=ADMINISTRATOR)
    first = next(transactions)
    harness.qm.traffic.abort(UUID(int=LIST_STEP + 1))
    assert len(first) == LIST_STEP
    assert list(transactions) == [[]]


# Checks


def test_queues_that_the_caller_may_not_see_are_left_out(harness: Harness) -> None:
    harness.create(r".\private$\seen")
    harness.create(r".\private$\hidden")
    management = management_of(harness)
    management.change_queue_permissions(
        r".\private$\hidden",
        PermissionChange.DENY,
        "user:bob",
        ["get-properties"],
        caller=USER,
        accounts=ACCOUNTS,
    )
    (part,) = management.queues(caller=STRANGER, include_system=False)
    assert [queue.path for queue in part] == [r"QM\private$\seen"]
    with pytest.raises(AccessDenied, match="needs the right get-properties"):
        management.queue(r".\private$\hidden", caller=STRANGER, accounts=ACCOUNTS)


def test_permissions_are_shown_to_those_who_may_read_them(harness: Harness) -> None:
    harness.create()
    management = management_of(harness)
    shown = management.queue(ORDERS, caller=STRANGER, accounts=ACCOUNTS).permissions
    assert shown is not None
    assert "everyone" in {entry.principal for entry in shown}
    management.change_queue_permissions(
        ORDERS,
        PermissionChange.DENY,
        "user:bob",
        ["get-permissions"],
        caller=USER,
        accounts=ACCOUNTS,
    )
    details = management.queue(ORDERS, caller=STRANGER, accounts=ACCOUNTS)
    assert details.permissions is None
    assert details.path == r"QM\private$\orders"


def test_queues_of_the_system_have_no_permissions_of_their_own(harness: Harness) -> None:
    details = management_of(harness).queue(";deadletter", caller=USER, accounts=ACCOUNTS)
    assert details.permissions == ()


def test_a_queue_that_is_not_there_is_refused(harness: Harness) -> None:
    with pytest.raises(QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        management_of(harness).queue(ORDERS, caller=USER, accounts=ACCOUNTS)


def test_a_right_of_the_queue_manager_counts_at_once_and_after_a_restart(harness: Harness) -> None:
    def grant(change: PermissionChange) -> None:
        management_of(harness).change_permissions(
            change, "user:bob", ["peek-deadletter"], caller=ADMINISTRATOR, accounts=ACCOUNTS
        )

    with pytest.raises(AccessDenied) as refused:
        management_of(harness).sessions(caller=STRANGER)
    assert "openmsmq machine grant user:bob peek-deadletter" in remedy(refused.value)
    grant(PermissionChange.GRANT)
    assert list(management_of(harness).sessions(caller=STRANGER)) == []
    harness.restart()
    assert list(management_of(harness).sessions(caller=STRANGER)) == []
    grant(PermissionChange.REVOKE)
    with pytest.raises(AccessDenied):
        management_of(harness).sessions(caller=STRANGER)


def remedy(error: AccessDenied) -> str:
    assert isinstance(error, RightMissing)
    return error.named("user:bob").known_remedy


def test_an_unprotected_queue_manager_has_no_permissions(harness: Harness) -> None:
    harness.qm.state.manager.security = b""
    assert management_of(harness).permissions(caller=USER, accounts=ACCOUNTS) == ()


# Records


def test_details_are_the_record_of_lists_and_permissions() -> None:
    names = [field.name for field in fields(QueueInfo)]
    assert [field.name for field in fields(QueueDetails)] == [*names, "permissions"]


def test_a_transaction_shows_what_is_in_it(harness: Harness) -> None:
    harness.create(transactional=True)
    first = harness.qm.traffic.begin(UUID(int=6))
    harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(b"1"), packet(b"2")], first)
    harness.qm.traffic.commit(first.identifier)
    identifier = UUID(int=7)
    transaction = harness.qm.traffic.begin(identifier)
    harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(b"3")], transaction)
    reader = harness.open(RECEIVE)
    harness.qm.traffic.dequeue_many(reader, transaction=transaction)
    harness.advance(3)
    ((info,),) = management_of(harness).transactions(caller=ADMINISTRATOR)
    assert info.id == f"{{{str(identifier).upper()}}}"
    assert (info.state, info.age_seconds) == ("active", 3)
    assert (info.sent, info.received, info.moved) == (1, 1, 0)


def test_a_transaction_in_doubt_is_counted_until_it_is_decided(harness: Harness) -> None:
    harness.create(transactional=True)
    identifier = UUID(int=7)
    transaction = harness.qm.traffic.begin(identifier)
    harness.qm.traffic.enqueue_many(harness.open(SEND), [packet(b"1")], transaction)
    harness.qm.traffic.prepare(identifier, single_phase=False)
    assert status(harness) == (1, 1)
    harness.restart()
    assert status(harness) == (1, 1)
    ((info,),) = management_of(harness).transactions(caller=ADMINISTRATOR)
    assert (info.state, info.age_seconds, info.sent) == ("prepared", None, 1)
    harness.qm.traffic.commit(identifier)
    assert status(harness) == (0, 0)
    counters = management_of(harness).status(PROCESS, caller=USER).counters
    assert counters['msmq_transactions_total{outcome="committed"}'] == 1


def status(harness: Harness) -> tuple[int, int]:
    shown = management_of(harness).status(PROCESS, caller=USER)
    return shown.transactions, shown.in_doubt_transactions


def test_packets_of_messages_that_left_are_read_to_name_them(harness: Harness) -> None:
    harness.create()
    sent = harness.send(b"1", delivery_mode=1)
    express = harness.send(b"2", delivery_mode=0)
    harness.flush()
    messages = [*sent.messages, *express.messages]
    kept = [message.packet for message in messages]
    for message in messages:
        message.packet = None
    read = management_of(harness).read_packets(messages)
    assert read[0] == kept[0] or kept[0] is None
    assert read[0] is not None
    assert read[1] is None

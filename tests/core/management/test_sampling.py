"""Samples: totals, queues that changed, deleted queues, dead letters by class."""

from array import array
from typing import Any

import pytest
from tests.core.harness import ADMINISTRATOR, RECEIVE, USER, Harness, refused
from tests.protocol.local.fake_service import METRICS, PROCESS

from openmsmq.core.management.sample_records import COLUMNS
from openmsmq.core.model import change_marks
from openmsmq.core.model.read import Read
from openmsmq.core.queues.acceptance import count_refused

OTHER = r".\private$\other"
PATH = "private$\\orders"


def sample(harness: Harness, since: int = 0) -> list[Any]:
    parts = harness.qm.management.sample(since, PROCESS, METRICS, caller=ADMINISTRATOR)
    return [each for part in parts for each in part]


def rows(parts: list[Any]) -> dict[int, dict[str, float]]:
    """The queues of a sample by number."""
    found: dict[int, dict[str, float]] = {}
    for part in parts:
        if part.part == "queues":
            columns = {name: array(code, part.columns[name]) for name, code in COLUMNS.items()}
            for row, number in enumerate(columns["number"]):
                found[number] = {name: column[row] for name, column in columns.items()}
    return found


def names(parts: list[Any]) -> dict[str, int]:
    return {
        path: number
        for part in parts
        if part.part == "queues"
        for path, number in zip(part.new.path, part.new.number, strict=True)
    }


def test_a_first_sample_has_everything(harness: Harness) -> None:
    sent = harness.send(b"1", b"22")
    parts = sample(harness)
    head = parts[0]
    assert (head.part, head.complete, head.removed) == ("head", True, [])
    assert head.status.messages == 2
    orders = rows(parts)[names(parts)[PATH]]
    assert (orders["messages"], orders["arrived_messages"]) == (2, 2)
    assert orders["bytes"] == orders["arrived_bytes"] == sum(m.size for m in sent.messages)
    assert orders["oldest_arrived"] == sent.messages[0].arrived
    counts = {(name, labels): count for name, _, labels, count in head.counts}
    assert counts["msmq_dead_letters_total", ("NACK_Q_PURGED",)] == 0


def test_a_refusal_is_in_the_next_sample(harness: Harness) -> None:
    since = sample(harness)[0].number
    assert rows(sample(harness, since)) == {}
    queue = harness.qm.find_queue(r".\private$\orders")
    count_refused(harness.qm.state, queue, "NACK_Q_EXCEED_QUOTA", 2)
    count_refused(harness.qm.state, queue, "NACK_ACCESS_DENIED", 1)
    count_refused(harness.qm.state, queue, "NACK_Q_EXCEED_QUOTA", 1)
    parts = sample(harness, since)
    assert rows(parts)[queue.number]["last_refused"] == harness.utc
    assert [part.refused for part in parts if part.part == "queues"] == [
        [(queue.number, "NACK_Q_EXCEED_QUOTA", 3), (queue.number, "NACK_ACCESS_DENIED", 1)]
    ]


def test_later_samples_have_only_what_changed(harness: Harness) -> None:
    harness.create(OTHER)
    first = sample(harness)
    number = names(first)[PATH]
    assert rows(sample(harness, first[0].number)) == {}
    harness.send(b"1")
    changed = sample(harness, first[0].number)
    assert (changed[0].complete, list(rows(changed)), names(changed)) == (False, [number], {})
    harness.create(r".\private$\third")
    third = sample(harness, changed[0].number)
    assert list(names(third)) == ["private$\\third"]


def test_what_is_open_or_locked_is_in_every_sample_and_once_after_it(harness: Harness) -> None:
    harness.send(b"1")
    before = sample(harness)
    number = names(before)[PATH]
    reader = harness.open(RECEIVE)
    locked = harness.qm.traffic.dequeue_many(reader, two_phase=True, timeout=0.0)
    assert isinstance(locked, Read)
    held = sample(harness, before[0].number)
    assert rows(held)[number]["locked_messages"] == 1
    assert rows(held)[number]["readers"] == 1
    harness.qm.traffic.end_many(reader, [m.lookup_id for m in locked.messages], delete=False)
    harness.qm.close_queue(reader)
    after = sample(harness, held[0].number)
    assert rows(after)[number]["locked_messages"] == rows(after)[number]["readers"] == 0
    assert rows(sample(harness, after[0].number)) == {}


def test_receives_aborts_and_purges_are_counted(harness: Harness) -> None:
    harness.create(OTHER, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", b"2", name=OTHER, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    reader = harness.open(RECEIVE, OTHER)
    for end in (harness.qm.traffic.abort, harness.qm.traffic.commit):
        transaction = harness.qm.traffic.begin(harness.guid())
        harness.qm.traffic.dequeue_many(reader, max_count=1, transaction=transaction, timeout=0.0)
        end(transaction.identifier)
    harness.qm.traffic.purge(reader)
    parts = sample(harness)
    queue = rows(parts)[names(parts)["private$\\other"]]
    assert (queue["aborted_messages"], queue["received_messages"]) == (1, 1)
    assert queue["last_received"] == harness.qm.utc
    deleted = [each for part in parts if part.part == "queues" for each in part.deleted]
    assert [(reason, count) for _, reason, count in deleted] == [("NACK_Q_PURGED", 1)]


def test_deleted_queues_are_named_and_forgotten_ones_mean_everything(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.create(OTHER)
    first = sample(harness)
    number = names(first)["private$\\other"]
    harness.qm.delete_queue(harness.qm.find_queue(OTHER), caller=USER)
    assert number in sample(harness, first[0].number)[0].removed
    monkeypatch.setattr(change_marks, "MAX_REMOVED", 1)
    for _ in range(3):
        harness.create(OTHER)
        harness.qm.delete_queue(harness.qm.find_queue(OTHER), caller=USER)
    late = sample(harness, first[0].number)
    assert late[0].complete
    assert PATH in names(late)


def test_dead_letters_are_counted_by_class(harness: Harness) -> None:
    harness.send(b"1", b"2", time_to_be_received=5, negative_journaling=True)
    harness.advance(5)
    for _ in range(2):
        found = {
            part.queue: part.classes for part in sample(harness) if part.part == "dead letters"
        }
        assert all("NACK_Q_PURGED" in classes for classes in found.values())
        letters = {
            queue: {name: count for name, count in classes.items() if count}
            for queue, classes in found.items()
        }
        state = harness.qm.state
        assert letters[state.deadletter.path] == {"NACK_RECEIVE_TIMEOUT": 2}
        assert letters[state.xact_deadletter.path] == {}


def test_only_administrators_watch_everything(harness: Harness) -> None:
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.management.sample(0, PROCESS, METRICS, caller=USER)

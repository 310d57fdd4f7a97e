"""The history of received messages, alone."""

from tests.core.harness import Harness

from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.incoming.message_history import MessageIDHistory


def identifiers(*numbers: int) -> list[bytes]:
    return [bytes(16) + number.to_bytes(4, "little") for number in numbers]


def rows(harness: Harness) -> dict[bytes, bytes]:
    harness.flush()
    found = harness.store.recover(None).rows
    return {key: value for table, key, value in found if table == Table.HISTORY}


def test_only_recoverable_messages_are_stored() -> None:
    harness = Harness()
    history = MessageIDHistory()
    history.add(harness.qm.state, identifiers(1, 2), stored=True)
    history.add(harness.qm.state, identifiers(3), stored=False)
    history.add(harness.qm.state, [], stored=True)
    recovered = MessageIDHistory()
    recovered.recover(rows(harness))
    assert [each in history for each in identifiers(1, 2, 3, 4)] == [True, True, True, False]
    assert [each in recovered for each in identifiers(1, 2, 3)] == [True, True, False]
    assert len(recovered) == 2


def test_the_oldest_go_first_with_their_rows() -> None:
    harness = Harness()
    history = MessageIDHistory(size=3)
    for numbers in ((1, 2), (3,), (4, 1)):
        history.add(harness.qm.state, identifiers(*numbers), stored=True)
    assert [each in history for each in identifiers(1, 2, 3, 4)] == [True, False, True, True]
    assert len(rows(harness)) == 2


def test_one_read_may_be_larger_than_the_history() -> None:
    harness = Harness()
    history = MessageIDHistory(size=1)
    history.add(harness.qm.state, identifiers(1, 2, 3), stored=True)
    assert len(history) == 3


def test_numbers_of_rows_are_not_used_again_after_a_restart() -> None:
    harness = Harness()
    history = MessageIDHistory()
    history.add(harness.qm.state, identifiers(1), stored=True)
    recovered = MessageIDHistory()
    recovered.recover(rows(harness))
    recovered.add(harness.qm.state, identifiers(2), stored=True)
    assert len(rows(harness)) == 2


def test_old_entries_are_cleaned_away() -> None:
    harness = Harness()
    history = MessageIDHistory()
    history.add(harness.qm.state, identifiers(1), stored=True)
    harness.advance(10)
    history.add(harness.qm.state, identifiers(2), stored=True)
    history.clean(harness.qm.state, 5)
    assert [each in history for each in identifiers(1, 2)] == [False, True]
    assert len(rows(harness)) == 1

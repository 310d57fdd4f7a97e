"""The record of a message, with what only few messages have."""

import pytest
from tests.core.harness import Harness

from openmsmq.core.model.message import (
    HISTORY_FIELDS,
    RECORD_SIZE,
    History,
    parse_history,
    record_of,
)

# What a message has in one place only: a lock, a number in a sequence.
OF_PLACE = {
    "transaction",
    "tx_sequence_id",
    "tx_sequence_number",
    "awaiting_final_ack",
    "allow_peek_when_locked",
}


def full_history() -> History:
    """A history of which no field has its default."""
    history = History()
    for number, name in enumerate(HISTORY_FIELDS, 1):
        kind = type(getattr(history, name))
        setattr(history, name, f"queue {number}" if kind is str else kind(number))
    return history


def values(history: History) -> dict[str, object]:
    return {name: getattr(history, name) for name in HISTORY_FIELDS}


def test_the_next_place_knows_all_but_what_belongs_to_the_last() -> None:
    before, new = values(full_history()), values(History())
    assert all(before[name] != new[name] for name in HISTORY_FIELDS)
    expected = {name: (new if name in OF_PLACE else before)[name] for name in HISTORY_FIELDS}
    assert values(full_history().copy()) == expected


def test_a_record_keeps_everything_that_outlasts_a_start(harness: Harness) -> None:
    (message,) = harness.send(b"1").messages
    assert len(record_of(message)) == RECORD_SIZE
    message.history = full_history()
    expected = values(message.history) | {"allow_peek_when_locked": False}
    assert values(parse_history(record_of(message))) == expected


def test_a_history_has_no_further_fields() -> None:
    with pytest.raises(AttributeError):
        History().further = 1  # type: ignore[attr-defined]

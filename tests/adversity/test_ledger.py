"""The ledger finds what a crash must not do; a test that cannot fail proves nothing."""

import pytest
from tests.adversity.ledger import GONE, Ledger

A, B, C = b"a", b"b", b"c"


def sent(*bodies: bytes) -> Ledger:
    ledger = Ledger()
    ledger.done(ledger.begin(list(bodies), GONE, "queue"))
    return ledger


def test_what_was_acknowledged_is_there() -> None:
    sent(A, B).check({"queue": [A, B]})


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        ({"queue": [A]}, "lost"),
        ({"queue": [A, B, A]}, "is in queue and in queue"),
        ({"queue": [A, B], "other": [B]}, "is in queue and in other"),
        ({"queue": [A], "other": [B]}, "but queue was acknowledged"),
        ({"queue": [A, B, C]}, "nobody sent"),
    ],
)
def test_losses_and_repetitions_are_found(found: dict[str, list[bytes]], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        sent(A, B).check(found)


@pytest.mark.parametrize("found", [[A, B], [A]])
def test_a_change_without_an_answer_happened_or_not(found: list[bytes]) -> None:
    ledger = sent(A)
    ledger.begin([B], GONE, "queue")
    ledger.check({"queue": found})
    ledger.check({"queue": found})


def test_half_a_change_is_found() -> None:
    ledger = Ledger()
    ledger.begin([A, B], GONE, "queue")
    with pytest.raises(AssertionError, match="half a change"):
        ledger.check({"queue": [A]})


def test_a_change_to_somewhere_else_is_found() -> None:
    ledger = sent(A)
    ledger.begin([A], "queue", "other")
    with pytest.raises(AssertionError, match="but queue was acknowledged"):
        ledger.check({"third": [A]})


def test_a_removal_that_was_acknowledged_is_final() -> None:
    ledger = sent(A)
    ledger.done(ledger.begin([A], "queue", GONE))
    with pytest.raises(AssertionError, match="nobody sent"):
        ledger.check({"queue": [A]})


def test_a_refused_change_did_not_happen() -> None:
    ledger = sent(A)
    ledger.refused(ledger.begin([A], "queue", "other"))
    with pytest.raises(AssertionError, match="but queue was acknowledged"):
        ledger.check({"other": [A]})


def test_what_was_shown_is_there_though_its_sender_heard_nothing() -> None:
    ledger = Ledger()
    ledger.begin([A, B], GONE, "queue")
    ledger.seen([A], "queue")
    with pytest.raises(AssertionError, match="lost"):
        ledger.check({"queue": [A]})


def test_one_of_two_who_want_the_same_message_gets_it() -> None:
    ledger = sent(A, B)
    take = ledger.begin([A], "queue", GONE)
    move = ledger.begin([A, B], "queue", "other")
    ledger.done(take)
    ledger.refused(move)
    ledger.check({"queue": [B]})


def test_a_change_whose_message_was_taken_did_not_happen() -> None:
    ledger = sent(A, B)
    ledger.begin([A, B], "queue", "other")
    ledger.done(ledger.begin([A], "queue", GONE))
    ledger.check({"queue": [B]})
    ledger = sent(A, B)
    ledger.begin([A, B], "queue", "other")
    ledger.done(ledger.begin([A], "queue", GONE))
    with pytest.raises(AssertionError, match="half a change"):
        ledger.check({"other": [B]})


def test_names_and_numbers_are_used_once() -> None:
    ledger = Ledger()
    ledger.named(A, 1)
    ledger.named(A, 1)
    with pytest.raises(AssertionError, match="lookup id 1"):
        ledger.named(B, 1)
    ledger.numbered(A, 7)
    with pytest.raises(AssertionError, match="message 7"):
        ledger.numbered(B, 7)
    with pytest.raises(AssertionError, match="is now 8"):
        ledger.numbered(A, 8)

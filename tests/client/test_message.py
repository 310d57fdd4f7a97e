"""Messages to send, and their words."""

import pytest

from openmsmq.client.message import (
    ACKNOWLEDGE_WORDS,
    Message,
    acknowledge_flags,
    correlation_bytes,
)
from openmsmq.wire.limits import DEFAULT_TIME_TO_REACH_QUEUE

IDENTIFIER = r"{11111111-2222-3333-4444-555555555555}\7"


def test_body_and_label_may_be_given_by_position_and_nothing_else() -> None:
    message = Message(b"body", "label")
    assert (message.body, message.label) == (b"body", "label")
    with pytest.raises(TypeError):
        Message(b"body", "label", 8)  # type: ignore[call-arg] # what the test is about


def test_the_defaults_are_those_of_message_queuing() -> None:
    message = Message()
    assert (message.priority, message.delivery) == (3, "express")
    assert message.time_to_reach_queue == DEFAULT_TIME_TO_REACH_QUEUE
    assert message.time_to_be_received is None


def test_a_long_body_is_shown_short() -> None:
    assert repr(Message("x" * 1000, "label")) == f"Message(label='label', body='{'x' * 56}...)"
    assert repr(Message(7)) == "Message(label='', body=7)"


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("none", 0),
        ("arrival", 0x05),
        ("receive", 0x0E),
        ("full", 0x0F),
        ("positive-arrival, positive-receive", 0x03),
        (5, 5),
    ],
)
def test_acknowledgments_are_asked_for_in_words(words: str | int, flags: int) -> None:
    assert acknowledge_flags(words) == flags


def test_an_unknown_word_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"'soon' must be one of {', '.join(ACKNOWLEDGE_WORDS)}"):
        acknowledge_flags("arrival,soon")


def test_a_correlation_id_is_text_or_bytes() -> None:
    raw = correlation_bytes(IDENTIFIER)
    assert len(raw) == 20
    assert correlation_bytes(raw) == raw


@pytest.mark.parametrize("value", ["", "7", bytes(19), bytes(21)])
def test_a_correlation_id_of_another_form_is_refused(value: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"correlation_id|not a message identifier"):
        correlation_bytes(value)

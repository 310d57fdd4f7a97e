"""What to do about failures, without Spark."""

import pytest

from openmsmq.care.reasons import remedy
from openmsmq.wire.codes.message_class import MEANINGS, MessageClass, is_negative

FAILURES = [code for code in MessageClass if is_negative(code)]


@pytest.mark.parametrize("code", FAILURES, ids=lambda code: code.name)
def test_every_failure_has_a_cause_and_an_action_of_its_own(code: MessageClass) -> None:
    known = remedy(code)
    assert MEANINGS[code] in known.reason
    assert known.cause.endswith(".")
    assert known.action.endswith(".")
    assert known.cause != remedy(0).cause


def test_a_dead_letter_without_a_reason_says_so() -> None:
    assert remedy(0).reason == "without a reason (MQMSG_CLASS_NORMAL)"


def test_unknown_classes_and_answers_of_web_servers_are_told() -> None:
    assert "0x8099" in remedy(0x8099).reason
    assert remedy(0xA000 | 404).cause == "The web server answered with status 404."


def test_sending_again_what_would_fail_again_is_not_advised() -> None:
    assert not remedy(MessageClass.NACK_MESSAGE_TOO_LARGE).replay
    assert remedy(MessageClass.NACK_REACH_QUEUE_TIMEOUT).replay


def test_what_fails_until_it_is_mended_is_not_for_a_retry_now() -> None:
    missing = remedy(MessageClass.NACK_BAD_DST_Q)
    assert missing.replay
    assert not missing.retry_now
    assert remedy(MessageClass.NACK_RECEIVE_TIMEOUT).retry_now
    assert not remedy(MessageClass.NACK_Q_PURGED).retry_now

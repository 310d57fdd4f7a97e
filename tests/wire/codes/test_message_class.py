"""[MS-MQMQ] 2.2.18.1.6."""

import pytest

from openmsmq.wire.codes.message_class import (
    INSECURE_NACKS,
    MEANINGS,
    MessageClass,
    class_name,
    http_status,
    is_acknowledgment,
    is_application_class,
    is_negative,
    is_receive_stage,
)


@pytest.mark.parametrize(
    ("codes", "names"),
    [
        pytest.param(
            (0x0000, 0x0001, 0x0002, 0x4000),
            "NORMAL REPORT ACK_REACH_QUEUE ACK_RECEIVE",
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.31-10"),
        ),
        pytest.param(
            (*range(0x8000, 0x8008), 0x8009, 0x800A, 0x800B),
            "NACK_BAD_DST_Q NACK_DELETED NACK_REACH_QUEUE_TIMEOUT NACK_Q_EXCEED_QUOTA "
            "NACK_ACCESS_DENIED NACK_HOP_COUNT_EXCEEDED NACK_BAD_SIGNATURE NACK_BAD_ENCRYPTION "
            "NACK_NOT_TRANSACTIONAL_Q NACK_NOT_TRANSACTIONAL_MSG NACK_UNSUPPORTED_CRYPTO_PROVIDER",
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.31-11"),
        ),
        pytest.param(
            (0xC000, 0xC001, 0xC002, 0xC004),
            "NACK_Q_DELETED NACK_Q_PURGED NACK_RECEIVE_TIMEOUT NACK_RECEIVE_REJECTED",
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.31-12"),
        ),
        pytest.param(
            (0x00FF, 0x8008, 0x800C, 0x800D, 0xC003),
            "ORDER_ACK NACK_COULD_NOT_ENCRYPT NACK_SOURCE_COMPUTER_GUID_CHANGED "
            "NACK_MESSAGE_TOO_LARGE NACK_RECEIVE_TIMEOUT_AT_SENDER",
        ),
    ],
)
def test_class_codes_have_their_names(codes: tuple[int, ...], names: str) -> None:
    assert [MessageClass(code).name for code in codes] == names.split()


@pytest.mark.parametrize("message_class", list(MessageClass))
def test_the_bits_agree_with_the_names(message_class: MessageClass) -> None:
    name = message_class.name
    assert is_negative(message_class) == name.startswith("NACK_")
    assert is_acknowledgment(message_class) == name.startswith(("NACK_", "ACK_"))
    assert class_name(message_class) == f"MQMSG_CLASS_{name}"
    assert is_application_class(message_class)


def test_the_receive_stage_comes_after_arrival() -> None:
    assert is_receive_stage(MessageClass.ACK_RECEIVE)
    assert is_receive_stage(MessageClass.NACK_RECEIVE_TIMEOUT)
    assert not is_receive_stage(MessageClass.ACK_REACH_QUEUE)
    assert not is_receive_stage(MessageClass.NACK_REACH_QUEUE_TIMEOUT)


def test_every_class_has_a_meaning() -> None:
    assert set(MEANINGS) == set(MessageClass)


def test_an_application_keeps_to_the_mask() -> None:
    assert is_application_class(0xE1FF)
    assert not is_application_class(0x0200)


def test_an_http_status_is_carried_in_the_class() -> None:
    assert http_status(0xA000 | 404) == 404
    assert http_status(MessageClass.NACK_BAD_DST_Q) is None


def test_a_class_without_a_name_is_shown_in_digits() -> None:
    assert class_name(0xE123) == "0xE123"
    assert not is_acknowledgment(0x0123)


def test_these_failures_would_tell_strangers_too_much() -> None:
    assert {int(c) for c in INSECURE_NACKS} == {0x8000, 0x8004, 0x8006, 0x8007, 0x800B}

"""[MC-MQAC] 2.2.2, [MS-MQMQ] 2.2.19.3, 2.2.20.6."""

import pytest

from openmsmq.wire.codes.message_enums import (
    Acknowledgment,
    Authenticated,
    AuthenticationLevel,
    Delivery,
    Journal,
    PrivacyLevel,
    SenderIdType,
    Trace,
)


@pytest.mark.spec("MQDMPR-3.1.7.1.31-14")
def test_privacy_level_codes() -> None:
    assert [PrivacyLevel(code).name for code in (0, 1, 3, 5)] == [
        "NONE",
        "BODY_BASE",
        "BODY_ENHANCED",
        "BODY_AES",
    ]
    assert len(PrivacyLevel) == 4


@pytest.mark.spec("MQDMPR-3.1.7.1.31-20")
def test_sender_identifier_type_codes() -> None:
    assert [SenderIdType(code).name for code in range(3)] == ["NONE", "SID", "QM"]


def test_an_acknowledgment_is_a_sum_of_four_wishes() -> None:
    assert [int(flag) for flag in Acknowledgment] == [1, 2, 4, 8]
    assert [flag.name for flag in Acknowledgment.FULL_REACH_QUEUE] == ["POS_ARRIVAL", "NEG_ARRIVAL"]
    assert [flag.name for flag in Acknowledgment.NACK_REACH_QUEUE] == ["NEG_ARRIVAL"]
    assert [flag.name for flag in Acknowledgment.NACK_RECEIVE] == ["NEG_ARRIVAL", "NEG_RECEIVE"]
    assert [flag.name for flag in Acknowledgment.FULL_RECEIVE] == [
        "POS_RECEIVE",
        "NEG_ARRIVAL",
        "NEG_RECEIVE",
    ]


def test_the_other_codes_have_their_published_values() -> None:
    assert [int(code) for code in Delivery] == [0, 1]
    assert [int(flag) for flag in Journal] == [1, 2]
    assert [int(code) for code in Trace] == [0, 1]
    assert [int(flag) for flag in AuthenticationLevel] == [1, 2, 4, 8]
    assert [int(code) for code in Authenticated] == [0, 1, 3, 5, 9, 11]

"""[MC-MQAC] 2.2.2, [MS-MQMQ] 2.3.1.12, 2.3.12."""

import pytest

from openmsmq.wire.codes.queue_enums import (
    AccessMode,
    ConnectionStatus,
    LookupAction,
    QueuePrivacyLevel,
    QueueState,
    ReceiveAction,
    ShareMode,
    TransactionArgument,
)


def test_access_modes_combine() -> None:
    assert AccessMode.ADMIN | AccessMode.PEEK == 0xA0
    assert AccessMode.ADMIN | AccessMode.RECEIVE == 0x81
    assert [int(flag) for flag in AccessMode] == [0x01, 0x02, 0x04, 0x20, 0x80]


@pytest.mark.parametrize("action", list(LookupAction))
def test_a_lookup_action_says_in_its_bits_what_and_where(action: LookupAction) -> None:
    what, _, where = action.name.partition("_")
    assert action & 0x40000000
    assert action & 0xF0 == {"PEEK": 0x10, "RECEIVE": 0x20}[what]
    assert action & 0xF == {"NEXT": 1, "PREV": 2, "FIRST": 4, "LAST": 8}.get(where, 0)
    assert bool(action & 0x100) == (where == "ALLOW_PEEK")


def test_failures_of_a_connection_have_the_upper_bit() -> None:
    failures = [status for status in ConnectionStatus if status > 2]
    assert [int(status) for status in failures] == list(range(0x80000000, 0x8000000E))
    assert ConnectionStatus(0x80000009).name == "CERTIFICATE_VALIDATION_FAILURE"


def test_the_words_of_a_queue_state_have_blanks() -> None:
    assert QueueState("NEED VALIDATION") is QueueState.NEED_VALIDATION
    assert [state.replace(" ", "_") for state in QueueState] == [s.name for s in QueueState]


def test_the_other_codes_have_their_published_values() -> None:
    assert [int(code) for code in QueuePrivacyLevel] == [0, 1, 2]
    assert [int(code) for code in ShareMode] == [0, 1]
    assert [int(code) for code in ReceiveAction] == [0, 0x80000000, 0x80000001]
    assert [int(code) for code in TransactionArgument] == [0, 1, 2, 3]

"""Waiting for a queue manager."""

import ssl
from socket import gaierror

import pytest

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.patience import FIRST_PAUSE, LONGEST_PAUSE, Patience, may_start


def test_pauses_grow_up_to_a_limit() -> None:
    patience = Patience(None, 0.0)
    pauses = [patience.next_pause(0.0) for _ in range(10)]
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_the_last_pause_ends_with_the_time() -> None:
    patience = Patience(0.06, 100.0)
    assert patience.next_pause(100.0) == FIRST_PAUSE
    assert patience.next_pause(100.05) == pytest.approx(0.01)
    assert patience.next_pause(100.06) is None
    assert Patience(0.0, 100.0).next_pause(100.0) is None


@pytest.mark.parametrize(
    ("cause", "may"),
    [
        (FileNotFoundError(), True),
        (ConnectionRefusedError(), True),
        (TimeoutError(), True),
        (gaierror(), True),
        (PermissionError(), False),
        (ssl.SSLCertVerificationError(), False),
        (None, False),
    ],
)
def test_waiting_helps_only_where_nobody_listens_yet(cause: Exception | None, *, may: bool) -> None:
    error = ConnectionLost("nobody")
    error.__cause__ = cause
    assert may_start(error) is may

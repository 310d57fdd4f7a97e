"""Requests with an Idempotency-Key, of which each takes effect once."""

from datetime import UTC, datetime, timedelta

import pytest
from starlette.responses import Response

from openmsmq.admin.api.repeats import KEPT_BYTES, KEPT_KEYS, Repeats, RequestKey
from openmsmq.admin.trust.audit import Entry
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.client.errors import ConnectionLost

KEY = RequestKey("key", "request")


def entry(result: str, *, minutes: int = 0, job: str = "") -> Entry:
    return Entry(
        number=1,
        time=(datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(),
        principal="user:ann",
        credential="ann",
        role="operator",
        address="",
        action="send_message",
        result=result,
        key=KEY.text,
        job=job,
    )


def refusal(repeats: Repeats, key: RequestKey = KEY) -> str:
    with pytest.raises(Problem) as refused:
        repeats.answer(key)
    return refused.value.record.name


def test_the_first_request_runs_and_the_next_ones_get_its_answer() -> None:
    repeats, response = Repeats([]), Response(b"{}")
    assert repeats.answer(KEY) is None
    assert refusal(repeats) == "REQUEST_RUNS"
    repeats.done(KEY, response)
    assert repeats.answer(KEY) is response
    assert refusal(repeats, RequestKey(KEY.key, "another request")) == "KEY_USED"


@pytest.mark.parametrize(
    "error",
    [
        problem_of(ConnectionLost("gone"), changing=True),
        RuntimeError("failed"),
        KeyboardInterrupt(),
    ],
)
def test_what_may_be_done_all_the_same_is_not_done_again(error: BaseException) -> None:
    repeats = Repeats([])
    repeats.answer(KEY)
    repeats.failed(KEY, error)
    assert refusal(repeats) == "REQUEST_UNCERTAIN"


def test_what_was_refused_may_be_tried_again() -> None:
    repeats = Repeats([])
    repeats.answer(KEY)
    repeats.failed(KEY, Problem(404, "There is none."))
    assert repeats.answer(KEY) is None


@pytest.mark.parametrize(
    ("noted", "name"),
    [
        ([entry("begun")], "REQUEST_UNCERTAIN"),
        ([entry("begun"), entry("failed")], "REQUEST_UNCERTAIN"),
        ([entry("begun"), entry("MQ_ERROR_SERVICE_NOT_AVAILABLE")], "REQUEST_UNCERTAIN"),
        ([entry("begun"), entry("done")], "REQUEST_DONE"),
        ([entry("begun"), entry("begun", job="7")], "REQUEST_DONE"),
        ([entry("begun"), entry("begun", job="7"), entry("stopped", job="7")], "REQUEST_DONE"),
    ],
)
def test_the_audit_log_says_what_became_of_a_request(noted: list[Entry], name: str) -> None:
    assert refusal(Repeats(noted)) == name


@pytest.mark.parametrize(
    "noted",
    [
        [],
        [entry("begun"), entry("MQ_ERROR_QUEUE_NOT_FOUND")],
        [entry("begun", minutes=61), entry("done", minutes=61)],
    ],
)
def test_a_request_that_was_refused_or_is_long_ago_runs(noted: list[Entry]) -> None:
    assert Repeats(noted).answer(KEY) is None


def test_answers_and_keys_are_bounded() -> None:
    repeats = Repeats([])
    keys = [RequestKey(f"{number}", "") for number in range(KEPT_KEYS + 1)]
    for key in keys[:3]:
        repeats.answer(key)
        repeats.done(key, Response(bytes(KEPT_BYTES // 2)))
    assert refusal(repeats, keys[0]) == "REQUEST_DONE"
    assert repeats.answer(keys[2]) is not None
    for key in keys[3:]:
        repeats.answer(key)
    assert repeats.answer(keys[0]) is None

"""Failures on stderr."""

import pytest
import typer

from openmsmq.cli.failure import Refusal, failure_of, report, reporting
from openmsmq.client.errors import ConnectionLost
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError, StoreError


def test_a_refusal_says_name_code_what_why_and_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report("queue show", QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, r".\private$\nothing"))
    captured = capsys.readouterr()
    assert captured.out == ""
    said, cause, remedy = captured.err.splitlines()
    assert said == (
        r"openmsmq queue show: MQ_ERROR_QUEUE_NOT_FOUND (0xC00E0003): .\private$\nothing"
    )
    assert cause.startswith("Likely cause: The name is misspelt, the queue was deleted, or it ")
    assert remedy.startswith("Remedy: Compare the name with `openmsmq queue list`; ")


def test_a_refusal_without_detail_says_what_the_code_means() -> None:
    failure = failure_of(QueueError(Hresult.MQ_ERROR_ACCESS_DENIED))
    assert failure.detail == "You do not have the right to do this."


@pytest.mark.parametrize(
    ("error", "name", "detail"),
    [
        (
            ConnectionLost("no queue manager answers at /s: gone", remedy="Start one with `x`."),
            "MQ_ERROR_SERVICE_NOT_AVAILABLE",
            "no queue manager answers at /s: gone",
        ),
        (
            ConnectionLost("it hung up. Whether messages arrived is not known."),
            "MQ_ERROR_SERVICE_NOT_AVAILABLE",
            "it hung up. Whether messages arrived is not known.",
        ),
        (StoreError("log: full"), "MQ_ERROR_MESSAGE_STORAGE_FAILED", "log: full"),
        (ConfigError("address: wrong"), "MQ_ERROR_INVALID_PARAMETER", "address: wrong"),
        (MsmqError("something"), "MQ_ERROR", "something"),
    ],
)
def test_errors_without_a_code_get_the_one_that_fits(
    error: MsmqError, name: str, detail: str
) -> None:
    failure = failure_of(error)
    assert (failure.name, failure.detail) == (name, detail)
    assert failure.cause
    assert failure.remedy


@pytest.mark.parametrize(
    "code", [Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, Hresult.MQ_ERROR_ILLEGAL_FORMATNAME]
)
def test_a_name_that_a_shell_may_have_changed_is_to_be_quoted(code: int) -> None:
    assert "in single quotes" in failure_of(QueueError(code, "x")).remedy


def test_a_command_may_know_cause_and_remedy_better() -> None:
    error = Refusal(
        Hresult.MQ_ERROR_INVALID_PARAMETER, "stdout is closed", cause="Because.", remedy="Open it."
    )
    failure = failure_of(error)
    assert (failure.name, failure.cause, failure.remedy) == (
        "MQ_ERROR_INVALID_PARAMETER",
        "Because.",
        "Open it.",
    )


def test_codes_that_nobody_has_published_are_shown_as_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report("send", QueueError(0xC0000017, "over there"))
    assert "0xC0000017 (0xC0000017): over there" in capsys.readouterr().err


def test_text_of_others_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    report("send", QueueError(Hresult.MQ_ERROR, "\x1b[2J"))
    assert "\x1b" not in capsys.readouterr().err


def test_a_failure_ends_the_command_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(text: str) -> None:
        raise StoreError(text)

    with pytest.raises(typer.Exit) as caught:
        reporting("send", refuse)("here")
    assert caught.value.exit_code == 1
    assert "openmsmq send: MQ_ERROR_MESSAGE_STORAGE_FAILED (0xC00E002A): here" in (
        capsys.readouterr().err
    )


def test_other_errors_are_not_hidden() -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        reporting("send", fail)()

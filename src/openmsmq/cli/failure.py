"""What went wrong, on stderr: the name of the code, the code, likely cause and remedy."""

from collections.abc import Callable
from functools import wraps
from typing import Final, NamedTuple, ParamSpec

import typer

from openmsmq.cli.output import say
from openmsmq.terminal.printable import printable
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, ExplainedError, MsmqError, StoreError

FAILED: Final = 1
NOTHING_CAME: Final = 3

P = ParamSpec("P")

_WRONG_SETTING: Final = "An option, an environment variable or a file that it names cannot be used."

# Where the catalogue speaks to programs, and somebody at a shell can be told more.
_SHELL_REMEDIES: Final[dict[int, str]] = {
    Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME: (
        r"Write it as '.\private$\NAME' or 'COMPUTER\private$\NAME', "
        "in single quotes, as shells change backslashes and $."
    ),
    Hresult.MQ_ERROR_ILLEGAL_FORMATNAME: (
        r"Write it like 'DIRECT=TCP:10.0.0.1\private$\NAME', "
        r"'DIRECT=HTTP://HOST/msmq/private$/NAME', 'PRIVATE=guid\number' or "
        "'PUBLIC=guid', in single quotes, as shells change backslashes and $."
    ),
    Hresult.MQ_ERROR_TRANSACTION_USAGE: (
        "Send with --transactional exactly when the queue is transactional; "
        "`openmsmq queue show` tells whether it is."
    ),
    Hresult.MQ_ERROR_INVALID_PARAMETER: ("Check the arguments against the --help of the command."),
}


class Refusal(QueueError):
    """A refusal by the command itself, which knows cause and remedy better than the catalogue.

    Args:
        code: the result code.
        detail: what was refused.
        cause: the likely cause, as a sentence.
        remedy: what to do, as a sentence.
    """

    def __init__(self, code: int, detail: str, *, cause: str, remedy: str) -> None:
        super().__init__(code, detail, cause=cause, remedy=remedy)


class Failure(NamedTuple):
    """What people are told."""

    name: str
    code: int
    detail: str
    cause: str
    remedy: str


class Explanation(NamedTuple):
    """What a setting that cannot be used means to a group of commands.

    A remedy that the error itself names goes before `remedy`.
    """

    code: int
    cause: str
    remedy: str

    def refusal(self, error: ConfigError) -> Refusal:
        """The error with the code, the cause and the remedy."""
        remedy = error.remedy or self.remedy
        return Refusal(self.code, error.detail, cause=self.cause, remedy=remedy)


def failure_of(error: MsmqError) -> Failure:
    """The failure that an exception stands for; one without a code gets the one that fits."""
    if isinstance(error, QueueError):
        known, detail = error, error.detail or error.text
    elif isinstance(error, ExplainedError):
        known, detail = _explained(error), error.detail
    else:
        known, detail = QueueError(Hresult.MQ_ERROR), str(error)
    remedy = known.known_remedy or _SHELL_REMEDIES.get(known.code, known.remedy)
    return Failure(known.name, known.code, detail, known.cause, remedy)


def _explained(error: ExplainedError) -> QueueError:
    """The code that fits an error without one."""
    cause, remedy = error.cause, error.remedy
    if isinstance(error, StoreError):
        code = Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED
    elif isinstance(error, ConfigError):
        code = Hresult.MQ_ERROR_INVALID_PARAMETER
        cause = cause or _WRONG_SETTING
    else:
        # Connections that are lost: the remedy for programs is no better than the catalogue's.
        code = Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE
        remedy = remedy if cause else ""
    return QueueError(code, cause=cause, remedy=remedy)


def report(command: str, error: MsmqError) -> None:
    """Tell on stderr what went wrong and what to do about it."""
    failure = failure_of(error)
    name = typer.style(f"{failure.name} (0x{failure.code:08X})", fg="red", bold=True)
    typer.echo(f"openmsmq {command}: {name}: {printable(failure.detail)}", err=True)
    say(f"Likely cause: {failure.cause}", err=True)
    say(f"Remedy: {failure.remedy}", err=True)


def reporting(
    command: str, function: Callable[P, None], explanation: Explanation | None = None
) -> Callable[P, None]:
    """The function of a command, with its failures reported and exit code 1."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except MsmqError as exc:
            error: MsmqError = exc
            if explanation is not None and isinstance(exc, ConfigError):
                error = explanation.refusal(exc)
            report(command, error)
            raise typer.Exit(FAILED) from exc

    return run

"""Refusals over HTTP: a status, and a text for users."""

from collections.abc import Sequence
from typing import Final

import msgspec

from openmsmq.client.errors import ConnectionLost
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, ExplainedError, MsmqError

from .tokens import TokensNotRead

STATUS_TEXTS: Final = {
    400: "The request cannot be understood",
    401: "Sign in first",
    403: "Not allowed",
    404: "There is nothing here",
    405: "Not possible here",
    409: "Not possible now",
    413: "Too large",
    421: "Not a name of this console",
    422: "Refused",
    429: "Too many requests",
    500: "The console failed",
    503: "The queue manager does not answer",
}
_LOG: Final = "The log of the queue manager says more (M0092)."
# Cause and remedy of a refusal without its own.
_WORDS: Final = {
    400: (
        "The request does not have the form that its address takes.",
        "Go back, or compare it with the reference of the API, /api/v1/openapi.json.",
    ),
    401: ("Nobody is signed in.", "Sign in, or send a token."),
    403: ("Your role or your token does not include it.", "Ask an administrator of this console."),
    404: ("It was removed, or its name is wrong.", "Look it up in its list."),
    405: ("The address is right, the method is not.", "Use a method that it takes."),
    409: ("Something else changed it, or works on it.", "Look at it again, then try again."),
    413: ("The limit keeps the console from running out of memory.", "Send less at a time."),
    421: ("The Host header names another machine.", "Use the address of this console."),
    422: ("Something in it is wrong, or does not go together.", "Change it, then try again."),
    429: ("A limit of the configuration is reached.", "Wait, then try again."),
    500: (f"This is a fault of the console. {_LOG}", "Try again; report it if it comes again."),
    503: ("The queue manager is stopped, starting, or busy.", "Wait, then try again."),
}
_STATUSES: Final[dict[int, int]] = {
    Hresult.MQ_ERROR_ACCESS_DENIED: 403,
    Hresult.MQ_ERROR_QUEUE_NOT_FOUND: 404,
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND: 404,
    Hresult.MQ_ERROR_QUEUE_DELETED: 404,
    # A receive that does not wait: there is no message.
    Hresult.MQ_ERROR_IO_TIMEOUT: 404,
    Hresult.MQ_ERROR_QUEUE_EXISTS: 409,
    Hresult.MQ_ERROR_ILLEGAL_OPERATION: 409,
    Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES: 409,
    Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION: 409,
    Hresult.MQ_ERROR_SHARING_VIOLATION: 409,
    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE: 409,
    Hresult.MQ_ERROR_TRANSACTION_USAGE: 409,
    Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE: 503,
}


class ErrorRecord(msgspec.Struct, frozen=True):
    """The error in the form of `{"error": …}`."""

    name: str
    code: str | None
    detail: str
    cause: str
    remedy: str


class Problem(MsmqError):
    """A refused request.

    Args:
        status: the status of the answer.
        detail: the refusal.
        cause: the likely cause, as a sentence; without one, that of the status.
        remedy: what to do, as a sentence; without one, that of the status.
        name: such as `MQ_ERROR_QUEUE_NOT_FOUND`, else one of the console's own.
        code: the result code, where there is one.
        retry_after: seconds.
        allow: methods that the address takes, with 405.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        cause: str = "",
        remedy: str = "",
        name: str = "",
        code: int | None = None,
        retry_after: float | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
        self.allow = allow
        likely, advice = _WORDS[status]
        self.record = ErrorRecord(
            name or f"HTTP_{status}",
            None if code is None else f"0x{code & 0xFFFFFFFF:08X}",
            detail,
            cause or likely,
            remedy or advice,
        )


def _detail(error: QueueError) -> str:
    """The text of an error; one with only a name gets a description."""
    if " " in error.detail or not error.detail:
        return error.detail or error.text
    return f"{error.text.rstrip('.')}: {error.detail}"


def problem_of(error: MsmqError, *, changing: bool = False) -> Problem:
    """The answer to an error of the client.

    Args:
        changing: whether the request was to make a change.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, QueueError):
        return Problem(
            _STATUSES.get(error.code, 422),
            _detail(error),
            cause=error.cause,
            remedy=error.remedy,
            name=error.name,
            code=error.code,
        )
    if isinstance(error, ConnectionLost):
        return Problem(
            503,
            "The queue manager does not answer.",
            cause="It is stopped, starting, or busy.",
            # It may have received the request before it stopped answering.
            remedy="It may be done all the same: look before you try again."
            if changing
            else "Try again; `openmsmq status` on its machine says whether it runs.",
            name="MQ_ERROR_SERVICE_NOT_AVAILABLE",
            code=Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE,
            retry_after=2,
        )
    if isinstance(error, TokensNotRead):
        return Problem(
            503,
            "The tokens of this console cannot be read.",
            cause="Their file is damaged, or the console may not read it.",
            # Every caller gets this text: it must not quote the file.
            remedy="`openmsmq console token list` on its machine says what is wrong with it.",
            name="TOKENS_NOT_READ",
        )
    if isinstance(error, ExplainedError):
        status = 422 if isinstance(error, ConfigError) else 503
        return Problem(status, error.detail, cause=error.cause, remedy=error.remedy)
    return Problem(422, str(error))

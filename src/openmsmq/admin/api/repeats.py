"""Requests with an Idempotency-Key: each has an effect once."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from openmsmq.admin.trust.audit import Entry
from openmsmq.admin.trust.person import Person
from openmsmq.admin.trust.problems import Problem
from openmsmq.wire.codes.hresult import Hresult

# Keys are known this long, up to this number; answers are kept as long as they fit.
KEPT_SECONDS: Final = 3600.0
KEPT_KEYS: Final = 10_000
KEPT_BYTES: Final = 16 * 1024 * 1024
LONGEST_KEY: Final = 200
_DIGITS: Final = 32
# Results in the audit log from which it is unknown whether the change was made.
_UNCERTAIN: Final = ("begun", "failed", Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE.name)
_DONE: Final = ("done", "dry run")


class RequestKey(NamedTuple):
    """A key with its sender, and the request that it identifies, as digests."""

    key: str
    request: str

    @property
    def text(self) -> str:
        """The form in the audit log."""
        return f"{self.key}-{self.request}"


class _Kept(msgspec.Struct):
    """The state of a request: `running`, `done` or `uncertain`."""

    then: float
    request: str
    state: str
    response: Response | None = None


def request_key(request: Request, person: Person, content: bytes) -> RequestKey | None:
    """The key of a request, if it has one.

    Raises:
        Problem: 400, it is too long.
    """
    key = request.headers.get("idempotency-key", "")
    if not key:
        return None
    if len(key) > LONGEST_KEY:
        raise Problem(400, f"Idempotency-Key has up to {LONGEST_KEY} characters.")
    address = request.scope["raw_path"] + b"?" + request.scope["query_string"]
    return RequestKey(
        _digest(f"{person.principal}\n{person.credential}\n{key}".encode()),
        _digest(request.method.encode() + b" " + address + b"\n" + content),
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


class Repeats:
    """The keys of the last hour with the answers to their requests.

    Answers are in memory only, because they may have bodies or a new token. The request itself
    is in the audit log too, so that it takes effect once even when the console was restarted.

    Args:
        noted: entries of the audit log that have a key, the oldest first.
    """

    def __init__(self, noted: Iterable[Entry]) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        utc, now = datetime.now(UTC), time.monotonic()
        for entry in noted:
            key, _, request = entry.key.partition("-")
            self._kept.pop(key, None)
            age = (utc - datetime.fromisoformat(entry.time)).total_seconds()
            # An existing job was begun, whatever its result.
            done = entry.result in _DONE or entry.job != ""
            if age < KEPT_SECONDS and (done or entry.result in _UNCERTAIN):
                state = "done" if done else "uncertain"
                self._kept[key] = _Kept(now - max(age, 0.0), request, state)

    def answer(self, key: RequestKey) -> Response | None:
        """The earlier answer to the request; None if it is the first one, which now runs.

        Raises:
            Problem: 422, the key belongs to another request; 409, there is no answer.
        """
        now = time.monotonic()
        while self._kept and next(iter(self._kept.values())).then < now - KEPT_SECONDS:
            self._forget(next(iter(self._kept)))
        before = self._kept.get(key.key)
        if before is None:
            self._kept[key.key] = _Kept(now, key.request, "running")
            if len(self._kept) > KEPT_KEYS:
                self._forget(next(iter(self._kept)))
            return None
        if before.request != key.request:
            raise Problem(
                422,
                "This Idempotency-Key was used for another request.",
                cause="A key stands for one request, for an hour.",
                remedy="Make a new key for each request that is to take effect.",
                name="KEY_USED",
            )
        if before.response is None:
            raise _no_answer(before.state)
        return before.response

    def done(self, key: RequestKey, response: Response) -> None:
        """Keep the answer to a request."""
        kept = self._kept.get(key.key)
        if kept is None:
            return
        kept.state = "done"
        size = len(response.body)
        if size > KEPT_BYTES:
            return
        kept.response = response
        self._bytes += size
        for other in self._kept.values():
            if self._bytes <= KEPT_BYTES:
                break
            self._drop_answer(other)

    def failed(self, key: RequestKey, error: BaseException) -> None:
        """A refused request may be repeated, unless it may have been carried out nevertheless."""
        if isinstance(error, Problem) and error.record.name not in _UNCERTAIN:
            self._forget(key.key)
        elif (kept := self._kept.get(key.key)) is not None:
            kept.state = "uncertain"

    def _forget(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._drop_answer(kept)

    def _drop_answer(self, kept: _Kept) -> None:
        if kept.response is not None:
            self._bytes -= len(kept.response.body)
            kept.response = None


def _no_answer(state: str) -> Problem:
    if state == "running":
        return Problem(
            409,
            "The first request with this Idempotency-Key still runs.",
            cause="It was repeated before it was answered.",
            remedy="Repeat it a little later to get its answer.",
            name="REQUEST_RUNS",
        )
    if state == "done":
        return Problem(
            409,
            "The request with this Idempotency-Key was done; its answer is not kept.",
            cause="The console was started again since then, or the answers since then are too "
            "large to keep all of them.",
            remedy="Nothing is left to do: look at what it changed.",
            name="REQUEST_DONE",
        )
    return Problem(
        409,
        "Nobody knows whether the first request with this Idempotency-Key was done.",
        cause="The queue manager or the console ended while it ran.",
        remedy="Look at what it was to change; if it did not, repeat it with a new key.",
        name="REQUEST_UNCERTAIN",
    )

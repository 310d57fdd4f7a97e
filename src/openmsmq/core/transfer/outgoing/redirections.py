"""Redirections of messages over HTTP ([MC-MQSRM] 3.1.1.1.7 to 3.1.1.1.10).

A redirection has the URL that a message or a stream names, and another one that replaces it.
A `*` at the end of the first stands for any rest. Where several match, the longest wins.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.core.queues.access import check_machine_right
from openmsmq.core.rows.tables import Table
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import parse_format_name

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

MAX_REDIRECTIONS: Final = 1_000
MAX_URL: Final = 1_024
_ROW_KEY: Final = b"redirections"
_WEB: Final = ("http://", "https://")


class RedirectionKind(StrEnum):
    """The kind of a redirection."""

    INBOUND = "inbound"
    OUTBOUND = "outbound"
    EXCEPTION = "exception"
    RECEIPTS = "receipts"
    FORWARD = "forward"


# Kinds without a replacement URL.
_WITHOUT_TO: Final = frozenset((RedirectionKind.EXCEPTION, RedirectionKind.FORWARD))


class Redirection(NamedTuple):
    """Messages to `source` go to `target`, or their receipts do."""

    kind: RedirectionKind
    source: str
    target: str = ""

    def matches(self, url: str) -> bool:
        """Whether it applies to this URL."""
        pattern = self.source.casefold()
        if pattern.endswith("*"):
            return url.casefold().startswith(pattern[:-1])
        return url.casefold() == pattern


class Redirections:
    """The redirections of a queue manager; they survive every restart."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    # Administration

    def listed(self, *, caller: Caller) -> list[Redirection]:
        """All redirections."""
        check_machine_right(self._state, caller, MachineRight.GET_MACHINE_PROPERTIES)
        return list(self._state.redirections)

    def add(self, kind: str, source: str, target: str, *, caller: Caller) -> Redirection:
        """Add a redirection; one of this kind and source is replaced.

        Raises:
            QueueError: it is invalid, or there are too many.
        """
        check_machine_right(self._state, caller, MachineRight.SET_MACHINE_PROPERTIES)
        redirection = Redirection(_kind(kind), source, target)
        check_redirection(redirection)
        others = self._without(redirection)
        if len(others) >= MAX_REDIRECTIONS:
            raise QueueError(
                Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
                f"there are {MAX_REDIRECTIONS} redirections",
                remedy="Remove one that is not needed: `openmsmq redirection remove`.",
            )
        self._set([*others, redirection])
        return redirection

    def remove(self, kind: str, source: str, *, caller: Caller) -> None:
        """Remove a redirection.

        Raises:
            QueueError: no redirection has this kind and source.
        """
        check_machine_right(self._state, caller, MachineRight.SET_MACHINE_PROPERTIES)
        others = self._without(Redirection(_kind(kind), source))
        if len(others) == len(self._state.redirections):
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER,
                f"nothing of {source} is redirected ({kind})",
                remedy="Compare with `openmsmq redirection list`.",
            )
        self._set(others)

    def _without(self, one: Redirection) -> list[Redirection]:
        key = one.kind, one.source.casefold()
        return [
            redirection
            for redirection in self._state.redirections
            if (redirection[0], redirection[1].casefold()) != key
        ]

    def _set(self, redirections: list[Redirection]) -> None:
        self._state.redirections = redirections
        lines = ["\t".join(redirection) for redirection in redirections]
        row = "\n".join(lines).encode()
        self._state.outbox.batch.set_row(Table.SRMP, _ROW_KEY, row)

    # Queries of protocols

    @property
    def any(self) -> bool:
        """Whether there are any redirections."""
        return bool(self._state.redirections)

    def inbound(self, url: str) -> str:
        """The new destination of a message that came for a queue here; empty for none."""
        return find_target(self._state, RedirectionKind.INBOUND, url)

    def outbound(self, url: str) -> str:
        """The URL whose host takes messages to this one; empty for its own."""
        if find(self._state, RedirectionKind.EXCEPTION, url) is not None:
            return ""
        return find_target(self._state, RedirectionKind.OUTBOUND, url)

    def receipts(self, url: str) -> str:
        """The destination of receipts of streams to this URL; empty for the order queue."""
        return find_target(self._state, RedirectionKind.RECEIPTS, url)

    def forwards(self, url: str) -> bool:
        """Whether a message for another machine is accepted and forwarded."""
        return find(self._state, RedirectionKind.FORWARD, url) is not None


def find(state: State, kind: RedirectionKind, url: str) -> Redirection | None:
    """The redirection of a URL: the longest of those that match."""
    matching = [
        redirection
        for redirection in state.redirections
        if redirection.kind is kind and redirection.matches(url)
    ]
    return max(matching, key=lambda redirection: len(redirection.source), default=None)


def find_target(state: State, kind: RedirectionKind, url: str) -> str:
    """The replacement of a URL; empty for none."""
    redirection = find(state, kind, url)
    return redirection.target if redirection is not None else ""


def recover_redirections(state: State, rows: dict[bytes, bytes]) -> None:
    """Restore the redirections from the store."""
    for line in rows.get(_ROW_KEY, b"").decode().splitlines():
        kind, source, target = line.split("\t")
        state.redirections.append(Redirection(RedirectionKind(kind), source, target))


def _kind(text: str) -> RedirectionKind:
    try:
        return RedirectionKind(text)
    except ValueError as exc:
        words = ", ".join(RedirectionKind)
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER, f"kind: {text!r} must be one of {words}"
        ) from exc


def check_redirection(redirection: Redirection) -> None:
    """Refuse an invalid redirection.

    Raises:
        QueueError: a URL is wrong, or the kind takes no target.
    """
    kind, source, target = redirection
    if source != "*":
        _check_url("from", source)
    if kind in _WITHOUT_TO:
        if target:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"to: a redirection of kind {kind} has none"
            )
        return
    _check_url("to", target)
    # Raises QueueError if it is not the URL of a queue.
    parse_format_name(f"DIRECT={target}")


def _check_url(name: str, url: str) -> None:
    plain = url.isprintable() and " " not in url and len(url) <= MAX_URL
    if not plain or not url.lower().startswith(_WEB):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"{name}: {url[:80]!r} is not the URL of a queue",
            remedy="Write it as http://host/msmq/private$/queue.",
        )

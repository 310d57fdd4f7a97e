"""Providers of facts that the core does not have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from .records import ClientInfo, SessionInfo


class Traffic(NamedTuple):
    """Traffic of a session, or between a client and its queue manager, so far.

    Attributes:
        number: the id of the session or client.
    """

    number: int
    incoming_messages: int
    outgoing_messages: int
    incoming_bytes: int
    outgoing_bytes: int


class SessionSource(Protocol):
    """A protocol that has sessions with other queue managers."""

    @property
    def protocol(self) -> str:
        """Its name, such as `binary`."""

    @property
    def session_count(self) -> int: ...

    @property
    def waiting_bytes(self) -> int:
        """The bytes that arrived over all of them and are not on disk yet."""

    def sessions(self) -> Iterable[SessionInfo]:
        """Every session; sessions may change during the iteration."""

    def traffic(self) -> Iterable[Traffic]:
        """The counts of every session; sessions may change during the iteration."""

    def hang_up(self, number: int) -> bool:
        """End a session by its id; return whether it exists."""


class ClientSource(Protocol):
    """A protocol that has clients."""

    @property
    def protocol(self) -> str:
        """Its name, such as `local`."""

    @property
    def client_count(self) -> int: ...

    def clients(self) -> Iterable[ClientInfo]:
        """Every client; clients may change during the iteration."""

    def traffic(self) -> Iterable[Traffic]:
        """The counts of every client; clients may change during the iteration."""

    def hang_up(self, number: int) -> bool:
        """End a client by its id; return whether it exists."""

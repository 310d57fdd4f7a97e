"""What the queue manager says of itself, its links and its clients, as answers have it.

The records are those of the queue manager, which the console passes on as they come.
"""

from dataclasses import dataclass

import msgspec

from openmsmq.core.management.records import ClientInfo, SessionInfo, TransactionInfo


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How much comes and goes; null until there are two samples."""

    incoming_messages_per_second: float | None = None
    outgoing_messages_per_second: float | None = None
    incoming_bytes_per_second: float | None = None
    outgoing_bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord(Rates, SessionInfo):
    """A session with another queue manager, with rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRecord(Rates, ClientInfo):
    """A client, what it holds, and rates."""


class Sessions(msgspec.Struct, frozen=True):
    """Sessions with other queue managers; `after` continues it."""

    entries: list[SessionRecord]
    after: str | None = None


class Clients(msgspec.Struct, frozen=True):
    """Clients of the queue manager; `after` continues it."""

    entries: list[ClientRecord]
    after: str | None = None


class Transactions(msgspec.Struct, frozen=True):
    """Open transactions; `after` continues it."""

    entries: list[TransactionInfo]
    after: str | None = None


class BackupMade(msgspec.Struct, frozen=True):
    """A copy of the store.

    Attributes:
        file: its path on the machine of the queue manager.
        bytes: its size.
    """

    file: str
    bytes: int

"""Transactions across machines as state rows: their coordinators, and the local decisions."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from openmsmq.wire.transactions.coordination import Standing
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

from .tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openmsmq.core.state import State

# Standing, contact identifier of the coordinator, its port; its host follows.
_ENLISTMENT: Final = Struct("<B16sH")
# GUID of a participant, length of its SID; the SID follows.
_PARTICIPANT: Final = Struct("<16sH")


class StoredEnlistment(NamedTuple):
    transaction: UUID
    standing: Standing
    coordinator: UUID
    url: CoordinatorUrl


class StoredParticipant(NamedTuple):
    """A queue manager that has not confirmed a commit, and the SID of its account."""

    guid: UUID
    sid: bytes


def store_enlistment(state: State, enlistment: StoredEnlistment) -> None:
    """Store the coordinator of a transaction, and its standing."""
    host, port = enlistment.url
    head = _ENLISTMENT.pack(enlistment.standing, enlistment.coordinator.bytes_le, port)
    state.outbox.batch.set_row(
        Table.ENLISTMENTS, enlistment.transaction.bytes_le, head + host.encode()
    )


def forget_enlistment(state: State, transaction: UUID) -> None:
    """Delete the row: no queue manager must be asked or told any more."""
    state.outbox.batch.delete_row(Table.ENLISTMENTS, transaction.bytes_le)


def parse_enlistment(key: bytes, value: bytes) -> StoredEnlistment:
    standing, coordinator, port = _ENLISTMENT.unpack_from(value)
    url = CoordinatorUrl(value[_ENLISTMENT.size :].decode(), port)
    return StoredEnlistment(UUID(bytes_le=key), Standing(standing), UUID(bytes_le=coordinator), url)


def store_decision(
    state: State, transaction: UUID, participants: Iterable[StoredParticipant]
) -> None:
    """Store that a transaction is committed, and the participants that have not confirmed it."""
    parts = [
        _PARTICIPANT.pack(participant.guid.bytes_le, len(participant.sid)) + participant.sid
        for participant in participants
    ]
    state.outbox.batch.set_row(Table.DECISIONS, transaction.bytes_le, b"".join(parts))


def forget_decision(state: State, transaction: UUID) -> None:
    """Delete the row: all have confirmed."""
    state.outbox.batch.delete_row(Table.DECISIONS, transaction.bytes_le)


def parse_decision(value: bytes) -> list[StoredParticipant]:
    participants = []
    at = 0
    while at < len(value):
        guid, size = _PARTICIPANT.unpack_from(value, at)
        at += _PARTICIPANT.size
        participants.append(StoredParticipant(UUID(bytes_le=guid), value[at : at + size]))
        at += size
    return participants

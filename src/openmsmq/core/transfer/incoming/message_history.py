"""MessageIDHistoryTable: the plain messages that were received before.

The binary protocol ([MS-MQQB] 3.1.1.3) and SRMP ([MC-MQSRM] 3.1.1.1.5) each have one: an
identifier that a stranger makes up over HTTP must not suppress a message of the other protocol.

The messages of one read form a group; recoverable messages are stored as one row per group, in the
batch of the messages themselves.

Choice: neither express messages nor their identifiers are stored. Windows stores these, too
([MS-MQQB] note 26): there an express message that a crash lost is refused when it is sent again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final

from openmsmq.core.rows.tables import Table
from openmsmq.wire.scalars import MESSAGE_IDENTIFIER_SIZE

if TYPE_CHECKING:
    from openmsmq.core.state import State

# [MS-MQQB] notes 25, 47: RemoveDuplicateSize, RemoveDuplicateCleanup.
DEFAULT_HISTORY_SIZE: Final = 10_000
DEFAULT_HISTORY_SECONDS: Final = 1800.0

_KEY: Final = Struct(">Q")
_TIME: Final = Struct("<I")


class _Group:
    """Identifiers that were received at one time; `number` is the key of the row, 0 for none."""

    __slots__ = ("identifiers", "number", "time")

    def __init__(self, number: int, time: int, identifiers: list[bytes]) -> None:
        self.number = number
        self.time = time
        self.identifiers = identifiers


class MessageIDHistory:
    """The identifiers of the last messages; the oldest are deleted when there are too many."""

    __slots__ = ("_count", "_entries", "_groups", "_last_number", "_table", "size")

    def __init__(self, size: int = DEFAULT_HISTORY_SIZE, *, table: Table = Table.HISTORY) -> None:
        self.size = size
        self._table = table
        self._entries: dict[bytes, _Group] = {}
        self._groups: deque[_Group] = deque()
        self._count = 0
        self._last_number = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, identifier: bytes) -> bool:
        return identifier in self._entries

    def has_none_of(self, identifiers: Iterable[bytes]) -> bool:
        """Whether all of these are new."""
        return self._entries.keys().isdisjoint(identifiers)

    def time_of(self, identifier: bytes) -> int | None:
        """The time when a message was last received, in seconds since 1970."""
        group = self._entries.get(identifier)
        return group.time if group is not None else None

    def add(self, state: State, identifiers: Sequence[bytes], *, stored: bool) -> None:
        """Messages were received now, for the first time or again."""
        if not identifiers:
            return
        group = _Group(0, int(state.utc), list(identifiers))
        if stored:
            self._last_number += 1
            group.number = self._last_number
            row = _TIME.pack(group.time) + b"".join(identifiers)
            state.outbox.batch.set_row(self._table, _KEY.pack(group.number), row)
        self._append(group)
        while self._count > self.size and len(self._groups) > 1:
            self._drop_oldest(state)

    def clean(self, state: State, seconds: float) -> None:
        """Delete identifiers that were received longer ago."""
        limit = state.utc - seconds
        while self._groups and self._groups[0].time < limit:
            self._drop_oldest(state)

    def recover(self, rows: dict[bytes, bytes]) -> None:
        """Restore the table from the store."""
        for key, value in sorted(rows.items()):
            number = self._last_number = _KEY.unpack(key)[0]
            starts = range(_TIME.size, len(value), MESSAGE_IDENTIFIER_SIZE)
            identifiers = [value[at : at + MESSAGE_IDENTIFIER_SIZE] for at in starts]
            self._append(_Group(number, _TIME.unpack_from(value)[0], identifiers))

    def _append(self, group: _Group) -> None:
        self._groups.append(group)
        self._count += len(group.identifiers)
        self._entries.update(dict.fromkeys(group.identifiers, group))

    def _drop_oldest(self, state: State) -> None:
        group = self._groups.popleft()
        self._count -= len(group.identifiers)
        entries = self._entries
        for identifier in group.identifiers:
            # An identifier that came again belongs to a later group.
            if entries.get(identifier) is group:
                del entries[identifier]
        if group.number:
            state.outbox.batch.delete_row(self._table, _KEY.pack(group.number))

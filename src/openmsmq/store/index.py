"""Live data: messages by key, state rows, and the used bytes of each segment."""

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Final

from .frame import Changes
from .log_format import ENTRY_SIZE

_SEGMENT_AND_SIZE: Final = Struct("<8xI4xI")
_SIZE: Final = Struct("<I")
_PLACE_END: Final = 24


class Index:
    """The state at one point of the log, in memory.

    A message is one `bytes`: the entry of log_format.ENTRY followed by the record, the same bytes
    as in the log and in a snapshot.
    """

    __slots__ = ("entries", "live", "message_bytes", "rows")

    def __init__(self) -> None:
        self.entries: dict[int, bytes] = {}
        self.rows: dict[tuple[int, bytes], bytes] = {}
        self.live: dict[int, int] = {}
        self.message_bytes = 0

    def load(self, keys: list[int], entries: list[bytes]) -> None:
        """Add entries of a snapshot."""
        self.entries.update(zip(keys, entries, strict=True))
        live = self.live
        current = -1
        weight = total = 0
        for segment, size in map(_SEGMENT_AND_SIZE.unpack_from, entries):
            if segment != current:
                live[current] = live.get(current, 0) + weight
                current = segment
                weight = 0
            weight += size + ENTRY_SIZE
            total += size
        live[current] = live.get(current, 0) + weight
        live.pop(-1, None)
        self.message_bytes += total

    def apply(self, changes: Changes) -> None:
        """Apply one frame of the log; changes of messages that are not live are ignored."""
        if changes.put_keys:
            self.entries.update(zip(changes.put_keys, changes.put_entries, strict=True))
            self.message_bytes += changes.put_bytes
            weight = changes.put_bytes + ENTRY_SIZE * len(changes.put_keys)
            self.live[changes.segment] = self.live.get(changes.segment, 0) + weight
        if changes.move_keys:
            self._move(changes)
        if changes.updates:
            self._update(changes.updates)
        if changes.deletes:
            self._delete(changes.deletes)
        if changes.rows:
            self._set_rows(changes.rows)

    def _update(self, updates: Mapping[int, bytes]) -> None:
        for key, record in updates.items():
            entry = self.entries.get(key)
            if entry is not None:
                self.entries[key] = entry[:_PLACE_END] + _SIZE.pack(len(record)) + record

    def _set_rows(self, rows: Mapping[tuple[int, bytes], bytes | None]) -> None:
        for row, value in rows.items():
            if value is None:
                self.rows.pop(row, None)
            else:
                self.rows[row] = value

    def _move(self, changes: Changes) -> None:
        for key, moved in zip(changes.move_keys, changes.move_entries, strict=True):
            entry = self.entries.get(key)
            if entry is not None:
                segment, size = _SEGMENT_AND_SIZE.unpack_from(entry)
                weight = size + ENTRY_SIZE
                self.live[segment] -= weight
                self.live[changes.segment] = self.live.get(changes.segment, 0) + weight
                self.entries[key] = moved[:_PLACE_END] + entry[_PLACE_END:]

    def _delete(self, keys: Sequence[int]) -> None:
        pop = self.entries.pop
        live = self.live
        unpack = _SEGMENT_AND_SIZE.unpack_from
        freed = 0
        for key in keys:
            entry = pop(key, None)
            if entry is not None:
                segment, size = unpack(entry)
                live[segment] -= size + ENTRY_SIZE
                freed += size
        self.message_bytes -= freed

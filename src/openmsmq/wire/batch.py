"""Batch: the operations of one atomic commit, from the queue manager to the store."""

from collections.abc import Iterable, Sequence
from typing import Final

MAX_RECORD_SIZE: Final = 0x10000
STORE_TABLE: Final = 0xFF
"""The table of state rows that belongs to the store; the others are the queue manager's."""
RESTORED_KEY: Final = b"restored"
"""The row of STORE_TABLE that says: these files came out of a backup."""


class Batch:
    """Operations that become durable together or not at all.

    A message has a key (64 bits, given once and never again), a record that may change and a
    packet that never does. The order between operations on the same message is fixed by their
    kinds: put, then update (the last one counts), then delete. Rows: the last one counts.
    Operations on a message that is not live are ignored.
    """

    __slots__ = ("deletes", "packets", "put_keys", "records", "rows", "updates")

    def __init__(self) -> None:
        self.put_keys: list[int] = []
        self.records: list[bytes] = []
        self.packets: list[bytes] = []
        self.updates: dict[int, bytes] = {}
        self.deletes: list[int] = []
        self.rows: dict[tuple[int, bytes], bytes | None] = {}

    def put(self, key: int, record: bytes, packet: bytes) -> None:
        """A new message; the packet is kept by reference."""
        self.put_keys.append(key)
        self.records.append(record)
        self.packets.append(packet)

    def put_many(
        self, keys: Sequence[int], records: Sequence[bytes], packets: Sequence[bytes]
    ) -> None:
        """New messages, cheaper than one by one."""
        if not len(keys) == len(records) == len(packets):
            raise ValueError("keys, records and packets differ in number")
        self.put_keys.extend(keys)
        self.records.extend(records)
        self.packets.extend(packets)

    def update(self, key: int, record: bytes) -> None:
        """A live message gets another record."""
        self.updates[key] = record

    def update_many(self, keys: Iterable[int], records: Iterable[bytes]) -> None:
        """Live messages get other records."""
        self.updates.update(zip(keys, records, strict=True))

    def delete(self, key: int) -> None:
        """A live message goes."""
        self.deletes.append(key)

    def delete_many(self, keys: Iterable[int]) -> None:
        """Live messages go."""
        self.deletes.extend(keys)

    def set_row(self, table: int, key: bytes, value: bytes) -> None:
        """A state row is written; table is 0 to 254."""
        self.rows[table, key] = value

    def delete_row(self, table: int, key: bytes) -> None:
        """A state row goes."""
        self.rows[table, key] = None

    def clear_restored(self) -> None:
        """What a restored copy must do differently is in this batch: do not ask for it again."""
        self.rows[STORE_TABLE, RESTORED_KEY] = None

    def __len__(self) -> int:
        return len(self.put_keys) + len(self.updates) + len(self.deletes) + len(self.rows)

    def __bool__(self) -> bool:
        return bool(self.put_keys or self.deletes or self.updates or self.rows)

    @property
    def size(self) -> int:
        """About how many bytes this takes in the store."""
        rows = sum(len(key) + len(value or b"") for (_, key), value in self.rows.items())
        return (
            sum(map(len, self.packets))
            + sum(map(len, self.records))
            + sum(map(len, self.updates.values()))
            + rows
            + 32 * len(self)
        )


def merge(batches: Sequence[Batch]) -> Batch:
    """One batch with the effect of all, in order; a message put and deleted in it leaves no trace.

    The batches are not changed.
    """
    merged = batches[0] if len(batches) == 1 else _concatenate(batches)
    if merged.deletes and merged.put_keys:
        dropped_keys = set(merged.deletes).intersection(merged.put_keys)
        if dropped_keys:
            return _without(merged, dropped_keys)
    return merged


def _concatenate(batches: Sequence[Batch]) -> Batch:
    merged = Batch()
    for batch in batches:
        merged.put_keys += batch.put_keys
        merged.records += batch.records
        merged.packets += batch.packets
        merged.deletes += batch.deletes
        merged.updates.update(batch.updates)
        merged.rows.update(batch.rows)
    return merged


def _without(batch: Batch, dropped_keys: set[int]) -> Batch:
    rest = Batch()
    for key, record, packet in zip(batch.put_keys, batch.records, batch.packets, strict=True):
        if key not in dropped_keys:
            rest.put(key, record, packet)
    rest.updates = {key: record for key, record in batch.updates.items() if key not in dropped_keys}
    rest.deletes = [key for key in batch.deletes if key not in dropped_keys]
    rest.rows = batch.rows
    return rest

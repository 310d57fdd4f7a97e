"""What a store should hold, as plain dicts; and what it does hold."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from openmsmq.store.file_store import FileStore
from openmsmq.store.files import Files
from openmsmq.store.interface import Recovery, Store
from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch

DIRECTORY = Path("/store")
STORE_ID = bytes(range(16))
SMALL = Options(
    segment_size=4096,
    snapshot_interval=8192,
    reserve=1024,
    step_size=1024,
    verify_limit=1 << 20,
)


@dataclass
class Model:
    """Messages and rows."""

    messages: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    rows: dict[tuple[int, bytes], bytes] = field(default_factory=dict)

    def apply(self, batch: Batch) -> None:
        for key, record, packet in zip(batch.put_keys, batch.records, batch.packets, strict=True):
            self.messages[key] = (record, packet)
        for key, record in batch.updates.items():
            if key in self.messages:
                self.messages[key] = (record, self.messages[key][1])
        for key in batch.deletes:
            self.messages.pop(key, None)
        for row, value in batch.rows.items():
            if value is None:
                self.rows.pop(row, None)
            else:
                self.rows[row] = value

    def copy(self) -> "Model":
        return deepcopy(self)


def held(store: Store, recovery: Recovery) -> Model:
    """Everything that a recovered store shows, packets read back."""
    messages = list(recovery.messages)
    keys = [key for key, _, _ in messages]
    assert keys == sorted(keys)
    packets = store.read_many(keys)
    assert [len(packet) for packet in packets] == [size for _, _, size in messages]
    return Model(
        {key: (record, packet) for (key, record, _), packet in zip(messages, packets, strict=True)},
        {(table, key): value for table, key, value in recovery.rows},
    )


def commit(store: Store, batches: Sequence[Batch]) -> None:
    write = store.begin(batches)
    store.write(write)
    store.finish(write)


def maintain(store: Store, *, steps: int = 1000) -> int:
    """Run maintenance, with its writes, until nothing is due; how many steps that took."""
    for done in range(steps):
        step = store.maintain()
        if step is not None:
            step.run()
            step.finish()
        elif store.wants_write:
            commit(store, [])
        else:
            return done
    raise AssertionError("maintenance does not end")


def open_store(files: Files, options: Options = SMALL) -> FileStore:
    return FileStore(DIRECTORY, new_store_id=STORE_ID, options=options, files=files)


def puts(keys: Iterable[int], *, size: int = 100, record: bytes = b"record") -> Batch:
    batch = Batch()
    for key in keys:
        batch.put(key, record + b"%d" % key, packet(key, size))
    return batch


def deletes(keys: Iterable[int]) -> Batch:
    batch = Batch()
    batch.delete_many(keys)
    return batch


def packet(key: int, size: int = 100) -> bytes:
    """Bytes that say which message they belong to, none of them zero."""
    text = b"packet %d|" % key
    return (text * (size // len(text) + 1))[:size]

"""Packets read back: the right ones, in few reads."""

from random import Random

import pytest
from tests.store.model import commit, open_store, packet, puts
from tests.store.simulated_disk import SimulatedDisk, SimulatedFile

from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch

OPTIONS = Options(segment_size=16 << 20, reserve=1024)


def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Offset and size of every read from now on."""
    seen: list[tuple[int, int]] = []
    read = SimulatedFile.read

    def note(self: SimulatedFile, offset: int, size: int) -> bytes:
        seen.append((offset, size))
        return read(self, offset, size)

    monkeypatch.setattr(SimulatedFile, "read", note)
    return seen


def test_neighbours_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(SimulatedDisk(), OPTIONS)
    store.recover()
    for first in range(0, 1000, 10):
        commit(store, [puts(range(first, first + 10), size=100)])
    keys = list(range(1000))
    Random(1).shuffle(keys)
    seen = reads(monkeypatch)
    assert store.read_many(keys) == [packet(key) for key in keys]
    assert len(seen) == 1


def test_what_lies_far_apart_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(SimulatedDisk(), OPTIONS)
    store.recover()
    commit(store, [puts(range(200), size=1000)])
    seen = reads(monkeypatch)
    assert store.read_many([0, 10, 100, 199]) == [packet(key, 1000) for key in (0, 10, 100, 199)]
    assert [size for _, size in seen] == [11_000, 1000, 1000]


def test_one_read_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(SimulatedDisk(), OPTIONS)
    store.recover()
    batch = Batch()
    for key in range(12):
        batch.put(key, b"", bytes([key]) * (1 << 20))
    commit(store, [batch])
    seen = reads(monkeypatch)
    assert [packet[0] for packet in store.read_many(range(12))] == list(range(12))
    assert [size for _, size in seen] == [4 << 20] * 3


def test_the_same_message_may_be_asked_for_twice() -> None:
    store = open_store(SimulatedDisk(), OPTIONS)
    store.recover()
    commit(store, [puts([1, 2])])
    assert store.read_many([2, 1, 2]) == [packet(2), packet(1), packet(2)]

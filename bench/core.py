"""Sending and receiving 1 KiB messages in the queue manager alone, at three depths of the queue.

Reproduce with `python -m bench core` (or `make bench`); add `--json` for one object per line.

No socket, no disk: packets are checked, stamped, put in the batch, made visible and taken again, a
hundred at a time. The floor is the same at a depth of a thousand messages: the cost must not grow
with the depth. The last row is the memory that a message takes beside its packet; its floor is the
350 bytes that we allow.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Final
from uuid import UUID

from bench.report import Result
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.store.interface import Write
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

DEPTHS: Final = (1_000, 100_000, 1_000_000)
CHUNK: Final = 100
ROUNDS: Final = 300
PARTS: Final = ("send", "receive at the end", "receive at the front")
PACKET_SIZE: Final = 1024
DEPTH_LIMIT: Final = 1.5
MEMORY_BYTES: Final = 350
_PAGE: Final = 4096


class Line:
    """One queue of a given depth, open at both ends."""

    def __init__(self, engine: Engine, depth: int, packets: list[bytes]) -> None:
        self.engine = engine
        self.qm = qm = engine.manager
        self.depth = depth
        self.packets = packets
        path = rf".\private$\depth{depth}"
        self.queue = qm.create_queue(path, caller=SYSTEM_CALLER).value
        self.send = qm.open_queue(path, QueueAccessType.SEND, caller=SYSTEM_CALLER)
        self.receive = qm.open_queue(path, QueueAccessType.RECEIVE, caller=SYSTEM_CALLER)

    def settle(self) -> None:
        """What the service does."""
        self.engine.work()
        self.engine.flush()

    def fill(self) -> None:
        while self.queue.count < self.depth:
            self.qm.traffic.enqueue_many(self.send, self.packets)
            self.settle()

    def round(self) -> tuple[float, float, float]:
        """Seconds to send a chunk, to take it from the end, and to take one from the front."""
        start = process_time()
        sent = self.qm.traffic.enqueue_many(self.send, self.packets)
        sent_at = process_time()
        first, last = sent.messages[0].sequence, sent.messages[-1].sequence
        taken = self.qm.ranges.acknowledge(self.receive, first - 1, last)
        taken_at = process_time()
        self.settle()
        front = process_time()
        read = self.qm.traffic.dequeue_many(self.receive, max_count=CHUNK, two_phase=True)
        front_at = process_time()
        if not isinstance(read, Read) or not taken.count == len(read.packets) == CHUNK:
            raise RuntimeError("what was sent is not what was received")
        ids = [message.lookup_id for message in read.messages]
        self.qm.traffic.end_many(self.receive, ids, delete=False)
        return sent_at - start, taken_at - sent_at, front_at - front


class OnePacketStore(MemoryStore):
    """Keeps nothing; all packets that left memory are alike."""

    def __init__(self, packet: bytes) -> None:
        super().__init__()
        self._packet = packet

    def finish(self, write: Write) -> None:
        """Nothing to do: nothing is kept."""

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        return [self._packet] * len(keys)


def make_engine(packet: bytes) -> Engine:
    """An engine whose packets leave memory, as with a store on disk."""
    published = QueueManagerObject(
        identifier=UUID(int=1), computer_name="BENCH", queue_manager_quota=UNLIMITED
    )
    store = OnePacketStore(packet)
    qm = QueueManager(
        store.recover(),
        new=LocalQueueManager(published, directory_integrated=False),
        guids=lambda: UUID(int=2),
        packets=store,
        settings=Settings(memory_budget=0),
        now=0.0,
        utc=1_700_000_000.0,
    )
    qm.start(MachineIdentity("BENCH"))
    return Engine(qm, store)


def make_packets() -> list[bytes]:
    """A chunk of packets of one size."""
    address = direct_address(r"OS:BENCH\private$\bench")
    overhead = len(build_user_message(destination_queue=address))
    packet = build_user_message(
        body=bytes(PACKET_SIZE - overhead),
        destination_queue=address,
        delivery_mode=1,
        time_to_reach_queue=345_600,
    )
    return [packet] * CHUNK


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def run(depths: tuple[int, ...] = DEPTHS, rounds: int = ROUNDS) -> list[Result]:
    """Measure all depths in turn, so that other work on the machine meets them alike."""
    packets = make_packets()
    engine = make_engine(packets[0])
    lines = [Line(engine, depth, packets) for depth in depths]
    before = resident()
    for line in lines:
        line.fill()
    memory = (resident() - before) / sum(depths)
    measured = [[line.round() for line in lines] for _ in range(rounds)]
    results: list[Result] = []
    for part, name in enumerate(PARTS):
        seconds = [
            statistics.median(each[number][part] for each in measured)
            for number in range(len(depths))
        ]
        results += [
            Result(f"{name}, depth {depth:,}", CHUNK / each, each / seconds[0], DEPTH_LIMIT)
            for depth, each in zip(depths, seconds, strict=True)
        ]
    memory_row = f"memory: {memory:.0f} bytes a message"
    return [*results, Result(memory_row, 0, memory / MEMORY_BYTES, 1.0)]

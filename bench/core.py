"""Sending and receiving 1 KiB messages in the queue manager alone, at three depths of the queue.

Reproduce with `python -m bench core` (or `make bench`); add `--json` for one object per line.

No socket, no disk: packets are checked, stamped, put in the batch, made visible and taken again, a
hundred at a time. The floor is the same at a depth of a thousand messages: the cost must not grow
with the depth. The last row is the memory that a message takes beside its packet; its floor is the
350 bytes that we allow.
"""

import statistics
from pathlib import Path
from time import process_time
from typing import Final
from uuid import UUID

from bench.report import Result
from openmsmq.core.initialization import MachineIdentity
from openmsmq.core.local_queue_manager import LocalQueueManager
from openmsmq.core.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.reading import Read
from openmsmq.core.state import Settings
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.queue_address import direct_address
from openmsmq.wire.user_message_builder import build_user_message

DEPTHS: Final = (1_000, 100_000, 1_000_000)
CHUNK: Final = 100
ROUNDS: Final = 500
PACKET_SIZE: Final = 1024
DEPTH_LIMIT: Final = 1.5
MEMORY_BYTES: Final = 350
PATH: Final = r".\private$\bench"
_PAGE: Final = 4096


class Bench:
    """One queue manager with one queue, which keeps packets out of memory as the store would."""

    def __init__(self) -> None:
        store = MemoryStore()
        published = QueueManagerObject(
            identifier=UUID(int=1), computer_name="BENCH", queue_manager_quota=UNLIMITED
        )
        self.qm = QueueManager(
            store.recover(),
            new=LocalQueueManager(published, directory_integrated=False),
            guids=lambda: UUID(int=2),
            packets=store,
            settings=Settings(memory_budget=1 << 24),
            now=0.0,
            utc=1_700_000_000.0,
        )
        self.qm.start(MachineIdentity("BENCH"))
        self.qm.create_queue(PATH, caller=SYSTEM_CALLER)
        self.send = self._open(QueueAccessType.SEND)
        self.receive = self._open(QueueAccessType.RECEIVE)
        address = direct_address(r"OS:BENCH\private$\bench")
        overhead = len(build_user_message(destination_queue=address))
        packet = build_user_message(
            body=bytes(PACKET_SIZE - overhead),
            destination_queue=address,
            delivery_mode=1,
            time_to_reach_queue=345_600,
        )
        self.packets = [packet] * CHUNK

    def _open(self, access: QueueAccessType) -> OpenQueueDescriptor:
        return self.qm.open_queue(PATH, access, caller=SYSTEM_CALLER)

    def settle(self) -> None:
        """What the service does, without a disk."""
        taken = self.qm.take_batch()
        if taken is not None:
            self.qm.durable(taken[0])

    def fill(self, depth: int) -> None:
        count = self.qm.find_queue(PATH).count
        for _ in range(count, depth, CHUNK):
            self.qm.enqueue_many(self.send, self.packets)
            self.settle()

    def round(self) -> tuple[float, float]:
        """Seconds for one chunk in and one out; what is taken is what was sent last."""
        start = process_time()
        sent = self.qm.enqueue_many(self.send, self.packets)
        middle = process_time()
        last = self.qm.ranges.acknowledge(
            self.receive, sent.messages[0].sequence - 1, sent.messages[-1].sequence
        )
        end = process_time()
        if last.count != CHUNK:
            raise RuntimeError("what was sent is not what was received")
        self.settle()
        return middle - start, end - middle

    def front(self) -> float:
        """Seconds to take a chunk from the front, where its packets are in memory."""
        start = process_time()
        read = self.qm.dequeue_many(self.receive, max_count=CHUNK)
        seconds = process_time() - start
        if not isinstance(read, Read) or len(read.packets) != CHUNK:
            raise RuntimeError("nothing was received")
        self.settle()
        return seconds


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def run(depths: tuple[int, ...] = DEPTHS, rounds: int = ROUNDS) -> list[Result]:
    """Measure all depths with one queue manager, shallow first."""
    bench = Bench()
    results: list[Result] = []
    floors: dict[str, float] = {}
    before = resident()
    memory = 0.0
    for depth in depths:
        bench.fill(depth)
        memory = (resident() - before) / depth
        seconds_each = [bench.round() for _ in range(rounds)]
        figures = {
            "enqueue": statistics.median(one for one, _ in seconds_each),
            "receive at the end": statistics.median(two for _, two in seconds_each),
            "receive at the front": statistics.median(bench.front() for _ in range(10)),
        }
        for name, seconds in figures.items():
            floor = floors.setdefault(name, seconds)
            results.append(
                Result(f"{name}, depth {depth:,}", CHUNK / seconds, seconds / floor, DEPTH_LIMIT)
            )
    results.append(Result(f"memory: {memory:.0f} bytes a message", 0, memory / MEMORY_BYTES, 1.0))
    return results

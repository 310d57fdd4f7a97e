"""Staged batches: packets that are published whole, once per producer and batch number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from struct import Struct
from typing import Final

from openmsmq.security.caller import Caller
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_enums import ShareMode
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.user_message_run import UserMessageRun

from .names import parse_name
from .open_queue import MAY_SEND, OpenQueueDescriptor, QueueAccessType
from .opening import close_queue, open_queue
from .queue import Queue
from .quota import EnqueueStatus, check_room, exceeds
from .sending import check_destination, check_packets, check_senders, send_checked
from .settling import settle
from .state import State
from .tables import Table
from .transactions import commit, create_transaction

MAX_BATCH: Final = (1 << 63) - 1
MAX_PRODUCER: Final = 256
_PRODUCER: Final = Struct("<qd")
_NONE: Final = (-1, 0.0)
_FORGOTTEN_AT_A_TIME: Final = 100
_Key = tuple[str, int]


class Stage:
    """Packets of one attempt of one partition, for one destination.

    Each is in memory, or a handle says where it is in the scratch file.
    """

    __slots__ = ("deadline", "destination", "packets", "size")

    def __init__(
        self, destination: str, packets: list[bytes | int], size: int, deadline: float
    ) -> None:
        self.destination = destination
        self.packets = packets
        self.size = size
        self.deadline = deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A batch is published; `repeated` says that it was already before."""

    count: int
    repeated: bool
    depends: int


class Stages:
    """The stages that wait for their commit. They live in memory: a restart forgets them."""

    __slots__ = ("_stages", "_state", "size")

    def __init__(self, state: State) -> None:
        self._state = state
        self._stages: dict[_Key, dict[tuple[int, int], list[Stage]]] = {}
        # Bytes of all packets that wait.
        self.size = 0

    def stage(
        self,
        producer: str,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        packets: Sequence[bytes],
        *,
        caller: Caller,
    ) -> int:
        """Keep packets for a batch; return how many there are of this attempt now.

        Raises:
            QueueError: what would refuse to send them is said here, not at the commit.
        """
        state = self._state
        _check_batch(producer, batch)
        runs = check_packets(packets)
        check_senders(runs, caller)
        descriptor = self._open(destination, caller)
        try:
            queue = descriptor.require(MAY_SEND)
            check_destination(queue, runs, transactional=_transactional(queue, runs))
            size = sum(map(len, packets))
            if check_room(state, queue, size + self.size) is not EnqueueStatus.OK:
                raise QueueError(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, "no room for the batch")
        finally:
            close_queue(state, descriptor)
        name = _name(caller, producer)
        if batch <= state.producers.get(name, _NONE)[0]:
            # Its commit is going to be dropped; nobody may ever ask for it again.
            return len(packets)
        stages = self._stages.setdefault((name, batch), {})
        deadline = state.now + state.settings.stage_seconds
        kept = stages.setdefault((partition, attempt), [])
        kept.append(Stage(destination, [self._keep(each) for each in packets], size, deadline))
        self.size += size
        return sum(len(each.packets) for each in kept)

    def _keep(self, packet: bytes) -> bytes | int:
        """The packet itself, or where it is when memory is short."""
        state = self._state
        if state.scratch is None or state.memory + self.size <= state.settings.memory_budget:
            return packet
        return state.scratch.put(packet)

    def _load(self, stage: Stage) -> list[bytes]:
        handles = [each for each in stage.packets if isinstance(each, int)]
        if not handles or self._state.scratch is None:
            return [each for each in stage.packets if isinstance(each, bytes)]
        read = iter(self._state.scratch.get_many(handles))
        return [next(read) if isinstance(each, int) else each for each in stage.packets]

    def _forget(self, key: _Key) -> None:
        """Forget all stages of a batch."""
        for group in self._stages.pop(key, {}).values():
            self._free(group)

    def _free(self, group: list[Stage]) -> None:
        for stage in group:
            self.size -= stage.size
            for each in stage.packets:
                if isinstance(each, int) and self._state.scratch is not None:
                    self._state.scratch.free(each)

    def commit_batch(
        self, producer: str, batch: int, stages: Iterable[tuple[int, int]], *, caller: Caller
    ) -> Committed:
        """Publish the named stages (partition, attempt), in this order, in one step.

        A batch number at or below the last one that was published is dropped.

        Raises:
            QueueError: a stage is missing, or a queue does not take it; nothing is published.
        """
        state = self._state
        _check_batch(producer, batch)
        name = _name(caller, producer)
        if batch <= state.producers.get(name, _NONE)[0]:
            self._forget((name, batch))
            depends = state.batch_number if state.batch else state.batch_number - 1
            return Committed(count=0, repeated=True, depends=state.depends_on(depends))
        kept = self._stages.get((name, batch), {})
        wanted = []
        for each in stages:
            if each not in kept:
                raise QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                    f"partition {each[0]}, attempt {each[1]} of batch {batch} is not staged",
                )
            wanted += kept[each]
        count = self._publish(wanted, caller)
        self._forget((name, batch))
        self._remember(name, batch)
        settle(state)
        return Committed(count=count, repeated=False, depends=state.batch_number)

    def _remember(self, name: str, batch: int) -> None:
        """Note the last batch of a producer, and forget producers that are long gone."""
        state = self._state
        producers = state.producers
        producers.pop(name, None)
        producers[name] = (batch, state.utc)
        state.batch.set_row(Table.PRODUCERS, name.encode(), _PRODUCER.pack(batch, state.utc))
        oldest = state.utc - state.settings.producer_seconds
        for other, (_, published) in list(islice(producers.items(), _FORGOTTEN_AT_A_TIME)):
            if published >= oldest:
                break
            del producers[other]
            state.batch.delete_row(Table.PRODUCERS, other.encode())

    def abort_batch(
        self,
        producer: str,
        batch: int,
        stages: Iterable[tuple[int, int]] | None = None,
        *,
        caller: Caller,
    ) -> None:
        """Forget the named stages of a batch, or all; harmless when it was published."""
        key = (_name(caller, producer), batch)
        if stages is None:
            self._forget(key)
            return
        kept = self._stages.get(key, {})
        for each in stages:
            self._free(kept.pop(each, []))
        if not kept:
            self._stages.pop(key, None)

    def expire(self) -> None:
        """Forget stages whose commit never came."""
        now = self._state.now
        for key, stages in list(self._stages.items()):
            for each, group in list(stages.items()):
                if all(stage.deadline <= now for stage in group):
                    self._free(stages.pop(each))
            if not stages:
                del self._stages[key]

    def next_timer(self) -> float | None:
        """When the next stage is forgotten."""
        return min(
            (
                max(stage.deadline for stage in group)
                for stages in self._stages.values()
                for group in stages.values()
            ),
            default=None,
        )

    def _open(self, destination: str, caller: Caller) -> OpenQueueDescriptor:
        state = self._state
        name = parse_name(state, destination)
        descriptor = open_queue(state, name, QueueAccessType.SEND, ShareMode.DENY_NONE, caller)
        if descriptor.multiple:
            close_queue(state, descriptor)
            raise QueueError(
                Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, "a stage has one destination"
            )
        return descriptor

    def _publish(self, stages: list[Stage], caller: Caller) -> int:
        """Check everything first, then send: all of it becomes visible, or nothing."""
        state = self._state
        descriptors = {
            name: self._open(name, caller) for name in {stage.destination for stage in stages}
        }
        try:
            checked = [check_packets(self._load(stage)) for stage in stages]
            queues = [descriptors[stage.destination].require(MAY_SEND) for stage in stages]
            self._check_all(stages, checked, queues)
            transaction = create_transaction(state, state.guids())
            for queue, runs in zip(queues, checked, strict=True):
                in_transaction = _transactional(queue, runs)
                send_checked(state, queue, runs, transaction if in_transaction else None, "")
            commit(state, transaction)
            return sum(len(stage.packets) for stage in stages)
        finally:
            for descriptor in descriptors.values():
                close_queue(state, descriptor)

    def _check_all(
        self, stages: list[Stage], checked: list[list[UserMessageRun]], queues: list[Queue]
    ) -> None:
        sizes: dict[Queue, int] = {}
        for stage, runs, queue in zip(stages, checked, queues, strict=True):
            check_destination(queue, runs, transactional=_transactional(queue, runs))
            sizes[queue] = sizes.get(queue, 0) + stage.size
        state = self._state
        total = sum(sizes.values())
        if exceeds(state.manager.queue_manager_quota, state.total_bytes, total) or any(
            check_room(state, queue, size) is not EnqueueStatus.OK for queue, size in sizes.items()
        ):
            raise QueueError(
                Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, f"{total} bytes are over a quota"
            )


def _check_batch(producer: str, batch: int) -> None:
    if not 0 < len(producer) <= MAX_PRODUCER or not 0 <= batch <= MAX_BATCH:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"a producer has a name of up to {MAX_PRODUCER} characters and batches from 0 on",
        )


def _transactional(queue: Queue, runs: Sequence[UserMessageRun]) -> bool:
    """Whether the messages go in a transaction: as the queue says, or they themselves."""
    if queue.outgoing is None:
        return queue.properties.transactional
    return any(run.head.transactional for run in runs)


def _name(caller: Caller, producer: str) -> str:
    """A producer belongs to the user who runs it: nobody can publish in the name of another."""
    return f"{caller.sid}/{producer}"


def recover_producers(state: State, rows: Mapping[bytes, bytes]) -> None:
    """Read which batch each producer published last."""
    found = [(key.decode(), _PRODUCER.unpack(value)) for key, value in rows.items()]
    for name, (batch, published) in sorted(found, key=_when):
        state.producers[name] = (batch, published)


def _when(each: tuple[str, tuple[int, float]]) -> float:
    return each[1][1]

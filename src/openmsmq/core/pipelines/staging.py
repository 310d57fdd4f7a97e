"""Staged batches: packets that are published whole, once per producer and batch number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from struct import Struct
from typing import Final

from openmsmq.core.messages.arrivals import insert_staged, publish_staged
from openmsmq.core.messages.expiry import expire_now
from openmsmq.core.messages.sending import (
    check_destination,
    check_packets,
    check_senders,
    stamp_runs,
    stored_size,
)
from openmsmq.core.messages.taking import ACK_RECEIVE, check_held, end_many
from openmsmq.core.model.last_batch import LastBatch
from openmsmq.core.model.message import RECOVERABLE, STAGED, Message, PositionState
from openmsmq.core.model.open_queue import MAY_SEND, OpenQueueDescriptor, QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.acceptance import EnqueueStatus, check_room, count_refused, exceeds
from openmsmq.core.queues.names import parse_name
from openmsmq.core.queues.opening import close_queue, open_queue
from openmsmq.core.rows.packets import forget_packet
from openmsmq.core.rows.tables import Table
from openmsmq.core.state import State
from openmsmq.core.transactions.transactions import mark_staged
from openmsmq.core.transfer.outgoing.sequences import number_own
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import Hresult, hresult_name
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message_run import UserMessageRun

from .batch_checks import Checked, Room, check_batch

MAX_BATCH: Final = (1 << 63) - 1
MAX_PRODUCER: Final = 256
_PRODUCER: Final = Struct("<qdQQ")
# The format of rows before they had the positions of the last batch.
_OLD_PRODUCER: Final = Struct("<qd")
_NONE: Final = LastBatch(-1, 0.0, 0, 0)
_FORGOTTEN_AT_A_TIME: Final = 100
_DELETED: Final = int(PositionState.DELETED)
_Key = tuple[str, int]


class Stage:
    """Messages of one attempt of one partition, for one destination.

    They are stored like all others, but belong to no queue.
    """

    __slots__ = ("deadline", "demands", "destination", "messages", "size", "transactional")

    def __init__(
        self,
        destination: str,
        queue: Queue,
        messages: list[Message],
        deadline: float,
        *,
        transactional: bool,
    ) -> None:
        self.destination = destination
        self.demands = _demands(queue)
        self.messages = messages
        self.size = sum([message.size for message in messages])
        self.deadline = deadline
        self.transactional = transactional


class StagedBatch:
    """The staged messages of one batch, by partition and attempt."""

    __slots__ = ("stages", "tag")

    def __init__(self, tag: int) -> None:
        # Marks the transaction of the batch in its messages.
        self.tag = tag
        self.stages: dict[tuple[int, int], list[Stage]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A batch is published; `repeated` if it was published before."""

    count: int
    repeated: bool
    # The arrival sequences of the messages; of a repeated batch only if it was the last one.
    first: int
    last: int
    depends: int


class Stages:
    """The stages that wait for their commit; a restart removes them."""

    __slots__ = ("_state", "batches", "size")

    def __init__(self, state: State) -> None:
        self._state = state
        self.batches: dict[_Key, StagedBatch] = {}
        # Bytes of all staged packets.
        self.size = 0

    def __len__(self) -> int:
        """The number of waiting batches."""
        return len(self.batches)

    def messages(self) -> Iterator[list[Message]]:
        """The messages of each stage."""
        for staged in self.batches.values():
            for group in staged.stages.values():
                for stage in group:
                    yield stage.messages

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
        """Keep packets for a batch; return the count of messages in its stage.

        A restart forgets stages, so nothing depends on the disk before the commit.

        Raises:
            QueueError: every reason to refuse a send is reported here, not at the commit.
        """
        state = self._state
        _check_batch(producer, batch)
        runs = check_packets(packets)
        check_senders(runs, caller)
        descriptor = self._open(destination, caller)
        try:
            queue = descriptor.require(MAY_SEND)
            transactional = _transactional(queue, runs)
            check_destination(self._state, queue, runs, transactional=transactional)
            size = sum([stored_size(run, descriptor) for run in runs])
            if check_room(state, queue, size + self.size) is not EnqueueStatus.OK:
                raise QueueError(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, "no room for the batch")
            name = _name(caller, producer)
            if batch <= state.producers.get(name, _NONE).batch:
                # Its commit will be dropped, and may never be requested again.
                return len(packets)
            staged = self.batches.get((name, batch))
            if staged is None:
                number = state.sequence.take(1, state.outbox) + 1
                staged = StagedBatch(number)
            tag = staged.tag if transactional else None
            _, arrivals = stamp_runs(state, descriptor, queue, runs, tag)
            messages = insert_staged(state, queue, arrivals)
        except QueueError as exc:
            if descriptor.queue is not None:
                count_refused(state, descriptor.queue, hresult_name(exc.code), len(packets))
            raise
        finally:
            close_queue(state, descriptor)
        deadline = state.now + state.settings.stage_seconds
        stage = Stage(destination, queue, messages, deadline, transactional=transactional)
        self.batches[name, batch] = staged
        attempt_stages = staged.stages.setdefault((partition, attempt), [])
        attempt_stages.append(stage)
        self.size += stage.size
        return sum([len(other.messages) for other in attempt_stages])

    def _forget(self, key: _Key) -> None:
        """Delete all stages of a batch."""
        staged = self.batches.pop(key, None)
        if staged is not None:
            for group in staged.stages.values():
                self._free(group)

    def _free(self, group: list[Stage]) -> None:
        """Delete messages, except those that were published."""
        state = self._state
        for stage in group:
            self.size -= stage.size
            messages = [message for message in stage.messages if message.state == STAGED]
            for message in messages:
                message.state = _DELETED
                forget_packet(state, message)
            state.outbox.batch.delete_many(
                [removed.key for removed in messages if removed.traits & RECOVERABLE]
            )

    def commit_batch(
        self,
        producer: str,
        batch: int,
        stages: Iterable[tuple[int, int]],
        *,
        caller: Caller,
        source: OpenQueueDescriptor | None = None,
        received: Sequence[int] = (),
    ) -> Committed:
        """Publish the named stages (partition, attempt), in this order, in one step.

        A batch number at or below the last one that was published is dropped.

        Args:
            source: an open queue, whose messages `received` are removed in the same step.
            received: lookup ids of messages that are locked by `source`.

        Raises:
            QueueError: a stage is missing, a queue does not take it, or a message is not locked;
                nothing is published or removed.
        """
        state = self._state
        _check_batch(producer, batch)
        name = _name(caller, producer)
        before = state.producers.get(name, _NONE)
        if batch <= before.batch:
            self._forget((name, batch))
            first, last = (before.first, before.last) if batch == before.batch else (0, 0)
            return Committed(
                count=0, repeated=True, first=first, last=last, depends=state.outbox.seen()
            )
        if source is not None:
            check_held(source, received)
        staged = self.batches.get((name, batch))
        staged_stages = {} if staged is None else staged.stages
        wanted = []
        for key in stages:
            if key not in staged_stages:
                raise QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                    f"partition {key[0]}, attempt {key[1]} of batch {batch} is not staged",
                )
            wanted += staged_stages[key]
        count = self._publish(wanted, caller)
        sequences = [message.sequence for stage in wanted for message in stage.messages]
        first, last = min(sequences, default=0), max(sequences, default=0)
        if source is not None:
            end_many(state, source, received, ACK_RECEIVE, transactional=False)
        self._forget((name, batch))
        self._remember(name, LastBatch(batch, state.utc, first, last))
        return Committed(
            count=count, repeated=False, first=first, last=last, depends=state.outbox.number
        )

    def check(
        self,
        destination: str,
        packets: Sequence[bytes],
        *,
        queue_bytes: int,
        manager_bytes: int,
        caller: Caller,
    ) -> Checked:
        """Find the packets that would be refused; nothing is staged.

        Args:
            queue_bytes: assumed to be in the queue, in addition to its contents.
            manager_bytes: the same for the queue manager.

        Raises:
            QueueError: all of them would be refused.
        """
        descriptor = self._open(destination, caller)
        try:
            return check_batch(self._state, descriptor, packets, Room(queue_bytes, manager_bytes))
        finally:
            close_queue(self._state, descriptor)

    def last_batch(self, producer: str, *, caller: Caller) -> LastBatch:
        """The batch that a producer published last."""
        return self._state.producers.get(_name(caller, producer), _NONE)

    def _remember(self, name: str, published: LastBatch) -> None:
        """Note the last batch of a producer, and delete producers that were unused for long."""
        state = self._state
        producers = state.producers
        producers.pop(name, None)
        producers[name] = published
        state.outbox.batch.set_row(Table.PRODUCERS, name.encode(), _PRODUCER.pack(*published))
        oldest = state.utc - state.settings.producer_seconds
        for other, last in list(islice(producers.items(), _FORGOTTEN_AT_A_TIME)):
            if last.published >= oldest:
                break
            del producers[other]
            state.outbox.batch.delete_row(Table.PRODUCERS, other.encode())

    def abort_batch(
        self,
        producer: str,
        batch: int,
        stages: Iterable[tuple[int, int]] | None = None,
        *,
        caller: Caller,
    ) -> None:
        """Delete the named stages of a batch, or all; harmless when it was published."""
        key = (_name(caller, producer), batch)
        staged = self.batches.get(key)
        if stages is None or staged is None:
            self._forget(key)
            return
        for stage in stages:
            self._free(staged.stages.pop(stage, []))
        if not staged.stages:
            del self.batches[key]

    def expire(self) -> None:
        """Delete stages whose commit never came."""
        now = self._state.now
        for key, staged in list(self.batches.items()):
            for stage, group in list(staged.stages.items()):
                if group[-1].deadline <= now:
                    self._free(staged.stages.pop(stage))
            if not staged.stages:
                del self.batches[key]

    def next_timer(self) -> float | None:
        """The time when the next stage is deleted."""
        return min(
            (
                group[-1].deadline
                for staged in self.batches.values()
                for group in staged.stages.values()
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
        """Check everything first, then send: all messages become visible, or none."""
        state = self._state
        descriptors = {
            name: self._open(name, caller) for name in {stage.destination for stage in stages}
        }
        try:
            queues = [descriptors[stage.destination].require(MAY_SEND) for stage in stages]
            self._check_all(stages, queues)
            groups: dict[tuple[Queue, bool], list[Message]] = {}
            for queue, stage in zip(queues, stages, strict=True):
                if stage.messages:
                    groups.setdefault((queue, stage.transactional), []).extend(stage.messages)
            for (queue, transactional), messages in groups.items():
                if transactional:
                    mark_staged(state, messages)
                    number_own(state, queue, messages)
                publish_staged(state, queue, messages)
                expire_now(state, messages)
            return sum([len(stage.messages) for stage in stages])
        finally:
            for descriptor in descriptors.values():
                close_queue(state, descriptor)

    def _check_all(self, stages: list[Stage], queues: list[Queue]) -> None:
        sizes: dict[Queue, int] = {}
        for stage, queue in zip(stages, queues, strict=True):
            if stage.demands != _demands(queue):
                raise QueueError(
                    Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE,
                    f"{stage.destination} is not as it was when the batch was staged",
                )
            sizes[queue] = sizes.get(queue, 0) + stage.size
        state = self._state
        total = sum(sizes.values())
        if exceeds(state.manager.queue_manager_quota, state.totals.bytes, total) or any(
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
    """Whether the messages are sent in a transaction, as the queue or they themselves ask."""
    if queue.outgoing is None:
        return queue.properties.transactional
    return any(run.head.transactional for run in runs)


def _demands(queue: Queue) -> tuple[object, ...]:
    """The kind of messages that a queue takes; an outgoing queue takes all."""
    properties = queue.properties
    if queue.outgoing is not None:
        return ()
    return properties.transactional, properties.authentication, properties.privacy_level


def _name(caller: Caller, producer: str) -> str:
    """A producer belongs to the user who runs it: no other user can publish under its name."""
    return f"{caller.sid}/{producer}"


def recover_producers(state: State, rows: Mapping[bytes, bytes]) -> None:
    """Read the last published batch of each producer."""
    producers = [(key.decode(), _last_batch(value)) for key, value in rows.items()]
    for name, last in sorted(producers, key=_when):
        state.producers[name] = last


def _last_batch(row: bytes) -> LastBatch:
    if len(row) == _OLD_PRODUCER.size:
        batch, published = _OLD_PRODUCER.unpack(row)
        return LastBatch(batch, published, 0, 0)
    return LastBatch(*_PRODUCER.unpack(row))


def _when(producer: tuple[str, LastBatch]) -> float:
    return producer[1].published

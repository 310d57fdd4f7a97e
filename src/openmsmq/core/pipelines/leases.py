"""Leases: a consumer sets messages aside in a subqueue of its own and removes them later."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

from openmsmq.core.messages.positions import changes, move_now
from openmsmq.core.messages.reading import queue_to_read
from openmsmq.core.model.open_queue import MAY_RECEIVE, OpenQueueDescriptor
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.creation import drop_if_unused, make_subqueue
from openmsmq.core.rows.tables import Table
from openmsmq.core.state import State
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.limits import MAX_SUBQUEUE_NAME
from openmsmq.wire.names.path_name import parse_path_name
from openmsmq.wire.names.queue_name import QueueName, Suffix

RELEASE_STEP: Final = 10_000
MAX_TOKEN: Final = (1 << 63) - 1
_PREFIX: Final = "spark-"
_KEY: Final = Struct(">I")
_TOKEN: Final = Struct("<q")


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """The newest run of a consumer of a queue."""

    queue: int
    consumer: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """Messages that were moved into the subqueue, or back; `done` is False while some are left."""

    subqueue: str
    count: int
    size: int
    done: bool
    depends: int


class Leases:
    """The lease operations of a queue manager."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def lease(
        self,
        descriptor: OpenQueueDescriptor,
        consumer: str,
        token: int,
        *,
        max_rows: int,
        max_bytes: int,
    ) -> Leased:
        """Move the next messages into the subqueue of the consumer, in one step.

        Args:
            token: grows with each new run of the consumer; older runs are refused.

        Raises:
            QueueError: MQ_ERROR_STALE_HANDLE, a newer run of the consumer is active.
        """
        state = self._state
        queue = queue_to_read(state, descriptor, MAY_RECEIVE)
        self._fence(queue, consumer, token)
        subqueue = _subqueue(state, queue, consumer)
        messages = queue.lanes.take(max_rows, max_bytes)
        # The consumer needs the arrival time, not the time of the move.
        moved = [
            move_now(state, queue, message, subqueue, arrived=message.arrived)
            for message in messages
        ]
        state.leases[queue.number, consumer] = LeaseRow(queue.number, consumer, token)
        state.outbox.batch.set_row(Table.LEASES, _row_key(queue, consumer), _TOKEN.pack(token))
        return Leased(
            subqueue=subqueue.properties.pathname,
            count=len(moved),
            size=sum(message.size for message in moved),
            done=not queue.lanes.count,
            depends=state.outbox.number,
        )

    def release(
        self,
        descriptor: OpenQueueDescriptor,
        consumer: str,
        token: int,
        *,
        limit: int = RELEASE_STEP,
    ) -> Leased:
        """Move messages of the consumer back to the end of their lanes, in steps.

        Raises:
            QueueError: MQ_ERROR_STALE_HANDLE, a newer run of the consumer is active.
        """
        state = self._state
        queue = queue_to_read(state, descriptor, MAY_RECEIVE)
        self._fence(queue, consumer, token)
        subqueue = state.paths.get(_name(queue, consumer).key)
        messages = subqueue.lanes.take(limit, 1 << 62) if subqueue is not None else []
        depends = changes(state, messages)
        if subqueue is not None:
            for message in messages:
                move_now(state, subqueue, message, queue, arrived=message.arrived)
            drop_if_unused(state, subqueue)
        done = len(messages) < limit
        if done and state.leases.pop((queue.number, consumer), None) is not None:
            state.outbox.batch.delete_row(Table.LEASES, _row_key(queue, consumer))
            depends = state.outbox.number
        return Leased(
            subqueue="" if subqueue is None else subqueue.properties.pathname,
            count=len(messages),
            size=sum(message.size for message in messages),
            done=done,
            depends=depends,
        )

    def _fence(self, queue: Queue, consumer: str, token: int) -> None:
        """Refuse a run of a consumer that is older than the newest known one."""
        if not consumer or not 0 <= token <= MAX_TOKEN:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, "a lease needs a consumer name and a token"
            )
        if queue.role is not QueueRole.USER:
            raise QueueError(Hresult.MQ_ERROR_ILLEGAL_OPERATION, f"{queue.path} has no subqueues")
        known = self._state.leases.get((queue.number, consumer))
        if known is not None and token < known.token:
            raise QueueError(
                Hresult.MQ_ERROR_STALE_HANDLE, f"consumer {consumer} was started again elsewhere"
            )


def parse_lease(key: bytes, value: bytes) -> LeaseRow:
    """A lease from its row."""
    queue: int = _KEY.unpack_from(key)[0]
    return LeaseRow(queue, key[_KEY.size :].decode(), _TOKEN.unpack(value)[0])


def _row_key(queue: Queue, consumer: str) -> bytes:
    return _KEY.pack(queue.number) + consumer.encode()


def _name(queue: Queue, consumer: str) -> QueueName:
    own = parse_path_name(queue.properties.pathname).queue_name
    text = f"{_PREFIX}{consumer}"
    if len(text) > MAX_SUBQUEUE_NAME:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"a consumer name has at most {MAX_SUBQUEUE_NAME - len(_PREFIX)} characters",
        )
    # Parsed, so that characters that are invalid in a name are refused here.
    return parse_path_name(f".\\{QueueName(own.scope, own.name, Suffix.SUBQUEUE, text)}").queue_name


def _subqueue(state: State, queue: Queue, consumer: str) -> Queue:
    name = _name(queue, consumer)
    subqueue = state.paths.get(name.key)
    return subqueue if subqueue is not None else make_subqueue(state, queue, name)

"""Messages of one request to many queues; their common properties are checked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import NEVER, RECOVERABLE
from openmsmq.core.model.open_queue import MAY_SEND, OpenQueueDescriptor
from openmsmq.core.outbox import Result
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError
from openmsmq.wire.message.user_message_run import UserMessageRun

from .arrivals import insert
from .expiry import expire_now
from .sending import (
    StampedRun,
    check_destination,
    check_packets,
    check_senders,
    check_size,
    send_to_several,
    stored_size,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller


class Refusal:
    """Messages that one of the open queues refused.

    Attributes:
        position: of the first of them in the request.
        messages: the count, including all messages for the queue after the first.
        error: why the first is refused.
    """

    __slots__ = ("error", "messages", "position")

    def __init__(self, position: int, error: QueueError | StoreError) -> None:
        self.position: Final = position
        self.messages = 1
        self.error: Final = error


class SentEach(Result):
    """Messages that queues took; report them and the refusals once batch `depends` is durable."""

    __slots__ = ("refusals",)

    def __init__(self, refusals: list[Refusal], depends: int) -> None:
        self.refusals = refusals
        super().__init__(depends)


def enqueue_each(
    state: State,
    descriptors: Sequence[OpenQueueDescriptor],
    packets: Sequence[bytes],
    caller: Caller,
) -> SentEach:
    """Send each packet to the open queue at the same index, without a transaction.

    The messages for a queue are sent in their order, up to the first that it refuses.

    Raises:
        QueueError: a packet is not a message, or names another sender; then none is sent.
    """
    runs = check_packets(packets)
    check_senders(runs, caller)
    refusals: dict[OpenQueueDescriptor, Refusal] = {}
    depends = 0
    position = 0
    for run in runs:
        single = UserMessageRun(run.head)
        stamped: StampedRun | None = None
        for packet in run.packets:
            descriptor = descriptors[position]
            refusal = refusals.get(descriptor)
            if refusal is not None:
                refusal.messages += 1
            else:
                single.head = run.head
                single.packets[0] = packet
                try:
                    if stamped is None:
                        stamped = StampedRun(state, run, None)
                    depends = max(depends, _send(state, descriptor, single, stamped))
                except (QueueError, StoreError) as exc:
                    refusals[descriptor] = Refusal(position, exc)
            position += 1
    depends = max(depends, state.sequence.depends(), state.ordinals.depends())
    return SentEach(list(refusals.values()), depends)


def _send(
    state: State, descriptor: OpenQueueDescriptor, run: UserMessageRun, stamped: StampedRun
) -> int:
    """Send one message; return the batch that stores it.

    Args:
        run: has this message only.

    Raises:
        QueueError: the queue does not take it.
    """
    if descriptor.multiple and not descriptor.closed:
        return send_to_several(state, descriptor, [run], None, "").depends
    queue = descriptor.require(MAY_SEND)
    check_destination(state, queue, (run,), transactional=False)
    check_size(state, queue, stored_size(run, descriptor))
    if run.head.authentication_level:
        # The verification has changed its headers.
        stamped = StampedRun(state, run, None)
    stamped.direct(descriptor, queue)
    ordinal = state.ordinals.take(1, state.outbox) + 1
    messages = insert(state, queue, stamped.arrivals(run.packets, ordinal))
    message = messages[0]
    if message.expires != NEVER:
        expire_now(state, messages)
    return state.outbox.number if message.traits & RECOVERABLE else 0

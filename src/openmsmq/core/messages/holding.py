"""Messages by lookup id or by message identifier: lock, purge, find."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.open_queue import MAY_PEEK, MAY_RECEIVE
from openmsmq.core.model.read import Read
from openmsmq.core.rows.packets import packets_of
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import GUID_SIZE

from .delete_reasons import delete_messages
from .positions import changes
from .reading import queue_to_read
from .taking import take

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_PURGED: Final = int(MessageClass.NACK_Q_PURGED)
_PURGED_AT_SENDER: Final = int(MessageClass.NACK_DELETED)
# SourceQueueManager and MessageID in every packet.
_SOURCE: Final = 16
_ORDINAL: Final = 56
_ORDINAL_SIZE: Final = 4
# Messages per step of a search.
FIND_STEP: Final = 1000


def hold_many(state: State, descriptor: OpenQueueDescriptor, lookup_ids: Sequence[int]) -> Read:
    """Lock the messages with these lookup ids that exist and are free, for a two-phase read.

    Messages that are deleted or locked by another reader are left out.
    """
    queue = queue_to_read(state, descriptor, MAY_RECEIVE)
    messages = _available(queue, lookup_ids)
    if not messages:
        return Read([], [], 0)
    for message in messages:
        queue.lanes.remove(message)
    return take(state, descriptor, queue, messages, None, two_phase=True)


def purge_many(
    state: State, descriptor: OpenQueueDescriptor, lookup_ids: Sequence[int]
) -> tuple[list[int], int]:
    """Purge the messages with these lookup ids that exist and are free.

    Returns:
        Their lookup ids, and the batch that the answer depends on.
    """
    queue = queue_to_read(state, descriptor, MAY_RECEIVE)
    messages = _available(queue, lookup_ids)
    for message in messages:
        queue.lanes.remove(message)
    if messages:
        reason = _PURGED_AT_SENDER if queue.outgoing is not None else _PURGED
        delete_messages(state, queue, messages, reason)
    return [message.lookup_id for message in messages], changes(state, messages)


def _available(queue: Queue, lookup_ids: Sequence[int]) -> list[Message]:
    """The free messages with these lookup ids, in their order, without duplicates."""
    candidates = (queue.lanes.get(lookup_id) for lookup_id in dict.fromkeys(lookup_ids))
    return [message for message in candidates if message is not None]


def find_message(
    state: State,
    descriptor: OpenQueueDescriptor,
    identifier: bytes,
    *,
    correlation: bool,
    hidden: bool = False,
) -> Generator[None, None, int | None]:
    """Search the first message with an identifier in queue order, some messages per step.

    Args:
        identifier: 20 bytes, as packets have them.
        correlation: compare the correlation identifier instead.
        hidden: if none is free, search messages hidden from readers: locked, held, delayed.

    Returns:
        The lookup id; None if no such message has it.
    """
    lookup_id = yield from _find_free(state, descriptor, identifier, correlation=correlation)
    if lookup_id is None and hidden:
        lookup_id = yield from _find_hidden(state, descriptor, identifier, correlation=correlation)
    return lookup_id


def _find_free(
    state: State, descriptor: OpenQueueDescriptor, identifier: bytes, *, correlation: bool
) -> Generator[None, None, int | None]:
    after = -1
    while True:
        queue = queue_to_read(state, descriptor, MAY_PEEK)
        messages: list[Message] = []
        candidate = queue.after(after, peek=False)
        while candidate is not None and len(messages) < FIND_STEP:
            messages.append(candidate)
            candidate = queue.after(candidate.lookup_id, peek=False)
        lookup_id = _first(state, messages, identifier, correlation=correlation)
        if lookup_id is not None or candidate is None:
            return lookup_id
        after = messages[-1].lookup_id
        yield


def _find_hidden(
    state: State, descriptor: OpenQueueDescriptor, identifier: bytes, *, correlation: bool
) -> Generator[None, None, int | None]:
    queue = queue_to_read(state, descriptor, MAY_PEEK)
    lookup_ids = [*chain(queue.locked, queue.delayed)]
    for start in range(0, len(lookup_ids), FIND_STEP):
        queue = queue_to_read(state, descriptor, MAY_PEEK)
        candidates = (
            queue.locked.get(lookup_id) or queue.delayed.get(lookup_id)
            for lookup_id in lookup_ids[start : start + FIND_STEP]
        )
        messages = [message for message in candidates if message is not None]
        lookup_id = _first(state, messages, identifier, correlation=correlation)
        if lookup_id is not None:
            return lookup_id
        yield
    return None


def _first(
    state: State, messages: list[Message], identifier: bytes, *, correlation: bool
) -> int | None:
    """The lookup id of the first of them with an identifier."""
    for message, packet in zip(messages, packets_of(state, messages), strict=True):
        if _has_identifier(packet, identifier, correlation=correlation):
            return message.lookup_id
    return None


def _has_identifier(packet: bytes, identifier: bytes, *, correlation: bool) -> bool:
    if correlation:
        return UserMessage(packet).correlation_id == identifier
    return (
        packet[_SOURCE : _SOURCE + GUID_SIZE] == identifier[:GUID_SIZE]
        and packet[_ORDINAL : _ORDINAL + _ORDINAL_SIZE] == identifier[GUID_SIZE:]
    )

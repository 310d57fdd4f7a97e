"""Requests of the local protocol from the arguments of callers, and replies as values."""

from itertools import repeat
from typing import Any, TypeVar

import msgspec

from openmsmq.client.browsed_message import BrowsedMessage
from openmsmq.client.browsed_message import Page as BrowsedPage
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.received_message import NO_COUNTERS, ReceivedMessage
from openmsmq.protocol.local.messages import (
    AnyReply,
    Block,
    Done,
    Failed,
    Messages,
    Page,
    Part,
    Request,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import MsmqError

R = TypeVar("R", bound=Request)


def checked(request: R) -> R:
    """The request itself, if the arguments of the caller have the types of its fields.

    The queue manager closes the connection after a malformed request.

    Raises:
        TypeError: one has the wrong type.
    """
    try:
        msgspec.convert(msgspec.to_builtins(request, builtin_types=(bytes,)), type(request))
    except (msgspec.ValidationError, TypeError) as exc:
        reason, _, place = str(exc).partition(" - at `$[")
        index = int(place.partition("]")[0] or 0)
        # The first element is the kind of the request.
        field = request.__struct_fields__[index - 1] if index else type(request).__name__
        raise TypeError(f"{field}: {reason[0].lower()}{reason[1:]}") from None
    return request


def failure(reply: Failed) -> QueueError:
    """The exception for a refusal."""
    if reply.code == Hresult.MQ_ERROR_IO_TIMEOUT:
        return ReceiveTimeout(reply.text or "no message came in time")
    if reply.code == Hresult.MQ_ERROR_ACCESS_DENIED:
        return AccessDenied(reply.text, cause=reply.cause, remedy=reply.remedy)
    return QueueError(reply.code, reply.text, cause=reply.cause, remedy=reply.remedy)


def done(reply: AnyReply | None) -> Any:
    """The value of an answer, by the kind of request.

    Raises:
        QueueError: it was refused.
    """
    if isinstance(reply, Done):
        return reply.value
    raise _not_as_expected(reply)


def messages(reply: AnyReply | None, machine: bytes) -> list[ReceivedMessage]:
    """The messages of an answer of the queue manager with this GUID.

    Raises:
        QueueError: the read was refused.
        ReceiveTimeout: it ended without a message.
    """
    if not isinstance(reply, Messages):
        raise _not_as_expected(reply)
    received = list(
        map(
            ReceivedMessage,
            reply.packets,
            reply.lookup_ids,
            reply.arrived_times,
            repeat(NO_COUNTERS),
            repeat(machine),
        )
    )
    for index, aborts, moves, moved in reply.counters:
        message = received[index]
        received[index] = ReceivedMessage(
            message.packet,
            message.lookup_id,
            reply.arrived_times[index],
            (aborts, moves, moved),
            machine,
        )
    return received


def page(reply: AnyReply | None, machine: bytes) -> BrowsedPage:
    """The messages of an answer to a browse request.

    Raises:
        QueueError: the request was refused.
    """
    if not isinstance(reply, Page):
        raise _not_as_expected(reply)
    history = {index: (aborts, moves, moved) for index, aborts, moves, moved in reply.counters}
    states = {index: (state, holder) for index, state, holder in reply.states}
    columns = zip(
        reply.packets, reply.lookup_ids, reply.arrived_times, reply.body_sizes, strict=True
    )
    received = []
    for index, (packet, lookup_id, arrived, size) in enumerate(columns):
        counters = history.get(index, NO_COUNTERS)
        state, holder = states.get(index, ("available", ""))
        received.append(
            BrowsedMessage(packet, lookup_id, arrived, counters, machine, None, state, holder, size)
        )
    return BrowsedPage(received, reply.more)


def block(reply: AnyReply | None) -> Block:
    """The part of a range in an answer.

    Raises:
        QueueError: the range was refused.
    """
    if isinstance(reply, Block):
        return reply
    raise _not_as_expected(reply)


def part(reply: AnyReply | None) -> Part:
    """The part of a list in an answer.

    Raises:
        QueueError: the list was refused.
    """
    if isinstance(reply, Part):
        return reply
    raise _not_as_expected(reply)


def _not_as_expected(reply: AnyReply | None) -> MsmqError:
    if isinstance(reply, Failed):
        return failure(reply)
    return MsmqError(f"the queue manager answered with {type(reply).__name__}")

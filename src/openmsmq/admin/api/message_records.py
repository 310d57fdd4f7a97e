"""Records of messages in the API."""

from typing import Final

import msgspec

from openmsmq.client import ReceivedMessage
from openmsmq.client.browsed_message import BrowsedMessage


class MessageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A message in lists; the names are those of every other interface.

    Attributes:
        state: `available`, or `locked` by a reader whose transaction is not decided.
        holder: the holder of its lock.
    """

    lookup_id: str
    id: str
    label: str
    body_size: int
    body_type: int
    priority: int
    class_name: str
    delivery: str
    transactional: bool
    sent_time: str
    arrived_time: str
    source_queue_manager: str
    sender_id: str | None
    destination_queue: str | None
    correlation_id: str | None
    abort_count: int
    move_count: int
    authenticated: bool
    encrypted: bool
    state: str = "available"
    holder: str = ""


class WholeMessage(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """Every property of a message; the names are those of every other interface.

    Attributes:
        body: text, if it is text and the caller may see it.
        body_base64: its bytes, if the caller may see them.
        time_to_reach_queue, time_to_be_received: seconds; null for no limit.
        sent_time, arrived_time: ISO 8601, UTC.
        deliver_at: the time when it appears in its queue, if it is delayed.
    """

    lookup_id: str
    id: str
    label: str
    body: str | None
    body_base64: str | None
    body_type: int
    body_size: int
    priority: int
    class_: int
    class_name: str
    delivery: str
    transactional: bool
    transaction_id: str | None
    first_in_transaction: bool
    last_in_transaction: bool
    sent_time: str
    arrived_time: str
    time_to_reach_queue: int | None
    time_to_be_received: int | None
    correlation_id: str | None
    app_specific: int
    admin_queue: str | None
    response_queue: str | None
    destination_queue: str | None
    source_queue_manager: str
    sender_id: str | None
    authenticated: bool
    authentication_level: str
    sender_certificate: str | None
    hash_algorithm: str | None
    encrypted: bool
    privacy_level: int
    abort_count: int
    move_count: int
    transport: str | None
    deliver_at: str | None


class MessageList(msgspec.Struct, frozen=True):
    """Part of a queue; `after` continues it."""

    messages: list[MessageRecord]
    after: str | None = None


def message_record(message: ReceivedMessage) -> MessageRecord:
    """The record of a message in lists."""
    values = {name: getattr(message, name) for name in _DIRECT_FIELDS}
    if isinstance(message, BrowsedMessage):
        values |= {"state": message.state, "holder": message.holder}
    return MessageRecord(
        lookup_id=str(message.lookup_id),
        sent_time=message.sent_time.isoformat(),
        arrived_time=message.arrived_time.isoformat(),
        **values,
    )


_DIRECT_FIELDS: Final = tuple(
    name
    for name in MessageRecord.__struct_fields__
    if name not in ("lookup_id", "sent_time", "arrived_time", "state", "holder")
)


def whole_message(message: ReceivedMessage) -> WholeMessage:
    """Every property of a message."""
    return msgspec.convert(message.to_dict(), WholeMessage)

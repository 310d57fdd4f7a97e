"""Messages: browse, show, body, packet, send, receive, remove, move."""

import base64
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Literal

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem
from openmsmq.aio import Queue
from openmsmq.care import Condition, parse_filter
from openmsmq.care.filters import Matcher, filter_to_data
from openmsmq.client import Message, ReceivedMessage
from openmsmq.client.browsed_message import BrowsedMessage
from openmsmq.client.properties import Access
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.dissect import Node, dissect

from .message_records import MessageList, WholeMessage, message_record, whole_message
from .queues import Counted, full_name

LARGEST_PAGE: Final = 1_000
# Digits of the largest number of 64 bits.
LONGEST_NUMBER: Final = 20
# The number of parts of a queue that a request with a filter searches.
MOST_PARTS: Final = 20
# The subqueue of messages removed by an operator; they can be put back from there.
REMOVED: Final = ";removed"
# Properties that reveal the contents of a body.
OF_BODIES: Final = ("body", "extension", "soap_envelope", "compound_message")


class BrowseQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages.

    Attributes:
        sort: the order of the queue, or the reverse.
        after: the value in the last answer.
        limit: the maximum number of messages.
        filter: such as `label ~ order and age > 1h`; an answer may then have fewer, or none, and
            continue.
    """

    sort: Literal["lookup_id", "-lookup_id"] = "lookup_id"
    after: str = ""
    limit: int = 100
    filter: str = ""


class FieldRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field of a packet: its position, its value and the meaning."""

    name: str
    offset: int
    size: int
    value: str | int | float | None = None
    meaning: str = ""
    mask: int = 0
    fault: str = ""
    fields: list["FieldRecord"] = []


class PacketRecord(msgspec.Struct, frozen=True):
    """A packet, field by field."""

    packet: str
    size: int
    summary: str
    fields: list[FieldRecord]


class MessageToSend(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message to send; text or base 64 is its body."""

    body: str | None = None
    body_base64: str | None = None
    body_type: int | None = None
    label: str = ""
    priority: int = 3
    delivery: Literal["express", "recoverable"] = "express"
    time_to_reach_queue: int | None = None
    time_to_be_received: int | None = None
    journal: bool = False
    dead_letter: bool = False
    correlation_id: str | None = None
    app_specific: int = 0
    response_queue: str | None = None
    admin_queue: str | None = None


class Sent(msgspec.Struct, frozen=True):
    """The id of the message that was sent."""

    id: str


class MessagesToMove(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages of a queue, and the queue that they are moved to."""

    lookup_ids: list[str]
    to: str


class MessagesToRemove(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages of a queue to remove; for good, or to the subqueue `removed`."""

    lookup_ids: list[str]
    for_good: bool = False


def need_to_read(caller: Caller, condition: Condition | None) -> None:
    """Refuse filters on bodies to users who may not see bodies.

    Raises:
        Problem: 403.
    """
    if condition is not None and not caller.person.sees_bodies:
        text = msgspec.json.encode(filter_to_data(condition)).decode()
        if any(f'"property":"{name}"' in text for name in OF_BODIES):
            caller.need_bodies()


def number(text: str, what: str = "lookup_id") -> int:
    """A lookup id.

    Raises:
        Problem: 400, the text is not a number.
    """
    short = len(text) <= LONGEST_NUMBER
    if not (short and text.isascii() and text.isdecimal()) or int(text) >= 1 << 64:
        raise Problem(400, f"{what} must be a decimal number of 64 bits.", name="BAD_LOOKUP_ID")
    return int(text)


@asynccontextmanager
async def opened(caller: Caller, queue: str, access: Access = "peek") -> AsyncIterator[Queue]:
    """A queue of this computer, opened with the rights of the caller."""
    caller.need_queue(queue)
    manager = await caller.manager()
    async with manager.open_queue(full_name(queue), access) as found:
        yield found


async def browse(
    caller: Caller,
    queue: str,
    *,
    after: int = 0,
    count: int = 100,
    head_bytes: int | None = None,
    backwards: bool = False,
) -> tuple[list[BrowsedMessage], bool]:
    """Messages in queue order or reversed, locked ones included, and whether more follow.

    Delayed ones are not in the queue yet; `list_delayed` has them.
    """
    async with opened(caller, queue) as source:
        return await _browse(
            source, after=after, count=count, head_bytes=head_bytes, backwards=backwards
        )


async def _browse(
    source: Queue, *, after: int, count: int, head_bytes: int | None = None, backwards: bool
) -> tuple[list[BrowsedMessage], bool]:
    found: list[BrowsedMessage] = []
    while True:
        page = await source.ranges.browse(
            after or None,
            backwards=backwards,
            count=count - len(found),
            head_bytes=head_bytes,
        )
        messages = page.messages[::-1] if backwards else page.messages
        found += [message for message in messages if message.state != "delayed"]
        if not page.more or len(found) == count:
            return found, page.more
        after = messages[-1].lookup_id


async def list_messages(caller: Caller, queue: str, query: BrowseQuery) -> MessageList:
    """Messages of a queue in its order, or reversed: another `sort` would read all of it first."""
    async with opened(caller, queue) as source:
        return await list_source(caller, source, full_name(queue), query)


async def list_source(caller: Caller, source: Queue, name: str, query: BrowseQuery) -> MessageList:
    """Messages of a queue that is open."""
    if not 1 <= query.limit <= LARGEST_PAGE:
        raise Problem(400, f"limit must be from 1 to {LARGEST_PAGE}.", name="BAD_LIMIT")
    after = number(query.after, "after") if query.after else 0
    backwards = query.sort.startswith("-")
    condition = parse_filter(query.filter) if query.filter else None
    need_to_read(caller, condition)
    if condition is None:
        messages, more = await _browse(source, after=after, count=query.limit, backwards=backwards)
        records = [message_record(message) for message in messages]
        return MessageList(records, records[-1].lookup_id if more else None)
    matcher, now = Matcher(condition), time.time()
    records = []
    for _ in range(MOST_PARTS):
        messages, more = await _browse(source, after=after, count=LARGEST_PAGE, backwards=backwards)
        for message in messages:
            after = message.lookup_id
            if matcher.holds(name, message, now):
                records.append(message_record(message))
                if len(records) == query.limit:
                    return MessageList(records, str(after))
        if not more:
            return MessageList(records)
    return MessageList(records, str(after))


async def look_up(caller: Caller, queue: str, lookup_id: str) -> ReceivedMessage:
    """One message, even one that a reader has locked."""
    wanted = number(lookup_id)
    async with opened(caller, queue) as source:
        page = await source.ranges.browse(wanted - 1 if wanted > 1 else None, count=1)
        if [each.lookup_id for each in page.messages] == [wanted]:
            message: ReceivedMessage = page.messages[0]
        else:
            # The answer says why there is none.
            message = await source.peek_by_lookup_id(wanted)
    if caller.desk.settings.audit_reads:
        caller.desk.audit.begin(
            caller.person, "read_message", target=queue, filter=lookup_id, count=1, result="done"
        )
    return message


async def show_message(caller: Caller, queue: str, lookup_id: str) -> WholeMessage:
    """Every property of a message; the body only to those who may see it."""
    message = whole_message(await look_up(caller, queue, lookup_id))
    if caller.person.sees_bodies:
        return message
    return msgspec.structs.replace(message, body=None, body_base64=None)


async def message_body(caller: Caller, queue: str, lookup_id: str) -> bytes:
    """The bytes of a body."""
    caller.need_bodies()
    return (await look_up(caller, queue, lookup_id)).view.body


async def message_packet(caller: Caller, queue: str, lookup_id: str) -> bytes:
    """The bytes of a packet, which has the body in it."""
    caller.need_bodies()
    return bytes((await look_up(caller, queue, lookup_id)).packet)


async def dissect_message(caller: Caller, queue: str, lookup_id: str) -> PacketRecord:
    """A packet, field by field."""
    return packet_record(await message_packet(caller, queue, lookup_id))


def packet_record(packet: bytes) -> PacketRecord:
    """The fields of a packet."""
    root = dissect(packet)
    return PacketRecord(root.name, len(packet), root.meaning, [_field(n) for n in root.children])


def _field(node: Node) -> FieldRecord:
    value = node.value
    return FieldRecord(
        name=node.name,
        offset=node.offset,
        size=node.size,
        value=value.hex() if isinstance(value, bytes) else value,
        meaning=node.meaning,
        mask=node.mask,
        fault="" if node.fault is None else str(node.fault),
        fields=[_field(child) for child in node.children],
    )


def message_to_send(body: MessageToSend) -> Message:
    """The message specified in a request.

    Raises:
        Problem: 400, a property does not fit.
    """
    if body.body is not None and body.body_base64 is not None:
        raise Problem(400, "Name body or body_base64, not both.", name="BAD_BODY")
    values = {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not None and name not in ("body", "body_base64")
    }
    with _properties_checked():
        content: str | bytes = body.body or ""
        if body.body_base64 is not None:
            content = base64.b64decode(body.body_base64, validate=True)
        return Message(content, **values)


@contextmanager
def _properties_checked() -> Iterator[None]:
    """Make a message and send it.

    Raises:
        Problem: 400, a property does not fit.
    """
    try:
        yield
    except (ValueError, TypeError) as exc:
        raise Problem(
            400,
            f"The message cannot be sent: {exc}",
            cause="A property has a value that no message can have.",
            remedy="Change the property that is named.",
            name="BAD_MESSAGE",
        ) from exc


async def _send(caller: Caller, queue: str, message: Message) -> Sent:
    """Send a message to a queue of this computer, in a transaction if it needs one."""
    manager = await caller.manager()
    async with manager.open_queue(full_name(queue), "send") as target:
        single = "single" if await target.is_transactional() else None
        with _properties_checked():
            return Sent(await target.send_and_wait(message, single))


async def send_message(caller: Caller, queue: str, body: MessageToSend) -> Sent:
    """Send a message to a queue of this computer."""
    caller.need_queue(queue)
    return await _send(caller, queue, message_to_send(body))


async def receive_message(caller: Caller, queue: str) -> WholeMessage:
    """Receive the first message of a queue."""
    async with opened(caller, queue, "receive") as source:
        message = whole_message(await source.receive(0))
    await (await caller.manager()).flush()
    return message


async def move_messages(caller: Caller, queue: str, body: MessagesToMove) -> Counted:
    """Move messages to a subqueue of their queue, or back."""
    caller.need_queue(body.to)
    ids = [number(text) for text in body.lookup_ids]
    async with opened(caller, queue, "receive") as source:
        return Counted(await source.move(full_name(body.to), ids))


async def remove_messages(caller: Caller, queue: str, body: MessagesToRemove) -> Counted:
    """Remove messages: to the subqueue `removed` of an ordinary queue, else for good."""
    ids = [number(text) for text in body.lookup_ids]
    ordinary = ";" not in queue
    async with opened(caller, queue, "receive") as source:
        if ordinary and not body.for_good:
            return Counted(await source.move(full_name(queue + REMOVED), ids))
        removed, refused = 0, None
        for lookup_id in ids:
            try:
                await source.receive_by_lookup_id(lookup_id)
                removed += 1
            except QueueError as exc:
                refused = exc
    await (await caller.manager()).flush()
    if refused is not None and not removed:
        raise refused
    # Some may be deleted or locked: the others are removed, and counted.
    return Counted(removed)


class CopyToSend(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The destination of a copy of a message, and its changes."""

    to: str
    label: str | None = None
    body: str | None = None
    body_base64: str | None = None


async def send_copy(caller: Caller, queue: str, lookup_id: str, body: CopyToSend) -> Sent:
    """Send a copy of a message, perhaps with another label or body; it stays where it is."""
    caller.need_bodies()
    caller.need_queue(body.to)
    message = (await look_up(caller, queue, lookup_id)).to_message()
    if body.label is not None:
        message.label = body.label
    if body.body_base64 is not None:
        with _properties_checked():
            message.body = base64.b64decode(body.body_base64, validate=True)
    elif body.body is not None:
        message.body = body.body
        message.body_type = None
    return await _send(caller, body.to, message)

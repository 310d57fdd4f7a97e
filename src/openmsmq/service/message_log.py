"""No silent loss: messages that leave unread or are refused are counted and logged."""

from typing import Final

from openmsmq.core.events import MessageDropped, MessagesLeftUnread, SignatureFormFound
from openmsmq.core.management.counters import reason_name
from openmsmq.core.model.message import Message
from openmsmq.wire.codes.hresult import Hresult, hresult_name
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import MessageIdentifier

from .host import Host
from .logs import (
    DAMAGE_FOUND,
    DROPPED,
    MESSAGE_GONE,
    MESSAGES_GONE,
    MESSAGES_OVER_QUOTA,
    MESSAGES_REFUSED,
    REQUEST_REFUSED,
    SIGNATURE_FORM,
    LogEvent,
    log_event,
)

# The results of reads that find nothing, or no more.
ORDINARY: Final = frozenset((Hresult.MQ_ERROR_IO_TIMEOUT, Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION))
# Lines per second about single messages; further ones are summed up once a second.
LINES_PER_SECOND: Final = 50
# A request that is not a message: identified by its sender, and for no queue.
REQUEST: Final = "request"


class Gone:
    """Messages that left one queue for one reason since the last line about them."""

    __slots__ = ("count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first = 0
        self.last = 0

    def add(self, messages: list[Message]) -> None:
        if not self.count:
            self.first = messages[0].lookup_id
        self.last = messages[-1].lookup_id
        self.count += len(messages)


class MessageLog:
    """Logs the end of messages other than by a read, and counts refused requests."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._counters = host.manager.counters
        self._lines = 0
        self._gone: dict[tuple[str, int], Gone] = {}
        self._refused: dict[tuple[str, str], int] = {}
        self._dropped: dict[tuple[str, str, str], int] = {}
        host.engine.listen(MessagesLeftUnread, self._left_unread)
        host.engine.listen(MessageDropped, self._message_dropped)
        host.engine.listen(SignatureFormFound, _say_form)
        host.every_second(self.sum_up)

    # Messages that leave unread

    def _left_unread(self, event: MessagesLeftUnread) -> None:
        reason = reason_name(event.reason)
        named = event.messages[: max(LINES_PER_SECOND - self._lines, 0)]
        self._lines += len(named)
        # The identifiers are known now; the line is written once the removal is on disk.
        for message, identifier in zip(named, self._identifiers(named), strict=True):
            line = (event.queue.path, reason, identifier, message.lookup_id)
            self._host.when_durable(event.depends, say_gone, line)
        rest = event.messages[len(named) :]
        if rest:
            self._gone.setdefault((event.queue.path, event.reason), Gone()).add(rest)

    def _identifiers(self, messages: list[Message]) -> list[str]:
        """The message ids; packets on disk are read back, unless they were never stored."""
        try:
            packets = self._host.manager.management.read_packets(messages)
        except StoreError as exc:
            log_event(DAMAGE_FOUND, what=exc)
            packets = [message.packet for message in messages]
        return [
            "unknown" if packet is None else str(UserMessage(packet).identifier)
            for packet in packets
        ]

    # Dropped messages

    def _message_dropped(self, event: MessageDropped) -> None:
        if self._lines < LINES_PER_SECOND:
            self._lines += 1
            self._host.when_durable(event.depends, say_dropped, event)
        elif len(self._dropped) < LINES_PER_SECOND:
            key = (event.what, event.queue, event.reason)
            self._dropped[key] = self._dropped.get(key, 0) + 1

    # Requests that are refused

    def refuse(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        """A request was refused, with this many messages for a queue in it."""
        if error.code in ORDINARY:
            return
        code = hresult_name(error.code)
        self._counters.refused_requests.add((code,))
        log_event(REQUEST_REFUSED, request=request, code=code, reason=error.detail)
        if messages:
            if self._lines < LINES_PER_SECOND:
                self._lines += 1
                log_event(
                    refusal(code), queue=queue, code=code, count=messages, reason=error.detail
                )
            else:
                key = (queue, code)
                self._refused[key] = self._refused.get(key, 0) + messages

    # Summaries

    def sum_up(self) -> None:
        """Log the sums of suppressed lines."""
        self._lines = 0
        groups, self._gone = self._gone, {}
        for (queue, reason), group in groups.items():
            log_event(
                MESSAGES_GONE,
                queue=queue,
                reason=reason_name(reason),
                count=group.count,
                first_lookup_id=str(group.first),
                last_lookup_id=str(group.last),
            )
        refused, self._refused = self._refused, {}
        for (queue, code), count in refused.items():
            log_event(refusal(code), queue=queue, code=code, count=count)
        dropped, self._dropped = self._dropped, {}
        for (what, queue, why), count in dropped.items():
            if what == REQUEST:
                log_event(DROPPED, what=what, peer=queue, reason=why, count=count)
            else:
                log_event(DROPPED, what=what, queue=queue, reason=why, count=count)


def refusal(code: str) -> LogEvent:
    """The event for refused messages: an administrator has to look after a full queue."""
    full = code == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES.name
    return MESSAGES_OVER_QUOTA if full else MESSAGES_REFUSED


def say_gone(line: tuple[str, str, str, int]) -> None:
    queue, reason, identifier, lookup_id = line
    log_event(MESSAGE_GONE, queue=queue, reason=reason, id=identifier, lookup_id=str(lookup_id))


def _say_form(event: SignatureFormFound) -> None:
    log_event(SIGNATURE_FORM, source=event.source, form=event.form)


def say_dropped(event: MessageDropped) -> None:
    if event.what == REQUEST:
        log_event(DROPPED, what=event.what, peer=event.queue, reason=event.reason)
        return
    identifier = MessageIdentifier.parse(event.identifier)[0]
    log_event(DROPPED, what=event.what, queue=event.queue, reason=event.reason, id=identifier)

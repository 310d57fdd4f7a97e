"""Which packets `openmsmq decode` shows."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from openmsmq.wire.dissect import show_name
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.order_ack import FinalAck, recognize_ack
from openmsmq.wire.scalars import MessageIdentifier

from .source import Notice, Packet

_NANOSECONDS: Final = 1_000_000_000


class PacketKind(StrEnum):
    """The names of packets."""

    PING = "Ping"
    ESTABLISH_CONNECTION = "EstablishConnection"
    CONNECTION_PARAMETERS = "ConnectionParameters"
    SESSION_ACK = "SessionAck"
    USER_MESSAGE = "UserMessage"
    ORDER_ACK = "OrderAck"
    FINAL_ACK = "FinalAck"
    PACKET = "Packet"
    SRMP_MESSAGE = "SrmpMessage"
    DELIVERY_RECEIPT = "DeliveryReceipt"
    COMMITMENT_RECEIPT = "CommitmentReceipt"
    STREAM_RECEIPT = "StreamReceipt"
    FINAL_STREAM_RECEIPT = "FinalStreamReceipt"
    HTTP_REQUEST = "HttpRequest"
    HTTP_RESPONSE = "HttpResponse"
    HTTP_MESSAGE = "HttpMessage"


@dataclass(frozen=True, slots=True)
class PacketFilter:
    """All that is set must be true of a packet.

    Args:
        stream: the number of its TCP connection.
        kinds: one of its names.
        queue: the format name of its destination, or the part after the computer; `*` stands for
            any text, and case does not matter.
        label: of its message; `*` stands for any text.
        identifier: of its message, or of the one that it acknowledges.
        since: captured then or later.
    """

    stream: int | None = None
    kinds: frozenset[str] = frozenset()
    queue: re.Pattern[str] | None = None
    label: re.Pattern[str] | None = None
    identifier: MessageIdentifier | None = None
    since: int | None = None

    def takes_notice(self, notice: Notice) -> bool:
        """Whether a notice is about what is shown."""
        return self.stream is None or notice.stream in (None, self.stream)

    def takes(self, packet: Packet) -> bool:
        """Whether the packet is shown."""
        origin = packet.origin
        if self.stream is not None and origin.stream != self.stream:
            return False
        if self.since is not None and (origin.time is None or origin.time < self.since):
            return False
        if self.kinds and packet.summary().name not in self.kinds:
            return False
        if self.queue is None and self.label is None and self.identifier is None:
            return True
        message = packet.message()
        return message is not None and self._takes_message(message)

    def _takes_message(self, message: UserMessage) -> bool:
        if self.label is not None and not self.label.fullmatch(message.label):
            return False
        if self.queue is not None and not _is_for(message, self.queue):
            return False
        return self.identifier is None or self.identifier in _identifiers(message)


def text_pattern(text: str, *, any_case: bool = False) -> re.Pattern[str]:
    """A text in which * stands for any text."""
    parts = ".*".join(map(re.escape, text.split("*")))
    return re.compile(parts, re.DOTALL | (re.IGNORECASE if any_case else 0))


def nanoseconds(text: str) -> int:
    """A moment in ISO 8601, in UTC unless it says otherwise, since 1970.

    Raises:
        ValueError: the text is no moment.
    """
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * _NANOSECONDS + moment.microsecond * 1000


def _is_for(message: UserMessage, queue: re.Pattern[str]) -> bool:
    address = message.destination_queue
    if address is None:
        return False
    name = show_name(address).text
    return any(queue.fullmatch(text) for text in (name, name.partition("\\")[2]))


def _identifiers(message: UserMessage) -> list[MessageIdentifier]:
    """Of the message, and of the one that it answers or acknowledges."""
    identifiers = [message.identifier, MessageIdentifier.parse(message.correlation_id)[0]]
    try:
        ack = recognize_ack(message)
    except MalformedPacket:
        ack = None
    if isinstance(ack, FinalAck):
        identifiers.append(MessageIdentifier(ack.source_guid, ack.message_id))
    return identifiers

"""Messages as programs see them: `Message` to send, `ReceivedMessage` as it came."""

from base64 import b64encode
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from openmsmq.wire.base_header import INFINITE
from openmsmq.wire.bodies import decode_body_leniently, encode_body
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.limits import DEFAULT_TIME_TO_REACH_QUEUE
from openmsmq.wire.message_class import class_name
from openmsmq.wire.message_enums import Acknowledgment, Delivery, SenderIdType
from openmsmq.wire.queue_address import QueueAddress
from openmsmq.wire.queue_address_names import format_name_of
from openmsmq.wire.scalars import MESSAGE_IDENTIFIER_SIZE, MessageIdentifier
from openmsmq.wire.sid import SID
from openmsmq.wire.user_message import UserMessage

ACKNOWLEDGE_WORDS: Final[dict[str, int]] = {
    "none": Acknowledgment.NONE,
    "arrival": Acknowledgment.FULL_REACH_QUEUE,
    "receive": Acknowledgment.FULL_RECEIVE,
    "full": Acknowledgment.FULL_REACH_QUEUE | Acknowledgment.FULL_RECEIVE,
    "positive-arrival": Acknowledgment.POS_ARRIVAL,
    "positive-receive": Acknowledgment.POS_RECEIVE,
    "negative-arrival": Acknowledgment.NACK_REACH_QUEUE,
    "negative-receive": Acknowledgment.NACK_RECEIVE,
}
DELIVERY_WORDS: Final = {"express": Delivery.EXPRESS, "recoverable": Delivery.RECOVERABLE}
NO_CORRELATION: Final = bytes(MESSAGE_IDENTIFIER_SIZE)


class Message:
    """A message to send.

    Args:
        body: `bytes` go out as they are with body type 0, `str` as UTF-16 text (VT_BSTR); numbers,
            dates and others as the type that COM and .NET programs expect.
        label: up to 249 characters.
        body_type: VT_* code for a body of bytes that are already encoded.
        priority: 0 to 7; a transactional message always has 0.
        delivery: "express" (memory) or "recoverable" (disk); transactional ones are recoverable.
        time_to_reach_queue, time_to_be_received: seconds, None for ever.
        acknowledge: words such as "arrival", "receive", "full" (comma-separated), or the flags.
        admin_queue: where acknowledgments go; a path name or a format name.
        response_queue: where the receiver should answer.
        correlation_id: id of the message that this one belongs to (`{guid}\\ordinal`, or 20 bytes).
        app_specific: a number for the application.
        extension: bytes beside the body.
        journal: keep a copy in the sender's journal.
        dead_letter: keep it in a dead-letter queue if it cannot be delivered or is not read.
        trace_queue: GUID of the public queue that gets reports of the way it takes.
    """

    __slots__ = (
        "acknowledge",
        "admin_queue",
        "app_specific",
        "body",
        "body_type",
        "class_",
        "correlation_id",
        "dead_letter",
        "delivery",
        "extension",
        "journal",
        "label",
        "priority",
        "response_queue",
        "time_to_be_received",
        "time_to_reach_queue",
        "trace_queue",
    )

    def __init__(
        self,
        body: Any = b"",
        label: str = "",
        *,
        body_type: int | None = None,
        priority: int = 3,
        delivery: str = "express",
        time_to_reach_queue: int | None = DEFAULT_TIME_TO_REACH_QUEUE,
        time_to_be_received: int | None = None,
        acknowledge: str | int = 0,
        admin_queue: str | None = None,
        response_queue: str | None = None,
        correlation_id: str | bytes | None = None,
        app_specific: int = 0,
        extension: bytes = b"",
        journal: bool = False,
        dead_letter: bool = False,
        trace_queue: str | None = None,
        class_: int = 0,
    ) -> None:
        self.body = body
        self.label = label
        self.body_type = body_type
        self.priority = priority
        self.delivery = delivery
        self.time_to_reach_queue = time_to_reach_queue
        self.time_to_be_received = time_to_be_received
        self.acknowledge = acknowledge
        self.admin_queue = admin_queue
        self.response_queue = response_queue
        self.correlation_id = correlation_id
        self.app_specific = app_specific
        self.extension = extension
        self.journal = journal
        self.dead_letter = dead_letter
        self.trace_queue = trace_queue
        self.class_ = class_

    def __repr__(self) -> str:
        return f"Message(label={self.label!r}, body={shown(self.body)})"

    def encoded_body(self) -> tuple[bytes, int]:
        """The bytes of the body and their VT_* type."""
        if isinstance(self.body, bytes):
            return self.body, self.body_type or 0
        return encode_body(self.body)


def acknowledge_flags(words: str | int) -> int:
    """Flags for words such as "arrival,receive".

    Raises:
        ValueError: an unknown word; the text lists the known ones.
    """
    if isinstance(words, int):
        return words
    flags = 0
    for word in words.split(","):
        if word.strip() not in ACKNOWLEDGE_WORDS:
            raise ValueError(f"acknowledge: {word!r} is none of {', '.join(ACKNOWLEDGE_WORDS)}")
        flags |= ACKNOWLEDGE_WORDS[word.strip()]
    return flags


def correlation_bytes(value: str | bytes | None) -> bytes:
    """The 20 bytes of a correlation id.

    Raises:
        ValueError: not a message id.
    """
    if value is None:
        return NO_CORRELATION
    if isinstance(value, str):
        return MessageIdentifier.from_text(value).serialize()
    if len(value) != MESSAGE_IDENTIFIER_SIZE:
        raise ValueError(f"correlation_id: has {len(value)} bytes instead of 20")
    return value


class ReceivedMessage:
    """A message as it came out of a queue; a property is decoded when it is asked for."""

    def __init__(
        self,
        packet: bytes,
        lookup_id: int,
        arrived: float,
        counters: tuple[int, int, float] = (0, 0, 0.0),
    ) -> None:
        self.packet: Final = packet
        self.lookup_id: Final = lookup_id
        self._arrived = arrived
        self.abort_count, self.move_count, self._last_move = counters

    def __repr__(self) -> str:
        return f"ReceivedMessage(id={self.id!r}, label={self.label!r}, body={shown(self.body)})"

    @cached_property
    def view(self) -> UserMessage:
        """All properties of the packet under the specification's names."""
        return UserMessage(self.packet)

    @property
    def id(self) -> str:
        return str(self.view.identifier)

    @property
    def label(self) -> str:
        return self.view.label

    @property
    def body_bytes(self) -> bytes:
        """The body as it was sent."""
        return self.view.body

    @property
    def body(self) -> str | bytes:
        """Text, when the body is text; the bytes otherwise."""
        view = self.view
        decoded = decode_body_leniently(view.body_type, view.body)
        return view.body if decoded.text is None else decoded.text

    @property
    def value(self) -> Any:
        """The body as a Python value by its type: a number, a date, text or bytes."""
        view = self.view
        decoded = decode_body_leniently(view.body_type, view.body)
        if decoded.value is not None:
            return decoded.value
        return view.body if decoded.text is None else decoded.text

    @property
    def body_type(self) -> int:
        return self.view.body_type

    @property
    def body_size(self) -> int:
        return len(self.view.body)

    @property
    def priority(self) -> int:
        return self.view.priority

    @property
    def class_(self) -> int:
        return self.view.message_class

    @property
    def class_name(self) -> str:
        return class_name(self.view.message_class)

    @property
    def delivery(self) -> str:
        return "recoverable" if self.view.delivery_mode else "express"

    @property
    def transactional(self) -> bool:
        return self.view.transactional

    @property
    def transaction_id(self) -> str | None:
        header = self.view.transaction_header
        if header is None:
            return None
        source = str(self.view.source_queue_manager).upper()
        return f"{{{source}}}\\{header.transaction_id}"

    @property
    def first_in_transaction(self) -> bool:
        return self.view.first_in_transaction

    @property
    def last_in_transaction(self) -> bool:
        return self.view.last_in_transaction

    @property
    def sent_time(self) -> datetime:
        return datetime.fromtimestamp(self.view.sent_time, UTC)

    @property
    def arrived_time(self) -> datetime:
        return datetime.fromtimestamp(self._arrived, UTC)

    @property
    def last_move_time(self) -> datetime | None:
        return datetime.fromtimestamp(self._last_move, UTC) if self._last_move else None

    @property
    def time_to_reach_queue(self) -> int | None:
        return finite(self.view.time_to_reach_queue)

    @property
    def time_to_be_received(self) -> int | None:
        return finite(self.view.time_to_be_received)

    @property
    def correlation_id(self) -> str | None:
        raw = self.view.correlation_id
        return None if raw == NO_CORRELATION else str(MessageIdentifier.parse(raw)[0])

    @property
    def app_specific(self) -> int:
        return self.view.application_tag

    @property
    def extension(self) -> bytes:
        return self.view.extension

    @property
    def acknowledge(self) -> int:
        return self.view.acknowledgments

    @property
    def admin_queue(self) -> str | None:
        return name_text(self.view.admin_queue)

    @property
    def response_queue(self) -> str | None:
        return name_text(self.view.response_queue)

    @property
    def destination_queue(self) -> str | None:
        return name_text(self.view.destination_queue)

    @property
    def source_queue_manager(self) -> str:
        return f"{{{str(self.view.source_queue_manager).upper()}}}"

    @property
    def sender_id(self) -> str | None:
        raw = self.view.security_id
        if not raw or self.view.sender_id_type != SenderIdType.SID:
            return None
        try:
            return str(SID.parse(raw)[0])
        except MsmqError:
            return raw.hex()

    @property
    def authenticated(self) -> bool:
        return self.view.authentication_level != 0

    @property
    def encrypted(self) -> bool:
        return self.view.encrypted

    def to_dict(self) -> dict[str, Any]:
        """Every property under its name, ready for JSON."""
        body = self.body
        return {
            "lookup_id": self.lookup_id,
            "id": self.id,
            "label": self.label,
            "body": body if isinstance(body, str) else None,
            "body_base64": b64encode(self.body_bytes).decode("ascii"),
            "body_type": self.body_type,
            "body_size": self.body_size,
            "priority": self.priority,
            "class": self.class_,
            "class_name": self.class_name,
            "delivery": self.delivery,
            "transactional": self.transactional,
            "transaction_id": self.transaction_id,
            "first_in_transaction": self.first_in_transaction,
            "last_in_transaction": self.last_in_transaction,
            "sent_time": self.sent_time.isoformat(),
            "arrived_time": self.arrived_time.isoformat(),
            "time_to_reach_queue": self.time_to_reach_queue,
            "time_to_be_received": self.time_to_be_received,
            "correlation_id": self.correlation_id,
            "app_specific": self.app_specific,
            "admin_queue": self.admin_queue,
            "response_queue": self.response_queue,
            "destination_queue": self.destination_queue,
            "source_queue_manager": self.source_queue_manager,
            "sender_id": self.sender_id,
            "authenticated": self.authenticated,
            "encrypted": self.encrypted,
            "abort_count": self.abort_count,
            "move_count": self.move_count,
        }

    def to_message(self) -> Message:
        """A message to send with the same content, for forwarding it."""
        return Message(
            self.body_bytes,
            self.label,
            body_type=self.body_type,
            priority=self.priority,
            delivery=self.delivery,
            time_to_be_received=self.time_to_be_received,
            acknowledge=self.acknowledge,
            admin_queue=self.admin_queue,
            response_queue=self.response_queue,
            correlation_id=self.view.correlation_id,
            app_specific=self.app_specific,
            extension=self.extension,
        )


# The name of the property in JSON and Spark is a word of Python's; getattr(message, "class").
setattr(ReceivedMessage, "class", ReceivedMessage.class_)


def shown(body: object) -> str:
    """A body cut short for people."""
    text = repr(body)
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite(seconds: int) -> int | None:
    """A time of the wire; None when it never ends."""
    return None if seconds == INFINITE else seconds


def name_text(address: QueueAddress | None) -> str | None:
    """The format name of an address, as well as it can be told."""
    if address is None:
        return None
    try:
        return str(format_name_of(address))
    except MsmqError:
        return f"DIRECT={address.direct}" if address.direct else None

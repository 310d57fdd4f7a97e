"""`ReceivedMessage`: a message as it came out of a queue."""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from openmsmq.wire.bodies import BodyValue, body_text, body_value
from openmsmq.wire.codes.message_class import class_name
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.security.sid import SID

from .message import NO_CORRELATION, PRIVACY_WORDS, Message, shown

# Abort count, move count, time of the last move.
Counters = tuple[int, int, float]
AUTHENTICATION_LEVELS: Final = {0: "none", 1: "sig10", 3: "sig20", 5: "sig30", 9: "sigxml"}
HASH_NAMES: Final = {
    0x8001: "md2",
    0x8002: "md4",
    0x8003: "md5",
    0x8004: "sha1",
    0x800C: "sha256",
    0x800E: "sha512",
}
NO_COUNTERS: Final[Counters] = (0, 0, 0.0)
_ENCRYPT_WORDS: Final = {int(level): word for word, level in PRIVACY_WORDS.items()}

# JSON keys and Spark columns have the same names as the attributes here.
PROPERTIES: Final = (
    "lookup_id",
    "id",
    "label",
    "body",
    "body_base64",
    "body_type",
    "body_size",
    "priority",
    "class",
    "class_name",
    "delivery",
    "transactional",
    "transaction_id",
    "first_in_transaction",
    "last_in_transaction",
    "sent_time",
    "arrived_time",
    "time_to_reach_queue",
    "time_to_be_received",
    "correlation_id",
    "app_specific",
    "admin_queue",
    "response_queue",
    "destination_queue",
    "source_queue_manager",
    "sender_id",
    "authenticated",
    "authentication_level",
    "sender_certificate",
    "hash_algorithm",
    "encrypted",
    "privacy_level",
    "abort_count",
    "move_count",
    "transport",
    "deliver_at",
)
# How a message came that SRMP brought, by the beginning of the name that it was sent to.
_SRMP_TRANSPORTS: Final = {"MULTICAST=": "multicast", "DIRECT=HTTPS:": "https"}


class ReceivedMessage(msgspec.Struct, eq=False, gc=False):
    """A message as it came out of a queue; a property is decoded when it is asked for."""

    packet: bytes
    lookup_id: int
    _arrived: float
    _counters: Counters = NO_COUNTERS
    # GUID of the queue manager that has the queue, as packets have it; empty if it is not known.
    _machine: bytes = b""
    _view: UserMessage | None = None

    def __repr__(self) -> str:
        return f"ReceivedMessage(id={self.id!r}, label={self.label!r}, body={shown(self.body)})"

    @property
    def view(self) -> UserMessage:
        """All properties of the packet under the specification's names."""
        view = self._view
        if view is None:
            view = self._view = UserMessage(self.packet)
        return view

    @property
    def id(self) -> str:
        """`{guid}\\ordinal`: the queue manager that sent it, and a number."""
        return str(self.view.identifier)

    @property
    def label(self) -> str:
        """The short text that describes it."""
        return self.view.label

    @property
    def body(self) -> str | bytes:
        """Text, when the body can be read as text; the bytes otherwise."""
        text = self.text
        return self.view.body if text is None else text

    @property
    def body_bytes(self) -> bytes:
        """The body as it was sent."""
        return self.view.body

    @property
    def body_base64(self) -> str:
        """The body as it was sent, in base 64."""
        return b64encode(self.view.body).decode("ascii")

    @property
    def text(self) -> str | None:
        """The body read as text; None when it is no text."""
        view = self.view
        return body_text(view.body_type, view.body)

    @property
    def value(self) -> BodyValue:
        """The body with the type that was sent: bytes stay bytes, however they look."""
        view = self.view
        return body_value(view.body_type, view.body)

    @property
    def body_type(self) -> int:
        """The VT_* code that says how the body is encoded."""
        return self.view.body_type

    @property
    def body_size(self) -> int:
        """How many bytes the body has."""
        return len(self.view.body)

    @property
    def priority(self) -> int:
        """0 to 7; higher ones are received first."""
        return self.view.priority

    @property
    def class_(self) -> int:
        """What it is: 0 for a normal message, else a report; also `getattr(message, "class")`."""
        return self.view.message_class

    @property
    def class_name(self) -> str:
        """The class in words."""
        return class_name(self.view.message_class)

    @property
    def delivery(self) -> str:
        """`express` or `recoverable`."""
        return "recoverable" if self.view.delivery_mode else "express"

    @property
    def transactional(self) -> bool:
        """Whether it was sent in a transaction."""
        return self.view.transactional

    @property
    def transaction_id(self) -> str | None:
        """The transaction that it was sent in."""
        header = self.view.transaction_header
        if header is None:
            return None
        return f"{self.source_queue_manager}\\{header.transaction_id}"

    @property
    def first_in_transaction(self) -> bool:
        """Whether it is the first of its transaction."""
        return self.view.first_in_transaction

    @property
    def last_in_transaction(self) -> bool:
        """Whether it is the last of its transaction."""
        return self.view.last_in_transaction

    @property
    def sent_time(self) -> datetime:
        """When it was sent, in whole seconds."""
        return datetime.fromtimestamp(self.view.sent_time, UTC)

    @property
    def arrived_time(self) -> datetime:
        """When it came into its queue."""
        return datetime.fromtimestamp(self._arrived, UTC)

    @property
    def abort_count(self) -> int:
        """How often a transaction that had received it was aborted."""
        return self._counters[0]

    @property
    def move_count(self) -> int:
        """How often it was moved between a queue and its subqueues."""
        return self._counters[1]

    @property
    def last_move_time(self) -> datetime | None:
        """When it was last moved."""
        moved = self._counters[2]
        return datetime.fromtimestamp(moved, UTC) if moved else None

    @property
    def time_to_reach_queue(self) -> int | None:
        """Seconds that it had to reach its queue; None for ever."""
        return finite(self.view.time_to_reach_queue)

    @property
    def time_to_be_received(self) -> int | None:
        """Seconds until it must be received; None for ever."""
        return finite(self.view.time_to_be_received)

    @property
    def correlation_id(self) -> str | None:
        """The id of the message that it answers or reports about."""
        raw = self.view.correlation_id
        return None if raw == NO_CORRELATION else str(MessageIdentifier.parse(raw)[0])

    @property
    def app_specific(self) -> int:
        """A number of the application."""
        return self.view.application_tag

    @property
    def extension(self) -> bytes:
        """Bytes of the application beside the body."""
        return self.view.extension

    @property
    def acknowledge(self) -> int:
        """Flags: which acknowledgments the sender asked for."""
        return self.view.acknowledgments

    @property
    def admin_queue(self) -> str | None:
        """Format name of the queue for acknowledgments."""
        return name_text(self.view.admin_queue)

    @property
    def response_queue(self) -> str | None:
        """Format name of the queue for answers."""
        return name_text(self.view.response_queue)

    @property
    def destination_queue(self) -> str | None:
        """Format name of the queue that it was sent to."""
        return name_text(self.view.destination_queue)

    @property
    def source_queue_manager(self) -> str:
        """GUID of the queue manager that sent it."""
        return f"{{{str(self.view.source_queue_manager).upper()}}}"

    @property
    def sender_id(self) -> str | None:
        """SID of the user who sent it."""
        raw = self.view.security_id
        if not raw or self.view.sender_id_type != SenderIdType.SID:
            return None
        try:
            return str(SID.parse(raw)[0])
        except MsmqError:
            return raw.hex()

    @property
    def authenticated(self) -> bool:
        """Whether its signature was checked, and is good."""
        return self.view.authentication_level != 0

    @property
    def authentication_level(self) -> str:
        """`none`, or which signature was checked: `sig10`, `sig20`, `sig30` or `sigxml`."""
        level = self.view.authentication_level
        return AUTHENTICATION_LEVELS.get(level, str(level))

    @property
    def sender_certificate(self) -> str | None:
        """The certificate that it came with, as base 64 of its DER."""
        header = self.view.security_header
        if header is None or not header.sender_cert:
            return None
        return b64encode(header.sender_cert).decode("ascii")

    @property
    def hash_algorithm(self) -> str | None:
        """The hash algorithm of its signature; None without a signature."""
        view = self.view
        header = view.security_header
        if header is None or not header.sender_cert:
            return None
        return HASH_NAMES.get(view.hash_algorithm, f"0x{view.hash_algorithm:04X}")

    @property
    def encrypted(self) -> bool:
        """Whether its body travelled encrypted; it is clear here if its destination has it."""
        view = self.view
        return view.encrypted or view.private_body

    @property
    def privacy_level(self) -> int:
        """How its body was to be encrypted: 0 not at all, 1 base, 3 enhanced, 5 AES."""
        return self.view.privacy_level

    @property
    def transport(self) -> str | None:
        """How it came: `local`, `binary`, `http`, `https` or `multicast`.

        None if it did not come by SRMP and nothing says which queue manager it was read from, as
        over RPC.
        """
        view = self.view
        if view.srmp_envelope_header is not None:
            name = (self.destination_queue or "").upper()
            for start, transport in _SRMP_TRANSPORTS.items():
                if name.startswith(start):
                    return transport
            return "http"
        if not self._machine:
            return None
        return "local" if view.source_queue_manager.bytes_le == self._machine else "binary"

    @property
    def deliver_at(self) -> datetime | None:
        """When a message that waits will appear in its queue; None for one that is there."""
        return None

    @property
    def soap_envelope(self) -> str | None:
        """The SOAP envelope of a message that came by SRMP."""
        header = self.view.srmp_envelope_header
        return None if header is None else header.data

    @property
    def compound_message(self) -> bytes | None:
        """The whole request of a message that came by SRMP: envelope, body and other parts."""
        header = self.view.compound_message_header
        return None if header is None else header.data

    def to_dict(self, *, soap: bool = False) -> dict[str, Any]:
        """Every property under its name, ready for JSON; a body that is no text is None.

        With `soap` also `soap_envelope` and `compound_message`, this in base 64.

        `lookup_id` is a decimal text: many readers of JSON round numbers above 2^53.
        """
        values = {name: getattr(self, name) for name in PROPERTIES}
        if soap:
            request = self.compound_message
            values["soap_envelope"] = self.soap_envelope
            values["compound_message"] = (
                None if request is None else b64encode(request).decode("ascii")
            )
        if not isinstance(values["body"], str):
            values["body"] = None
        for name in ("sent_time", "arrived_time"):
            values[name] = values[name].isoformat()
        due = self.deliver_at
        values["deliver_at"] = None if due is None else due.isoformat()
        values["lookup_id"] = str(self.lookup_id)
        return values

    def to_message(self) -> Message:
        """A message to send with the same content, for forwarding it."""
        view = self.view
        return Message(
            view.body,
            view.label,
            body_type=view.body_type,
            priority=view.priority,
            delivery=self.delivery,
            time_to_be_received=self.time_to_be_received,
            acknowledge=view.acknowledgments,
            admin_queue=self.admin_queue,
            response_queue=self.response_queue,
            correlation_id=view.correlation_id,
            app_specific=view.application_tag,
            extension=view.extension,
            encrypt=_ENCRYPT_WORDS.get(view.privacy_level, False),
        )


# The property's name in JSON and Spark is a keyword of Python: getattr(message, "class").
setattr(ReceivedMessage, "class", ReceivedMessage.class_)


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

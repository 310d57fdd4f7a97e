"""Packets from messages: what is the same in many messages is encoded once."""

from operator import attrgetter
from typing import Final
from uuid import UUID

from openmsmq.client.message import (
    DELIVERY_WORDS,
    Message,
    acknowledge_flags,
    correlation_bytes,
)
from openmsmq.client.property_check import check_properties, wire_seconds
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageTemplate
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.format_name import parse_format_name, parse_queue_reference
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.scalars import GUID_NULL, TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader

MAX_FAMILIES: Final = 256
MAX_SHAPES: Final = 1024
# The queue manager gives a message its place in a sequence.
UNNUMBERED: Final = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
# What a template depends on, in one call: building the tuple here takes three times as long.
_properties: Final = attrgetter(
    "body_type",
    "priority",
    "delivery",
    "time_to_reach_queue",
    "time_to_be_received",
    "acknowledge",
    "admin_queue",
    "response_queue",
    "app_specific",
    "extension",
    "journal",
    "dead_letter",
    "trace_queue",
    "class_",
)
_Properties = tuple[object, ...]


class Sender:
    """Who sends: the computer and the user that packets name."""

    def __init__(self, *, computer_name: str, sid: bytes) -> None:
        self._computer_name = computer_name
        self.security = SecurityHeader(SenderIdType.SID, security_id=sid) if sid else None

    def address(self, name: str | None) -> QueueAddress:
        """The address of a path name or format name; a path of this machine becomes direct.

        Raises:
            QueueError: the name is none.
        """
        if name is None:
            return NO_QUEUE
        reference = parse_queue_reference(name)
        if isinstance(reference, PathName):
            computer, separator, rest = str(reference).partition("\\")
            host = self._computer_name if computer == "." else computer
            reference = parse_format_name(f"DIRECT=OS:{host}{separator}{rest}")
        return address_of(reference)


class Family:
    """Messages that differ in label, correlation and body only.

    Those of the same label and size have the same bytes before and after the body. From the
    second one on they are not built again, only put around the body.
    """

    __slots__ = ("_shapes", "_template")

    def __init__(self, template: UserMessageTemplate) -> None:
        self._template = template
        self._shapes: dict[tuple[str, int], tuple[bytes, bytes] | None] = {}

    def build(self, body: bytes, label: str, correlation_id: str | bytes | None) -> bytes:
        """The packet of one of them.

        Raises:
            ValueError: label, correlation id or body do not fit.
        """
        if correlation_id is not None:
            return self._template.build(
                body, label, correlation_id=correlation_bytes(correlation_id)
            )
        key = (label, len(body))
        shape = self._shapes.get(key)
        if shape is not None:
            return b"".join((shape[0], body, shape[1]))
        packet = self._template.build(body, label)
        self._keep(key, packet)
        return packet

    def _keep(self, key: tuple[str, int], packet: bytes) -> None:
        if key in self._shapes:
            view = UserMessage(packet)
            self._shapes[key] = (packet[: view.body_offset], packet[view.body_end :])
            return
        if len(self._shapes) >= MAX_SHAPES:
            self._shapes.clear()
        self._shapes[key] = None


class PacketBuilder:
    """Builds the packets of one sender, in or outside transactions.

    They name no destination: the queue manager writes that of the queue that they are sent to.
    Threads may share a builder.
    """

    def __init__(self, sender: Sender, *, transactional: bool) -> None:
        self._sender = sender
        self._transactional = transactional
        self._families: dict[tuple[_Properties, int], Family] = {}
        # That of the last message with a body of bytes: mostly the next one is alike.
        self._last: tuple[_Properties, Family] | None = None

    def build(self, message: Message) -> bytes:
        """The packet of a message.

        Raises:
            ValueError: a property does not fit; the text names it.
            TypeError: there is no body type for such a body.
            QueueError: a queue name that is none.
        """
        try:
            body = message.body
            properties = _properties(message)
            if type(body) is bytes:
                last = self._last
                if last is None or properties != last[0]:
                    family = self._family(message, properties, message.body_type or 0)
                    last = self._last = (properties, family)
                return last[1].build(body, message.label, message.correlation_id)
            encoded, body_type = message.encoded_body()
            family = self._family(message, properties, body_type)
            return family.build(encoded, message.label, message.correlation_id)
        except TypeError:
            # Only what fails is looked at again, to name the property.
            check_properties(message)
            raise

    def family(self, message: Message) -> Family:
        """What builds messages that differ from this one in label, correlation and body only.

        Raises:
            ValueError: a property does not fit; the text names it.
            QueueError: a queue name that is none.
        """
        return self._family(message, _properties(message), message.body_type or 0)

    def again(self, packet: bytes) -> bytes:
        """The packet of a message that was sent before, to send it again.

        What it was signed with and the way that it has gone are left behind.

        Raises:
            MalformedPacket: it is no message.
            ValueError: its body is encrypted for another destination.
        """
        message = UserMessage(packet)
        if message.encrypted:
            raise ValueError("the body is encrypted for the destination that it was sent to")
        return rebuild(
            message,
            unaddressed=True,
            source_queue_manager=GUID_NULL,
            routing_count=0,
            connector_type=None,
            transaction_header=UNNUMBERED if self._transactional else None,
            security_header=self._sender.security,
            srmp_headers=None,
            soap_header=None,
            multi_queue_format_header=None,
        )

    def _family(self, message: Message, properties: _Properties, body_type: int) -> Family:
        key = (properties, body_type)
        family = self._families.get(key)
        if family is None:
            family = Family(self._template(message, body_type))
            if len(self._families) >= MAX_FAMILIES:
                self._families.clear()
            self._families[key] = family
        return family

    def _template(self, message: Message, body_type: int) -> UserMessageTemplate:
        check_properties(message)
        if message.delivery not in DELIVERY_WORDS:
            raise ValueError(f"delivery: {message.delivery!r} is not 'express' or 'recoverable'")
        trace = trace_guid(message.trace_queue)
        sender = self._sender
        return UserMessageTemplate(
            destination_queue=None,
            admin_queue=sender.address(message.admin_queue),
            response_queue=sender.address(message.response_queue),
            priority=message.priority,
            time_to_reach_queue=wire_seconds("time_to_reach_queue", message.time_to_reach_queue),
            time_to_be_received=wire_seconds("time_to_be_received", message.time_to_be_received),
            delivery_mode=DELIVERY_WORDS[message.delivery],
            negative_journaling=message.dead_letter,
            positive_journaling=message.journal,
            transaction_header=UNNUMBERED if self._transactional else None,
            security_header=sender.security,
            acknowledgments=acknowledge_flags(message.acknowledge),
            message_class=message.class_,
            body_type=body_type,
            application_tag=message.app_specific,
            extension=message.extension,
            tracing_requested=trace is not None,
            tracing_queue=trace,
        )


def trace_guid(value: str | UUID | None) -> UUID | None:
    """The public queue that gets reports.

    Raises:
        ValueError: it is no GUID.
    """
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        raise ValueError(f"trace_queue: {value!r} is not a GUID") from None

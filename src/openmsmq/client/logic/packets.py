"""Packets from messages: common parts of many messages are encoded once."""

from operator import attrgetter
from typing import Final, Unpack

from openmsmq.client.message import Message
from openmsmq.client.property_check import check_properties
from openmsmq.wire.message.user_message_builder import UserMessageOptions, UserMessageTemplate
from openmsmq.wire.scalars import GUID_NULL

from .packet_templates import MAX_FAMILIES, UNNUMBERED, Family, Sender, message_options
from .packets_again import PacketsAgain
from .signed_packets import SignedPacketBuilder

# The properties of a template, in one call: building the tuple here takes three times as long.
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
    "soap_header",
    "soap_body",
    "class_",
    "sign",
    "encrypt",
)
_Properties = tuple[object, ...]


class SignatureWanted(ValueError):
    """A message must be signed, for which its destination is needed."""


class PacketBuilder:
    """Builds the packets of one sender, in or outside transactions.

    They name no destination: the queue manager adds that of the queue to which they are sent.
    Threads may share a builder.
    """

    def __init__(self, sender: Sender, *, transactional: bool) -> None:
        # Created for the first message that is signed: few are.
        self._signed_builder: SignedPacketBuilder | None = None
        self._sender = sender
        self._transactional = transactional
        # Created for the first message that is sent again.
        self._again: PacketsAgain | None = None
        self._families: dict[tuple[_Properties, int], Family] = {}
        # That of the last message with a body of bytes: the next one is mostly similar.
        self._last: tuple[_Properties, Family] | None = None

    def build(self, message: Message) -> bytes:
        """The packet of a message.

        Raises:
            ValueError: a property is invalid; the text names it.
            TypeError: there is no body type for such a body.
            QueueError: an invalid queue name.
            SignatureWanted: it must be signed; use `build_signed`.
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
        except (TypeError, UnicodeEncodeError):
            # Only a failure is examined again, to name the property.
            check_properties(message)
            raise

    def build_signed(self, message: Message, destination: str) -> bytes:
        """The packet of a message that must be signed.

        Args:
            destination: the format name by which the queue manager knows the queue.

        Raises:
            ValueError: a property is invalid; the text names it.
            TypeError: there is no body type for such a body.
            ConfigError: the certificate or its key cannot be used.
        """
        if self._signed_builder is None:
            self._signed_builder = SignedPacketBuilder(
                self._sender, transactional=self._transactional
            )
        try:
            return self._signed_builder.build(message, destination, _properties(message))
        except (TypeError, UnicodeEncodeError):
            check_properties(message)
            raise

    def family(self, message: Message) -> Family:
        """A template for messages that differ from this one in label, correlation and body only.

        Raises:
            ValueError: a property is invalid; the text names it.
            QueueError: an invalid queue name.
        """
        return self._family(message, _properties(message), message.body_type or 0)

    def again(self, packet: bytes, **changes: Unpack[UserMessageOptions]) -> bytes:
        """The packet of a message that was sent before, to send it again.

        Its signature and its route are left out.

        Args:
            packet: the message.
            changes: new values of named fields, such as `message_class=0`.

        Raises:
            MalformedPacket: it is not a message.
            ValueError: its body is encrypted for another destination.
        """
        if self._again is None:
            self._again = PacketsAgain(
                UserMessageOptions(
                    source_queue_manager=GUID_NULL,
                    routing_count=0,
                    connector_type=None,
                    transaction_header=UNNUMBERED if self._transactional else None,
                    security_header=self._sender.security,
                    srmp_headers=None,
                    soap_header=None,
                    multi_queue_format_header=None,
                )
            )
        return self._again.build(packet, changes)

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
        if message.sign:
            raise SignatureWanted("sign: messages are signed when they are sent to a queue")
        options = message_options(
            self._sender, message, body_type, transactional=self._transactional
        )
        options["security_header"] = self._sender.security
        return UserMessageTemplate(destination_queue=None, **options)

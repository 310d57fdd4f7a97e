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
from openmsmq.wire.base_header import INFINITE
from openmsmq.wire.format_name import parse_format_name
from openmsmq.wire.message_enums import SenderIdType
from openmsmq.wire.path_name import PathName
from openmsmq.wire.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.queue_address_names import address_of
from openmsmq.wire.queue_reference import parse_queue_reference
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security_header import SecurityHeader
from openmsmq.wire.transaction_header import TransactionHeader
from openmsmq.wire.user_message_builder import UserMessageTemplate

MAX_TEMPLATES: Final = 256
# The queue manager gives a message its place in a sequence.
UNNUMBERED: Final = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
# All that a template depends on, in one call: building a tuple here takes three times as long.
_template_key: Final = attrgetter(
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
_Templates = dict[tuple[object, ...], UserMessageTemplate]


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


class PacketBuilder:
    """Builds the packets of one sender for one destination."""

    def __init__(self, sender: Sender, destination: QueueAddress) -> None:
        self._sender = sender
        self._destination = destination
        self._templates: dict[tuple[bool, int], _Templates] = {}

    def build(self, message: Message, *, transactional: bool) -> bytes:
        """The packet of a message.

        Raises:
            ValueError: a property does not fit; the text names it.
            TypeError: there is no body type for such a body.
            QueueError: a queue name that is none.
        """
        body = message.body
        if type(body) is bytes:
            body_type = message.body_type or 0
        else:
            body, body_type = message.encoded_body()
        templates = self._templates.get((transactional, body_type))
        key = _template_key(message)
        template = templates.get(key) if templates else None
        if template is None:
            template = self._add_template(message, body_type, transactional=transactional)
        if message.correlation_id is None:
            return template.build(body, message.label)
        correlation_id = correlation_bytes(message.correlation_id)
        return template.build(body, message.label, correlation_id=correlation_id)

    def _add_template(
        self, message: Message, body_type: int, *, transactional: bool
    ) -> UserMessageTemplate:
        template = self._make_template(message, body_type, transactional=transactional)
        templates = self._templates.setdefault((transactional, body_type), {})
        if len(templates) >= MAX_TEMPLATES:
            templates.clear()
        templates[_template_key(message)] = template
        return template

    def _make_template(
        self, message: Message, body_type: int, *, transactional: bool
    ) -> UserMessageTemplate:
        if message.delivery not in DELIVERY_WORDS:
            raise ValueError(f"delivery: {message.delivery!r} is not 'express' or 'recoverable'")
        trace = UUID(message.trace_queue) if message.trace_queue else None
        sender = self._sender
        return UserMessageTemplate(
            destination_queue=self._destination,
            admin_queue=sender.address(message.admin_queue),
            response_queue=sender.address(message.response_queue),
            priority=message.priority,
            time_to_reach_queue=wire_seconds(message.time_to_reach_queue),
            time_to_be_received=wire_seconds(message.time_to_be_received),
            delivery_mode=DELIVERY_WORDS[message.delivery],
            negative_journaling=message.dead_letter,
            positive_journaling=message.journal,
            transaction_header=UNNUMBERED if transactional else None,
            security_header=sender.security,
            acknowledgments=acknowledge_flags(message.acknowledge),
            message_class=message.class_,
            body_type=body_type,
            application_tag=message.app_specific,
            extension=message.extension,
            tracing_requested=trace is not None,
            tracing_queue=trace,
        )


def wire_seconds(seconds: int | None) -> int:
    """Seconds as the wire has them; None never ends."""
    return INFINITE if seconds is None else seconds

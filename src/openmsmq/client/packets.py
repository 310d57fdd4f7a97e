"""Packets from messages: what is the same in many messages is encoded once."""

from typing import Final
from uuid import UUID

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

from .message import DELIVERY_WORDS, Message, acknowledge_flags, correlation_bytes

MAX_TEMPLATES: Final = 256
# The queue manager gives a message its place in a sequence.
UNNUMBERED: Final = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)
TemplateKey = tuple[object, ...]


class PacketBuilder:
    """Builds the packets of one sender on one queue manager."""

    def __init__(self, *, computer_name: str, sender: bytes) -> None:
        self._computer_name = computer_name
        self._security = SecurityHeader(SenderIdType.SID, security_id=sender) if sender else None
        self._templates: dict[TemplateKey, UserMessageTemplate] = {}

    def build(self, message: Message, destination: QueueAddress, *, transactional: bool) -> bytes:
        """The packet of a message.

        Raises:
            ValueError: a property does not fit; the text names it.
            QueueError: a queue name that is none.
        """
        body, body_type = message.encoded_body()
        key = (
            destination,
            transactional,
            body_type,
            message.priority,
            message.delivery,
            message.time_to_reach_queue,
            message.time_to_be_received,
            message.acknowledge,
            message.admin_queue,
            message.response_queue,
            message.app_specific,
            message.extension,
            message.journal,
            message.dead_letter,
            message.trace_queue,
            message.class_,
        )
        template = self._templates.get(key)
        if template is None:
            template = self._template(message, destination, body_type, transactional=transactional)
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            self._templates[key] = template
        if message.correlation_id is None:
            return template.build(body, message.label)
        correlation_id = correlation_bytes(message.correlation_id)
        return template.build(body, message.label, correlation_id=correlation_id)

    def _template(
        self, message: Message, destination: QueueAddress, body_type: int, *, transactional: bool
    ) -> UserMessageTemplate:
        if message.delivery not in DELIVERY_WORDS:
            raise ValueError(f"delivery: {message.delivery!r} is not 'express' or 'recoverable'")
        trace = UUID(message.trace_queue) if message.trace_queue else None
        return UserMessageTemplate(
            destination_queue=destination,
            admin_queue=self.address(message.admin_queue),
            response_queue=self.address(message.response_queue),
            priority=message.priority,
            time_to_reach_queue=wire_seconds(message.time_to_reach_queue),
            time_to_be_received=wire_seconds(message.time_to_be_received),
            delivery_mode=DELIVERY_WORDS[message.delivery],
            negative_journaling=message.dead_letter,
            positive_journaling=message.journal,
            transaction_header=UNNUMBERED if transactional else None,
            security_header=self._security,
            acknowledgments=acknowledge_flags(message.acknowledge),
            message_class=message.class_,
            body_type=body_type,
            application_tag=message.app_specific,
            extension=message.extension,
            tracing_requested=trace is not None,
            tracing_queue=trace,
        )

    def address(self, name: str | None) -> QueueAddress:
        """The address of a path name or format name; a path of this machine becomes direct."""
        if name is None:
            return NO_QUEUE
        reference = parse_queue_reference(name)
        if isinstance(reference, PathName):
            text = str(reference)
            computer, separator, rest = text.partition("\\")
            host = self._computer_name if computer == "." else computer
            reference = parse_format_name(f"DIRECT=OS:{host}{separator}{rest}")
        return address_of(reference)


def wire_seconds(seconds: int | None) -> int:
    """Seconds as the wire has them; None never ends."""
    return INFINITE if seconds is None else seconds

"""The sender, and the parts of packets: options of a message, templates of many."""

from typing import Final
from uuid import UUID

from openmsmq.client.message import (
    DELIVERY_WORDS,
    Message,
    acknowledge_flags,
    correlation_bytes,
    privacy_level,
)
from openmsmq.client.property_check import check_properties, wire_seconds
from openmsmq.security.signatures.hash_forms import FIRST_FORM, HashForm
from openmsmq.security.signatures.xml_forms import FIRST_XML_FORM, XmlForm
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm, HashAlgorithm
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions, UserMessageTemplate
from openmsmq.wire.names.format_name import parse_format_name, parse_queue_reference
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.scalars import GUID_NULL, TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.srmp.soap import check_soap

# [MS-MQDMPR] 3.1.1.12: the values of a message before it is signed or encrypted. Signing code uses
# something better and says so; without a signature or cipher they mean nothing.
DEFAULT_HASH_ALGORITHM: Final = HashAlgorithm.SHA1
DEFAULT_ENCRYPTION_ALGORITHM: Final = EncryptionAlgorithm.RC4
MAX_FAMILIES: Final = 256
MAX_SHAPES: Final = 1024
# The queue manager assigns the place of a message in a sequence.
UNNUMBERED: Final = TransactionHeader(0, TxSequenceID(0, 0), 0, 0)


class Sender:
    """The sender: the computer and the user named in packets.

    Args:
        queue_manager: the GUID of the queue manager that sends the packets on.
        directory: whether a directory has the certificates of users.
        signature_form, srmp_signature_form: the form of signatures, as configured in the queue
        manager.
    """

    def __init__(
        self,
        *,
        computer_name: str,
        sid: bytes,
        queue_manager: UUID = GUID_NULL,
        directory: bool = False,
        signature_form: HashForm = FIRST_FORM,
        srmp_signature_form: XmlForm = FIRST_XML_FORM,
    ) -> None:
        self._computer_name = computer_name
        self.sid = sid
        self.queue_manager = queue_manager
        self.directory = directory
        self.signature_form = signature_form
        self.srmp_signature_form = srmp_signature_form
        self.security = SecurityHeader(SenderIdType.SID, security_id=sid) if sid else None

    def address(self, name: str | None) -> QueueAddress:
        """The address of a path name or format name; a path of this machine becomes direct.

        Raises:
            QueueError: the name is invalid.
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
            ValueError: label, correlation id or body is invalid.
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


def message_options(
    sender: Sender, message: Message, body_type: int, *, transactional: bool
) -> UserMessageOptions:
    """The parts of packets of a message other than destination, body, label and security.

    Raises:
        ValueError: a property is invalid; the text names it.
        TypeError: a property has another type; the text names it.
        QueueError: an invalid queue name.
    """
    check_properties(message)
    if message.delivery not in DELIVERY_WORDS:
        raise ValueError(f"delivery: {message.delivery!r} is not 'express' or 'recoverable'")
    trace = trace_guid(message.trace_queue)
    return UserMessageOptions(
        admin_queue=sender.address(message.admin_queue),
        response_queue=sender.address(message.response_queue),
        priority=message.priority,
        time_to_reach_queue=wire_seconds("time_to_reach_queue", message.time_to_reach_queue),
        time_to_be_received=wire_seconds("time_to_be_received", message.time_to_be_received),
        delivery_mode=DELIVERY_WORDS[message.delivery],
        negative_journaling=message.dead_letter,
        positive_journaling=message.journal,
        transaction_header=UNNUMBERED if transactional else None,
        acknowledgments=acknowledge_flags(message.acknowledge),
        message_class=message.class_,
        privacy_level=privacy_level(message),
        hash_algorithm=DEFAULT_HASH_ALGORITHM,
        encryption_algorithm=DEFAULT_ENCRYPTION_ALGORITHM,
        body_type=body_type,
        application_tag=message.app_specific,
        extension=message.extension,
        tracing_requested=trace is not None,
        tracing_queue=trace,
        soap_header=soap_texts(message),
    )


def soap_texts(message: Message) -> SoapHeader | None:
    """The additions of a program to the SOAP envelope of a message; None without any.

    Raises:
        ValueError: it is not XML, or has elements that the queue manager writes.
    """
    header, body = message.soap_header, message.soap_body
    if not header and not body:
        return None
    try:
        check_soap(header, body)
    except ValueError as exc:
        raise ValueError(f"soap_header, soap_body: {exc}") from exc
    return SoapHeader(header, body)


def trace_guid(value: str | UUID | None) -> UUID | None:
    """The public queue that gets reports.

    Raises:
        ValueError: it is not a GUID.
    """
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        raise ValueError(f"trace_queue: {value!r} is not a GUID") from None

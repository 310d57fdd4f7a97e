"""The bytes of a message that its signature covers ([MS-MQMQ] 2.5), in every form."""

from collections.abc import Callable, Hashable
from struct import Struct
from typing import Final, NamedTuple, TypeVar

from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader, raw_lists
from openmsmq.wire.message.user_header import ADMIN_SHIFT, DESTINATION_SHIFT, RESPONSE_SHIFT
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddress, QueueAddressType
from openmsmq.wire.scalars import GUID_SIZE

from .hash_forms import (
    ConnectorForm,
    HashForm,
    LabelForm,
    ListForm,
    QueueForm,
    ScalarForm,
    SignatureVersion,
)

F = TypeVar("F")
T = TypeVar("T", bound=Hashable)

_U16: Final = Struct("<H").unpack_from
_DIRECT: Final = int(QueueAddressType.DIRECT)
_PUBLIC: Final = int(QueueAddressType.PUBLIC)
_DIRECT_PREFIX: Final = "DIRECT=".encode("utf-16-le")
_NUL: Final = b"\0\0"
_SIZES: Final = (0, 0, 4, 4, 4, GUID_SIZE, GUID_SIZE + 4)
_SCALARS: Final[dict[ScalarForm, Callable[..., bytes]]] = {
    ScalarForm.PACKED: Struct("<BBBBHI").pack,
    ScalarForm.ALIGNED: Struct("<BBBBHxxI").pack,
}
_ABSENT_CONNECTOR: Final = {ConnectorForm.ZERO: bytes(GUID_SIZE), ConnectorForm.ABSENT: b""}
_ALL_ACKNOWLEDGMENTS: Final = 0x0F
# In the MessagePropertiesHeader.
_CORRELATION: Final = 4
_BODY_TYPE: Final = 24
_APPLICATION_TAG: Final = 28
_LABEL: Final = 56


# In the order in which they are tried.
_QUEUE_FORMS: Final = tuple(QueueForm)
_LABEL_FORMS: Final = tuple(LabelForm)
_LIST_FORMS: Final = tuple(ListForm)
# The parts of a `HashForm`.
Choices = tuple[QueueForm, LabelForm, ConnectorForm, ScalarForm, ListForm]
# A 1.0 signature covers nothing after the names of queues.
ONE_END: Final = ((ConnectorForm.ZERO, ScalarForm.PACKED, ListForm.DESTINATION, b""),)


class _QueueName(NamedTuple):
    """A queue name in every form: text with GUIDs in upper and in lower case, and the packet's."""

    upper: bytes = b""
    lower: bytes = b""
    wire: bytes = b""

    def hashed(self, form: QueueForm) -> bytes:
        if form is QueueForm.WIRE:
            return self.wire
        lower = form is QueueForm.LOWER_NUL or form is QueueForm.LOWER
        text = self.lower if lower else self.upper
        if text and (form is QueueForm.TEXT_NUL or form is QueueForm.LOWER_NUL):
            return text + _NUL
        return text


_NO_NAME: Final = _QueueName()


def signed_start(message: UserMessage) -> bytes:
    """CorrelationID, ApplicationTag, MessageBody: where the bytes of every form start."""
    packet = message.packet
    at = message.properties_offset
    return b"".join(
        (
            packet[at + _CORRELATION : at + _BODY_TYPE],
            packet[at + _APPLICATION_TAG : at + _APPLICATION_TAG + 4],
            message.body,
        )
    )


def shape_of(message: UserMessage) -> bytes:
    """Everything in the packet that a 1.0 or 2.0 signature covers, but the start."""
    packet = message.packet
    at = message.properties_offset
    end = message.transaction_offset or message.security_offset
    return b"".join(
        (
            # The priority, both queue managers, flags and names of queues, the connector.
            packet[2:3],
            packet[16:48],
            packet[60:end],
            # Acknowledgments, LabelLength, MessageClass; BodyType; the label.
            packet[at : at + _CORRELATION],
            packet[at + _BODY_TYPE : at + _APPLICATION_TAG],
            packet[at + _LABEL : message.extension_offset],
        )
    )


class SignedFields:
    """What the signature of a message covers; `start` is common to every version and form."""

    __slots__ = (
        "_admin",
        "_connector",
        "_destination",
        "_known_ends",
        "_label",
        "_message",
        "_response",
        "_scalars",
        "_source",
        "start",
    )

    def __init__(self, message: UserMessage) -> None:
        packet = message.packet
        at = message.properties_offset
        self._message = message
        self.start = signed_start(message)
        label = packet[at + _LABEL : message.extension_offset]
        self._label = {LabelForm.NUL: label, LabelForm.BARE: label.removesuffix(_NUL)}
        flags = message.flags
        self._response = self._admin = _NO_NAME
        kind = flags >> RESPONSE_SHIFT & 7
        if kind == _DIRECT:
            self._response = _direct(_direct_bytes(packet, message.response_offset))
        elif kind:
            self._response = _name(message, message.response_offset, kind, message.response_queue)
        kind = flags >> ADMIN_SHIFT & 7
        if kind == _DIRECT:
            self._admin = _direct(_direct_bytes(packet, message.admin_offset))
        elif kind:
            self._admin = _name(message, message.admin_offset, kind, message.admin_queue)
        self._destination: _QueueName | None = None
        # What `_ends` found; a message has one version but 1.0, which has no ends.
        self._known_ends: list[tuple[ConnectorForm, ScalarForm, ListForm, bytes]] | None = None
        self._source = message.source
        self._scalars = (
            message.delivery_mode,
            message.priority,
            message.positive_journaling << 1 | message.negative_journaling,
            message.acknowledgments & _ALL_ACKNOWLEDGMENTS,
            message.message_class,
            message.body_type,
        )
        connector = message.connector_offset
        self._connector = packet[connector : connector + GUID_SIZE] if connector else b""

    def rest(self, version: SignatureVersion, form: HashForm) -> bytes:
        """What follows `start` in this version and form."""
        queues = form.queues
        parts = [
            self._label[form.label],
            self._response.hashed(queues),
            self._admin.hashed(queues),
        ]
        if version is SignatureVersion.SIG10:
            return b"".join(parts)
        if version is SignatureVersion.SIG30:
            parts += (self._message.extension, self._names(form.names))
        parts += (
            self._source,
            _SCALARS[form.scalars](*self._scalars),
            self._connector or _ABSENT_CONNECTOR[form.connector],
        )
        if version is SignatureVersion.SIG20:
            parts.append(self._destination_name().hashed(queues))
        return b"".join(parts)

    def candidates(self, version: SignatureVersion) -> list[tuple[Choices, bytes]]:
        """What may follow `start` in this version, in the order of the forms, each once."""
        labels = _distinct([(form, self._label[form]) for form in _LABEL_FORMS])
        pairs: list[tuple[Choices, bytes]] = []
        ends = self._ends(version) if version is not SignatureVersion.SIG10 else ONE_END
        for queues, (response, admin, destination) in self._queue_names(version):
            for label, text in labels:
                head = text + response + admin
                for connector, scalars, names, rest in ends:
                    choices = (queues, label, connector, scalars, names)
                    pairs.append((choices, b"".join((head, rest, destination))))
        return pairs

    def _queue_names(
        self, version: SignatureVersion
    ) -> list[tuple[QueueForm, tuple[bytes, bytes, bytes]]]:
        destination = _NO_NAME
        if version is SignatureVersion.SIG20:
            destination = self._destination_name()
        response, admin = self._response, self._admin
        return _distinct(
            [
                (form, (response.hashed(form), admin.hashed(form), destination.hashed(form)))
                for form in _QUEUE_FORMS
            ]
        )

    def _ends(
        self, version: SignatureVersion
    ) -> list[tuple[ConnectorForm, ScalarForm, ListForm, bytes]]:
        """What stands between the names of queues and the destination."""
        if self._known_ends is not None:
            return self._known_ends
        connectors = _distinct(
            [(form, self._connector or absent) for form, absent in _ABSENT_CONNECTOR.items()]
        )
        lists = [(ListForm.DESTINATION, b"")]
        if version is SignatureVersion.SIG30:
            extension = self._message.extension
            lists = _distinct([(form, extension + self._names(form)) for form in _LIST_FORMS])
        self._known_ends = [
            (
                connector,
                scalars,
                names,
                b"".join((listed, self._source, pack(*self._scalars), identifier)),
            )
            for connector, identifier in connectors
            for scalars, pack in _SCALARS.items()
            for names, listed in lists
        ]
        return self._known_ends

    def _destination_name(self) -> _QueueName:
        name = self._destination
        if name is None:
            message = self._message
            kind = message.flags >> DESTINATION_SHIFT & 7
            if kind == _DIRECT:
                name = _direct(_direct_bytes(message.packet, 64))
            else:
                name = _name(message, 64, kind, message.destination_queue)
            self._destination = name
        return name

    def _names(self, form: ListForm) -> bytes:
        message = self._message
        trailing = message.trailing
        at = trailing.multi_queue_format if trailing is not None else 0
        if not at:
            return b""
        if form is ListForm.TEXT:
            header, _ = MultiQueueFormatHeader.parse(message.packet, at)
            text = ",".join([element.format_name for element in header.destination])
            return text.encode("utf-16-le", "surrogatepass") + _NUL
        lists = raw_lists(message.packet, at)
        return lists[0] if form is ListForm.DESTINATION else b"".join(lists)


def _distinct(forms: list[tuple[F, T]]) -> list[tuple[F, T]]:
    """Of forms that give the same, the first one."""
    by_value: dict[T, tuple[F, T]] = {}
    for form in forms:
        by_value.setdefault(form[1], form)
    return list(by_value.values())


def _name(message: UserMessage, offset: int, kind: int, address: QueueAddress | None) -> _QueueName:
    """A name that is not direct: `kind` is that of the packet, `address` what it stands for."""
    packet = message.packet
    wire = packet[offset : offset + _SIZES[kind]]
    if address is None or (address.guid is None and address.type != _DIRECT):
        return _QueueName(wire=wire)
    if address.type == _DIRECT:
        # The response queue is the administration queue.
        return _direct(_direct_bytes(packet, message.admin_offset))._replace(wire=wire)
    if address.type == _PUBLIC:
        text = f"PUBLIC={address.guid}"
    else:
        text = f"PRIVATE={address.guid}\\{address.number:x}"
    return _QueueName(text.upper().encode("utf-16-le"), text.encode("utf-16-le"), wire)


def _direct_bytes(packet: bytes, offset: int) -> bytes:
    """The count and the text of the direct name at an offset."""
    return packet[offset : offset + 2 + _U16(packet, offset)[0]]


def _direct(wire: bytes) -> _QueueName:
    text = _DIRECT_PREFIX + wire[2:].removesuffix(_NUL)
    return _QueueName(text, text, wire)

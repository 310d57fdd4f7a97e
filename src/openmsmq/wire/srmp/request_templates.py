"""A short cut for messages that leave: requests like those before are made from a template.

Messages of a program differ in identifier, number in the stream and body, and mostly in nothing
else within one second. `write` gives what `request_from_packet` gives.
"""

from functools import lru_cache
from struct import Struct
from typing import Final

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.transaction_header import TRANSACTION_ID_MASK
from openmsmq.wire.message.user_message import UserMessage

from .formats import guid_text
from .request import Content
from .sending import request_from_packet
from .writer import STREAM

# Where things are in a packet: PacketSize, then TimeToReachQueue up to SentTime, MessageID, Flags.
_SIZE: Final = 8
_SIZE_END: Final = 12
_MESSAGE_ID: Final = 56
_FLAGS: Final = 60
_ONE: Final = Struct("<I")
_TWO: Final = Struct("<II")
# In the TransactionHeader: the sequence and both numbers. The tag of the transaction is not part of
# an envelope, so messages of all transactions share templates.
_SEQUENCE: Final = 4
_NUMBERS: Final = 12
_NUMBERS_END: Final = 20
_SHARED_FLAGS: Final = 0xFFFFFFFF & ~TRANSACTION_ID_MASK
# In the MessagePropertiesHeader: both sizes of the body.
_SIZES: Final = 32
_SIZES_END: Final = 40
_EXTENSION_SIZE: Final = 52
_PROPERTIES_END: Final = 56
_NO_EXTENSION: Final = bytes(4)
# In the SecurityHeader.
_SIGNATURE_SIZE: Final = 6
_SIGNATURE_END: Final = 8
_NONE: Final = bytes(2)
_DELIMITER: Final = b"--MSMQ - SOAP boundary, "
_TYPE_START: Final = 'multipart/related; boundary="MSMQ - SOAP boundary, '
_TYPE_END: Final = '"; type=text/xml'
MAX_TEMPLATES: Final = 256
_MAX_KEY: Final = 4096


class RequestTemplate:
    """An envelope without its identifier and numbers, and the head of the body."""

    __slots__ = ("_after_current", "_after_id", "_after_previous", "_body_id", "_start")

    def __init__(self, message: UserMessage, envelope: bytes) -> None:
        identifier = b"<id>uuid:%d@" % message.message_id
        self._start, _, rest = envelope.partition(identifier)
        self._start += b"<id>uuid:"
        self._after_id = b"@" + rest
        self._after_current = self._after_previous = b""
        if message.transaction_offset:
            before, _, rest = self._after_id.partition(b"<current>%d<" % message.tx_sequence_number)
            self._after_id = before + b"<current>"
            self._after_current = b"<" + rest
            previous = message.previous_tx_sequence_number
            if previous:
                before, _, rest = self._after_current.partition(b"<previous>%d<" % previous)
                self._after_current = before + b"<previous>"
                self._after_previous = b"<" + rest
        sender = guid_text(message.source_queue_manager)
        self._body_id = f"Content-Id: body@{sender}\r\n\r\n".encode()

    def fill(
        self, message_id: int, current: int, previous: int, body: bytes, number: int
    ) -> Content:
        """The request of another message."""
        parts = [self._start, str(message_id).encode("ascii"), self._after_id]
        if self._after_current:
            parts += (str(current).encode("ascii"), self._after_current)
            if self._after_previous:
                parts += (str(previous).encode("ascii"), self._after_previous)
        envelope = b"".join(parts)
        boundary = str(number)
        delimiter = _DELIMITER + boundary.encode("ascii")
        return Content(
            _TYPE_START + boundary + _TYPE_END,
            b"".join(
                (
                    delimiter,
                    _envelope_head(len(envelope)),
                    envelope,
                    delimiter,
                    _body_head(len(body)),
                    self._body_id,
                    body,
                    delimiter,
                    b"--\r\n",
                )
            ),
        )


# Most messages have one of a few sizes.
@lru_cache(maxsize=1024)
def _envelope_head(size: int) -> bytes:
    return b"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % size


@lru_cache(maxsize=1024)
def _body_head(size: int) -> bytes:
    return b"\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n" % size


class PacketRepeat:
    """A message that was written from a template, to compare the next ones with.

    They may differ from it in identifier, numbers and body; all else in their headers is equal,
    byte for byte, so that they have the same template.
    """

    __slots__ = (
        "_after_sizes",
        "_after_sizes_at",
        "_body",
        "_flags",
        "_flags_end",
        "_has_previous",
        "_place",
        "_properties",
        "_sequence",
        "_sizes",
        "_start",
        "_template",
        "_times",
        "_transaction",
    )

    def __init__(self, message: UserMessage, template: RequestTemplate) -> None:
        packet = message.packet
        place = message.transaction_offset
        self._template = template
        self._sizes = message.properties_offset + _SIZES
        self._body = message.body_offset
        # Where the TransactionHeader is; 0 outside of a stream.
        self._place = place
        self._has_previous = message.previous_tx_sequence_number > 0
        self._start = packet[:_SIZE]
        self._times = packet[_SIZE_END:_MESSAGE_ID]
        self._flags_end = place or self._sizes
        self._flags = packet[_FLAGS : self._flags_end]
        self._transaction = _shared_flags(packet, place) if place else 0
        self._sequence = packet[place + _SEQUENCE : place + _NUMBERS] if place else b""
        self._properties = packet[place + _NUMBERS_END : self._sizes] if place else b""
        self._after_sizes_at = self._sizes + _SIZES_END - _SIZES
        self._after_sizes = packet[self._after_sizes_at : self._body]

    def write(self, packet: bytes) -> Content | None:
        """What a POST of a message carries; None if it has another template."""
        # Slices that are compared cost less than calls of `startswith`.
        if (
            packet[_FLAGS : self._flags_end] != self._flags
            or packet[_SIZE_END:_MESSAGE_ID] != self._times
            or packet[:_SIZE] != self._start
            or packet[self._after_sizes_at : self._body] != self._after_sizes
        ):
            return None
        size, allocated = _TWO.unpack_from(packet, self._sizes)
        if allocated > size:
            # Which of the two holds is a matter for `UserMessage`.
            return None
        current = previous = 0
        place = self._place
        if place:
            current, previous = _TWO.unpack_from(packet, place + _NUMBERS)
            if (
                current == 1
                or (previous > 0) is not self._has_previous
                or _shared_flags(packet, place) != self._transaction
                or packet[place + _SEQUENCE : place + _NUMBERS] != self._sequence
                or packet[place + _NUMBERS_END : self._sizes] != self._properties
            ):
                return None
        body = packet[self._body : self._body + size]
        message_id: int = _ONE.unpack_from(packet, _MESSAGE_ID)[0]
        return self._template.fill(message_id, current, previous, body, message_id)


class RequestTemplates:
    """The templates of one sender; the number of them is bounded."""

    __slots__ = ("_repeat", "_templates")

    def __init__(self) -> None:
        self._templates: dict[bytes, RequestTemplate] = {}
        self._repeat: PacketRepeat | None = None

    def write_again(self, packet: bytes) -> Content | None:
        """What a POST of a message carries that is like the last one; None if it is not.

        It has the arguments of that one; its identifier is the number of the boundary.
        """
        return None if self._repeat is None else self._repeat.write(packet)

    def write(
        self,
        message: UserMessage,
        *,
        number: int,
        admin_url: str = "",
        send_receipts_to: str = "",
        stream_element: str = STREAM,
    ) -> Content:
        """What a POST of a message carries; the arguments are those of `request_from_packet`.

        Raises:
            ValueError: the message cannot be sent by SRMP.
        """
        key = _key(message)
        if key:
            key += f"\0{stream_element}\0{admin_url}".encode()
            template = self._templates.get(key)
            if template is not None:
                # Where nothing but the message decides, the next one may be like it.
                if not admin_url and number == message.message_id:
                    self._repeat = PacketRepeat(message, template)
                return template.fill(
                    message.message_id,
                    message.tx_sequence_number,
                    message.previous_tx_sequence_number,
                    message.body,
                    number,
                )
        content = request_from_packet(
            message,
            number=number,
            admin_url=admin_url,
            send_receipts_to=send_receipts_to,
            stream_element=stream_element,
        )
        if key:
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            start = content.data.index(b"<")
            end = content.data.index(b"</se:Envelope>") + len(b"</se:Envelope>")
            self._templates[key] = RequestTemplate(message, content.data[start:end])
        return content


def _key(message: UserMessage) -> bytes:
    """What two messages have in common that share a template; empty for one that has none."""
    packet = message.packet
    at, security = message.properties_offset, message.security_offset
    if (
        message.trailing is not None
        or message.message_class != MessageClass.NORMAL
        # No two signatures are alike.
        or (security and packet[security + _SIGNATURE_SIZE : security + _SIGNATURE_END] != _NONE)
        or packet[at + _EXTENSION_SIZE : at + _PROPERTIES_END] != _NO_EXTENSION
        # The first of a stream says where receipts go.
        or (message.transaction_offset and message.tx_sequence_number == 1)
    ):
        return b""
    place = message.transaction_offset
    if place:
        middle = b"".join(
            (
                packet[_FLAGS:place],
                _ONE.pack(_shared_flags(packet, place)),
                packet[place + _SEQUENCE : place + _NUMBERS],
                b"p" if message.previous_tx_sequence_number else b"f",
                packet[place + _NUMBERS_END : at],
            )
        )
    else:
        middle = packet[_FLAGS:at]
    end = message.extension_offset
    if end > _MAX_KEY:
        return b""
    return b"".join(
        (
            packet[:_SIZE],
            packet[_SIZE_END:_MESSAGE_ID],
            middle,
            packet[at : at + _SIZES],
            packet[at + _SIZES_END : end],
        )
    )


def _shared_flags(packet: bytes, place: int) -> int:
    """The flags of a TransactionHeader without the tag of the transaction."""
    flags: int = _ONE.unpack_from(packet, place)[0]
    return flags & _SHARED_FLAGS

"""A short cut for messages that leave: requests like those before are made from a template.

Messages of a program differ in identifier, number in the stream and body, and mostly in nothing
else within one second. `write` gives what `request_from_packet` gives.
"""

from struct import Struct
from typing import Final

from openmsmq.wire.codes.message_class import MessageClass
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
# In the TransactionHeader, and in the MessagePropertiesHeader: both sizes of the body.
_NUMBERS: Final = 12
_NUMBERS_END: Final = 20
_SIZES: Final = 32
_SIZES_END: Final = 40
_EXTENSION_SIZE: Final = 52
_PROPERTIES_END: Final = 56
_NO_EXTENSION: Final = bytes(4)
# In the SecurityHeader.
_SIGNATURE_SIZE: Final = 6
_SIGNATURE_END: Final = 8
_NONE: Final = bytes(2)
_ENVELOPE_HEAD: Final = b"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n"
_BODY_HEAD: Final = b"\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n"
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
        parts = [self._start, b"%d" % message_id, self._after_id]
        if self._after_current:
            parts += (b"%d" % current, self._after_current)
            if self._after_previous:
                parts += (b"%d" % previous, self._after_previous)
        envelope = b"".join(parts)
        delimiter = b"--MSMQ - SOAP boundary, %d" % number
        return Content(
            f'multipart/related; boundary="MSMQ - SOAP boundary, {number}"; type=text/xml',
            b"".join(
                (
                    delimiter,
                    _ENVELOPE_HEAD % len(envelope),
                    envelope,
                    delimiter,
                    _BODY_HEAD % len(body),
                    self._body_id,
                    body,
                    delimiter,
                    b"--\r\n",
                )
            ),
        )


class PacketRepeat:
    """A message that was written from a template, to compare the next ones with.

    They may differ from it in identifier, numbers and body; all else in their headers is equal,
    byte for byte, so that they have the same template.
    """

    __slots__ = (
        "_after_sizes",
        "_body",
        "_flags",
        "_has_previous",
        "_place",
        "_properties",
        "_sizes",
        "_start",
        "_template",
        "_times",
    )

    def __init__(self, message: UserMessage, template: RequestTemplate) -> None:
        packet = message.packet
        place = message.transaction_offset
        self._template = template
        self._sizes = message.properties_offset + _SIZES
        self._body = message.body_offset
        # Where the numbers of a stream are; 0 outside of one.
        self._place = place + _NUMBERS if place else 0
        self._has_previous = message.previous_tx_sequence_number > 0
        self._start = packet[:_SIZE]
        self._times = packet[_SIZE_END:_MESSAGE_ID]
        self._flags = packet[_FLAGS : self._place or self._sizes]
        self._properties = packet[place + _NUMBERS_END : self._sizes] if place else b""
        self._after_sizes = packet[self._sizes + _SIZES_END - _SIZES : self._body]

    def write(self, packet: bytes) -> Content | None:
        """What a POST of a message carries; None if it has another template."""
        sizes = self._sizes
        if (
            not packet.startswith(self._start)
            or not packet.startswith(self._times, _SIZE_END)
            or not packet.startswith(self._flags, _FLAGS)
            or not packet.startswith(self._after_sizes, self._body - len(self._after_sizes))
        ):
            return None
        size, allocated = _TWO.unpack_from(packet, sizes)
        if allocated > size:
            # Which of the two holds is a matter for `UserMessage`.
            return None
        current = previous = 0
        if self._place:
            current, previous = _TWO.unpack_from(packet, self._place)
            if (
                current == 1
                or (previous > 0) is not self._has_previous
                or not packet.startswith(self._properties, sizes - len(self._properties))
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
    middle = packet[_FLAGS:at]
    if message.transaction_offset:
        numbers = message.transaction_offset - _FLAGS
        mark = b"p" if message.previous_tx_sequence_number else b"f"
        middle = middle[: numbers + _NUMBERS] + mark + middle[numbers + _NUMBERS_END :]
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

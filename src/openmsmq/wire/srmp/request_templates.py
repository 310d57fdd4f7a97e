"""A short cut for messages that leave: requests like those before are made from a template.

Messages of a program differ in identifier, number in the stream and body, and mostly in nothing
else within one second. `write` gives what `request_from_packet` gives.
"""

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

    def fill(self, message: UserMessage, number: int) -> Content:
        """The request of another message."""
        parts = [self._start, b"%d" % message.message_id, self._after_id]
        if self._after_current:
            parts += (b"%d" % message.tx_sequence_number, self._after_current)
            if self._after_previous:
                parts += (b"%d" % message.previous_tx_sequence_number, self._after_previous)
        envelope = b"".join(parts)
        body = message.body
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


class RequestTemplates:
    """The templates of one sender; the number of them is bounded."""

    __slots__ = ("_templates",)

    def __init__(self) -> None:
        self._templates: dict[bytes, RequestTemplate] = {}

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
                return template.fill(message, number)
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

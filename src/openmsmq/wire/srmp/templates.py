"""A short cut for messages like those before: their packets are made from a template.

A sender writes envelopes that differ in label, identifier, times and place in the stream, and in
nothing else. Where the rest of an envelope is that of an earlier one in the form of Windows, only
these values are read, and the packet of the earlier message is copied with them. `take` gives what
`cut_request`, `read_envelope` and `packet_from_request` give; for all other requests, None.

Why the result is the same: `compact.py` matches the earlier envelope as a whole, and its expression
has text without `<`, digits or a date in each of the places that are replaced here. So it matches
the new envelope, too, with the same values everywhere else.
"""

import re
from codecs import utf_16_le_encode
from struct import Struct
from typing import Final

from openmsmq.wire.message.message_properties_header import (
    MAX_LABEL_LENGTH,
    MESSAGE_PROPERTIES_SIZE,
)
from openmsmq.wire.message.srmp_headers import (
    COMPOUND_MESSAGE_HEADER,
    COMPOUND_MESSAGE_HEADER_ID,
    COMPOUND_MESSAGE_HEADER_SIZE,
    SRMP_ENVELOPE_HEADER,
    SRMP_ENVELOPE_HEADER_ID,
    SRMP_ENVELOPE_HEADER_SIZE,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import INFINITE, MAX_PACKET_SIZE

from .compact import read_compact
from .elements import ROUTING, SOAP, SRMP
from .envelope import Envelope
from .formats import DATE_PATTERN, MAX_U32, date_of
from .received import life_of, time_to_be_received
from .repeats import Layout, Repeat
from .request import BODY_HEAD, ENVELOPE_HEAD, Request

_MUST: Final = 'se:mustUnderstand="1"'
# An envelope: label, then identifier, expiresAt, sentAt, current and previous, TTrq.
_START: Final = (
    f'<se:Envelope xmlns:se="{SOAP}" xmlns="{SRMP}"><se:Header>'
    f'<path xmlns="{ROUTING}" {_MUST}><action>MSMQ:'
).encode()
_LABEL_END: Final = b"</action><to>"
_ID: Final = b"<id>uuid:"
_FROM_ID_TO_EXPIRES: Final = 37 + len(f"</id></path><properties {_MUST}><expiresAt>")
_TO_SENT: Final = b"</expiresAt><sentAt>"
_CURRENT: Final = b"<current>"
_TO_PREVIOUS: Final = b"</current><previous>"
_END: Final = b"</TTrq></Msmq></se:Header><se:Body></se:Body></se:Envelope>"
_DATE_SIZE: Final = 15
_NUMBER_SIZE: Final = 10

_DATE: Final = re.compile(DATE_PATTERN.encode())
# Text that stands for itself in XML, in ASCII.
_LABEL: Final = re.compile(rb"[ -%'-;=?-~]*")
_TYPE_START: Final = b'multipart/related; boundary="'
_TYPE_END: Final = b'"; type=text/xml'
_BOUNDARY: Final = re.compile(rb"[A-Za-z0-9 ,.\-]{1,70}")
_CLOSING: Final = b"--\r\n"

# Where things are in a packet: after PacketSize and TimeToReachQueue, the identifiers of queue
# managers, then TimeToBeReceived, SentTime and MessageID.
_SIZES: Final = 8
_GUIDS: Final = 16
_TIMES: Final = 48
_FLAGS: Final = 60
_TWO: Final = Struct("<II")
_THREE: Final = Struct("<III")
# In the TransactionHeader and in the MessagePropertiesHeader.
_NUMBERS: Final = 12
_NUMBERS_END: Final = 20
_LABEL_LENGTH: Final = 1
_BYTES: Final = tuple(bytes((value,)) for value in range(256))
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")

MAX_TEMPLATES: Final = 256
MAX_SHAPE: Final = 4096
_MAX_SEEN: Final = 4096
_MAX_DATES: Final = 4096


class Values:
    """What an envelope has in the places that differ, and the rest of it as its shape.

    `current` is 0 outside of a stream, `previous` where there is none; `numbers` is where the
    identifier's number and these two begin and end in the envelope.
    """

    __slots__ = (
        "current",
        "expires_at",
        "label",
        "numbers",
        "ordinal",
        "previous",
        "sent_at",
        "shape",
        "ttrq",
    )

    def __init__(self, shape: bytes, label: bytes) -> None:
        self.shape = shape
        self.label = label
        self.ordinal = 0
        self.expires_at = 0
        self.sent_at = 0
        self.ttrq = 0
        self.current = 0
        self.previous = 0
        self.numbers: tuple[tuple[int, int], ...] = ()

    def in_place(self, current: int, previous: int) -> "Values":
        """Those of another message in the same stream."""
        values = Values(self.shape, self.label)
        values.expires_at = self.expires_at
        values.sent_at = self.sent_at
        values.ttrq = self.ttrq
        values.current = current
        values.previous = previous
        return values


class MessageTemplate:
    """The packet of a message, in pieces.

    Attributes:
        envelope: of that message.
    """

    __slots__ = ("_after_label", "_before_label", "_guids", "_numbers", "_start", "envelope")

    def __init__(self, envelope: Envelope, packet: bytes) -> None:
        message = UserMessage(packet)
        at = message.properties_offset + _LABEL_LENGTH
        self.envelope = envelope
        self._start = packet[:_SIZES]
        self._guids = packet[_GUIDS:_TIMES]
        numbers = message.transaction_offset
        if numbers:
            self._numbers = packet[_FLAGS : numbers + _NUMBERS]
            self._before_label = packet[numbers + _NUMBERS_END : at]
        else:
            self._numbers = b""
            self._before_label = packet[_FLAGS:at]
        end = message.properties_offset + MESSAGE_PROPERTIES_SIZE
        self._after_label = packet[at + 1 : end]

    def fill(
        self, values: Values, envelope: bytes, compound: bytes, body_offset: int, body_size: int
    ) -> bytes:
        """The packet of another message; empty if it would be too large."""
        label = values.label
        name = utf_16_le_encode(label.decode("ascii") + "\0")[0] if label else b""
        text = utf_16_le_encode(envelope.decode())[0] + b"\0\0"
        sent = min(max(values.sent_at, 0), INFINITE)
        numbers = self._numbers
        if numbers:
            numbers += _TWO.pack(values.current, values.previous)
        fixed = len(numbers) + len(self._before_label) + 1 + len(self._after_label) + len(name)
        size = _FLAGS + fixed
        padding = -size & 3
        size += padding + SRMP_ENVELOPE_HEADER_SIZE + len(text) + (-len(text) & 3)
        size += COMPOUND_MESSAGE_HEADER_SIZE + len(compound) + (-len(compound) & 3)
        if size > MAX_PACKET_SIZE:
            return b""
        return b"".join(
            (
                self._start,
                _TWO.pack(size, life_of(values.ttrq, sent)),
                self._guids,
                _THREE.pack(
                    time_to_be_received(values.expires_at, values.ttrq, sent),
                    sent,
                    values.ordinal,
                ),
                numbers,
                self._before_label,
                _BYTES[len(name) >> 1],
                self._after_label,
                name,
                _PADDING[padding],
                SRMP_ENVELOPE_HEADER.pack(SRMP_ENVELOPE_HEADER_ID, 0, len(text) >> 1),
                text,
                _PADDING[-len(text) & 3],
                COMPOUND_MESSAGE_HEADER.pack(
                    COMPOUND_MESSAGE_HEADER_ID, 0, len(compound), body_size, body_offset
                ),
                compound,
                _PADDING[-len(compound) & 3],
            )
        )


class TemplatedMessage:
    """A message whose packet was made from a template.

    Attributes:
        template: its envelope has what all messages of the template have in common.
        values: what is this message's own.
    """

    __slots__ = ("packet", "template", "values")

    def __init__(self, template: MessageTemplate, packet: bytes, values: Values) -> None:
        self.template = template
        self.packet = packet
        self.values = values

    def follows(self, other: "TemplatedMessage") -> bool:
        """Whether both packets are the same up to the label, but for PacketSize and identifiers.

        These are MessageID and, in a stream, the numbers of the TransactionHeader.
        """
        one, two = self.values, other.values
        return one is two or (
            self.template is other.template
            and one.sent_at == two.sent_at
            and one.ttrq == two.ttrq
            and one.expires_at == two.expires_at
        )


class Templates:
    """The templates of one receiver; the number of them is bounded."""

    __slots__ = ("_dates", "_last", "_repeat", "_seen", "_templates")

    def __init__(self) -> None:
        self._templates: dict[bytes, MessageTemplate] = {}
        # What requests are compared with first, and its message; the last one that was read here.
        self._repeat: tuple[Repeat, TemplatedMessage] | None = None
        self._last: MessageTemplate | None = None
        # Hashes of shapes that came once: what does not come again is not worth a template.
        self._seen: set[int] = set()
        self._dates: dict[bytes, int] = {}

    def take(self, content_type: bytes, head: bytes, content: bytes) -> TemplatedMessage | None:
        """The message of a request; None if it has to be read in full."""
        if self._repeat is not None:
            repeat, repeated = self._repeat
            packet = repeat.take(content_type, head, content)
            if packet:
                values = repeated.values
                if values.current:
                    values = values.in_place(repeat.current, repeat.previous)
                return TemplatedMessage(repeated.template, packet, values)
        return self._take(content_type, head, content)

    def _take(self, content_type: bytes, head: bytes, content: bytes) -> TemplatedMessage | None:
        """The message of a request that does not repeat another one."""
        parts = _cut(content_type, content)
        if parts is None:
            return None
        start, end, body_offset, body_size = parts
        envelope = content[start:end]
        values = self._read(envelope)
        if values is None:
            return None
        template = self._templates.get(values.shape)
        if template is None:
            return None
        packet = template.fill(values, envelope, head + content, len(head) + body_offset, body_size)
        if not packet:
            return None
        message = TemplatedMessage(template, packet, values)
        # One of its kind came before: more of them may follow.
        if template is self._last and content_type[-len(_TYPE_END) - 1 : -len(_TYPE_END)].isdigit():
            numbers = tuple([(start + first, start + last) for first, last in values.numbers])
            boundary_end = len(content_type) - len(_TYPE_END)
            layout = Layout(
                len(_TYPE_START), boundary_end, start, end, body_offset, body_size, numbers
            )
            self._repeat = Repeat(content_type, head, content, layout, packet), message
        self._last = template
        return message

    def learn(self, request: Request, envelope: Envelope, packet: bytes) -> None:
        """A request was read in full: others like it may follow."""
        if request.extension or envelope.msmq is None or envelope.msmq.trace:
            return
        raw = request.envelope
        values = self._read(raw)
        if values is None or len(values.shape) > MAX_SHAPE:
            return
        shape = hash(values.shape)
        if shape not in self._seen:
            if len(self._seen) >= _MAX_SEEN:
                self._seen.clear()
            self._seen.add(shape)
            return
        if read_compact(raw) is None:
            return
        if len(self._templates) >= MAX_TEMPLATES:
            self._templates.clear()
        self._templates[values.shape] = MessageTemplate(envelope, packet)

    def _read(self, envelope: bytes) -> Values | None:
        """Read what differs in envelopes; None if one of these values cannot be used."""
        if not envelope.startswith(_START) or not envelope.endswith(_END):
            return None
        label_end = envelope.find(_LABEL_END, len(_START))
        number = envelope.find(_ID, label_end) + len(_ID)
        at = envelope.find(b"@", number, number + _NUMBER_SIZE + 1)
        expires = at + _FROM_ID_TO_EXPIRES
        sent = expires + _DATE_SIZE + len(_TO_SENT)
        rest = sent + _DATE_SIZE
        ttrq = len(envelope) - len(_END) - _DATE_SIZE
        if (
            label_end < 0
            or number < label_end
            or at < 0
            or rest > ttrq
            or label_end - len(_START) >= MAX_LABEL_LENGTH
            or envelope[expires + _DATE_SIZE : sent] != _TO_SENT
        ):
            return None
        label = envelope[len(_START) : label_end]
        if _LABEL.fullmatch(label) is None:
            return None
        shape = envelope[label_end:number] + envelope[at:expires]
        values = Values(shape, label)
        values.numbers = ((number, at),)
        values.ordinal = _number(envelope[number:at])
        values.expires_at = self._date(envelope[expires : expires + _DATE_SIZE])
        values.sent_at = self._date(envelope[sent:rest])
        values.ttrq = self._date(envelope[ttrq : ttrq + _DATE_SIZE])
        if values.ordinal < 0 or values.sent_at < 0 or values.ttrq < 0 or values.expires_at < 0:
            return None
        return _read_place(envelope, rest, ttrq, values)

    def _date(self, text: bytes) -> int:
        """The time of a date; -1 if it is not one, or before 1970."""
        known = self._dates.get(text)
        if known is None:
            if _DATE.fullmatch(text) is None:
                return -1
            try:
                known = max(date_of(text.decode("ascii")), -1)
            except ValueError:
                known = -1
            if len(self._dates) >= _MAX_DATES:
                self._dates.clear()
            self._dates[text] = known
        return known


def _read_place(envelope: bytes, rest: int, end: int, values: Values) -> Values | None:
    """Read <current> and <previous> between two places, if they are there."""
    current = envelope.find(_CURRENT, rest, end)
    if current < 0:
        values.shape += envelope[rest:end]
        return values
    current += len(_CURRENT)
    current_end = envelope.find(b"<", current, end)
    values.current = _number(envelope[current:current_end])
    values.numbers += ((current, current_end),)
    values.shape += envelope[rest:current]
    previous_end = current_end
    if envelope.startswith(_TO_PREVIOUS, current_end):
        previous = current_end + len(_TO_PREVIOUS)
        previous_end = envelope.find(b"<", previous, end)
        values.previous = _number(envelope[previous:previous_end])
        values.numbers += ((previous, previous_end),)
        values.shape += _TO_PREVIOUS
    if values.current <= 0 or values.previous < 0 or previous_end < 0:
        return None
    values.shape += envelope[previous_end:end]
    return values


def _number(text: bytes) -> int:
    """The number of some digits; -1 if they are not a 32-bit number."""
    if not text.isdigit() or len(text) > _NUMBER_SIZE:
        return -1
    number = int(text)
    return number if number <= MAX_U32 else -1


def _cut(content_type: bytes, content: bytes) -> tuple[int, int, int, int] | None:
    """Where envelope and body of a request in the form of Windows are; None for another form.

    The result is the start and end of the envelope, and the start and size of the body.
    """
    if not content_type.startswith(_TYPE_START) or not content_type.endswith(_TYPE_END):
        return None
    boundary = content_type[len(_TYPE_START) : -len(_TYPE_END)]
    delimiter = b"--" + boundary
    if _BOUNDARY.fullmatch(boundary) is None or not content.startswith(delimiter):
        return None
    match = ENVELOPE_HEAD.match(content, len(delimiter))
    if match is None:
        return None
    start = match.end()
    end = start + int(match[1])
    if not content.startswith(delimiter, end):
        return None
    match = BODY_HEAD.match(content, end + len(delimiter))
    if match is None:
        return None
    body = match.end()
    body_end = body + int(match[1])
    closing = delimiter + _CLOSING
    if not content.startswith(closing, body_end) or body_end + len(closing) != len(content):
        return None
    return start, end, body, body_end - body

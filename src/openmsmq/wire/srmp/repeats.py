"""Requests that repeat an earlier one but for numbers and body: their packets are copies of its.

A sender of many messages writes requests of the same layout, which differ in the boundary, in the
numbers of the envelope (identifier, place in the stream) and in the body. A request is such a
repetition if these have the sizes that they have in the earlier one, and all other bytes are equal.
Then `Repeat.take` gives what the templates give: they would find the same parts at the same places,
and the same values but for the numbers.
"""

from codecs import utf_16_le_encode
from struct import Struct
from typing import Final, NamedTuple

from openmsmq.wire.message.srmp_headers import SRMP_ENVELOPE_HEADER_SIZE
from openmsmq.wire.message.user_message import UserMessage

from .formats import MAX_U32

# MessageID in a packet, and both numbers in the TransactionHeader.
_ID: Final = 56
_ID_END: Final = 60
_PLACE: Final = 12
_PLACE_END: Final = 20
_ONE: Final = Struct("<I")
_TWO: Final = Struct("<II")
_CLOSING: Final = b"--\r\n"
_DIGITS: Final = b"0123456789"
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")


class Layout(NamedTuple):
    """Where the parts of a request in the form of Windows are.

    Attributes:
        boundary, boundary_end: in the value of Content-Type.
        envelope, envelope_end: in the content, as the others.
        body, body_size: the message body.
        numbers: start and end of the identifier's number, then those of <current> and <previous>
            if they are there.
    """

    boundary: int
    boundary_end: int
    envelope: int
    envelope_end: int
    body: int
    body_size: int
    numbers: tuple[tuple[int, int], ...]


class _Number:
    """A number in an envelope, and what stands in front of it."""

    __slots__ = ("before", "before_at", "end", "in_packet", "start")

    def __init__(self, before: bytes, before_at: int, end: int, in_packet: bytes) -> None:
        self.before = before
        self.before_at = before_at
        self.start = before_at + len(before)
        self.end = end
        # The text in front of it as the packet has it.
        self.in_packet = in_packet


class Repeat:
    """A request and the packet that was made of it, to compare others with.

    Attributes:
        current, previous: of the message that was taken last; 0 where there is none.
    """

    __slots__ = (
        "_after_id",
        "_before_id",
        "_body",
        "_body_end",
        "_delimiter",
        "_delimiter_size",
        "_digits",
        "_digits_end",
        "_end_in_packet",
        "_head_size",
        "_mime",
        "_numbers",
        "_padding",
        "_place_end",
        "_rest",
        "_rest_at",
        "_size",
        "_type_end",
        "_type_start",
        "current",
        "previous",
    )

    def __init__(
        self, content_type: bytes, head: bytes, content: bytes, layout: Layout, packet: bytes
    ) -> None:
        boundary = content_type[layout.boundary : layout.boundary_end]
        name = boundary.rstrip(_DIGITS)
        self._digits = layout.boundary + len(name)
        self._digits_end = layout.boundary_end
        self._type_start = content_type[: self._digits]
        self._type_end = content_type[self._digits_end :]
        self._delimiter = b"--" + name
        self._head_size = len(head)
        self._size = len(content)
        self._delimiter_size = 2 + len(boundary)
        self._mime = content[layout.envelope_end + self._delimiter_size : layout.body]
        self._body = layout.body
        self._body_end = layout.body + layout.body_size
        self.current = self.previous = 0
        self._cut_packet(head, content, packet)
        self._cut_envelope(content, layout, packet)

    def _cut_packet(self, head: bytes, content: bytes, packet: bytes) -> None:
        """Keep what stands before the envelope in a packet, in pieces around the numbers."""
        message = UserMessage(packet)
        assert message.trailing is not None  # noqa: S101 - it has the headers of SRMP
        text = message.trailing.srmp_envelope + SRMP_ENVELOPE_HEADER_SIZE
        self._before_id = packet[:_ID]
        self._after_id = packet[_ID_END:text]
        self._place_end = b""
        place = message.transaction_offset
        if place:
            self._after_id = packet[_ID_END : place + _PLACE]
            self._place_end = packet[place + _PLACE_END : text]
        self._padding = _PADDING[-(len(head) + len(content)) & 3]

    def _cut_envelope(self, content: bytes, layout: Layout, packet: bytes) -> None:
        """Keep the envelope in pieces around its numbers, as bytes and as the packet has them."""
        self._numbers: list[_Number] = []
        start = self._delimiter_size
        text_at = layout.envelope
        for number, end in layout.numbers:
            text = utf_16_le_encode(content[text_at:number].decode())[0]
            self._numbers.append(_Number(content[start:number], start, end, text))
            start = text_at = end
        self._rest_at = start
        self._rest = content[start : layout.envelope_end]
        text = utf_16_le_encode(self._rest.decode())[0]
        # Behind the envelope follow padding and the CompoundMessageHeader, then the request.
        after = len(packet) - self._head_size - self._size - len(self._padding)
        begin = packet.rindex(text, 0, after)
        self._end_in_packet = packet[begin:after]

    def take(self, content_type: bytes, head: bytes, content: bytes) -> bytes:
        """The packet of another request; empty if that is not a repetition."""
        digits = content_type[self._digits : self._digits_end]
        if (
            len(content) != self._size
            or len(head) != self._head_size
            or not digits.isdigit()
            or content_type[: self._digits] != self._type_start
            or content_type[self._digits_end :] != self._type_end
        ):
            return b""
        # Slices that are compared cost less than calls of `startswith`.
        delimiter = self._delimiter + digits
        if (
            content[: self._delimiter_size] != delimiter
            or content[self._rest_at : self._body] != self._rest + delimiter + self._mime
            or content[self._body_end :] != delimiter + _CLOSING
        ):
            return b""
        values: list[int] = []
        texts: list[bytes] = []
        for number in self._numbers:
            text = content[number.start : number.end]
            if not text.isdigit() or content[number.before_at : number.start] != number.before:
                return b""
            values.append(int(text))
            texts.append(number.in_packet)
            texts.append(utf_16_le_encode(text.decode("ascii"))[0])
        if max(values) > MAX_U32:
            return b""
        if self._place_end:
            self.current = values[1]
            self.previous = values[2] if len(values) > 2 else 0
            if not self.current:
                return b""
            place = _TWO.pack(self.current, self.previous) + self._place_end
        else:
            place = b""
        return b"".join(
            (
                self._before_id,
                _ONE.pack(values[0]),
                self._after_id,
                place,
                *texts,
                self._end_in_packet,
                head,
                content,
                self._padding,
            )
        )

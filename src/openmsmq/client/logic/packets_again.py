"""Packets of messages that were sent before: what is the same in many is built once.

A packet that is built again takes over sent time, ordinal, correlation, label and body as they
stand; everything else in it follows from the other bytes of the packet before. Messages that are
alike in those bytes have the same bytes around the five: from the second one on nothing is built,
and those that follow each other are not parsed.
"""

from typing import Final, NamedTuple

from openmsmq.wire.message.message_properties_header import MESSAGE_PROPERTIES_SIZE, encode_label
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.wide_text import lenient_text

# SentTime and MessageID in a packet; CorrelationID in its MessagePropertiesHeader.
_STAMP: Final = 52
_AFTER_STAMP: Final = 60
_CORRELATION: Final = 4
_AFTER_CORRELATION: Final = 24
MAX_SHAPES: Final = 256
# Messages with more behind their bodies are rarely alike.
MAX_TAIL: Final = 256

Changes = tuple[tuple[str, object], ...]
_Key = tuple[bytes, bytes, bytes, bytes, bytes, bytes, Changes]


class _Shape(NamedTuple):
    """The pieces of a packet that was built: what stands before, between and after the five."""

    before_stamp: bytes
    before_correlation: bytes
    before_label: bytes
    extension: bytes
    tail: bytes


class _Last(NamedTuple):
    """The last packet, without the five.

    A packet with the same bytes around the five has all of its parts in the same places.
    """

    size: int
    start: bytes
    headers: bytes
    properties: bytes
    extension: bytes
    tail: bytes
    properties_offset: int
    extension_offset: int
    body_offset: int
    body_end: int
    changes: UserMessageOptions
    shape: _Shape

    def is_like(self, packet: bytes, changes: UserMessageOptions) -> bool:
        """Whether a packet differs from it in the five only."""
        return (
            len(packet) == self.size
            and packet.startswith(self.start)
            and packet.startswith(self.headers, _AFTER_STAMP)
            and packet.startswith(self.properties, self.properties_offset + _AFTER_CORRELATION)
            and packet.startswith(self.extension, self.extension_offset)
            and packet.endswith(self.tail)
            and changes == self.changes
        )

    def build(self, packet: bytes, label: bytes) -> bytes:
        """The packet of a message that is like this one."""
        shape, correlation = self.shape, self.properties_offset + _CORRELATION
        return b"".join(
            (
                shape.before_stamp,
                packet[_STAMP:_AFTER_STAMP],
                shape.before_correlation,
                packet[correlation : self.properties_offset + _AFTER_CORRELATION],
                shape.before_label,
                label,
                shape.extension,
                packet[self.body_offset : self.body_end],
                shape.tail,
            )
        )


class PacketsAgain:
    """Builds packets of messages again, all with the same options.

    Args:
        options: values for every packet instead of those that it had.
    """

    def __init__(self, options: UserMessageOptions) -> None:
        self._options = options
        self._shapes: dict[_Key, _Shape] = {}
        self._last: _Last | None = None

    def build(self, packet: bytes, changes: UserMessageOptions) -> bytes:
        """The packet of a message that was sent before.

        Args:
            changes: other values for what is named; with another sent time, ordinal or
                correlation it is built anew.

        Raises:
            MalformedPacket: it is no message.
            ValueError: its body is encrypted for another destination.
        """
        last = self._last
        if last is not None and last.is_like(packet, changes):
            label = packet[last.properties_offset + MESSAGE_PROPERTIES_SIZE : last.extension_offset]
            if _is_plain(label):
                return last.build(packet, label)
        return self._build(UserMessage(packet), changes)

    def _build(self, message: UserMessage, changes: UserMessageOptions) -> bytes:
        if message.encrypted:
            raise ValueError("the body is encrypted for the destination that it was sent to")
        packet = message.packet
        properties, extension = message.properties_offset, message.extension_offset
        label = packet[properties + MESSAGE_PROPERTIES_SIZE : extension]
        if (
            len(packet) - message.body_end > MAX_TAIL
            or not _is_plain(label)
            or not changes.keys().isdisjoint(("sent_time", "message_id", "correlation_id"))
        ):
            return self._rebuild(message, changes)
        headers = (
            message.connector_offset
            or message.transaction_offset
            or message.security_offset
            or properties
        )
        key = (
            packet[:_STAMP],
            packet[_AFTER_STAMP:headers],
            packet[properties : properties + _CORRELATION],
            packet[properties + _AFTER_CORRELATION : properties + MESSAGE_PROPERTIES_SIZE],
            packet[extension : message.body_offset],
            packet[message.body_end :],
            tuple(changes.items()),
        )
        shape = self._shapes.get(key)
        if shape is None:
            return self._first(key, message, changes)
        self._last = _Last(
            size=len(packet),
            start=packet[:_STAMP],
            headers=packet[_AFTER_STAMP : properties + _CORRELATION],
            properties=packet[
                properties + _AFTER_CORRELATION : properties + MESSAGE_PROPERTIES_SIZE
            ],
            extension=packet[extension : message.body_offset],
            tail=packet[message.body_end :],
            properties_offset=properties,
            extension_offset=extension,
            body_offset=message.body_offset,
            body_end=message.body_end,
            changes=changes,
            shape=shape,
        )
        return self._last.build(packet, label)

    def _first(self, key: _Key, message: UserMessage, changes: UserMessageOptions) -> bytes:
        """Build a packet of a new shape, and keep the shape unless its body moved."""
        built = self._rebuild(message, changes)
        again = UserMessage(built)
        properties = again.properties_offset
        if again.body_end - again.body_offset == message.body_end - message.body_offset:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            self._shapes[key] = _Shape(
                built[:_STAMP],
                built[_AFTER_STAMP : properties + _CORRELATION],
                built[properties + _AFTER_CORRELATION : properties + MESSAGE_PROPERTIES_SIZE],
                built[again.extension_offset : again.body_offset],
                built[again.body_end :],
            )
        return built

    def _rebuild(self, message: UserMessage, changes: UserMessageOptions) -> bytes:
        options: UserMessageOptions = {**self._options, **changes}
        return rebuild(message, unaddressed=True, **options)


def _is_plain(label: bytes) -> bool:
    """Whether a label is written again as it stands."""
    if not label:
        return True
    try:
        return encode_label(lenient_text(label)) == label
    except ValueError:
        return False

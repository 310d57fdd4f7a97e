"""Packets of messages that were sent before: what is the same in many is built once.

A packet that is built again takes over sent time, ordinal, correlation, label and body as they
stand; everything else in it follows from the other bytes of the packet before. Messages that are
alike in those bytes have the same bytes around the five: from the second one on nothing is built.
"""

from typing import Final, NamedTuple

from openmsmq.wire.message.message_properties_header import MESSAGE_PROPERTIES_SIZE, encode_label
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions
from openmsmq.wire.message.user_message_rebuild import rebuild

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


class PacketsAgain:
    """Builds packets of messages again, all with the same options.

    Args:
        options: values for every packet instead of those that it had.
    """

    def __init__(self, options: UserMessageOptions) -> None:
        self._options = options
        self._shapes: dict[_Key, _Shape] = {}

    def build(self, packet: bytes, changes: UserMessageOptions) -> bytes:
        """The packet of a message that was sent before.

        Args:
            changes: other values for what is named; with another sent time, ordinal or
                correlation it is built anew.

        Raises:
            MalformedPacket: it is no message.
            ValueError: its body is encrypted for another destination.
        """
        message = UserMessage(packet)
        if message.encrypted:
            raise ValueError("the body is encrypted for the destination that it was sent to")
        properties, extension = message.properties_offset, message.extension_offset
        label = packet[properties + MESSAGE_PROPERTIES_SIZE : extension]
        if (
            len(packet) - message.body_end > MAX_TAIL
            or not _is_plain(label, message)
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
        return b"".join(
            (
                shape.before_stamp,
                packet[_STAMP:_AFTER_STAMP],
                shape.before_correlation,
                packet[properties + _CORRELATION : properties + _AFTER_CORRELATION],
                shape.before_label,
                label,
                shape.extension,
                packet[message.body_offset : message.body_end],
                shape.tail,
            )
        )

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


def _is_plain(label: bytes, message: UserMessage) -> bool:
    """Whether a label is written again as it stands."""
    if not label:
        return True
    try:
        return encode_label(message.label) == label
    except ValueError:
        return False

"""Records of what happened to messages, as the history of a queue manager has them.

A record has 48 bytes: what happened, to how many messages with consecutive keys, when and where.
The key of a message is its number in the store, which it keeps in every queue. The record of an
arrival says which identifiers the messages have. The name of a place is told once, in a record of
its own that is followed by the text, filled up with zeros.
"""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from .scalars import GUID_SIZE


class Happening(IntEnum):
    """What happened."""

    NAME = 0
    ARRIVED = 1
    RECEIVED = 2
    ABORTED = 3
    MOVED = 4
    REMOVED = 5
    SENT = 6
    ACKNOWLEDGED = 7
    DROPPED = 8


class HistoryRecord(NamedTuple):
    """One record.

    Attributes:
        reason: the message class for which messages were removed.
        place: the number of a name.
        key: of the first message; as many as `messages` have consecutive ones.
        ordinal, source: the identifier of the first message, if it arrived or was dropped.
    """

    kind: int
    reason: int
    place: int
    utc: float
    key: int
    messages: int
    ordinal: int = 0
    source: bytes = bytes(GUID_SIZE)

    def serialize(self) -> bytes:
        """The bytes of the record."""
        return _RECORD.pack(*self)


_RECORD: Final = Struct("<BxHIdQII16s")
RECORD_SIZE: Final = _RECORD.size
pack_record: Final = _RECORD.pack
MAX_NAME: Final = 4096


def pack_name(number: int, name: str) -> bytes:
    """The record that tells a name, and the name; a very long one is cut."""
    text = name.encode("utf-8", "replace")[:MAX_NAME]
    filled = text.ljust(-(-len(text) // RECORD_SIZE) * RECORD_SIZE, b"\0")
    return _RECORD.pack(Happening.NAME, 0, number, 0.0, 0, len(text), 0, bytes(GUID_SIZE)) + filled


class HistoryReader:
    """Reads records in their order, with the names of places; bytes that are cut off are left out.

    What is damaged gives wrong records, never an error.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}

    def read(self, data: bytes) -> Iterator[HistoryRecord]:
        """The records but those of names."""
        at = 0
        end = len(data) - len(data) % RECORD_SIZE
        while at < end:
            record = HistoryRecord(*_RECORD.unpack_from(data, at))
            at += RECORD_SIZE
            if record.kind != Happening.NAME:
                yield record
                continue
            size = min(record.messages, MAX_NAME)
            self.names[record.place] = data[at : at + size].decode("utf-8", "replace")
            at += -(-size // RECORD_SIZE) * RECORD_SIZE

"""What happened to messages, noted for the history; the process writes it to disk."""

from typing import Final

from openmsmq.wire.history_record import pack_name, pack_record
from openmsmq.wire.scalars import GUID_SIZE

NOBODY: Final = bytes(GUID_SIZE)
# Names that are remembered; a queue manager with more tells some of them again.
MAX_NAMES: Final = 20_000


class TraceLog:
    """Collects records until the process takes them.

    Args:
        enabled: whether anything is noted.
    """

    __slots__ = ("_buffer", "_names", "enabled", "utc")

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.utc = 0.0
        self._buffer: list[bytes] = []
        self._names: dict[str, int] = {}

    def note(
        self,
        kind: int,
        place: str,
        key: int,
        count: int,
        reason: int = 0,
        ordinal: int = 0,
        source: bytes = NOBODY,
    ) -> None:
        """Note that something happened to messages with consecutive keys."""
        number = self._names.get(place)
        if number is None:
            number = self._name(place)
        self._buffer.append(
            pack_record(kind, reason, number, self.utc, key, count, ordinal, source)
        )

    def _name(self, place: str) -> int:
        if len(self._names) >= MAX_NAMES:
            self._names.clear()
        number = len(self._names) + 1
        self._names[place] = number
        self._buffer.append(pack_name(number, place))
        return number

    def __len__(self) -> int:
        """How many records wait."""
        return len(self._buffer)

    def take(self) -> bytes:
        """The records since the last call."""
        data = b"".join(self._buffer)
        self._buffer.clear()
        return data

    def forget_names(self) -> None:
        """Tell names again: a new file begins."""
        self._names.clear()

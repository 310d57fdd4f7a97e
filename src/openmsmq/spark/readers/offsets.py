"""Offsets of a stream: the position in each queue, and a digest of the last range.

Spark records an offset before it reads, so that a repeated batch can be compared with the plan.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from openmsmq.wire.errors import ConfigError
from openmsmq.wire.lookup_id import DIGEST_FACTOR, DIGEST_SHIFT, SEQUENCE_MASK

VERSION: Final = 1
NO_DIGEST: Final = f"{0:016x}"
_SEQUENCE_MASK: Final = np.uint64(SEQUENCE_MASK)
_FACTOR: Final = np.uint64(DIGEST_FACTOR)
_SHIFT: Final = np.uint64(DIGEST_SHIFT)


@dataclass(frozen=True, slots=True)
class QueueOffset:
    """How far one queue was read.

    Attributes:
        inc: incarnation of the queue; another one when it was deleted and created again.
        base: where the query began; nothing at or below it is ever removed.
        seq: the last arrival sequence that belongs to the range.
        n, h: how many messages the last range has, and the digest of their ids.
        gone: the queue was not there any more, and the user has accepted the loss.
    """

    inc: str
    base: int
    seq: int
    n: int = 0
    h: str = NO_DIGEST
    gone: bool = False

    @classmethod
    def from_json(cls, name: str, value: Mapping[str, Any]) -> Self:
        """Read one entry.

        Raises:
            ConfigError: it is not an entry of an offset.
        """
        try:
            return cls(
                str(value["inc"]),
                int(value["base"]),
                int(value["seq"]),
                int(value.get("n", 0)),
                str(value.get("h", NO_DIGEST)),
                bool(value.get("gone", False)),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ConfigError(f"the checkpoint has no usable offset of {name}: {value}") from None

    def to_json(self) -> dict[str, Any]:
        """The entry as Spark keeps it."""
        document = {"inc": self.inc, "base": self.base, "seq": self.seq, "n": self.n, "h": self.h}
        return document | {"gone": True} if self.gone else document


def parse_offset(value: Mapping[str, Any]) -> dict[str, QueueOffset]:
    """The queues of an offset, in any order.

    Raises:
        ConfigError: another version wrote it.
    """
    if value.get("v") != VERSION:
        raise ConfigError(
            f"the checkpoint has an offset of version {value.get('v')!r}; known is {VERSION}"
        )
    queues = value.get("queues", {})
    return {name: QueueOffset.from_json(name, entry) for name, entry in queues.items()}


def offset_json(queues: Mapping[str, QueueOffset]) -> dict[str, Any]:
    """An offset as Spark keeps it."""
    return {
        "v": VERSION,
        "queues": {name: entry.to_json() for name, entry in sorted(queues.items())},
    }


def first_after(start: QueueOffset | None, end: QueueOffset) -> int:
    """Where the range that ends at `end` begins (exclusive)."""
    # A queue that is new, or new again, is read from its own beginning. So is a query whose first
    # batch is repeated: Spark asks anew where it begins, and `latest` is elsewhere by then.
    if start is None or (start.inc, start.base) != (end.inc, end.base):
        return end.base
    return start.seq


def digest_of(lookup_ids: npt.NDArray[np.uint64]) -> int:
    """The digest of messages, as the queue manager makes it; it does not depend on the order."""
    mixed = (lookup_ids & _SEQUENCE_MASK) * _FACTOR
    return int((mixed ^ (mixed >> _SHIFT)).sum(dtype=np.uint64))

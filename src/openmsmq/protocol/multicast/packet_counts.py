"""Counts of all sources and receivers of a queue manager, including those that ended."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

from openmsmq.protocol.pgm import ReceiverCounters, SourceCounters

if TYPE_CHECKING:
    from collections.abc import Mapping

# Counted in bytes or APDUs instead of packets.
_OTHERS: Final = frozenset(("bytes", "apdus", "lost_apdus"))
COUNTED: Final = tuple(
    sorted(
        {counter.name for kind in (SourceCounters, ReceiverCounters) for counter in fields(kind)}
        - _OTHERS
    )
)


class PacketCounts:
    """Packets by outcome; the names are those of the counters of PGM."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts = dict.fromkeys(COUNTED, 0) if counts is None else dict(counts)

    def add(self, counters: SourceCounters | ReceiverCounters) -> None:
        """Add the counts of a source or a receiver."""
        for name in COUNTED:
            self._counts[name] += getattr(counters, name, 0)

    def add_forged(self) -> None:
        """A packet has the identifier of a source here, but is forged."""
        self._counts["forged"] += 1

    def copy(self) -> PacketCounts:
        return PacketCounts(self._counts)

    def items(self) -> list[tuple[str, int]]:
        return list(self._counts.items())

"""What a queue on a server holds, as far as ranges need it: the headers of its messages."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from openmsmq.client.properties import Info
from openmsmq.wire.lookup_id import SEQUENCE_MASK, digest_of_sequence, digest_text


class Header(NamedTuple):
    """One message: its lookup id, the size of its packet, and when it arrived."""

    lookup_id: int
    size: int
    arrived: float

    @property
    def sequence(self) -> int:
        """The arrival sequence."""
        return self.lookup_id & SEQUENCE_MASK


class Snapshot:
    """The messages that were in a queue when it was looked at, in the order of arrival.

    Args:
        valid_until: when it is too old to plan with, on the clock of the client.
    """

    def __init__(self, headers: Iterable[Header], valid_until: float) -> None:
        self._headers: Final = sorted(headers, key=lambda header: header.sequence)
        self._sequences: Final = [header.sequence for header in self._headers]
        self.valid_until: Final = valid_until

    def part(self, after: int, upto: int | None) -> list[Header]:
        """The messages of a range."""
        start = bisect_right(self._sequences, after)
        end = None if upto is None else bisect_right(self._sequences, upto)
        return self._headers[start:end]

    def lookup_ids(self, after: int, upto: int | None) -> list[int]:
        """The lookup ids of a range."""
        return [header.lookup_id for header in self.part(after, upto)]

    def info(self, incarnation: str) -> Info:
        """What `RangeRequests.info` tells; a server does not say what is locked."""
        sequences = self._sequences
        last = sequences[-1] if sequences else 0
        return {
            "incarnation": incarnation,
            "first": sequences[0] if sequences else 0,
            "stable": last,
            "last": last,
            "count": len(sequences),
            "bytes": sum(header.size for header in self._headers),
            "locked": 0,
            "lock_holders": {},
        }

    def plan(
        self, after: int, upto: int | None, max_rows: int | None, max_bytes: int | None
    ) -> Info:
        """What `RangeRequests.plan` tells: at least one message if there is any."""
        rows = None if max_rows is None else max(max_rows, 1)
        planned: list[Header] = []
        size = 0
        for header in self.part(after, upto)[:rows]:
            if max_bytes is not None and planned and size + header.size > max_bytes:
                break
            planned.append(header)
            size += header.size
        return {
            "end": planned[-1].sequence if planned else after,
            "count": len(planned),
            "bytes": size,
            "digest": digest_text(*(digest_of_sequence(header.sequence) for header in planned)),
            "lookup_ids": tuple(header.lookup_id for header in planned),
        }

    def split(self, after: int, upto: int, parts: int) -> list[int]:
        """Up to `parts` ends of consecutive ranges of about equal bytes; the last is `upto`."""
        headers = self.part(after, upto)
        share = sum(header.size for header in headers) / max(parts, 1)
        ends: list[int] = []
        size = 0
        for header in headers:
            size += header.size
            if size >= share * (len(ends) + 1) and len(ends) < parts - 1:
                ends.append(header.sequence)
        if not ends or ends[-1] != upto:
            ends.append(upto)
        return ends

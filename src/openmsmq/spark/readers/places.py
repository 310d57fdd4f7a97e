"""Start and end of reading: earliest, latest, a sequence from JSON, or a time of arrival."""

from collections.abc import Mapping
from typing import Any

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.client.blocking.ranges import Ranges
from openmsmq.client.logic.ranges import RangeInfo
from openmsmq.spark.options.values import EARLIEST, LATEST
from openmsmq.wire.errors import ConfigError

from .queue_selection import SourceQueue, key_of


class Places:
    """The places that one option, or its timestamp, names; each is the sequence read last.

    Args:
        option: its name, for errors.
        given: a word, or a place for each queue.
        timestamp: seconds since 1970; goes before `given`.
    """

    def __init__(
        self,
        manager: QueueManager,
        option: str,
        places: str | Mapping[str, Any],
        timestamp: float | None,
    ) -> None:
        self._option = option
        self._timestamp = timestamp
        self._word = places if isinstance(places, str) else None
        self._by_key = (
            {}
            if isinstance(places, str)
            else {key_of(manager, name): place for name, place in places.items()}
        )

    def check(self, queues: list[SourceQueue]) -> None:
        """Refuse JSON that does not fit the queues.

        Raises:
            ConfigError: names the queues that are too many or missing.
        """
        if self._word is None:
            known = {queue.key for queue in queues}
            if odd := sorted(known ^ self._by_key.keys()):
                raise ConfigError(
                    f"option {self._option}: must have one entry for each queue that is read; "
                    f"missing or not read: {', '.join(odd)}"
                )

    def of(self, queue: SourceQueue, ranges: Ranges, info: RangeInfo) -> int:
        """The place in one queue.

        Raises:
            ConfigError: it was noted for a queue that was deleted and created again since.
        """
        if self._timestamp is not None:
            return _last_before(ranges, info, self._timestamp)
        place = self._word or self._by_key[queue.key]
        if isinstance(place, Mapping):
            if place.get("inc", info.incarnation) != info.incarnation:
                raise ConfigError(
                    f"option {self._option}: {queue.key} was deleted and created again since"
                )
            place = place["seq"]
        if place == EARLIEST:
            return 0
        return info.stable if place == LATEST else int(place)


def _last_before(ranges: Ranges, info: RangeInfo, timestamp: float) -> int:
    """The sequence of the last message that arrived before a time; they arrive in its order."""
    timestamp = round(timestamp, 6)
    before = max(info.first - 1, 0)
    whole = ranges.plan(before)
    behind = whole.end
    if not whole.count or _arrived(ranges, behind) < timestamp:
        return info.stable
    # All up to `before` arrived earlier, and `behind` did not.
    while behind - before > 1:
        middle = (before + behind) // 2
        planned = ranges.plan(before, upto=middle)
        if planned.count and _arrived(ranges, planned.end) >= timestamp:
            behind = planned.end
        else:
            before = middle
    return before


def _arrived(ranges: Ranges, sequence: int) -> float:
    for block in ranges.peek(sequence - 1, sequence):
        # As exact as the column `arrived_time`.
        return round(block.arrived_times[-1], 6)
    return float("inf")

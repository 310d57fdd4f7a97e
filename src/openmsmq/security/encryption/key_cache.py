"""SendSymmetricKeyCache, ReceiveSymmetricKeyCache and those of the Base provider.

[MS-MQQB] 3.1.1.3: session keys that are used again, so that few messages need RSA. A cache is
empty after a start, gives up the older half of its keys when it is full, and old ones by a timer.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from openmsmq.wire.codes.message_enums import PrivacyLevel

# [MS-MQQB] 3.1.6.10-12: how long after the oldest key the timer is over.
TIMER_SLACK_SECONDS: Final = 60.0

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyCache(Generic[K, V]):
    """Session keys by what they are for, the oldest first.

    Args:
        size: how many there may be.
        lifetime: seconds after which one is removed.
    """

    __slots__ = ("_entries", "_lifetime", "_size", "timer")

    def __init__(self, size: int, lifetime: float) -> None:
        self._size = size
        self._lifetime = lifetime
        self._entries: dict[K, tuple[V, float]] = {}
        # The Cleanup Timer: when `clean` is to be called; None while it does not run.
        self.timer: float | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K, *, now: float) -> V | None:
        """The entry for a key unless its time is over."""
        entry = self._entries.get(key)
        return None if entry is None or now - entry[1] >= self._lifetime else entry[0]

    def add(self, key: K, value: V, *, now: float) -> None:
        """Keep an entry; the older half gives way if there is no room."""
        entries = self._entries
        entries.pop(key, None)
        if len(entries) >= self._size:
            for old in list(entries)[: max(self._size // 2, 1)]:
                del entries[old]
        entries[key] = (value, now)
        if self.timer is None:
            self.timer = now + self._lifetime

    def clean(self, *, now: float) -> None:
        """The Cleanup Timer is over: remove what is old, and start it again for what is left."""
        entries = self._entries
        for key in [key for key, (_, at) in entries.items() if now - at >= self._lifetime]:
            del entries[key]
        oldest = next(iter(entries.values()), None)
        self.timer = None if oldest is None else oldest[1] + self._lifetime + TIMER_SLACK_SECONDS


class KeyCaches(Generic[K, V]):
    """Two caches, one for each provider, and the timers of both.

    Args:
        lifetime, base_lifetime: of a key of the Enhanced provider, and of the Base provider.
    """

    __slots__ = ("_base", "_enhanced")

    def __init__(self, size: int, lifetime: float, base_lifetime: float) -> None:
        self._enhanced: KeyCache[K, V] = KeyCache(size, lifetime)
        self._base: KeyCache[K, V] = KeyCache(size, base_lifetime)

    def of_level(self, level: PrivacyLevel) -> KeyCache[K, V]:
        """The cache of the provider of a privacy level."""
        return self._base if level is PrivacyLevel.BODY_BASE else self._enhanced

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        timers = [cache.timer for cache in (self._enhanced, self._base) if cache.timer is not None]
        return min(timers, default=None)

    def handle_timer(self, *, now: float) -> None:
        """Remove keys that are old."""
        for cache in (self._enhanced, self._base):
            if cache.timer is not None and cache.timer <= now:
                cache.clean(now=now)

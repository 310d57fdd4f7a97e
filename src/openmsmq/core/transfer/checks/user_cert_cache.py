"""UserCertCache: certificates that the directory has with a SID ([MS-MQQB] 3.1.1.3.4)."""

from __future__ import annotations

from typing import Final

# [MS-MQQB] 3.1.3.1: UserCertCacheSize and UserCertLifetime.
USER_CERT_CACHE_SIZE: Final = 53
USER_CERT_LIFETIME_SECONDS: Final = 1200.0
# [MS-MQQB] 3.1.6.13: the timer runs this much longer than the remaining life of the oldest entry.
_TIMER_MARGIN_SECONDS: Final = 60.0


class UserCertCache:
    """Pairs of SID and certificate that were found in the directory, and when.

    An entry is valid until the UserCertCache Cleanup Timer removes it. The cache is never stored.
    """

    __slots__ = ("_entries", "_lifetime", "_size", "due")

    def __init__(
        self,
        size: int = USER_CERT_CACHE_SIZE,
        lifetime: float = USER_CERT_LIFETIME_SECONDS,
    ) -> None:
        self._size = size
        self._lifetime = lifetime
        # CachedTime by SID and certificate.
        self._entries: dict[tuple[bytes, bytes], float] = {}
        # When the UserCertCache Cleanup Timer expires; None while it does not run.
        self.due: float | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, entry: tuple[bytes, bytes]) -> bool:
        """Whether this SID has this certificate, byte for byte."""
        return entry in self._entries

    def add(self, security_id: bytes, certificate: bytes, now: float) -> None:
        """Add a certificate that the directory has with a SID."""
        entries = self._entries
        if len(entries) >= self._size:
            for oldest in sorted(entries, key=entries.__getitem__)[: self._size // 2]:
                del entries[oldest]
        entries[security_id, certificate] = now
        if self.due is None:
            self.due = now + self._lifetime

    def clean(self, now: float) -> None:
        """The timer has expired: remove old entries, and restart it for the rest."""
        self._entries = {
            entry: cached
            for entry, cached in self._entries.items()
            if now - cached <= self._lifetime
        }
        if self._entries:
            age = now - min(self._entries.values())
            self.due = now + self._lifetime + _TIMER_MARGIN_SECONDS - age
        else:
            self.due = None

"""FILETIME: 100 nanosecond ticks since 1601 ([MS-DTYP] 2.3.3)."""

from typing import Final

UNIX_EPOCH_SECONDS: Final = 11_644_473_600


def filetime(utc: float) -> bytes:
    """A time, in seconds since 1970, as the eight bytes of a FILETIME."""
    return ((int(utc * 1_000_000) + UNIX_EPOCH_SECONDS * 1_000_000) * 10).to_bytes(8, "little")

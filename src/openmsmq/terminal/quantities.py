"""Numbers, sizes and times as people read them."""

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ("KiB", "MiB", "GiB", "TiB")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"))


def count_text(count: int, word: str = "") -> str:
    """`1,204`, or with a word `1 message`, `1,204 messages`."""
    if not word:
        return f"{count:,}"
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def size_text(size: float) -> str:
    """Bytes in the unit that leaves few digits."""
    if size < 1024:
        return f"{size:.0f} B"
    power = 0
    size /= 1024
    while size >= 1024 and power < len(_UNITS) - 1:
        size /= 1024
        power += 1
    return f"{size:.1f} {_UNITS[power]}"


def duration_text(seconds: float | None) -> str:
    """A time span in its two largest units; nothing for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    rest = int(seconds)
    parts: list[str] = []
    for size, unit in (*_STEPS, (1, "s")):
        amount, rest = divmod(rest, size)
        if amount or parts:
            parts.append(f"{amount} {unit}")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if not part.startswith("0 "))


def time_text(moment: datetime) -> str:
    """A moment in UTC to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

"""Values of options: each reader parses text, or names the allowed values."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

Value = TypeVar("Value")
Reader = Callable[[str], Value]

_SIZE: Final = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_SIZES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|)", re.IGNORECASE)
_DURATIONS: Final = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
EARLIEST: Final = "earliest"
LATEST: Final = "latest"


class NotAllowed(ValueError):
    """A value that an option cannot have; the text says which it can."""


def text(value: str) -> str:
    """Any text but none."""
    if not value:
        raise NotAllowed("must not be empty")
    return value


def words(value: str) -> tuple[str, ...]:
    """Names between commas."""
    texts = tuple(word.strip() for word in value.split(",") if word.strip())
    if not texts:
        raise NotAllowed("must be one or more names with commas between them")
    return texts


def choice(*allowed: str) -> Reader[str]:
    """One of these words, in any case."""

    def read(value: str) -> str:
        word = value.strip().lower()
        if word not in allowed:
            raise NotAllowed(f"{value!r} must be one of {', '.join(allowed)}")
        return word

    return read


def choices(*allowed: str) -> Reader[tuple[str, ...]]:
    """Some of these words with commas between them."""
    one = choice(*allowed)

    def read(value: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one(word) for word in value.split(",")))

    return read


def boolean(value: str) -> bool:
    """True or false."""
    return choice("true", "false")(value) == "true"


def integer(minimum: int, maximum: int = (1 << 63) - 1) -> Reader[int]:
    """A whole number in these bounds."""

    def read(value: str) -> int:
        wanted = f"a whole number of at least {minimum}"
        if maximum < (1 << 63) - 1:
            wanted = f"a whole number from {minimum} to {maximum}"
        try:
            number = int(value)
        except ValueError:
            raise NotAllowed(f"{value!r} is not {wanted}") from None
        if not minimum <= number <= maximum:
            raise NotAllowed(f"{value} is not {wanted}")
        return number

    return read


def size(value: str) -> int:
    """Bytes, also as 64k, 16m or 1g."""
    match = _SIZE.fullmatch(value.strip())
    if match is None or not int(match[1]):
        raise NotAllowed(f"{value!r} is not a number of bytes such as 1048576, 64k, 16m or 1g")
    return int(match[1]) * _SIZES[match[2].lower()]


def duration(value: str) -> float:
    """Seconds, also as 500ms, 30s, 15m, 2h or 1d."""
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise NotAllowed(f"{value!r} is not a time such as 500ms, 30s, 15m, 2h or 1d")
    return float(match[1]) * _DURATIONS[match[2].lower()]


def pin(value: str) -> float:
    """How many seconds a planned range is kept from expiring; 0 when it is not."""
    if value.strip().lower() in ("true", "false"):
        return 3600.0 if boolean(value.strip()) else 0.0
    try:
        return duration(value)
    except NotAllowed:
        raise NotAllowed(f"{value!r} is neither true, false nor a time such as 2h") from None


def timestamp(value: str) -> float:
    """Seconds since 1970 from ISO 8601 (UTC unless it says otherwise) or a number of seconds."""
    stripped = value.strip()
    if _NUMBER.fullmatch(stripped):
        return float(stripped)
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        raise NotAllowed(
            f"{value!r} is neither a time such as 2026-01-31T12:00:00Z nor seconds since 1970"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def offsets(value: str) -> str | dict[str, Any]:
    """`earliest`, `latest` or a JSON object: an offset, or a number or word for each queue."""
    stripped = value.strip()
    if stripped.lower() in (EARLIEST, LATEST):
        return stripped.lower()
    wanted = (
        f"{value!r} is neither earliest, latest nor JSON such as "
        '{"<queue>": 4711} or an offset of a checkpoint'
    )
    try:
        document = json.loads(stripped)
    except ValueError:
        raise NotAllowed(wanted) from None
    if not isinstance(document, dict):
        raise NotAllowed(wanted)
    queues = document.get("queues") if "v" in document or "queues" in document else document
    if not isinstance(queues, dict) or not all(_is_place(place) for place in queues.values()):
        raise NotAllowed(wanted)
    return queues


def _is_place(place: object) -> bool:
    if isinstance(place, Mapping):
        place = place.get("seq")
    if isinstance(place, int) and not isinstance(place, bool):
        return place >= 0
    return place in (EARLIEST, LATEST)

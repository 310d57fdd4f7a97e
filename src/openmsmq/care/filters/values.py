"""Values of filters: the text forms of numbers, times and time spans."""

import re
from datetime import UTC, datetime
from typing import Final

from .errors import FilterError
from .properties import Kind

Value = str | int | float | bool | None

_UNITS: Final = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "d": 86_400,
    "w": 604_800,
}
_SIZES: Final = {"kib": 1024, "mib": 1024**2, "gib": 1024**3, "kb": 1000, "mb": 1000**2}
_SPAN: Final = re.compile(r"(?:\d+(?:\.\d+)?[a-z]+)+")
_SPAN_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
_TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}


def check_value(name: str, kind: Kind, value: Value) -> None:
    """Refuse a value that a property can never have.

    Raises:
        FilterError: with the valid values.
    """
    if value is None:
        return
    if kind in (Kind.TEXT, Kind.BYTES):
        fits = isinstance(value, str)
    elif kind is Kind.TRUTH:
        fits = isinstance(value, bool)
    else:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits:
        raise FilterError(f"{name}: {value!r} is not a {kind}")


def read_value(name: str, kind: Kind, text: str) -> Value:
    """The value of a word.

    Raises:
        FilterError: the word is not a value of this kind.
    """
    if kind in (Kind.TEXT, Kind.BYTES):
        return text
    lower = text.lower()
    if kind is Kind.TRUTH:
        if lower in _TRUTHS:
            return _TRUTHS[lower]
        raise FilterError(f"{name}: {text!r} is neither true nor false")
    if kind is Kind.TIME:
        return _moment(name, text)
    number = _number(lower)
    if number is not None:
        return number
    if kind is Kind.SECONDS and _SPAN.fullmatch(lower):
        return _span(name, lower)
    size = _SIZE.fullmatch(lower)
    if kind is Kind.NUMBER and size and size[2] in _SIZES:
        return int(float(size[1]) * _SIZES[size[2]])
    span = kind is Kind.SECONDS
    wanted = (
        "a time span such as 90, 30s, 15min, 1h or 2d" if span else "a number such as 12 or 64KiB"
    )
    raise FilterError(f"{name}: {text!r} is not {wanted}")


def _number(text: str) -> int | float | None:
    for convert in (lambda each: int(each, 0), float):
        try:
            return convert(text)
        except ValueError:
            continue
    return None


def _span(name: str, text: str) -> float:
    seconds = 0.0
    for amount, unit in _SPAN_PART.findall(text):
        if unit not in _UNITS:
            raise FilterError(f"{name}: {unit!r} must be one of {', '.join(_UNITS)}")
        seconds += float(amount) * _UNITS[unit]
    return seconds


def _moment(name: str, text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise FilterError(
            f"{name}: {text!r} is not a time", "Write it like 2026-01-31T12:00, which is in UTC."
        ) from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()

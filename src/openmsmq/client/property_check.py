"""Properties of messages to send: types and ranges, with errors that name the property."""

from datetime import timedelta
from math import ceil
from types import NoneType
from typing import Final
from uuid import UUID

from openmsmq.wire.packets.base_header import INFINITE, PRIORITY_MASK

from .certificates import SigningKey
from .message import Message

_U16: Final = 0xFFFF
_U32: Final = 0xFFFFFFFF
_TEXT: Final = ((str,), "text is")
_NAME: Final = ((str, NoneType), "the name of a queue or None is")
_NUMBER: Final = ((int,), "a number is")
_TIME: Final = ((int, float, timedelta, NoneType), "seconds, a timedelta or None are")
_TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "label": _TEXT,
    "body_type": ((int, NoneType), "a number or None is"),
    "priority": _NUMBER,
    "delivery": _TEXT,
    "time_to_reach_queue": _TIME,
    "time_to_be_received": _TIME,
    "acknowledge": ((str, int), "words or flags are"),
    "admin_queue": _NAME,
    "response_queue": _NAME,
    "correlation_id": ((str, bytes, NoneType), "the id of a message or None is"),
    "app_specific": _NUMBER,
    "extension": ((bytes,), "bytes are"),
    "journal": ((bool,), "True or False is"),
    "dead_letter": ((bool,), "True or False is"),
    "trace_queue": ((str, UUID, NoneType), "a GUID or None is"),
    "soap_header": _TEXT,
    "soap_body": _TEXT,
    "class_": _NUMBER,
    "sign": ((bool, str), "True, False or a version is"),
    "certificate": ((str, SigningKey, NoneType), "a name, a SigningKey or None is"),
    "hash_algorithm": _TEXT,
    "encrypt": ((bool, str), "True, False or a word is"),
}
_LARGEST: Final = {
    "body_type": _U32,
    "priority": PRIORITY_MASK,
    "app_specific": _U32,
    "class_": _U16,
}


def check_properties(message: Message) -> None:
    """Refuse a message whose properties no packet can hold.

    Raises:
        TypeError: a property has another type.
        ValueError: a number is out of range, or the label is not text.
    """
    for name, (types, expected) in _TYPES.items():
        value: object = getattr(message, name)
        if not isinstance(value, types):
            raise TypeError(f"{name}: {expected} taken, not {type(value).__name__}")
        largest = _LARGEST.get(name)
        if largest is not None and isinstance(value, int) and not 0 <= value <= largest:
            raise ValueError(f"{name}: {value} is not in 0..{largest}")
    if not message.label.isascii():
        try:
            message.label.encode("utf-16-le")
        except UnicodeEncodeError as exc:
            raise ValueError("label: half of a surrogate pair is not text") from exc


def wire_seconds(name: str, value: float | timedelta | None) -> int:
    """A time as packets have it: whole seconds, fractions rounded up; None never ends.

    Raises:
        ValueError: it is negative or too long.
    """
    if value is None:
        return INFINITE
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    # Written so that what is not a number is refused.
    if not 0 <= seconds <= INFINITE:
        raise ValueError(f"{name}: {seconds} seconds are not in 0..{INFINITE}")
    return ceil(seconds)

"""What callers may pass as an argument; the errors name the argument and what it takes."""

import time
from datetime import datetime, timedelta
from typing import TypeVar

from .message import Message
from .received_message import ReceivedMessage

T = TypeVar("T")


def seconds(name: str, value: float | timedelta | None) -> float | None:
    """A time to wait in seconds; None for ever.

    Raises:
        TypeError: it is no time.
    """
    if value is None or isinstance(value, float | int):
        return value
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{name}: seconds or a timedelta are taken, not {type(value).__name__}")


def delivery_time(
    delay: float | timedelta | None, deliver_at: float | datetime | None
) -> float | None:
    """When a message appears, in seconds since 1970; None for at once.

    Raises:
        TypeError: it is no time.
        ValueError: both are given, the delay is below 0, or the time has no time zone.
    """
    if delay is not None and deliver_at is not None:
        raise ValueError("delay, deliver_at: only one of them is taken")
    if isinstance(deliver_at, datetime):
        if deliver_at.tzinfo is None:
            raise ValueError("deliver_at: a datetime with a time zone is taken")
        return deliver_at.timestamp()
    if deliver_at is not None and not isinstance(deliver_at, float | int):
        raise TypeError(
            f"deliver_at: a datetime or seconds are taken, not {type(deliver_at).__name__}"
        )
    after = seconds("delay", delay)
    if after is None:
        return deliver_at
    if not after >= 0:
        raise ValueError(f"delay: {after} is less than 0")
    return time.time() + after


def whole(name: str, value: int) -> int:
    """A count that is at least 1.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is less than 1.
    """
    if not isinstance(value, int):
        raise TypeError(f"{name}: a whole number is taken, not {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name}: {value} is less than 1")
    return value


def several(name: str, values: T, what: str) -> T:
    """What callers pass to go through, if it is not one value alone.

    Raises:
        TypeError: it is.
    """
    if isinstance(values, str | bytes | Message | int):
        raise TypeError(f"{name}: a list of {what} is taken, not one {type(values).__name__}")
    return values


def message_of(value: Message | str | bytes) -> Message:
    """The message that a caller sends; text and bytes are bodies.

    Raises:
        TypeError: it has another type.
    """
    if isinstance(value, Message):
        return value
    if isinstance(value, str | bytes | bytearray | memoryview):
        return Message(value)
    hint = ""
    if isinstance(value, ReceivedMessage):
        hint = "; its to_message() is one to send"
    elif isinstance(value, dict | list):
        hint = "; Message.json(...) makes one of it"
    raise TypeError(f"message: a Message, str or bytes is taken, not {type(value).__name__}{hint}")

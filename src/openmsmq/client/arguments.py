"""What callers may pass as an argument; the errors name the argument and what it takes."""

from datetime import timedelta
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

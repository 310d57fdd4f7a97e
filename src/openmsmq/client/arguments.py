"""What callers may pass as an argument; the errors name the argument and what it takes."""

from datetime import timedelta
from typing import TypeVar

import msgspec

from openmsmq.protocol.local.messages import Request

from .message import Message
from .received_message import ReceivedMessage

R = TypeVar("R", bound=Request)
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
        TypeError: it is none of these.
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


def checked(request: R) -> R:
    """A request as it is, if the arguments that callers gave have the types of its fields.

    The queue manager hangs up on a request that is none.

    Raises:
        TypeError: one has not.
    """
    try:
        msgspec.convert(msgspec.to_builtins(request, builtin_types=(bytes,)), type(request))
    except (msgspec.ValidationError, TypeError) as exc:
        reason, _, place = str(exc).partition(" - at `$[")
        index = int(place.partition("]")[0] or 0)
        # The first element is the kind of the request.
        field = request.__struct_fields__[index - 1] if index else type(request).__name__
        raise TypeError(f"{field}: {reason[0].lower()}{reason[1:]}") from None
    return request

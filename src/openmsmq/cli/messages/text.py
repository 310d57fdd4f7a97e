"""A message in words, for people."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import typer

from openmsmq.cli.decode.hex_dump import hex_dump
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import size_text, time_text
from openmsmq.wire.codes.message_class import MEANINGS, is_negative
from openmsmq.wire.message.body_type import body_type_name

if TYPE_CHECKING:
    from openmsmq.client import ReceivedMessage

# Shown of a long body on a terminal.
_SHOWN_CHARACTERS: Final = 4000
_SHOWN_BYTES: Final = 512
_INDENT: Final = "  "
# Shown only where they say something: the value that most messages have is left out.
_USUAL: Final[dict[str, Any]] = {
    "label": "",
    "class_name": "MQMSG_CLASS_NORMAL",
    "reason": "",
    "delivery": "express",
    "transactional": False,
    "time_to_be_received": None,
    "correlation_id": None,
    "app_specific": 0,
    "admin_queue": None,
    "response_queue": None,
    "sender_id": None,
    "authenticated": False,
    "encrypted": False,
    "abort_count": 0,
    "move_count": 0,
    "deliver_at": None,
    "body_type": 0,
}
_SHOWN: Final = (
    "label",
    "id",
    "lookup_id",
    "arrived_time",
    "deliver_at",
    "sent_time",
    "class_name",
    "reason",
    "destination_queue",
    "priority",
    "delivery",
    "transactional",
    "correlation_id",
    "app_specific",
    "time_to_be_received",
    "admin_queue",
    "response_queue",
    "sender_id",
    "authenticated",
    "encrypted",
    "abort_count",
    "move_count",
    "body_type",
    "body_size",
)
_WIDTH: Final = max(map(len, _SHOWN))


def message_lines(
    message: "ReceivedMessage", *, terminal: bool, kept: bool = False
) -> Iterator[str]:
    """The properties that say something, then the body.

    Args:
        terminal: whether people look at it: a long body is cut short, names stand out less.
        kept: whether it comes from a journal or a dead-letter queue, so that its destination was
            another one.
    """
    for name in _SHOWN:
        value = reason(message) if name == "reason" else getattr(message, name)
        if not is_usual(message, name, value) and (kept or name != "destination_queue"):
            title = f"{name:{_WIDTH}}"
            title = typer.style(title, dim=True) if terminal else title
            yield f"{title}  {value_text(name, value)}"
    yield from body_lines(message.body, cut=terminal)


def reason(message: "ReceivedMessage") -> str:
    """What the class of a message says about a failure, in words."""
    return MEANINGS.get(message.class_, "") if is_negative(message.class_) else ""


def is_usual(message: "ReceivedMessage", name: str, value: object) -> bool:
    """Whether a property says nothing that people do not expect."""
    if name == "sent_time":
        # In whole seconds, beside the time of arrival.
        return abs((message.arrived_time - message.sent_time).total_seconds()) < 2
    return name in _USUAL and value == _USUAL[name]


def value_text(name: str, value: object) -> str:
    """A property in one line."""
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "body_type" and isinstance(value, int):
        return body_type_name(value)
    if name == "body_size" and isinstance(value, int):
        return size_text(value)
    if name.startswith("time_to_"):
        return f"{value} s"
    return printable(str(value))


def body_lines(body: str | bytes, *, cut: bool) -> Iterator[str]:
    """The body, indented: its text line by line, or its bytes in hexadecimal digits."""
    if isinstance(body, bytes):
        excerpt = body[:_SHOWN_BYTES] if cut else body
        yield from (f"{_INDENT}{line}" for _, line in hex_dump(body, 0, len(excerpt)))
        omitted = len(body) - len(excerpt)
        unit = "bytes"
    else:
        text = body[:_SHOWN_CHARACTERS] if cut else body
        yield from (f"{_INDENT}{printable(line)}" for line in text.splitlines())
        omitted = len(body) - len(text)
        unit = "characters"
    if omitted:
        yield f"{_INDENT}… {omitted:,} more {unit}; --raw or --json has all"

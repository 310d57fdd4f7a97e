"""Values, times and faults of packets as text for people; text from the wire is made harmless."""

from datetime import UTC, datetime
from typing import Final

from openmsmq.terminal.printable import printable
from openmsmq.wire.dissect import Node
from openmsmq.wire.errors import MalformedPacket

_NANOSECONDS: Final = 1_000_000_000
_SHOWN_BYTES: Final = 12


def value_text(node: Node) -> str:
    """The value of a node in one line."""
    value = node.value
    if value is None:
        return ""
    if isinstance(value, bytes):
        digits = value[:_SHOWN_BYTES].hex(" ")
        return digits if len(value) <= _SHOWN_BYTES else f"{digits} ... ({len(value)} bytes)"
    if isinstance(value, str):
        text = printable(value)
        # Quotes where the text does not hold together by itself.
        return f'"{text}"' if not text or " " in text else text
    if node.hexadecimal and isinstance(value, int):
        return f"0x{value:0{2 * node.size}X}"
    return str(value)


def byte_count(size: int) -> str:
    """So many bytes."""
    return "1 byte" if size == 1 else f"{size} bytes"


def fault_text(fault: MalformedPacket) -> str:
    """A fault with its offset in both forms, as fields are listed with the one, dumps the other."""
    return f"{fault.field} at offset {fault.offset} (0x{fault.offset:x}): {printable(fault.reason)}"


def iso_time(nanoseconds: int) -> str:
    """A time of a capture; what is no date is shown as a number."""
    seconds, rest = divmod(nanoseconds, _NANOSECONDS)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{seconds}.{rest:09} s"
    fraction = f"{rest:09}" if rest % 1000 else f"{rest // 1000:06}"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction}Z"

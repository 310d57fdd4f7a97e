"""How single values are shown: GUIDs, times, sizes, codes."""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final
from uuid import UUID

from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.scalars import MessageIdentifier

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def guid_text(value: UUID) -> str:
    """A GUID as the tools of MSMQ write it."""
    return f"{{{str(value).upper()}}}"


def show_guid(raw: bytes) -> tuple[str, str]:
    """Sixteen wire bytes as a GUID."""
    value = UUID(bytes_le=raw)
    return guid_text(value), "" if value.int else "none"


def show_identifier(raw: bytes) -> tuple[str, str]:
    """Twenty wire bytes as a MessageIdentifier."""
    value, _ = MessageIdentifier.parse(raw)
    return str(value), "" if any(raw) else "none"


def constant(text: str) -> Callable[[int], str]:
    """The same meaning whatever the value."""

    def meaning(value: int) -> str:
        del value
        return text

    return meaning


def enum_name(codes: type[IntEnum]) -> Callable[[int], str]:
    """The name of a code, in words."""
    names = {int(code): code.name.lower().replace("_", " ") for code in codes}

    def meaning(value: int) -> str:
        return names.get(value, "not defined")

    return meaning


def code_name(codes: type[IntEnum]) -> Callable[[int], str]:
    """The name of a code as it is, for names that are abbreviations."""
    names = {int(code): code.name for code in codes}

    def meaning(value: int) -> str:
        return names.get(value, "not defined")

    return meaning


def duration(value: int) -> str:
    """Seconds in the units that people use, as `3 d 12 h`; all bits set are forever."""
    if value == INFINITE:
        return "infinite"
    if value == 0:
        return "0 s"
    parts = []
    for size, unit in _UNITS:
        count, value = divmod(value, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def milliseconds(value: int) -> str:
    """Milliseconds as seconds."""
    return f"{value / 1000:g} s"


def utc_time(value: int) -> str:
    """Seconds since 1970 as date and time."""
    return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%dT%H:%M:%SZ}"

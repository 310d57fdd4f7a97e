"""Definitions as a file, in the order of their names."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from .model import Definitions, QueueDefinition

# What needs no escape, so that paths with backslashes stay readable.
_LITERAL: Final = re.compile(r"[^'\x00-\x1f\x7f]*\\[^'\x00-\x1f\x7f]*")


def write_json(definitions: Definitions) -> str:
    """The definitions as one line of JSON."""
    return json.dumps(_plain(definitions)) + "\n"


def write_toml(definitions: Definitions) -> str:
    """The definitions as TOML."""
    plain = _plain(definitions)
    lines: list[str] = []
    for name, group in plain.items():
        if isinstance(group, Mapping):
            lines += ["", f"[{name}]", *_pairs(group)]
        elif not group:
            # No table can say that a group is empty. Keys come before all tables.
            lines.insert(0, f"{name} = []")
        else:
            for entry in group:
                lines += ["", f"[[{name}]]", *_pairs(entry)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _plain(definitions: Definitions) -> dict[str, Any]:
    """The definitions as plain values, without what has its default."""
    queues = definitions.queues
    if queues is not None:
        definitions = msgspec.structs.replace(
            definitions, queues=tuple(_without_defaults(queue) for queue in queues)
        )
    plain: dict[str, Any] = msgspec.to_builtins(definitions)
    return plain


def _without_defaults(queue: QueueDefinition) -> QueueDefinition:
    """The same queue, with its defaults as the same objects: only those are left out."""
    defaults = {
        field.name: field.default
        for field in msgspec.structs.fields(QueueDefinition)
        if field.default is not msgspec.NODEFAULT and getattr(queue, field.name) == field.default
    }
    return msgspec.structs.replace(queue, **defaults)


def _pairs(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key == "permissions" and value:
            yield "permissions = ["
            yield from (f"    {_inline(entry)}," for entry in value)
            yield "]"
        else:
            yield f"{key} = {_value(value)}"


def _inline(table: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in table.items()) + " }"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    text = str(value)
    if _LITERAL.fullmatch(text):
        return f"'{text}'"
    # A lone surrogate is no character of a file; TOML has no escape for it either.
    printable = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return json.dumps(printable, ensure_ascii=False).replace("\x7f", "\\u007f")

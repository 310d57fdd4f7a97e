"""A file of definitions as values."""

import re
import tomllib
from typing import Final

import msgspec

from openmsmq.wire.errors import ConfigError

from .model import Definitions
from .places import line_of, parse_place
from .validation import reason_and_place

_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`$")
_BYTE: Final = re.compile(r" \(byte (\d+)\)$")


class DefinitionsFault(ConfigError):
    """A file of definitions that cannot be used; the text names file, line and key."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            detail,
            cause="The file has a mistake; nothing was changed.",
            remedy="Correct the line that is named; docs/definitions.md describes the keys.",
        )


def read_definitions(text: str, source: str) -> Definitions:
    """The definitions in a text: JSON if it begins with a brace, else TOML.

    Args:
        source: where the text comes from, for errors.

    Raises:
        DefinitionsFault: it is neither, or says something that no definition has.
    """
    is_json = text.lstrip().startswith("{")
    plain = _plain(text, source, is_json=is_json)
    try:
        return msgspec.convert(plain, Definitions)
    except msgspec.ValidationError as exc:
        reason, path = reason_and_place(exc, Definitions)
        if unknown := _UNKNOWN.match(reason):
            path, reason = f"{path or '$'}.{unknown[1]}", "is not a key that is known here"
        raise fault(text, source, path, reason, is_json=is_json) from exc


def fault(
    text: str, source: str, path: str, reason: str, *, is_json: bool | None = None
) -> DefinitionsFault:
    """What is wrong with the value at a path such as `$.queues[3].quota`."""
    if is_json is None:
        is_json = text.lstrip().startswith("{")
    line = line_of(text, parse_place(path), is_json=is_json)
    key = path.removeprefix("$").lstrip(".")
    return DefinitionsFault(f"{source}:{line}: {key}: {reason}" if key else f"{source}: {reason}")


def _plain(text: str, source: str, *, is_json: bool) -> object:
    try:
        return msgspec.json.decode(text) if is_json else tomllib.loads(text)
    except (msgspec.DecodeError, tomllib.TOMLDecodeError) as exc:
        kind = "JSON" if is_json else "TOML"
        raise DefinitionsFault(f"{source}: is not {kind}: {_with_line(str(exc), text)}") from exc
    except RecursionError as exc:
        raise DefinitionsFault(f"{source}: is nested too deeply") from exc


def _with_line(reason: str, text: str) -> str:
    """A reason with the line in place of the byte, as the reader of JSON tells it."""
    byte = _BYTE.search(reason)
    if byte is None:
        return reason
    line = text.encode("utf-8", "replace").count(b"\n", 0, int(byte[1])) + 1
    return f"{reason[: byte.start()]} (at line {line})"

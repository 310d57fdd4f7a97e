"""Wrong settings in words: one line for each key, with what would be right."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

# By the type of a field.
_KINDS: Final = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "path": "a path",
    "tuple": "a list of texts",
    "dict": "a table of texts",
}


def describe(
    error: ValidationError, fields: Mapping[str, FieldInfo], variables: Mapping[str, str]
) -> str:
    """One line for each wrong key.

    Args:
        variables: the name in the environment of each key that has its value from there.
    """
    lines: dict[str, str] = {}
    for item in error.errors():
        key = str(item["loc"][0])
        lines.setdefault(key, f"{variables.get(key, key)}: {_fault(key, item, fields)}")
    return "\n".join(lines.values())


def _fault(key: str, item: Mapping[str, Any], fields: Mapping[str, FieldInfo]) -> str:
    if item["type"] == "extra_forbidden":
        similar = get_close_matches(key.replace("-", "_").lower(), fields, n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        return f"there is no such setting{hint}"
    value = _value_text(item["input"])
    if key.endswith("_port") and _limit(fields[key], "ge") is None:
        return f"{value} is not a port (0 to 65535) or 'off'"
    if item["type"] == "value_error":
        # Where it is one of many, the text names it.
        name = "" if isinstance(item["input"], dict) else f"{value}: "
        return f"{name}{item['ctx']['error']}"
    return f"{value} is not {_wanted(item, fields[key])}"


def _wanted(item: Mapping[str, Any], field: FieldInfo) -> str:
    """What a value of this field has to be."""
    lowest, highest = _limit(field, "ge"), _limit(field, "le")
    if lowest is not None and highest is not None:
        return f"in {_number(lowest)} to {_number(highest)}"
    if lowest is not None:
        return f"at least {_number(lowest)}"
    if get_origin(field.annotation) is Literal:
        return f"one of {', '.join(map(str, get_args(field.annotation)))}"
    if item["type"] in ("string_too_short", "string_too_long"):
        return f"a text of 1 to {_limit(field, 'max_length')} characters"
    return _KINDS[item["type"].partition("_")[0].replace("string", "str")]


def _limit(field: FieldInfo, name: str) -> Any:
    """A limit in the annotation of a field."""
    return next(
        (getattr(constraint, name) for constraint in field.metadata if hasattr(constraint, name)),
        None,
    )


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value_text(value: Any) -> str:
    """A value as it stands in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return "a table" if isinstance(value, dict) else "a list"
    return f"'{value}'" if isinstance(value, str) else str(value)

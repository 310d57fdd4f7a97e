"""Conversion of settings: from a file, a variable or an option to the type of the setting."""

import os
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

Port = int | Literal["off"]
"""A port to listen on; 0 lets the system choose one."""
Convert = Callable[[Any], Any]

HIGHEST_PORT: Final = 65535
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}


class Unfit(Exception):
    """An invalid value.

    Args:
        value: the invalid value; of a list, the item.
        wanted: the expected kind of value.
    """

    def __init__(self, value: object, wanted: str) -> None:
        super().__init__(value, wanted)
        self.value = value
        self.wanted = wanted

    def __str__(self) -> str:
        return f"{value_text(self.value)} is not {self.wanted}"


def value_text(value: object) -> str:
    """A value as written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return "a table" if isinstance(value, dict) else "a list"
    return f"'{value}'" if isinstance(value, str) else str(value)


def converter(annotation: Any) -> Convert:
    """The function that converts to a type, or raises `Unfit`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation == Port:
        return _port
    if origin in (Union, UnionType):
        (kind,) = (argument for argument in arguments if argument is not NoneType)
        return _optional(converter(kind))
    if origin is Literal:
        return _choice(arguments)
    if origin is tuple:
        return _list(converter(arguments[0]))
    return _table if origin is dict else _CONVERTERS[annotation]


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _choice(choices: tuple[object, ...]) -> Convert:
    wanted = f"one of {', '.join(map(str, choices))}"

    def convert(value: object) -> object:
        if value not in choices:
            raise Unfit(value, wanted)
        return value

    return convert


def _list(convert: Convert) -> Convert:
    def convert_all(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise Unfit(value, "a list of texts")
        return tuple(map(convert, value))

    return convert_all


def _table(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Unfit(value, "a table of texts")
    return {_text(name): _text(entry) for name, entry in value.items()}


def _port(value: object) -> int | str:
    if value == "off":
        return "off"
    try:
        port = _integer(value)
    except Unfit:
        port = -1
    if not 0 <= port <= HIGHEST_PORT:
        raise Unfit(value, f"a port (0 to {HIGHEST_PORT}) or 'off'")
    return port


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    known = _BOOLEANS.get(str(value).lower()) if isinstance(value, str | int) else None
    if known is None:
        raise Unfit(value, "true or false")
    return known


def _integer(value: object) -> int:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = int(value)
        except (ValueError, OverflowError):
            pass
        else:
            if isinstance(value, str) or number == value:
                return number
    raise Unfit(value, "a whole number")


def _real(value: object) -> float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise Unfit(value, "a number")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit(value, "a text")
    return value


def _path(value: object) -> Path:
    """A path relative to the working directory of the process; `~` is its user's home."""
    if not isinstance(value, str | os.PathLike):
        raise Unfit(value, "a path")
    return Path(value).expanduser().absolute()


_CONVERTERS: Final[dict[Any, Convert]] = {
    bool: _boolean,
    int: _integer,
    float: _real,
    str: _text,
    Path: _path,
}

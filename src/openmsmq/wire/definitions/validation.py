"""What is wrong with a value that does not fit its type, with the words that it may be."""

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec

from .places import parse_place

_PLACED: Final = re.compile(r"(.*) - at `(\$[^`]*)`$", re.DOTALL)
_NOT_ALLOWED: Final = re.compile(r"Invalid enum value (.*)$", re.DOTALL)


def reason_and_place(error: msgspec.ValidationError, kind: Any) -> tuple[str, str]:
    """What is wrong, and where: a path such as `$.queues[3].quota`, or nothing.

    Args:
        error: of a conversion.
        kind: the type that was converted to.
    """
    reason, place = str(error), ""
    if placed := _PLACED.match(reason):
        reason, place = placed[1], placed[2]
    words = [*_allowed(kind, place)]
    if words and (wrong := _NOT_ALLOWED.match(reason)):
        reason = f"{wrong[1]} must be one of {', '.join(words)}"
    return reason, place


def _allowed(kind: Any, place: str) -> Iterator[str]:
    """What a value at a place may be, in words."""
    kinds = [*_alternatives(kind)]
    for step in parse_place(place):
        kinds = [each for outer in kinds for each in _inside(outer, step)]
    for each in kinds:
        if get_origin(each) is Literal:
            yield from map(str, get_args(each))
        elif each is int:
            yield "a number"


def _inside(kind: Any, step: str | int) -> Iterator[Any]:
    """The types of an element, or of a field by its name."""
    if isinstance(step, int):
        for element in get_args(kind)[:1]:
            yield from _alternatives(element)
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if field.encode_name == step:
                yield from _alternatives(field.type)


def _alternatives(kind: Any) -> Iterator[Any]:
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _alternatives(each)
    elif get_origin(kind) is Annotated:
        yield from _alternatives(get_args(kind)[0])
    else:
        yield kind

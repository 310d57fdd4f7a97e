"""What is wrong with a value that does not fit its type."""

from typing import Annotated, Any, Literal

import msgspec
import pytest

from openmsmq.wire.definitions.validation import reason_and_place

Size = Annotated[int, msgspec.Meta(ge=0)] | Literal["none"]


class Inner(msgspec.Struct):
    colour: Literal["red", "green"] | None = None
    size: Size = 0


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    parts: tuple[Inner, ...] | None = None
    single: Inner | None = None
    named: dict[str, Literal["a", "b"]] = {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"parts": [{}, {"colour": "x"}]},
            ("'x' must be one of red, green", "$.parts[1].colour"),
        ),
        (
            {"parts": [{"colour": "a\n - at `$.b`"}]},
            (r"'a\n - at `$.b`' must be one of red, green", "$.parts[0].colour"),
        ),
        (
            {"parts": [{"size": "x"}]},
            ("'x' must be one of a number, none", "$.parts[0].size"),
        ),
        ({"single": {"colour": "x"}}, ("'x' must be one of red, green", "$.single.colour")),
        ({"parts": [{"size": -1}]}, ("Expected `int` >= 0", "$.parts[0].size")),
        ({"named": {"x": "c"}}, ("Invalid enum value 'c'", "$.named[...]")),
        ({"x": 1}, ("Object contains unknown field `x`", "")),
        (5, ("Expected `object`, got `int`", "")),
    ],
)
def test_the_words_that_a_value_may_be_are_named(value: Any, expected: tuple[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    assert reason_and_place(caught.value, Outer) == expected

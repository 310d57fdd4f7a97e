"""Conditions as data: `property operator value`, and, or, not; in Python and in JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .errors import FilterError
from .properties import PROPERTIES, Kind
from .values import Value, check_value

EQUAL: Final = ("=", "!=")
ORDER: Final = ("<", "<=", ">", ">=")
TEXT: Final = ("~", "contains", "like")
OPERATORS: Final = (*EQUAL, *ORDER, *TEXT)
_ALLOWED: Final = {
    Kind.TEXT: (*EQUAL, *ORDER, *TEXT),
    Kind.NUMBER: (*EQUAL, *ORDER),
    Kind.SECONDS: (*EQUAL, *ORDER),
    Kind.TIME: (*EQUAL, *ORDER),
    Kind.TRUTH: EQUAL,
    Kind.BYTES: (*EQUAL, "~", "contains"),
}
# Deeper or longer filters are refused, whatever their source.
MAX_DEPTH: Final = 50
MAX_TERMS: Final = 1000


@dataclass(frozen=True, slots=True)
class Comparison:
    """One property compared with a value; None is the value of a missing property.

    Raises:
        FilterError: there is no such property, or it does not support this comparison.
    """

    property: str
    operator: str
    value: Value

    def __post_init__(self) -> None:
        known = PROPERTIES.get(self.property)
        if known is None:
            raise FilterError(
                f"{self.property!r} is not a property of messages",
                f"Use one of {', '.join(sorted(PROPERTIES))}.",
            )
        allowed = EQUAL if self.value is None else _ALLOWED[known.kind]
        if self.operator not in allowed:
            raise FilterError(
                f"{self.operator!r} does not go with {self.property}, which takes "
                f"{', '.join(allowed)}"
            )
        check_value(self.property, known.kind, self.value)


@dataclass(frozen=True, slots=True)
class And:
    """All conditions hold."""

    terms: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one condition holds."""

    terms: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    term: "Condition"


Condition = Comparison | And | Or | Not


def filter_to_data(condition: Condition) -> dict[str, Any]:
    """The condition as JSON."""
    if isinstance(condition, Comparison):
        return {
            "property": condition.property,
            "operator": condition.operator,
            "value": condition.value,
        }
    if isinstance(condition, Not):
        return {"not": filter_to_data(condition.term)}
    word = "and" if isinstance(condition, And) else "or"
    return {word: [filter_to_data(term) for term in condition.terms]}


def filter_from_data(data: Any) -> Condition:
    """The condition of a JSON value.

    Raises:
        FilterError: it is not a condition.
    """
    condition, _ = _read(data, 0, 0)
    return condition


def _read(data: Any, depth: int, terms: int) -> tuple[Condition, int]:
    if depth > MAX_DEPTH or terms > MAX_TERMS:
        raise FilterError(f"a filter has up to {MAX_TERMS} terms, {MAX_DEPTH} deep")
    if not isinstance(data, Mapping):
        raise FilterError(f"{type(data).__name__} is not a condition")
    if set(data) == {"property", "operator", "value"}:
        if not isinstance(data["property"], str) or not isinstance(data["operator"], str):
            raise FilterError("property and operator of a condition are texts")
        return Comparison(data["property"], data["operator"], data["value"]), terms + 1
    if set(data) == {"not"}:
        term, terms = _read(data["not"], depth + 1, terms)
        return Not(term), terms
    for word, kind in (("and", And), ("or", Or)):
        if set(data) == {word} and isinstance(data[word], list) and data[word]:
            found = []
            for each in data[word]:
                term, terms = _read(each, depth + 1, terms)
                found.append(term)
            return kind(tuple(found)), terms
    raise FilterError(
        "a condition has property, operator and value, or one of and, or, not",
        'Write {"property": "label", "operator": "~", "value": "order"}.',
    )

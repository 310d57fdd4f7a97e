"""The conditions of a filtered page, each with the address of the page without it."""

from collections.abc import Callable
from typing import Final

import msgspec

from openmsmq.care.filters import PROPERTIES, FilterError, Kind, Term, filter_terms

_WORDS: Final = {
    "~": "contains",
    "contains": "contains, with case",
    "like": "is like",
    "=": "is",
    "!=": "is not",
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
}
_TIME_WORDS: Final = {"<": "before", "<=": "until", ">": "after", ">=": "since"}


class Chip(msgspec.Struct, frozen=True):
    """One condition as text, and the address after its removal."""

    property: str
    operator: str
    value: str
    href: str


def filter_chips(words: str, name: str, url: Callable[..., str]) -> list[Chip]:
    """A chip for each condition of a filter, all of which must hold.

    Args:
        words: the filter as text; an invalid one is one condition.
        name: the parameter of the address with the filter.
        url: makes the address of the page with some of its parameters changed.
    """
    if not words.strip():
        return []
    try:
        terms = filter_terms(words)
    except FilterError:
        terms = [Term(words)]
    chips = []
    for at, term in enumerate(terms):
        others = " and ".join(other.text for other in terms[:at] + terms[at + 1 :])
        chips.append(
            Chip(
                term.property.replace("_", " "),
                _operator(term),
                term.value if term.property else term.text,
                url(**{name: others}),
            )
        )
    return chips


def _operator(term: Term) -> str:
    if not term.property:
        return ""
    is_time = PROPERTIES[term.property].kind is Kind.TIME
    return (_TIME_WORDS if is_time else {}).get(term.operator) or _WORDS[term.operator]


def text_chip(what: str, text: str, href: str, *, case: bool = False) -> list[Chip]:
    """A chip for a text search; none without a text."""
    return [Chip(what, _WORDS["contains" if case else "~"], text, href)] if text else []

"""Filters: which messages, as data.

`parse_filter("label ~ order and age > 1h")` reads the words of people, `filter_from_data` the JSON
of programs; both give a `Condition`. `Matcher(condition).select(found, now)` says which messages
of a block it holds for, cheap comparisons first.
"""

from .conditions import And, Comparison, Condition, Not, Or, filter_from_data, filter_to_data
from .errors import FilterError
from .grammar import Term, filter_terms, parse_filter
from .matching import Matcher
from .properties import PROPERTIES, Kind

__all__ = [
    "PROPERTIES",
    "And",
    "Comparison",
    "Condition",
    "FilterError",
    "Kind",
    "Matcher",
    "Not",
    "Or",
    "Term",
    "filter_from_data",
    "filter_terms",
    "filter_to_data",
    "parse_filter",
]

"""Filters: the selection of messages, as data.

`parse_filter("label ~ order and age > 1h")` reads text, `filter_from_data` JSON;
both return a `Condition`. `Matcher(condition).select(found, now)` returns the messages
of a block that match, cheap comparisons first.
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

"""Care for queues and messages: what commands, the HTTP API, the console and Spark share.

    filters     selection of messages, as data: `parse_filter("label ~ order and age > 1h")`
    places      the places of messages: `list_places(manager)`, `place_of(name)`
    search      `search(manager, places, condition)`: yields messages during the search
    reasons     why messages failed, with cause and remedy
    dead_letters groups of dead letters
    jobs        move, copy, retry, remove, purge, save and load, which continue after a crash

All modules access a queue manager through a blocking client, with the rights of its user.
Long work runs in the thread of the caller: a server calls it in a thread of its own.
"""

from .filters import Condition, FilterError, parse_filter
from .places import Place, PlaceKind, list_places, place_of
from .reasons import Remedy, remedy
from .search import FoundMessage, SearchProgress, search

__all__ = [
    "Condition",
    "FilterError",
    "FoundMessage",
    "Place",
    "PlaceKind",
    "Remedy",
    "SearchProgress",
    "list_places",
    "parse_filter",
    "place_of",
    "remedy",
    "search",
]

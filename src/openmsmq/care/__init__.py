"""Care for queues and messages: what commands, the HTTP API, the console and Spark share.

    filters     which messages, as data: `parse_filter("label ~ order and age > 1h")`
    places      where messages are: `list_places(manager)`, `place_of(name)`
    search      `search(manager, places, condition)`: messages as they are found
    reasons     why messages died, with cause and remedy
    dead_letters groups of dead letters
    jobs        move, copy, retry, remove, purge, save and load, that go on after a crash

Everything here talks to a queue manager through a blocking client, with the rights of its user.
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

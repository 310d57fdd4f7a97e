"""Lists: filter, order, part by part."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import dropwhile, islice
from typing import Any, Final, TypeVar

import msgspec

from openmsmq.admin.trust.problems import Problem

LARGEST_LIST: Final = 10_000
# The identity of entries: the first of these of which an entry has all.
KEYS: Final = (
    ("lookup_id",),
    ("protocol", "id"),
    ("id",),
    ("name",),
    ("destination",),
    ("handle",),
    ("sid", "allow"),
    ("kind", "url"),
    ("key",),
    ("right",),
)
T = TypeVar("T", bound=msgspec.Struct)
E = TypeVar("E")


class PartQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a list, in which order.

    Attributes:
        sort: property to sort by; `-` in front turns the order.
        after: what the last answer gave.
        limit: how many.
    """

    sort: str = ""
    after: str | None = None
    limit: int = LARGEST_LIST


class ListQuery(PartQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries of a list.

    Attributes:
        filter: text in any of their properties.
    """

    filter: str = ""


def key_of(entry: Any) -> str:
    """The identity of an entry."""
    values = _values(entry)
    names = next((names for names in KEYS if all(name in values for name in names)), ())
    return " ".join(str(values[name]) for name in names)


def arranged(result: T, field: str, query: ListQuery, key: Callable[[Any], str] = key_of) -> T:
    """A list with the requested entries, in order.

    Raises:
        Problem: 400, the sort property is invalid; 409, the entry to continue after is gone.
    """
    needle = query.filter.casefold()
    if needle:
        entries = [entry for entry in getattr(result, field) if needle in text_of(entry)]
        result = msgspec.structs.replace(result, **{field: entries})
    return part_of(result, field, query, key)


def part_of(result: T, field: str, query: PartQuery, key: Callable[[Any], str] = key_of) -> T:
    """A list with one part of its entries; its `after` continues it.

    Raises:
        Problem: as `arranged`.
    """
    _check_limit(query)
    entries: list[Any] = getattr(result, field)
    if query.sort:
        entries = sorted_entries(entries, query.sort)
    if query.after is not None:
        places = [at for at, entry in enumerate(entries) if key(entry) == query.after]
        if places:
            entries = entries[places[0] + 1 :]
        elif query.after:
            raise list_changed(query.after)
    after = key(entries[query.limit - 1]) if len(entries) > query.limit else None
    return msgspec.structs.replace(result, **{field: entries[: query.limit], "after": after})


def part_of_long(
    read: Callable[[], Iterable[E]], query: ListQuery, key: Callable[[Any], str]
) -> tuple[list[E], str | None]:
    """As `arranged`, for a list that is too long for memory: the entries and what continues them.

    Args:
        read: begins to read the list; entries may have come in front of it since it was read last.

    Raises:
        Problem: as `arranged`.
    """
    _check_limit(query)
    needle = query.filter.casefold()

    def matching() -> Iterator[E]:
        return (entry for entry in read() if not needle or needle in text_of(entry))

    if query.sort:
        entries = _first_sorted(matching, query, key)
    else:
        entries = list(islice(_rest(matching(), query.after, key), query.limit + 1))
    after = key(entries[query.limit - 1]) if len(entries) > query.limit else None
    return entries[: query.limit], after


def _rest(entries: Iterator[E], after: str | None, key: Callable[[Any], str]) -> Iterator[E]:
    """What follows the entry with a key."""
    if after and all(key(entry) != after for entry in entries):
        raise list_changed(after)
    return entries


def _first_sorted(
    matching: Callable[[], Iterator[E]], query: ListQuery, key: Callable[[Any], str]
) -> list[E]:
    """The first entries of a part in its order, and one more."""
    order, turned = order_of(query.sort), query.sort.startswith("-")
    pick = heapq.nlargest if turned else heapq.nsmallest
    if not query.after:
        return pick(query.limit + 1, matching(), key=order)
    newest = last = None
    for place, entry in enumerate(matching()):
        found = key(entry)
        newest = newest or found
        if found == query.after:
            last = order(entry), place
            break
    if last is None:
        raise list_changed(query.after)
    # Entries that have come since then would move the places of the others.
    known = dropwhile(lambda entry: key(entry) != newest, matching())
    rest = (
        entry
        for place, entry in enumerate(known)
        if _follows((order(entry), place), last, turned=turned)
    )
    return pick(query.limit + 1, rest, key=order)


def _follows(one: tuple[Any, int], other: tuple[Any, int], *, turned: bool) -> bool:
    """Whether an entry follows another in an order: those of equal value stay as they came."""
    if one[0] == other[0]:
        return one[1] > other[1]
    follows: bool = one[0] < other[0] if turned else one[0] > other[0]
    return follows


def _check_limit(query: PartQuery) -> None:
    if not 1 <= query.limit <= LARGEST_LIST:
        raise Problem(400, f"limit must be from 1 to {LARGEST_LIST}.", name="BAD_LIMIT")


def list_changed(after: str) -> Problem:
    """A list cannot be continued: the entry to continue after is gone."""
    return Problem(
        409,
        f"{after} is not in the list any more.",
        remedy="Begin the list again.",
        name="LIST_CHANGED",
    )


def _values(entry: Any) -> dict[str, Any]:
    return entry if isinstance(entry, dict) else msgspec.structs.asdict(entry)


def text_of(entry: Any) -> str:
    """The properties of an entry that filters search, in lower case."""
    return "\n".join(str(value) for value in _values(entry).values()).casefold()


def sorted_entries(entries: list[Any], sort: str) -> list[Any]:
    """Entries in the order of a property; `-` before it reverses the order.

    Raises:
        Problem: 400, the sort property is invalid.
    """
    return sorted(entries, key=order_of(sort), reverse=sort.startswith("-"))


def order_of(sort: str) -> Callable[[Any], tuple[int, Any]]:
    """What an entry is sorted by.

    Raises:
        Problem: 400 when it is called with an entry that has no such property.
    """
    name = sort.removeprefix("-")

    def order(entry: Any) -> tuple[int, Any]:
        values = _values(entry)
        if name not in values:
            raise Problem(
                400,
                f"The list cannot be sorted by {name!r}.",
                remedy=f"Use one of {', '.join(values)}.",
                name="BAD_SORT",
            )
        value = values[name]
        if isinstance(value, (bool, int, float)):
            return 0, value
        return (-1, 0) if value is None else (1, str(value).casefold())

    return order

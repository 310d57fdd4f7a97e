"""Lists that are short enough to be built completely: filter, order, part by part."""

from collections.abc import Callable
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
    if not 1 <= query.limit <= LARGEST_LIST:
        raise Problem(400, f"limit must be from 1 to {LARGEST_LIST}.", name="BAD_LIMIT")
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
    name = sort.removeprefix("-")
    if any(name not in _values(entry) for entry in entries):
        raise Problem(
            400,
            f"The list cannot be sorted by {name!r}.",
            remedy=f"Use one of {', '.join(_values(entries[0]))}.",
            name="BAD_SORT",
        )

    def order(entry: Any) -> tuple[int, Any]:
        value = _values(entry)[name]
        if isinstance(value, (bool, int, float)):
            return 0, value
        return (-1, 0) if value is None else (1, str(value).casefold())

    return sorted(entries, key=order, reverse=sort.startswith("-"))

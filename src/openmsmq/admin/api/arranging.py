"""Lists that are short enough to be gathered whole: filter, order, part by part."""

from typing import Any, Final, TypeVar

import msgspec

from openmsmq.admin.trust.problems import Problem

LARGEST_LIST: Final = 10_000
# What tells entries apart: the first of these that an entry has.
KEYS: Final = ("lookup_id", "id", "name", "destination", "sid", "handle", "url", "number", "key")
T = TypeVar("T", bound=msgspec.Struct)


class ListQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries of a list.

    Attributes:
        filter: text in any of their properties.
        sort: property to sort by; `-` in front turns the order.
        after: what tells the last entry of the answer before apart, such as its id.
        limit: how many.
    """

    filter: str = ""
    sort: str = ""
    after: str = ""
    limit: int = LARGEST_LIST


def arranged(result: T, field: str, query: ListQuery) -> T:
    """A list with the entries that were asked for, in their order.

    Raises:
        Problem: 400, it cannot be sorted so; 409, the entry to go on after is gone.
    """
    if not 1 <= query.limit <= LARGEST_LIST:
        raise Problem(400, f"limit must be from 1 to {LARGEST_LIST}.", name="BAD_LIMIT")
    entries: list[Any] = getattr(result, field)
    needle = query.filter.casefold()
    if needle:
        entries = [entry for entry in entries if needle in _text(entry)]
    if query.sort:
        entries = _sorted(entries, query.sort)
    if query.after:
        places = [at for at, entry in enumerate(entries) if _key(entry) == query.after]
        if not places:
            raise Problem(
                409,
                f"{query.after} is not in the list any more.",
                remedy="Begin the list again.",
                name="LIST_CHANGED",
            )
        entries = entries[places[0] + 1 :]
    return msgspec.structs.replace(result, **{field: entries[: query.limit]})


def _values(entry: Any) -> dict[str, Any]:
    return entry if isinstance(entry, dict) else msgspec.structs.asdict(entry)


def _text(entry: Any) -> str:
    return "\n".join(str(value) for value in _values(entry).values()).casefold()


def _key(entry: Any) -> str:
    values = _values(entry)
    return next((str(values[name]) for name in KEYS if name in values), "")


def _sorted(entries: list[Any], sort: str) -> list[Any]:
    name = sort.removeprefix("-")
    if any(name not in _values(entry) for entry in entries):
        raise Problem(400, f"The list cannot be sorted by {name!r}.", name="BAD_SORT")

    def order(entry: Any) -> tuple[int, Any]:
        value = _values(entry)[name]
        if isinstance(value, (bool, int, float)):
            return 0, value
        return (-1, 0) if value is None else (1, str(value).casefold())

    return sorted(entries, key=order, reverse=sort.startswith("-"))

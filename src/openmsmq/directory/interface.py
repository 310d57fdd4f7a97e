"""What every directory offers: the operations that the directory events of [MS-MQDMPR] use."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol
from uuid import UUID

from .objects import NULL_GUID, DirectoryObject, ElementType


class DirectoryOperationResult(StrEnum):
    """How a directory operation ended ([MS-MQDMPR] 3.1.1.17)."""

    SUCCESS = "Success"
    GENERIC_ERROR = "GenericError"
    DIRECTORY_NOT_CONNECTED = "DirectoryNotConnected"
    OBJECT_NOT_FOUND = "ObjectNotFound"
    ATTRIBUTE_NOT_FOUND = "AttributeNotFound"
    END_OF_DATA = "EndOfData"
    OBJECT_ALREADY_EXISTS = "ObjectAlreadyExists"


class FilterOperator(StrEnum):
    """The comparisons of an attribute-filter expression ([MS-MQDMPR] 3.1.7.1.20)."""

    EQUALS = "EQUALS"
    NOT_EQUALS = "NOT-EQUALS"
    LESS_THAN = "LESS-THAN"
    GREATER_THAN = "GREATER-THAN"
    LESS_THAN_OR_EQUAL = "LESS-THAN-OR-EQUAL"
    GREATER_THAN_OR_EQUAL = "GREATER-THAN-OR-EQUAL"


# Any: the attributes of one name share a type that only the class of the object knows.
COMPARISONS: Final[dict[FilterOperator, Callable[[Any, Any], bool]]] = {
    FilterOperator.EQUALS: operator.eq,
    FilterOperator.NOT_EQUALS: operator.ne,
    FilterOperator.LESS_THAN: operator.lt,
    FilterOperator.GREATER_THAN: operator.gt,
    FilterOperator.LESS_THAN_OR_EQUAL: operator.le,
    FilterOperator.GREATER_THAN_OR_EQUAL: operator.ge,
}
# A directory compares names as people do.
CASE_IGNORED: Final = frozenset(
    ("name", "computer_name", "qualified_computer_name", "pathname", "qualified_pathname", "label")
)


@dataclass(frozen=True, slots=True)
class AttributeFilter:
    """Attribute, comparison, value; several of them must all hold."""

    attribute: str
    comparison: FilterOperator
    value: object

    def matches(self, item: DirectoryObject) -> bool:
        left = getattr(item, self.attribute)
        right = self.value
        if self.attribute in CASE_IGNORED:
            left, right = left.casefold(), str(right).casefold()
        try:
            return COMPARISONS[self.comparison](left, right)
        except TypeError:
            # Values of two kinds, or an absent one, have no order.
            return False


@dataclass(frozen=True, slots=True)
class AttributeSortOrder:
    """How much one attribute of the list counts for the order; priority 0 is not at all."""

    sort_priority: int
    sort_ascending: bool = True


@dataclass(frozen=True, slots=True)
class CreateResult:
    status: DirectoryOperationResult
    object_guid: UUID = NULL_GUID
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What was read; only the named attributes of the object are valid."""

    status: DirectoryOperationResult
    directory_object: DirectoryObject | None = None
    attributes: frozenset[str] = frozenset()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QueryResult:
    status: DirectoryOperationResult
    query_handle: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """How a write, a deletion or the end of a query went."""

    status: DirectoryOperationResult
    reason: str = ""


class Directory(Protocol):
    """A directory, online or not. No operation raises; the status says how it went."""

    def version(self) -> int:
        """A number that is another one after each change; 0 while the directory is offline."""

    def create(
        self, item: DirectoryObject, attributes: Sequence[str] | None = None, *, utc: float
    ) -> CreateResult:
        """Publish the object under its own identifier, or one that the directory gives it."""

    def delete(self, item: DirectoryObject) -> ChangeResult: ...

    def read(
        self,
        kind: ElementType,
        filters: Sequence[AttributeFilter] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> ReadResult:
        """The first object that satisfies all filters."""

    def read_begin(
        self,
        kind: ElementType,
        filters: Sequence[AttributeFilter] | None = None,
        attributes: Sequence[str] | None = None,
        sort_order: Sequence[AttributeSortOrder] | None = None,
    ) -> QueryResult:
        """Start to read all objects that satisfy all filters; `sort_order` goes with attributes."""

    def read_next(self, query_handle: int) -> ReadResult: ...

    def read_end(self, query_handle: int) -> ChangeResult: ...

    def write(
        self, item: DirectoryObject, attributes: Sequence[str] | None = None, *, utc: float
    ) -> ChangeResult:
        """Replace all attributes, or those listed, of the object with this identifier."""

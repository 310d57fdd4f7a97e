"""The local-file directory: one JSON file that the queue managers of a machine or team share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from openmsmq.wire.errors import ConfigError

from .changes import insert, remove, update
from .document import Document, parse_document, render_document
from .interface import (
    AttributeFilter,
    AttributeSortOrder,
    ChangeResult,
    CreateResult,
    DirectoryOperationResult,
    QueryResult,
    ReadResult,
)
from .objects import (
    NULL_GUID,
    OBJECT_CLASSES,
    OBJECT_TYPES,
    DirectoryObject,
    ElementType,
    attribute_names,
    copy_attributes,
)

MAX_QUERIES: Final = 1000
# None in these means that the directory does not hold the attribute at all.
MAY_BE_ABSENT: Final = frozenset(
    ("non_ldap_capable_queue_manager_notification", "directory_server_type")
)


class DirectoryFile(Protocol):
    """The file of one directory, given by the process."""

    @property
    def name(self) -> str:
        """What to call the file in errors."""

    def read(self) -> bytes | None:
        """The content, or None when it is still what the last call gave.

        Raises:
            OSError: the file is not there or cannot be read.
        """

    def lock(self) -> AbstractContextManager[None]:
        """Keep other processes from writing.

        Raises:
            OSError: the directory of the file is not there or may not be written.
        """

    def replace(self, content: bytes) -> None:
        """Put new content in place of the old, whole or not at all.

        Raises:
            OSError: it could not be written.
        """


class LocalDirectory:
    """A `Directory` over one file. A file that is not there means that the directory is offline."""

    __slots__ = ("_damage", "_document", "_file", "_next_handle", "_queries", "_version")

    def __init__(self, file: DirectoryFile) -> None:
        self._file: Final = file
        self._document = Document()
        self._damage: ConfigError | None = None
        self._queries: dict[int, Iterator[ReadResult]] = {}
        self._next_handle = 1
        self._version = 0

    def check(self) -> None:
        """Read the file now.

        Raises:
            ConfigError: it is damaged; the text names file and field.
            OSError: it is not there or cannot be read.
        """
        self._refresh()

    def version(self) -> int:
        try:
            self._refresh()
        except (OSError, ConfigError):
            return 0
        return self._version

    def create(
        self, item: DirectoryObject, attributes: Sequence[str] | None = None, *, utc: float
    ) -> CreateResult:
        names, fault = _chosen(OBJECT_TYPES[type(item)], attributes)
        if fault:
            return CreateResult(DirectoryOperationResult.GENERIC_ERROR, reason=fault)
        new = OBJECT_CLASSES[OBJECT_TYPES[type(item)]]()
        copy_attributes(item, new, names)
        new.identifier = item.identifier
        result = self._change(lambda document: insert(document, new, utc))
        created = result.status == DirectoryOperationResult.SUCCESS
        return CreateResult(
            result.status, new.identifier if created else NULL_GUID, reason=result.reason
        )

    def delete(self, item: DirectoryObject) -> ChangeResult:
        return self._change(lambda document: remove(document, item))

    def write(
        self, item: DirectoryObject, attributes: Sequence[str] | None = None, *, utc: float
    ) -> ChangeResult:
        names, fault = _chosen(OBJECT_TYPES[type(item)], attributes)
        if fault:
            return ChangeResult(DirectoryOperationResult.GENERIC_ERROR, fault)
        return self._change(lambda document: update(document, item, names, utc))

    def read(
        self,
        kind: ElementType,
        filters: Sequence[AttributeFilter] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> ReadResult:
        objects = self._find(kind, filters, attributes)
        if isinstance(objects, ReadResult):
            return objects
        items, names = objects
        if not items:
            return ReadResult(DirectoryOperationResult.OBJECT_NOT_FOUND)
        return _show(items[0], names)

    def read_begin(
        self,
        kind: ElementType,
        filters: Sequence[AttributeFilter] | None = None,
        attributes: Sequence[str] | None = None,
        sort_order: Sequence[AttributeSortOrder] | None = None,
    ) -> QueryResult:
        objects = self._find(kind, filters, attributes)
        if isinstance(objects, ReadResult):
            return QueryResult(objects.status, reason=objects.reason)
        items, names = objects
        if sort_order is not None and len(sort_order) != len(attributes or ()):
            reason = "the sort order does not go with the list of attributes"
            return QueryResult(DirectoryOperationResult.GENERIC_ERROR, reason=reason)
        if len(self._queries) >= MAX_QUERIES:
            reason = f"{MAX_QUERIES} queries are open"
            return QueryResult(DirectoryOperationResult.GENERIC_ERROR, reason=reason)
        ordered = _sort(items, attributes or (), sort_order or ())
        handle = self._next_handle
        self._next_handle += 1
        # The copies are made now: a query shows the directory as it was when it began.
        self._queries[handle] = iter([_show(item, names) for item in ordered])
        return QueryResult(DirectoryOperationResult.SUCCESS, handle)

    def read_next(self, query_handle: int) -> ReadResult:
        query = self._queries.get(query_handle)
        if query is None:
            return ReadResult(
                DirectoryOperationResult.GENERIC_ERROR, reason=_no_query(query_handle)
            )
        return next(query, ReadResult(DirectoryOperationResult.END_OF_DATA))

    def read_end(self, query_handle: int) -> ChangeResult:
        if self._queries.pop(query_handle, None) is None:
            return ChangeResult(DirectoryOperationResult.GENERIC_ERROR, _no_query(query_handle))
        return ChangeResult(DirectoryOperationResult.SUCCESS)

    def _refresh(self) -> None:
        content = self._file.read()
        if content is not None:
            try:
                self._document = parse_document(content, self._file.name)
            except ConfigError as exc:
                self._damage = exc
            else:
                self._damage = None
                self._version += 1
        # A damaged file stays damaged until it changes; what was read before is no answer.
        if self._damage is not None:
            raise self._damage

    def _find(
        self,
        kind: ElementType,
        filters: Sequence[AttributeFilter] | None,
        attributes: Sequence[str] | None,
    ) -> tuple[list[DirectoryObject], frozenset[str]] | ReadResult:
        names, fault = _chosen(kind, attributes)
        fault = fault or _chosen(kind, [item.attribute for item in filters or ()])[1]
        if fault:
            return ReadResult(DirectoryOperationResult.GENERIC_ERROR, reason=fault)
        try:
            self._refresh()
        except OSError as exc:
            return ReadResult(
                DirectoryOperationResult.DIRECTORY_NOT_CONNECTED, reason=_offline(exc)
            )
        except ConfigError as exc:
            return ReadResult(DirectoryOperationResult.GENERIC_ERROR, reason=str(exc))
        objects = [
            item
            for item in self._document.objects[kind].values()
            if all(expression.matches(item) for expression in filters or ())
        ]
        return objects, names

    def _change(self, change: Callable[[Document], ChangeResult]) -> ChangeResult:
        """Change a fresh copy under the lock; the file and the memory follow only on success."""
        try:
            with self._file.lock():
                self._refresh()
                document = Document(
                    {kind: dict(items) for kind, items in self._document.objects.items()}
                )
                result = change(document)
                if result.status == DirectoryOperationResult.SUCCESS:
                    self._file.replace(render_document(document))
                    self._document = document
                    self._version += 1
                return result
        except OSError as exc:
            return ChangeResult(DirectoryOperationResult.DIRECTORY_NOT_CONNECTED, _offline(exc))
        except ConfigError as exc:
            return ChangeResult(DirectoryOperationResult.GENERIC_ERROR, str(exc))


def _offline(error: OSError) -> str:
    return f"the directory is offline: {error}"


def _no_query(query_handle: int) -> str:
    return f"there is no query {query_handle}"


def _chosen(kind: ElementType, attributes: Sequence[str] | None) -> tuple[frozenset[str], str]:
    """The attributes to use, and what is wrong with the list."""
    known = attribute_names(kind)
    if attributes is None:
        return known, ""
    unknown = [name for name in attributes if name not in known]
    return frozenset(attributes), f"{kind} has no {unknown[0]}" if unknown else ""


def _show(item: DirectoryObject, names: frozenset[str]) -> ReadResult:
    """A copy with the named attributes and nothing else."""
    absent = [name for name in names & MAY_BE_ABSENT if getattr(item, name) is None]
    if absent and absent == list(names):
        reason = f"the directory does not hold {absent[0]}"
        return ReadResult(DirectoryOperationResult.ATTRIBUTE_NOT_FOUND, reason=reason)
    visible = OBJECT_CLASSES[OBJECT_TYPES[type(item)]]()
    copy_attributes(item, visible, names)
    if "identifier" in names:
        visible.identifier = item.identifier
    return ReadResult(DirectoryOperationResult.SUCCESS, visible, names)


def _sort(
    items: list[DirectoryObject],
    attributes: Sequence[str],
    sort_order: Sequence[AttributeSortOrder],
) -> list[DirectoryObject]:
    keys = [
        (order.sort_priority, name, order.sort_ascending)
        for name, order in zip(attributes, sort_order, strict=True)
        if order.sort_priority > 0
    ]
    # The sort is stable, so the attribute that counts most comes last.
    for _, name, ascending in sorted(keys, key=lambda key: key[0]):
        items = sorted(items, key=_sort_key(name), reverse=not ascending)
    return items


def _sort_key(name: str) -> Callable[[DirectoryObject], tuple[bool, str | int | bytes]]:
    def key(item: DirectoryObject) -> tuple[bool, str | int | bytes]:
        value = getattr(item, name)
        if isinstance(value, (str, int, bytes)):
            return (True, value)
        return (value is not None, str(value))

    return key

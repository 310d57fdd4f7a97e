"""One row of the table of endpoints."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, is_dataclass
from typing import Any, get_args, get_origin

import msgspec

from openmsmq.admin.trust.person import Role

READER, OPERATOR, ADMINISTRATOR = Role
# Entries of lists in the form of the queue manager.
RECORDS = (dict[str, Any],)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint.

    Args:
        call: has the parameters caller, segments of the path, then the query, then the body.
        result: the type of the answer; `bytes` is a download, None no content.
        query, body: types of the checks of a request.
        group: heading of the reference.
        command: the command with the same function, or why there is none.
        page: the page with the same function, or why there is none.
        bodies: whether the answer has bodies, so that the token must include them.
        whole: whether it concerns the whole queue manager, so that a token for some queues is not
            enough.
        stream: the type of an unending answer; the call then returns an iterator of its bytes.
        dry: whether it only reports what another endpoint would do.
        file: the file name of a download, with the segments of the path that have digits only.
    """

    method: str
    path: str
    name: str
    role: Role
    call: Callable[..., Awaitable[Any]]
    result: Any
    group: str
    command: str
    page: str
    query: Any = None
    body: Any = None
    bodies: bool = False
    whole: bool = False
    stream: str = ""
    dry: bool = False
    file: str = ""

    @property
    def words(self) -> str:
        """The description: the first line of the docstring of its function."""
        return (self.call.__doc__ or "").strip().partition("\n")[0]

    @property
    def names(self) -> list[str]:
        """The named segments of the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def entries(self) -> str:
        """The field with the entries of the answer, if it is a list."""
        if not (isinstance(self.result, type) and issubclass(self.result, msgspec.Struct)):
            return ""
        first = msgspec.structs.fields(self.result)[0]
        if self.changes or get_origin(first.type) is not list:
            return ""
        kind = get_args(first.type)[0]
        return first.name if is_entry(kind) else ""

    @property
    def arranged(self) -> bool:
        """Whether filter, sort, after and limit are the same as for other lists."""
        return bool(self.entries) and self.query is None

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"


def get(path: str, name: str, call: Any, result: Any, **more: Any) -> Endpoint:
    """An endpoint that shows something."""
    return Endpoint("GET", path, name, more.pop("role", READER), call, result, **more)


def post(path: str, name: str, call: Any, result: Any, **more: Any) -> Endpoint:
    """An endpoint that makes a change."""
    return Endpoint("POST", path, name, more.pop("role", OPERATOR), call, result, **more)


def is_entry(kind: Any) -> bool:
    """Whether this is the type of a list whose entries have properties."""
    return kind in RECORDS or is_record(kind)


def is_record(kind: Any) -> bool:
    """Whether a type names its properties."""
    return isinstance(kind, type) and (issubclass(kind, msgspec.Struct) or is_dataclass(kind))


def delete(path: str, name: str, call: Any, **more: Any) -> Endpoint:
    """An endpoint that removes something."""
    return Endpoint("DELETE", path, name, more.pop("role", ADMINISTRATOR), call, None, **more)

"""Association groups: the connections of one client, which share context handles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .handles import HandleCount, Handles
from .settings import RpcSettings

if TYPE_CHECKING:
    from .server.connection import ServerConnection


class Association:
    """An association group ([MS-RPCE] 3.3.1.1.1).

    Attributes:
        number: unique while the server runs, for users.
        assoc_group_id: its number on the wire, which other clients must not learn.
        address: the address of the client that made it.
        connections: the connections that share it.
        handles: the context handles of all of them.
    """

    __slots__ = ("address", "assoc_group_id", "connections", "handles", "number")

    def __init__(self, number: int, assoc_group_id: int, address: str, handles: Handles) -> None:
        self.number = number
        self.assoc_group_id = assoc_group_id
        self.address = address
        self.connections: list[ServerConnection] = []
        self.handles = handles


class Associations:
    """All association groups of a server.

    Args:
        settings: the limits.
        random_bytes: creates the numbers, so that no client can guess the group of another.
    """

    __slots__ = ("_groups", "_last_number", "_random_bytes", "_settings", "handles")

    def __init__(self, settings: RpcSettings, random_bytes: Callable[[int], bytes]) -> None:
        self._settings = settings
        self._random_bytes = random_bytes
        self._groups: dict[int, Association] = {}
        self._last_number = 0
        self.handles = HandleCount(settings.max_total_handles)

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Association]:
        """All of them; they may change during the iteration."""
        return iter(list(self._groups.values()))

    def join(self, assoc_group_id: int, address: str) -> Association | None:
        """The group that a connection joins, 0 for a new one; None if this client may not.

        [MS-RPCE] 3.3.1.5.7: only connections from the same address share a group.
        """
        if assoc_group_id:
            group = self._groups.get(assoc_group_id)
            if group is None or group.address != address:
                return None
        elif len(self._groups) >= self._settings.max_associations:
            return None
        else:
            group = self._create(address)
        return group

    def _create(self, address: str) -> Association:
        number = 0
        while number == 0 or number in self._groups:
            number = int.from_bytes(self._random_bytes(4), "little")
        handles = Handles(self._settings.max_handles, self.handles)
        self._last_number += 1
        group = self._groups[number] = Association(self._last_number, number, address, handles)
        return group

    def leave(self, association: Association, connection: ServerConnection) -> None:
        """A connection left; with the last one the group's context handles run down."""
        association.connections.remove(connection)
        if not association.connections:
            del self._groups[association.assoc_group_id]
            association.handles.run_down()

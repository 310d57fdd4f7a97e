"""Editing the topology of a directory: sites, routing links and the roles of servers, with checks.

Every change is checked against the rest of the directory first; with `dry_run` it ends there. What
cannot be is refused with a ConfigError; what is only unwise is a warning (`find_warnings`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar
from uuid import UUID

from openmsmq.wire.errors import ConfigError

from .interface import ChangeResult, CreateResult, Directory, DirectoryOperationResult
from .objects import (
    MAX_ACTUAL_COST,
    MIN_ACTUAL_COST,
    DirectoryObject,
    DistributionList,
    ElementType,
    QueueManagerObject,
    RoutingLink,
    Site,
    User,
)

T = TypeVar("T", bound=DirectoryObject)
_SERVER: Final = "server"
_SITE: Final = "site"
_LIST: Final = "distribution list"


class TopologyEditor:
    """Changes sites, links and servers of one directory.

    Args:
        utc: the time that changes are made at.
        dry_run: whether changes are only checked.
    """

    def __init__(self, directory: Directory, *, utc: float, dry_run: bool = False) -> None:
        self._directory: Final = directory
        self._utc: Final = utc
        self._dry_run: Final = dry_run

    # What there is

    def sites(self) -> list[Site]:
        """All sites by name."""
        return sorted(self._all(ElementType.SITE, Site), key=lambda site: site.name.casefold())

    def links(self) -> list[RoutingLink]:
        """All routing links."""
        return self._all(ElementType.ROUTING_LINK, RoutingLink)

    def servers(self) -> list[QueueManagerObject]:
        """All queue managers by name."""
        objects = self._all(ElementType.QUEUE_MANAGER, QueueManagerObject)
        return sorted(objects, key=lambda server: server.computer_name.casefold())

    def users(self) -> list[User]:
        """All users by SID."""
        objects = self._all(ElementType.USER, User)
        return sorted(objects, key=lambda user: str(user.security_identifier))

    def find_site(self, name: str) -> Site:
        """The site with a name or identifier.

        Raises:
            ConfigError: there is none.
        """
        return _find(self.sites(), lambda site: site.name, name, _SITE)

    def find_server(self, name: str) -> QueueManagerObject:
        """The queue manager with a name or identifier.

        Raises:
            ConfigError: there is none.
        """
        return _find(self.servers(), lambda server: server.computer_name, name, _SERVER)

    def find_link(self, site1: str, site2: str) -> RoutingLink:
        """The link between two sites.

        Raises:
            ConfigError: there is none.
        """
        ends = {self.find_site(site1).identifier, self.find_site(site2).identifier}
        for link in self.links():
            if {link.site1_identifier, link.site2_identifier} == ends:
                return link
        raise ConfigError(f"link: there is none between {site1} and {site2}")

    # Sites

    def add_site(self, name: str, *, identifier: UUID, foreign: bool = False) -> Site:
        """Add a site."""
        if not name.strip():
            raise ConfigError("site: a site needs a name")
        if any(site.name.casefold() == name.casefold() for site in self.sites()):
            raise ConfigError(f"site: there is a site {name} already")
        site = Site(identifier, name, foreign_site=foreign)
        self._create(site)
        return site

    def remove_site(self, name: str) -> Site:
        """Remove a site that nothing refers to."""
        site = self.find_site(name)
        for link in self.links():
            if site.identifier in (link.site1_identifier, link.site2_identifier):
                raise ConfigError(f"site: a link leads to {site.name}; remove the link first")
        for server in self.servers():
            if site.identifier in server.site_identifier_list:
                raise ConfigError(
                    f"site: {server.computer_name} is in {site.name}; move the server first"
                )
        self._delete(site)
        return site

    def set_site(self, name: str, *, foreign: bool) -> Site:
        """Say whether a site is of another messaging system."""
        site = replace(self.find_site(name), foreign_site=foreign)
        self._write(site, ["foreign_site"])
        return site

    # Distribution lists

    def lists(self) -> list[DistributionList]:
        """All distribution lists by name."""
        entries = self._all(ElementType.DISTRIBUTION_LIST, DistributionList)
        return sorted(entries, key=lambda entry: entry.name.casefold())

    def add_list(self, name: str, members: Sequence[str], *, identifier: UUID) -> None:
        """Add a distribution list."""
        self._create(DistributionList(identifier, name, tuple(members)))

    def set_list(self, name: str, members: Sequence[str]) -> None:
        """Change the members of a distribution list."""
        known = _find(self.lists(), lambda entry: entry.name, name, _LIST)
        self._write(replace(known, members=tuple(members)), ["members"])

    def remove_list(self, name: str) -> None:
        """Remove a distribution list."""
        self._delete(_find(self.lists(), lambda entry: entry.name, name, _LIST))

    # Links

    def add_link(
        self, site1: str, site2: str, *, identifier: UUID, cost: int, gates: Sequence[str]
    ) -> RoutingLink:
        """Add a link between two sites."""
        one, two = self.find_site(site1), self.find_site(site2)
        if one.identifier == two.identifier:
            raise ConfigError(f"link: {one.name} cannot be linked to itself")
        ends = {one.identifier, two.identifier}
        for known in self.links():
            if {known.site1_identifier, known.site2_identifier} == ends:
                raise ConfigError(f"link: {one.name} and {two.name} are linked already")
        link = RoutingLink(
            identifier,
            actual_cost=_checked_cost(cost),
            site1_identifier=one.identifier,
            site2_identifier=two.identifier,
            site_gate_identifier_list=self.check_gates(gates, ends),
        )
        self._create(link)
        return link

    def set_link(
        self, site1: str, site2: str, *, cost: int | None, gates: Sequence[str] | None
    ) -> RoutingLink:
        """Change the cost or the gates of a link."""
        link = replace(self.find_link(site1, site2))
        names = []
        if cost is not None:
            link.actual_cost = _checked_cost(cost)
            names.append("actual_cost")
        if gates is not None:
            ends = {link.site1_identifier, link.site2_identifier}
            link.site_gate_identifier_list = self.check_gates(gates, ends)
            names.append("site_gate_identifier_list")
        self._write(link, names)
        return link

    def remove_link(self, site1: str, site2: str) -> RoutingLink:
        """Remove the link between two sites."""
        link = self.find_link(site1, site2)
        self._delete(link)
        return link

    def check_gates(self, names: Iterable[str], ends: set[UUID]) -> tuple[UUID, ...]:
        """The gates of a link between two sites.

        Raises:
            ConfigError: one is not known, does not route, or is in neither site.
        """
        gates = [self.find_server(name) for name in names]
        for gate in gates:
            if ends.isdisjoint(gate.site_identifier_list):
                raise ConfigError(f"gate: {gate.computer_name} is in neither site of the link")
            if not gate.routing_server:
                raise ConfigError(
                    f"gate: {gate.computer_name} is not a routing server; "
                    f"`openmsmq directory server set {gate.computer_name} --routing` makes it one"
                )
        return tuple(dict.fromkeys(gate.identifier for gate in gates))

    # Servers

    def add_server(
        self, name: str, *, identifier: UUID, sites: Sequence[str]
    ) -> QueueManagerObject:
        """Add a foreign computer; other queue managers enter themselves when they start."""
        if any(other.computer_name.casefold() == name.casefold() for other in self.servers()):
            raise ConfigError(f"server: there is a server {name} already")
        server = QueueManagerObject(
            identifier,
            computer_name=name,
            qualified_computer_name=name,
            foreign_system=True,
            site_identifier_list=self._site_identifiers(sites),
        )
        self._create(server)
        return server

    def set_server(
        self,
        name: str,
        *,
        sites: Sequence[str] | None = None,
        routing: bool | None = None,
        out_servers: Sequence[str] | None = None,
        in_servers: Sequence[str] | None = None,
    ) -> QueueManagerObject:
        """Change what routing knows of a server; None leaves a property as it is."""
        server = replace(self.find_server(name))
        names = []
        if sites is not None:
            server.site_identifier_list = self._site_identifiers(sites)
            names.append("site_identifier_list")
        if routing is not None:
            server.routing_server = routing
            names.append("routing_server")
        if out_servers is not None:
            server.out_routing_server_identifier_list = self._server_identifiers(out_servers)
            names.append("out_routing_server_identifier_list")
        if in_servers is not None:
            server.in_routing_server_identifier_list = self._server_identifiers(in_servers)
            names.append("in_routing_server_identifier_list")
        self._check_gates(server)
        self._write(server, names)
        return server

    def remove_server(self, name: str) -> QueueManagerObject:
        """Remove a server that nothing refers to."""
        server = self.find_server(name)
        for link in self.links():
            if server.identifier in link.site_gate_identifier_list:
                raise ConfigError(f"server: {server.computer_name} is a gate of a link")
        for other in self.servers():
            if server.identifier in (
                *other.out_routing_server_identifier_list,
                *other.in_routing_server_identifier_list,
            ):
                raise ConfigError(
                    f"server: {server.computer_name} routes for {other.computer_name}"
                )
        self._delete(server)
        return server

    def _check_gates(self, server: QueueManagerObject) -> None:
        """A server that is a gate stays a routing server in a site of its links."""
        for link in self.links():
            if server.identifier not in link.site_gate_identifier_list:
                continue
            ends = {link.site1_identifier, link.site2_identifier}
            if not server.routing_server or ends.isdisjoint(server.site_identifier_list):
                raise ConfigError(
                    f"server: {server.computer_name} is a gate of a link, which it could not be "
                    "any more; change the gates of the link first"
                )

    def _site_identifiers(self, names: Iterable[str]) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(self.find_site(name).identifier for name in names))

    def _server_identifiers(self, names: Iterable[str]) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(self.find_server(name).identifier for name in names))

    # The directory

    def _all(self, kind: ElementType, of: type[T]) -> list[T]:
        query = self._directory.read_begin(kind)
        if query.status is not DirectoryOperationResult.SUCCESS:
            raise ConfigError(f"directory: {query.reason}")
        items: list[T] = []
        item = self._directory.read_next(query.query_handle).directory_object
        while item is not None:
            if isinstance(item, of):
                items.append(item)
            item = self._directory.read_next(query.query_handle).directory_object
        self._directory.read_end(query.query_handle)
        return items

    def _create(self, item: DirectoryObject) -> None:
        if not self._dry_run:
            _require(self._directory.create(item, utc=self._utc))

    def _write(self, item: DirectoryObject, names: Sequence[str]) -> None:
        if not self._dry_run and names:
            _require(self._directory.write(item, names, utc=self._utc))

    def _delete(self, item: DirectoryObject) -> None:
        if not self._dry_run:
            _require(self._directory.delete(item))


def find_warnings(
    sites: Iterable[Site], links: Iterable[RoutingLink], servers: Iterable[QueueManagerObject]
) -> list[str]:
    """What keeps messages from being routed as somebody may expect it."""
    known = {server.identifier: server for server in servers}
    names = {site.identifier: site.name for site in sites}
    links = list(links)
    warnings = []
    for link in links:
        for end in (link.site1_identifier, link.site2_identifier):
            gates = [known.get(gate) for gate in link.site_gate_identifier_list]
            if not any(gate is not None and end in gate.site_identifier_list for gate in gates):
                title = _link_title(link, names)
                warnings.append(f"link {title}: no gate in {names.get(end, end)}")
        if any(gate not in known for gate in link.site_gate_identifier_list):
            warnings.append(f"link {_link_title(link, names)}: a gate is not in the directory")
    for server in known.values():
        if names and not server.site_identifier_list:
            warnings.append(f"server {server.computer_name}: it is in no site")
        routers = (
            *server.out_routing_server_identifier_list,
            *server.in_routing_server_identifier_list,
        )
        warnings += [
            f"server {server.computer_name}: its routing server {router} is not in the directory"
            for router in routers
            if router not in known
        ]
    return warnings


def _link_title(link: RoutingLink, names: dict[UUID, str]) -> str:
    ends = (link.site1_identifier, link.site2_identifier)
    return "-".join(names.get(end, str(end)) for end in ends)


def _checked_cost(cost: int) -> int:
    if not MIN_ACTUAL_COST <= cost <= MAX_ACTUAL_COST:
        raise ConfigError(f"cost: {cost} is not in {MIN_ACTUAL_COST}..{MAX_ACTUAL_COST}")
    return cost


def _find(items: Sequence[T], name_of: Callable[[T], str], name: str, kind: str) -> T:
    """The object with a name, in any case, or with an identifier."""
    for item in items:
        if name_of(item).casefold() == name.casefold():
            return item
    for item in items:
        if str(item.identifier) == name.strip("{}").lower():
            return item
    known = ", ".join(name_of(item) for item in items[:10]) or "none"
    raise ConfigError(f"{kind}: the directory has no {kind} {name} (known: {known})")


def _require(result: ChangeResult | CreateResult) -> None:
    if result.status is not DirectoryOperationResult.SUCCESS:
        raise ConfigError(f"directory: {result.reason or result.status}")

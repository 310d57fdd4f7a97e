"""Sites, links and servers as rows of a table and as JSON."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from openmsmq.directory.objects import QueueManagerObject, RoutingLink, Site


class Names:
    """What identifiers are called."""

    def __init__(self, sites: Iterable[Site], servers: Iterable[QueueManagerObject]) -> None:
        self._servers = list(servers)
        self._names = {site.identifier: site.name for site in sites}
        self._names |= {server.identifier: server.computer_name for server in self._servers}

    def of(self, identifiers: Iterable[UUID]) -> list[str]:
        return [self._names.get(identifier, f"{{{identifier}}}") for identifier in identifiers]

    def in_site(self, site: UUID) -> list[str]:
        """The servers of a site."""
        return [
            server.computer_name for server in self._servers if site in server.site_identifier_list
        ]


def site_json(site: Site, names: Names) -> dict[str, Any]:
    return {
        "site": site.name,
        "guid": f"{{{site.identifier}}}".upper(),
        "foreign": site.foreign_site,
        "servers": names.in_site(site.identifier),
    }


def site_row(site: Site, names: Names) -> tuple[str, str, str]:
    kind = "foreign" if site.foreign_site else "own"
    return site.name, kind, _listed(names.in_site(site.identifier))


def link_json(link: RoutingLink, names: Names) -> dict[str, Any]:
    return {
        "sites": names.of((link.site1_identifier, link.site2_identifier)),
        "cost": link.actual_cost,
        "gates": names.of(link.site_gate_identifier_list),
    }


def link_row(link: RoutingLink, names: Names) -> tuple[str, str, str]:
    ends = names.of((link.site1_identifier, link.site2_identifier))
    return "-".join(ends), str(link.actual_cost), _listed(names.of(link.site_gate_identifier_list))


def server_json(server: QueueManagerObject, names: Names) -> dict[str, Any]:
    return {
        "server": server.computer_name,
        "guid": f"{{{server.identifier}}}".upper(),
        "host": server.qualified_computer_name or server.computer_name,
        "sites": names.of(server.site_identifier_list),
        "routing": server.routing_server,
        "foreign": server.foreign_system,
        "out_servers": names.of(server.out_routing_server_identifier_list),
        "in_servers": names.of(server.in_routing_server_identifier_list),
    }


def server_row(server: QueueManagerObject, names: Names) -> tuple[str, ...]:
    roles = [
        role
        for role, has in (("routing", server.routing_server), ("foreign", server.foreign_system))
        if has
    ]
    return (
        server.computer_name,
        _listed(names.of(server.site_identifier_list)),
        _listed(roles) if roles else "plain",
        _listed(names.of(server.out_routing_server_identifier_list)),
        _listed(names.of(server.in_routing_server_identifier_list)),
    )


def _listed(words: list[str]) -> str:
    return ", ".join(words) or "-"

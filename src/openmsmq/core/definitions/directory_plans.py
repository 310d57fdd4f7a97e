"""Changes to the directory by a file of definitions: sites, routing links, distribution lists.

Other queue managers share the directory: objects missing from the file stay, unless pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.queues.access import check_machine_right
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.objects import DistributionList
from openmsmq.directory.rules import find_fault
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.definitions.model import (
    DistributionListDefinition,
    LinkDefinition,
    SiteDefinition,
)
from openmsmq.wire.errors import ConfigError

from .faults import at, refusal
from .plan import Change, Plan, PlanOptions

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.directory.objects import RoutingLink, Site
    from openmsmq.security.caller import Caller


class DirectoryPlanner:
    """Compares definitions with the directory, and adds to a plan."""

    def __init__(self, state: State, plan: Plan, *, caller: Caller, options: PlanOptions) -> None:
        self._state = state
        self._plan = plan
        self._caller = caller
        self._options = options
        # Identifiers of sites by name in lower case, including those to be created.
        self._sites: dict[str, UUID] = {}
        # Objects missing from the file, by kind.
        self._unlisted: list[tuple[str, str, Callable[[], None]]] = []

    def editor(self, place: str) -> TopologyEditor:
        """The access to the directory.

        Raises:
            QueueError: there is no directory, it is offline, or the caller may not use it.
        """
        state = self._state
        if state.directory is None:
            raise refusal(
                place,
                "the queue manager has no directory",
                "Name one in the configuration: directory = FILE.",
            )
        with at(place):
            check_machine_right(state, self._caller, MachineRight.SET_MACHINE_PROPERTIES)
        editor = TopologyEditor(state.directory, utc=state.utc)
        with _explained(place):
            for site in editor.sites():
                self._sites.setdefault(site.name.casefold(), site.identifier)
        return editor

    def plan_sites(self, definitions: tuple[SiteDefinition, ...]) -> None:
        """Add and change sites.

        Raises:
            QueueError: a site is wrong, or the caller may not change it.
        """
        editor = self.editor("$.sites")
        present = {site.name.casefold(): site for site in editor.sites()}
        listed: set[str] = set()
        for number, one in enumerate(definitions):
            key = one.name.casefold()
            if key in listed or not one.name.strip():
                raise refusal(f"$.sites[{number}].name", f"{one.name!r} is empty or listed twice")
            listed.add(key)
            if key not in present:
                self._plan_site(editor, one)
            elif present[key].foreign_site != one.foreign:
                self._plan.add(
                    [_change("site", one.name, "foreign", not one.foreign, one.foreign)],
                    _deed(editor.set_site, one.name, foreign=one.foreign),
                )
        for key, site in present.items():
            if key not in listed:
                if self._options.prune:
                    self._check_unused(editor, site)
                self._leave_out("site", site.name, _deed(editor.remove_site, site.name))

    def _check_unused(self, editor: TopologyEditor, site: Site) -> None:
        """Refuse to remove a site that has servers."""
        for server in editor.servers():
            if site.identifier in server.site_identifier_list:
                raise refusal(
                    "$.sites", f"{site.name} is not listed, and {server.computer_name} is in it"
                )

    def _plan_site(self, editor: TopologyEditor, one: SiteDefinition) -> None:
        identifier = self._sites[one.name.casefold()] = self._state.guids()
        self._plan.add(
            [Change(action="create", kind="site", name=one.name)],
            _deed(editor.add_site, one.name, identifier=identifier, foreign=one.foreign),
        )

    def plan_links(self, definitions: tuple[LinkDefinition, ...]) -> None:
        """Add and change routing links.

        Raises:
            QueueError: a link is wrong, or the caller may not change it.
        """
        editor = self.editor("$.links")
        names = {identifier: name for name, identifier in self._sites.items()}
        present = {_ends(link): link for link in editor.links()}
        listed: set[frozenset[UUID]] = set()
        for number, one in enumerate(definitions):
            place = f"$.links[{number}]"
            ends = frozenset(self._site(f"{place}.sites", name) for name in one.sites)
            if len(ends) < 2 or ends in listed:
                raise refusal(f"{place}.sites", "links two sites, and is listed once")
            listed.add(ends)
            with _explained(f"{place}.gates"):
                gates = editor.check_gates(one.gates, set(ends))
            self._plan_link(editor, one, present.get(ends), gates)
        for ends, link in present.items():
            if ends not in listed:
                pair = [names.get(end, str(end)) for end in _pair(link)]
                self._leave_out("link", " - ".join(pair), _deed(editor.remove_link, *pair))

    def _site(self, place: str, name: str) -> UUID:
        identifier = self._sites.get(name.casefold())
        if identifier is None:
            raise refusal(place, f"there is no site {name}, in the file or in the directory")
        return identifier

    def _plan_link(
        self,
        editor: TopologyEditor,
        one: LinkDefinition,
        known: RoutingLink | None,
        gates: tuple[UUID, ...],
    ) -> None:
        title = " - ".join(one.sites)
        if known is None:
            self._plan.add(
                [Change(action="create", kind="link", name=title)],
                _deed(
                    editor.add_link,
                    *one.sites,
                    identifier=self._state.guids(),
                    cost=one.cost,
                    gates=one.gates,
                ),
            )
            return
        changes = []
        if known.actual_cost != one.cost:
            changes.append(_change("link", title, "cost", known.actual_cost, one.cost))
        if set(known.site_gate_identifier_list) != set(gates):
            after = ", ".join(one.gates)
            before = str(len(known.site_gate_identifier_list))
            changes.append(_change("link", title, "gates", before, after))
        if changes:
            self._plan.add(
                changes, _deed(editor.set_link, *one.sites, cost=one.cost, gates=one.gates)
            )

    def plan_lists(self, definitions: tuple[DistributionListDefinition, ...]) -> None:
        """Add and change distribution lists.

        Raises:
            QueueError: a list is wrong, or the caller may not change it.
        """
        editor = self.editor("$.distribution_lists")
        present = {entry.name.casefold(): entry for entry in editor.lists()}
        listed: set[str] = set()
        for number, one in enumerate(definitions):
            place = f"$.distribution_lists[{number}]"
            key = one.name.casefold()
            if key in listed:
                raise refusal(f"{place}.name", f"{one.name} is listed twice")
            listed.add(key)
            wrong, reason = find_fault(DistributionList(self._state.guids(), one.name, one.members))
            if wrong:
                raise refusal(f"{place}.{wrong}", reason)
            known = present.get(key)
            if known is None:
                self._plan.add(
                    [Change(action="create", kind="distribution list", name=one.name)],
                    _deed(editor.add_list, one.name, one.members, identifier=self._state.guids()),
                )
            elif known.members != one.members:
                before, after = ", ".join(known.members), ", ".join(one.members)
                self._plan.add(
                    [_change("distribution list", one.name, "members", before, after)],
                    _deed(editor.set_list, one.name, one.members),
                )
        for key, entry in present.items():
            if key not in listed:
                deed = _deed(editor.remove_list, entry.name)
                self._leave_out("distribution list", entry.name, deed)

    def _leave_out(self, kind: str, name: str, deed: Callable[[], None]) -> None:
        self._unlisted.append((kind, name, deed))

    def finish(self) -> None:
        """Plan to report or delete the objects that the file does not list.

        Raises:
            QueueError: a link that stays leads to a site that is to be removed.
        """
        prune = self._options.prune
        removed = {name.casefold() for kind, name, _ in self._unlisted if kind == "site"}
        if prune and removed:
            self._check_links(removed)
        # Links are removed before the sites that they lead to.
        for kind, name, deed in sorted(self._unlisted, key=lambda entry: entry[0] == "site"):
            change = Change(action="delete" if prune else "unlisted", kind=kind, name=name)
            self._plan.add([change], deed if prune else None)

    def _check_links(self, removed: set[str]) -> None:
        removed_links = {name for kind, name, _ in self._unlisted if kind == "link"}
        names = {identifier: name for name, identifier in self._sites.items()}
        for link in self.editor("$.links").links():
            pair = [names.get(end, str(end)) for end in _pair(link)]
            if " - ".join(pair) not in removed_links and not removed.isdisjoint(pair):
                raise refusal("$.sites", f"the link {' - '.join(pair)} stays, and one end does not")


def _deed(
    function: Callable[..., object], *arguments: object, **named: object
) -> Callable[[], None]:
    """Make a change of the directory; its refusals become errors of definitions."""

    def carry_out() -> None:
        with _explained("directory"):
            function(*arguments, **named)

    return carry_out


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """A directory error as an error of definitions."""
    try:
        yield
    except ConfigError as exc:
        raise refusal(place, exc.detail) from exc


def _pair(link: RoutingLink) -> tuple[UUID, UUID]:
    return link.site1_identifier, link.site2_identifier


def _ends(link: RoutingLink) -> frozenset[UUID]:
    return frozenset(_pair(link))


def _change(kind: str, name: str, what: str, before: object, after: object) -> Change:
    return Change(
        action="change",
        kind=kind,
        name=name,
        property=what,
        before=_text(before),
        after=_text(after),
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

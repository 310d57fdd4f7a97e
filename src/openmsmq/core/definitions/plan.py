"""A plan: what a file of definitions changes."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between a file and how things are.

    Attributes:
        action: `create`, `change`, `recreate`, `delete`, `unlisted` for what stays although the
            file does not have it, or `missing` for what the file cannot bring.
        kind: `queue`, `machine`, `outgoing`, `redirection`, `site`, `link`, `distribution list`,
            `key` or `certificate`.
        name: of the queue, destination or URL; empty for the queue manager.
        property, before, after: of a change.
    """

    action: str
    kind: str
    name: str = ""
    property: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What a file may do beyond creating and changing.

    Attributes:
        prune: delete queues that it does not list.
        force: delete queues that hold messages, too.
        recreate: replace an empty queue if what differs cannot be changed.
    """

    prune: bool = False
    force: bool = False
    recreate: bool = False


class Plan:
    """Everything that a file changes; nothing is changed before `carry_out`."""

    __slots__ = ("_deeds", "changes")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._deeds: list[Callable[[], object]] = []

    def add(self, changes: list[Change], deed: Callable[[], object] | None) -> None:
        """Changes that one deed makes; None if they are only told."""
        self.changes += changes
        if deed is not None:
            self._deeds.append(deed)

    def carry_out(self) -> None:
        """Make all changes."""
        deeds, self._deeds = self._deeds, []
        for deed in deeds:
            deed()

"""A plan: the changes that a file of definitions makes."""

from collections.abc import Callable
from dataclasses import dataclass

from openmsmq.core.queues.acceptance import DISK_FULL
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between a file and the current state.

    Attributes:
        action: `create`, `change`, `recreate`, `delete`, `unlisted` for what exists although the
            file does not list it, or `missing` for what the file cannot add.
        kind: `queue`, `machine`, `outgoing`, `redirection`, `site`, `link`, `distribution list`,
            `key` or `certificate`.
        name: of the queue, destination or URL; empty for the queue manager.
        property, before, after: the changed property; for a queue that is deleted with its
        messages, their number.
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
        prune: delete queues that the file does not list.
        force: delete queues even if they hold messages.
        recreate: replace an empty queue if a differing property cannot be changed.
        compare: only report differences, including queues that cannot be replaced.
    """

    prune: bool = False
    force: bool = False
    recreate: bool = False
    compare: bool = False


class Plan:
    """All changes that a file makes; nothing is changed before `carry_out`."""

    __slots__ = ("_deeds", "changes")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._deeds: list[Callable[[], object]] = []

    def add(self, changes: list[Change], deed: Callable[[], object] | None) -> None:
        """Add changes that one deed makes; None if they are only reported."""
        self.changes += changes
        if deed is not None:
            self._deeds.append(deed)

    @property
    def needs_room(self) -> bool:
        """Whether the changes need more storage."""
        return any(change.action in ("create", "change", "recreate") for change in self.changes)

    def carry_out(self, *, disk_full: bool) -> None:
        """Make all changes.

        Raises:
            QueueError: the disk is full, and nothing was changed; or the directory refused a
                change, and the changes before it were made.
        """
        if disk_full and self.needs_room:
            raise QueueError(
                Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
                DISK_FULL,
                cause="What is left on the disk is kept for receiving and deleting; "
                "nothing was changed.",
                remedy="Free space on the disk, or receive messages; then apply it again.",
            )
        deeds, self._deeds = self._deeds, []
        for count, deed in enumerate(deeds):
            try:
                deed()
            except QueueError as exc:
                raise QueueError(
                    exc.code,
                    exc.detail,
                    cause=f"{count} of {len(deeds)} changes were made before this one was refused.",
                    remedy="Apply it again when the cause is removed: that makes the others.",
                ) from exc

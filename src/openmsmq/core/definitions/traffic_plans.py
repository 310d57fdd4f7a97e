"""Changes to outgoing queues and redirections by a file of definitions.

Each group is complete: an outgoing queue that is not listed as paused is resumed, and a redirection
that is not listed is removed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.access import check_machine_right
from openmsmq.core.queues.names import is_local_name, parse_name
from openmsmq.core.queues.opening import close_queue, open_queue
from openmsmq.core.transfer.outgoing.redirections import (
    MAX_REDIRECTIONS,
    Redirection,
    RedirectionKind,
    check_redirection,
)
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.queue_enums import QueueState, ShareMode
from openmsmq.wire.names.format_name import MultipleElementFormatName, SingleFormatName

from .faults import at, refusal
from .plan import Change, Plan

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transfer.outgoing.outgoing import Outgoing
    from openmsmq.core.transfer.outgoing.redirections import Redirections
    from openmsmq.security.caller import Caller
    from openmsmq.wire.definitions.model import OutgoingDefinition, RedirectionDefinition


class TrafficPlanner:
    """Compares definitions with outgoing queues and redirections, and adds to a plan."""

    def __init__(
        self,
        state: State,
        plan: Plan,
        *,
        outgoing: Outgoing,
        redirections: Redirections,
        caller: Caller,
    ) -> None:
        self._state = state
        self._plan = plan
        self._outgoing = outgoing
        self._redirections = redirections
        self._caller = caller

    def _check_right(self, place: str) -> None:
        with at(place):
            check_machine_right(self._state, self._caller, MachineRight.SET_MACHINE_PROPERTIES)

    # Outgoing queues

    def plan_outgoing(self, definitions: tuple[OutgoingDefinition, ...]) -> None:
        """Pause the listed outgoing queues, and resume the others.

        Raises:
            QueueError: a destination is wrong, or the caller may not pause it.
        """
        listed: set[str] = set()
        for number, definition in enumerate(definitions):
            place = f"$.outgoing[{number}].destination"
            with at(place):
                name = parse_name(self._state, definition.destination)
            if isinstance(name, MultipleElementFormatName) or is_local_name(self._state, name):
                raise refusal(place, f"{name} is not one queue of another machine")
            if name.key in listed:
                raise refusal(place, f"{name} is listed twice")
            listed.add(name.key)
            self._plan_pause(name, place)
        for key, queue in self._state.outgoing.items():
            if key not in listed and _paused(queue):
                self._check_right("$.outgoing")
                self._plan.add(
                    [_pause_change(queue.path, paused=False)],
                    partial(self._resume, queue),
                )

    def _plan_pause(self, name: SingleFormatName, place: str) -> None:
        queue = self._state.outgoing.get(name.key)
        if queue is not None and _paused(queue):
            return
        self._check_right(place)
        self._plan.add([_pause_change(str(name), paused=True)], lambda: self._pause(name))

    def _pause(self, name: SingleFormatName) -> None:
        # Choice: a destination without an outgoing queue can be paused, too.
        descriptor = open_queue(
            self._state, name, QueueAccessType.SEND, ShareMode.DENY_NONE, SYSTEM_CALLER
        )
        try:
            self._outgoing.pause(self._state.outgoing[name.key], caller=self._caller)
        finally:
            close_queue(self._state, descriptor)

    def _resume(self, queue: Queue) -> None:
        self._outgoing.resume(queue, caller=self._caller)

    # Redirections

    def plan_redirections(self, definitions: tuple[RedirectionDefinition, ...]) -> None:
        """Add, replace and remove redirections.

        Raises:
            QueueError: a redirection is wrong, or the caller may not change it.
        """
        if len(definitions) > MAX_REDIRECTIONS:
            raise refusal("$.redirections", f"there may be {MAX_REDIRECTIONS} at most")
        wanted: dict[tuple[str, str], Redirection] = {}
        for number, definition in enumerate(definitions):
            place = f"$.redirections[{number}]"
            one = Redirection(RedirectionKind(definition.kind), definition.url, definition.to)
            with at(place):
                check_redirection(one)
            if wanted.setdefault(_key(one), one) is not one:
                raise refusal(place, f"{one.source} is listed twice as {one.kind}")
        present = {_key(one): one for one in self._state.redirections}
        for key, one in present.items():
            if key not in wanted:
                self._plan_removal(one)
        for key, one in wanted.items():
            if present.get(key) != one:
                self._plan_addition(one, present.get(key))

    def _plan_removal(self, one: Redirection) -> None:
        self._check_right("$.redirections")
        self._plan.add(
            [Change(action="delete", kind="redirection", name=f"{one.kind} {one.source}")],
            lambda: self._redirections.remove(one.kind, one.source, caller=self._caller),
        )

    def _plan_addition(self, one: Redirection, before: Redirection | None) -> None:
        self._check_right("$.redirections")
        change = Change(
            action="create" if before is None else "change",
            kind="redirection",
            name=f"{one.kind} {one.source}",
            property="" if before is None else "to",
            before="" if before is None else before.target,
            after=one.target,
        )
        self._plan.add(
            [change],
            lambda: self._redirections.add(one.kind, one.source, one.target, caller=self._caller),
        )


def _key(one: Redirection) -> tuple[str, str]:
    return one.kind, one.source.casefold()


def _paused(queue: Queue) -> bool:
    return queue.outgoing is not None and queue.outgoing.state is QueueState.ONHOLD


def _pause_change(name: str, *, paused: bool) -> Change:
    before, after = ("false", "true") if paused else ("true", "false")
    return Change(
        action="change", kind="outgoing", name=name, property="paused", before=before, after=after
    )

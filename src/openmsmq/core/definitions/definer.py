"""Definer: exports definitions of a queue manager and applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.outbox import ResultOf

from .directory_plans import DirectoryPlanner
from .exporting import export
from .identities import plan_certificates, plan_keys
from .plan import Change, Plan, PlanOptions
from .queue_plans import QueuePlanner
from .traffic_plans import TrafficPlanner

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transfer.outgoing.outgoing import Outgoing
    from openmsmq.core.transfer.outgoing.redirections import Redirections
    from openmsmq.security.caller import Caller
    from openmsmq.security.principals import Accounts
    from openmsmq.wire.definitions.model import Definitions


class Definer:
    """The definitions of one queue manager."""

    __slots__ = ("_outgoing", "_redirections", "_state")

    def __init__(self, state: State, outgoing: Outgoing, redirections: Redirections) -> None:
        self._state = state
        self._outgoing = outgoing
        self._redirections = redirections

    def export(self, *, caller: Caller, accounts: Accounts) -> Definitions:
        """Everything that definitions can describe.

        Raises:
            AccessDenied: the caller may not see some of it.
        """
        return export(self._state, caller=caller, accounts=accounts)

    def plan(
        self, definitions: Definitions, options: PlanOptions, *, caller: Caller, accounts: Accounts
    ) -> Plan:
        """The changes that definitions ask for; nothing is changed yet.

        Raises:
            QueueError: a definition is wrong or not allowed; the text begins with its place in the
            file.
        """
        plan = Plan()
        queues = QueuePlanner(self._state, plan, caller=caller, accounts=accounts, options=options)
        traffic = TrafficPlanner(
            self._state,
            plan,
            outgoing=self._outgoing,
            redirections=self._redirections,
            caller=caller,
        )
        if definitions.queues is not None:
            queues.plan_queues(definitions.queues)
        if definitions.machine is not None and definitions.machine.permissions is not None:
            queues.plan_machine(definitions.machine.permissions)
        if definitions.outgoing is not None:
            traffic.plan_outgoing(definitions.outgoing)
        if definitions.redirections is not None:
            traffic.plan_redirections(definitions.redirections)
        directory = DirectoryPlanner(self._state, plan, caller=caller, options=options)
        if definitions.sites is not None:
            directory.plan_sites(definitions.sites)
        if definitions.links is not None:
            directory.plan_links(definitions.links)
        if definitions.distribution_lists is not None:
            directory.plan_lists(definitions.distribution_lists)
        if definitions.keys is not None:
            plan_keys(plan, directory.editor("$.keys"), definitions.keys)
        if definitions.certificates is not None:
            editor = directory.editor("$.certificates")
            plan_certificates(plan, editor, definitions.certificates, accounts)
        directory.finish()
        return plan

    def apply(
        self,
        definitions: Definitions,
        options: PlanOptions,
        *,
        caller: Caller,
        accounts: Accounts,
        use_reserve: bool = False,
    ) -> ResultOf[tuple[Change, ...]]:
        """Make all changes in one batch, or none.

        Args:
            use_reserve: apply them even while the disk is full.

        Raises:
            QueueError: as for `plan` and `Plan.carry_out`.
        """
        plan = self.plan(definitions, options, caller=caller, accounts=accounts)
        plan.carry_out(disk_full=self._state.local.throttled and not use_reserve)
        return ResultOf(tuple(plan.changes), self._state.outbox.seen())

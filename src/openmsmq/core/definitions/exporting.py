"""Export: the current state as definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.model.retry_policy import ReceiveErrorHandling
from openmsmq.core.queues.access import check_machine_right, check_queue_right
from openmsmq.directory.editing import TopologyEditor
from openmsmq.directory.objects import NULL_GUID, UNLIMITED
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.security.rights import describe_machine_rights, describe_queue_rights
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.queue_enums import QueueState
from openmsmq.wire.definitions.model import (
    CertificateDefinition,
    Definitions,
    DistributionListDefinition,
    KeyDefinition,
    LinkDefinition,
    MachineDefinition,
    OutgoingDefinition,
    QueueDefinition,
    RedirectionDefinition,
    SiteDefinition,
)

from .identities import certificates_in, keys_in
from .rights import describe_entries, entries_of

if TYPE_CHECKING:
    from typing import Literal

    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller
    from openmsmq.security.principals import Accounts


# Permissions, redirections, outgoing queues.
_SEE: Final = (
    MachineRight.GET_MACHINE_PERMISSIONS
    | MachineRight.GET_MACHINE_PROPERTIES
    | MachineRight.PEEK_DEADLETTER_MESSAGE
)


def export(state: State, *, caller: Caller, accounts: Accounts) -> Definitions:
    """Everything that definitions can describe about a queue manager.

    Raises:
        AccessDenied: the caller may not read the permissions of a queue or of the queue manager.
    """
    # Choice: as for changes, an administrator needs no right on the single queue.
    reader = SYSTEM_CALLER if caller.is_local_admin else caller
    check_machine_right(state, reader, _SEE)
    queues = [queue for queue in state.queues.values() if queue.role is QueueRole.USER]
    for queue in queues:
        check_queue_right(
            queue, reader, QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
        )
    queues.sort(key=lambda queue: queue.path.lower())
    entries = entries_of(state.manager.security)
    return Definitions(
        queues=tuple(define_queue(queue, accounts=accounts) for queue in queues),
        machine=MachineDefinition(
            permissions=describe_entries(entries, accounts=accounts, words=describe_machine_rights)
        ),
        outgoing=tuple(
            OutgoingDefinition(destination=name)
            for name in sorted(
                queue.outgoing.destination_format_name
                for queue in state.outgoing.values()
                if queue.outgoing is not None and queue.outgoing.state is QueueState.ONHOLD
            )
        ),
        redirections=tuple(
            RedirectionDefinition(kind=one.kind.value, url=one.source, to=one.target)
            for one in sorted(state.redirections)
        ),
        **_directory(state, accounts),
    )


class _DirectoryGroups(TypedDict, total=False):
    sites: tuple[SiteDefinition, ...]
    links: tuple[LinkDefinition, ...]
    distribution_lists: tuple[DistributionListDefinition, ...]
    keys: tuple[KeyDefinition, ...]
    certificates: tuple[CertificateDefinition, ...]


def _directory(state: State, accounts: Accounts) -> _DirectoryGroups:
    """The directory's part; empty without a directory, or while it is offline."""
    if state.directory is None or not state.directory.version():
        return {}
    editor = TopologyEditor(state.directory, utc=state.utc)
    names = {site.identifier: site.name for site in editor.sites()}
    servers = {server.identifier: server.computer_name for server in editor.servers()}
    links = [
        LinkDefinition(
            sites=_sorted_pair(
                names.get(link.site1_identifier, str(link.site1_identifier)),
                names.get(link.site2_identifier, str(link.site2_identifier)),
            ),
            cost=link.actual_cost,
            gates=tuple(
                sorted(servers.get(gate, str(gate)) for gate in link.site_gate_identifier_list)
            ),
        )
        for link in editor.links()
    ]
    return {
        "sites": tuple(
            SiteDefinition(name=site.name, foreign=site.foreign_site) for site in editor.sites()
        ),
        "links": tuple(sorted(links, key=lambda link: link.sites)),
        "distribution_lists": tuple(
            DistributionListDefinition(name=entry.name, members=entry.members)
            for entry in editor.lists()
        ),
        "keys": keys_in(editor),
        "certificates": certificates_in(editor, accounts),
    }


def _sorted_pair(one: str, two: str) -> tuple[str, str]:
    return (one, two) if one.casefold() <= two.casefold() else (two, one)


_HANDLING: Final[dict[ReceiveErrorHandling, Literal["none", "move", "reject", "drop", "hold"]]] = {
    ReceiveErrorHandling.NONE: "none",
    ReceiveErrorHandling.MOVE: "move",
    ReceiveErrorHandling.REJECT: "reject",
    ReceiveErrorHandling.DROP: "drop",
    ReceiveErrorHandling.HOLD: "hold",
}


def define_queue(queue: Queue, *, accounts: Accounts) -> QueueDefinition:
    """All properties of one queue."""
    properties = queue.properties
    privacy: dict[int, Literal["none", "optional", "body"]] = {0: "none", 1: "optional", 2: "body"}
    return QueueDefinition(
        path=queue.path,
        transactional=properties.transactional,
        label=properties.label,
        journal=properties.journaling,
        quota=_quota(properties.quota),
        journal_quota=_quota(properties.journal_quota),
        authenticate=properties.authentication,
        privacy=privacy[properties.privacy_level],
        base_priority=properties.base_priority,
        multicast=properties.multicast_address or "",
        type="" if properties.type == NULL_GUID else f"{{{str(properties.type).upper()}}}",
        receive_retry_count=queue.policy.receive_retry_count,
        retry_cycle_delay=queue.policy.retry_cycle_delay,
        max_retry_cycles=queue.policy.max_retry_cycles,
        receive_error_handling=_HANDLING[queue.policy.receive_error_handling],
        permissions=describe_entries(
            entries_of(properties.security), accounts=accounts, words=describe_queue_rights
        ),
    )


def _quota(quota: int) -> int | Literal["none"]:
    return "none" if quota == UNLIMITED else quota

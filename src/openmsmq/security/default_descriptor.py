"""The security descriptors that new queues and a new queue manager get."""

from typing import Final

from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceType,
    Acl,
    SecurityDescriptor,
    SecurityDescriptorControl,
)
from openmsmq.wire.security.sid import (
    ANONYMOUS,
    AUTHENTICATED_USERS,
    BUILTIN_ADMINISTRATORS,
    EVERYONE,
    SID,
)

from .caller import is_domain_user, is_guest

LOOK: Final = QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
SEND_AND_LOOK: Final = QueueRight.WRITE_MESSAGE | LOOK


def allow(sid: SID, mask: int) -> Ace:
    return Ace(AceType.ACCESS_ALLOWED, int(mask), sid)


def default_queue_descriptor(
    creator: SID,
    *,
    supplied: SecurityDescriptor | None = None,
    machine_sid: SID | None = None,
) -> SecurityDescriptor:
    """The descriptor of a new queue ([MS-MQDMPR] 3.1.7.1.3.1).

    Args:
        creator: who creates the queue; its owner unless `supplied` names one.
        supplied: what the creator asks for; its lists are taken as they are.
        machine_sid: the SID of the computer in the directory, if it has one.
    """
    supplied = supplied or SecurityDescriptor()
    owner = creator if supplied.owner is None else supplied.owner
    if not is_domain_user(owner):
        owner = ANONYMOUS
    dacl = supplied.dacl
    # A list that is supplied as null stays so: it lets everybody in.
    if dacl is None and not supplied.control & SecurityDescriptorControl.DP:
        dacl = _default_dacl(owner, machine_sid)
    return SecurityDescriptor(
        owner=owner, group=supplied.group, sacl=supplied.sacl, dacl=dacl, control=supplied.control
    )


def _default_dacl(owner: SID, machine_sid: SID | None) -> Acl:
    known = is_domain_user(owner) and not is_guest(owner)
    # Every queue can be named by SRMP, so all may send to it, as since Windows Vista.
    aces = [allow(EVERYONE, SEND_AND_LOOK if known else QueueRight.QUEUE_GENERIC_ALL)]
    # Choice: ANONYMOUS LOGON may look at the queue, too, since Everyone is meant to include it.
    aces.append(allow(ANONYMOUS, SEND_AND_LOOK))
    if machine_sid is not None:
        aces.append(allow(machine_sid, LOOK))
    if known:
        aces.append(allow(owner, QueueRight.QUEUE_GENERIC_ALL))
    return Acl(tuple(aces))


def connector_queue_descriptor() -> SecurityDescriptor:
    """The descriptor of a connector queue: administrators say which application may read it."""
    return SecurityDescriptor(
        owner=BUILTIN_ADMINISTRATORS,
        dacl=Acl(
            (
                allow(EVERYONE, SEND_AND_LOOK),
                allow(ANONYMOUS, SEND_AND_LOOK),
                allow(BUILTIN_ADMINISTRATORS, QueueRight.QUEUE_GENERIC_ALL),
            )
        ),
    )


def default_machine_descriptor(owner: SID) -> SecurityDescriptor:
    """The descriptor of a new queue manager: its owner and administrators may do everything.

    Everyone may look; known users may also create queues, as MSMQ lets all users of a network.
    """
    return SecurityDescriptor(
        owner=owner,
        dacl=Acl(
            (
                allow(EVERYONE, MachineRight.MACHINE_WORLD_RIGHTS),
                allow(AUTHENTICATED_USERS, MachineRight.MACHINE_GENERIC_WRITE),
                allow(BUILTIN_ADMINISTRATORS, MachineRight.MACHINE_GENERIC_ALL),
                allow(owner, MachineRight.MACHINE_GENERIC_ALL),
            )
        ),
    )

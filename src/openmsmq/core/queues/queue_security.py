"""Create Default Queue Security Descriptor ([MS-MQDMPR] 3.1.7.1.3.1)."""

from openmsmq.core.sites.directory_events import read_directory
from openmsmq.core.state import State
from openmsmq.directory.interface import AttributeFilter, FilterOperator
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.security.access_check import QUEUE_MAPPING, parse_descriptor
from openmsmq.security.caller import Caller
from openmsmq.security.default_descriptor import default_queue_descriptor
from openmsmq.security.permissions import conform
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.security_descriptor import SecurityDescriptor
from openmsmq.wire.security.sid import SID


def new_queue_security(state: State, caller: Caller, supplied: bytes = b"") -> bytes:
    """The descriptor of a queue that the caller creates on this machine, in self-relative form.

    Args:
        supplied: the descriptor in the request, if any.

    Raises:
        QueueError: the request has no security descriptor of a queue.
    """
    descriptor = default_queue_descriptor(
        caller.sid,
        supplied=accepted_queue_security(supplied) if supplied else None,
        machine_sid=machine_sid(state, state.manager.computer_name),
    )
    return descriptor.serialize()


def accepted_queue_security(security: bytes) -> SecurityDescriptor:
    """A descriptor from outside, if it is valid for a queue.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR.
    """
    try:
        return conform(parse_descriptor(security), QUEUE_MAPPING)
    except MalformedPacket as exc:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR, str(exc)) from exc


def machine_sid(state: State, computer_name: str) -> SID | None:
    """The SID of a computer, if the directory knows it.

    Choice: a file has no computer accounts, whose objectSid [MS-MQDMPR] 3.1.7.1.3.1 asks for; the
    account of a queue manager is the owner of its object.
    """
    named = AttributeFilter("computer_name", FilterOperator.EQUALS, computer_name)
    machine = read_directory(state, ElementType.QUEUE_MANAGER, [named]).directory_object
    if not isinstance(machine, QueueManagerObject) or not machine.security:
        return None
    return parse_descriptor(machine.security).owner

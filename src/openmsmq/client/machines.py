"""Which machine has the queue of a name."""

from collections.abc import Collection

from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import parse_queue_reference
from openmsmq.wire.names.path_name import PathName


def machine_of(name: str) -> str | None:
    """The host that a path name or a direct format name is for; None for `.` and other names."""
    try:
        reference = parse_queue_reference(name)
    except QueueError:
        # The queue manager says what is wrong with it.
        return None
    if isinstance(reference, DirectFormatName):
        path = reference.path_name
    else:
        path = reference if isinstance(reference, PathName) else None
    return None if path is None or path.is_local else path.computer.strip("[]")


def other_machine(name: str, own_names: Collection[str]) -> str | None:
    """The host that a name is for, if it is another machine than that with these names.

    Args:
        own_names: those of a queue manager, in lower case; none if it does not tell them.
    """
    host = machine_of(name)
    if host is None or not own_names or host.lower() in own_names:
        return None
    return host

"""Which machine has the queue of a name, and what the queue is called there."""

import ipaddress
from collections.abc import Collection

from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import (
    FormatName,
    is_format_name,
    parse_format_name,
    parse_queue_reference,
)
from openmsmq.wire.names.path_name import PathName, parse_path_name


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


def format_name_at(host: str, name: str) -> FormatName:
    """The format name of a queue as a server of remote read takes it; `.` is the server.

    Raises:
        QueueError: the name is not well formed.
    """
    path = None
    if is_format_name(name):
        parsed = parse_format_name(name)
        if not isinstance(parsed, DirectFormatName) or parsed.address != ".":
            return parsed
        path = parsed.path_name
    path = path or parse_path_name(name)
    address = host if path.is_local else path.computer
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return DirectFormatName(DirectProtocol.OS, address, path.queue_name)
    return DirectFormatName(DirectProtocol.TCP, address, path.queue_name)

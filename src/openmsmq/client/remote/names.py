"""Names of queues as a server of remote read takes them."""

import ipaddress

from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import FormatName, is_format_name, parse_format_name
from openmsmq.wire.names.path_name import parse_path_name


def format_name_at(host: str, name: str) -> FormatName:
    """The format name of a queue; `.` is the server.

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

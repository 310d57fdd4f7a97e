"""The transports on which messages arrive and leave."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import FormatName, MulticastFormatName
from openmsmq.wire.scalars import GUID_NULL


class Transport(StrEnum):
    """The transport of a message; the names are shown to users."""

    LOCAL = "local"
    BINARY = "binary"
    HTTP = "http"
    HTTPS = "https"
    MULTICAST = "multicast"


class Origin(NamedTuple):
    """The origin of messages: the transport, the address, and the peer.

    `queue_manager` is the peer known to the transport; it need not be the source of a message.
    """

    transport: Transport
    address: str = ""
    queue_manager: UUID = GUID_NULL


WEB: Final = frozenset((Transport.HTTP, Transport.HTTPS))
SRMP: Final = WEB | {Transport.MULTICAST}
_DIRECT: Final = {
    DirectProtocol.HTTP: Transport.HTTP,
    DirectProtocol.HTTPS: Transport.HTTPS,
}


def transport_of(name: FormatName) -> Transport:
    """The transport for messages to a queue of this name on another machine."""
    if isinstance(name, MulticastFormatName):
        return Transport.MULTICAST
    if isinstance(name, DirectFormatName):
        return _DIRECT.get(name.protocol, Transport.BINARY)
    return Transport.BINARY

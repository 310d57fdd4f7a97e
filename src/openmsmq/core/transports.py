"""The transports: how a message can come here and leave."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from openmsmq.wire.scalars import GUID_NULL


class Transport(StrEnum):
    """How a message travels; the names that users see."""

    LOCAL = "local"
    BINARY = "binary"
    HTTP = "http"
    HTTPS = "https"
    MULTICAST = "multicast"


class Origin(NamedTuple):
    """Where messages come from: the transport, the address, and who is at the other end.

    `queue_manager` is what the transport knows of its peer; it need not be the source of a message.
    """

    transport: Transport
    address: str = ""
    queue_manager: UUID = GUID_NULL

"""HopLink: the way to one host, over one connection after the other ([MS-MQQB] 3.1.5.2)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .destinations import Destination
    from .transfer import Transfer


class HopLinkState(Enum):
    """How far the way to a host is; WAITING is the SessionState WAITING_RECONNECT."""

    IDLE = "idle"
    PINGING = "pinging"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting to reconnect"


class HopLink:
    """The connection to one destination that is made when messages wait for it."""

    __slots__ = ("connection", "destination", "pinged", "retry_at", "state", "transfers")

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self.state = HopLinkState.IDLE
        # The number of the connection that is being made or used; 0 for none.
        self.connection = 0
        self.pinged = False
        self.retry_at: float | None = None
        # The outgoing queues that go this way.
        self.transfers: dict[Transfer, None] = {}

    @property
    def has_work(self) -> bool:
        """Whether messages wait that may leave."""
        return any(
            transfer.queue.lanes.count and transfer.outgoing.may_transmit
            for transfer in self.transfers
        )

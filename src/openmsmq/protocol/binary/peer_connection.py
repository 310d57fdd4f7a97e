"""The record of one connection, besides its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .order_acks import OrderAckSchedule
from .settings import BinarySettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openmsmq.core.transfer.incoming.inlet import Inlet
    from openmsmq.protocol.carrier import Gate

    from .hop_links import HopLink
    from .receiving import Arrived
    from .session import BinarySession
    from .transfer import Transfer


class PeerConnection:
    """One connection with its session; `link` is None for one opened by a peer."""

    __slots__ = (
        "address",
        "arrived",
        "full",
        "inlet",
        "link",
        "number",
        "order_acks",
        "session",
        "transfers",
    )

    def __init__(
        self,
        number: int,
        session: BinarySession,
        address: str,
        link: HopLink | None,
        inlet: Inlet,
        settings: BinarySettings,
        gate: Gate,
        now: float,
    ) -> None:
        self.number = number
        self.session = session
        # RemoteQMAddress.
        self.address = address
        self.link = link
        # The inlet of its messages.
        self.inlet = inlet
        self.order_acks = OrderAckSchedule(settings, gate, now)
        # The last read that waits for the disk.
        self.arrived: Arrived | None = None
        # Whether messages wait until there is room in the window or the output.
        self.full = False
        # The outgoing queues that send through this session, in the order of their arrival.
        self.transfers: dict[Transfer, None] = {}

    @property
    def waiting(self) -> Iterable[Transfer]:
        """The outgoing queues that wait for the session that we open."""
        return self.link.transfers if self.link is not None else ()

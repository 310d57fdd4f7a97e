"""What the protocol knows of one connection beside its session."""

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
    """One connection with its session; `link` is None for one that a peer made."""

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
        # Where its messages go in, in their order.
        self.inlet = inlet
        self.order_acks = OrderAckSchedule(settings, gate, now)
        # What arrived last and waits for the disk.
        self.arrived: Arrived | None = None
        # Whether messages wait until there is room in the window or the output.
        self.full = False
        # The outgoing queues that send through this session, in the order they came.
        self.transfers: dict[Transfer, None] = {}

    @property
    def waiting(self) -> Iterable[Transfer]:
        """The outgoing queues that wait for the session that we open."""
        return self.link.transfers if self.link is not None else ()

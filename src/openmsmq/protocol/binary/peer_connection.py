"""What the protocol knows of one connection beside its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .order_acks import OrderAckSchedule
from .settings import BinarySettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openmsmq.core.transfer.inlet import Inlet
    from openmsmq.protocol.carrier import Gate

    from .hop_links import HopLink
    from .session import BinarySession
    from .transfer import Transfer


class Arrived:
    """One read of a session; what it brought is not dealt with yet, or waits for a batch.

    `count` and `recoverable` are the messages of the session up to its last one, `size` is the
    bytes that it brought itself.
    """

    __slots__ = ("connection", "count", "depends", "recoverable", "size")

    def __init__(self, connection: PeerConnection, size: int) -> None:
        self.connection = connection
        self.count = connection.session.received.count
        self.recoverable = connection.session.received.recoverable
        self.size = size
        self.depends = 0

    def join(self, later: Arrived) -> None:
        """A later read waits for the same batch."""
        self.count = later.count
        self.recoverable = later.recoverable
        self.size += later.size


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

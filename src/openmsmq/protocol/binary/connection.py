"""What the protocol knows of one connection beside its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .order_acks import OrderAckSchedule
from .settings import BinarySettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .links import Link
    from .session import BinarySession
    from .transfer import Transfer


class Connection:
    """One connection with its session; `link` is None for one that a peer made."""

    __slots__ = (
        "address",
        "link",
        "number",
        "order_acks",
        "session",
        "transfers",
        "undurable",
        "undurable_bytes",
    )

    def __init__(
        self,
        number: int,
        session: BinarySession,
        address: str,
        link: Link | None,
        settings: BinarySettings,
        now: float,
    ) -> None:
        self.number = number
        self.session = session
        # RemoteQMAddress.
        self.address = address
        self.link = link
        self.order_acks = OrderAckSchedule(settings, now)
        # The outgoing queues that send through this session, in the order they came.
        self.transfers: dict[Transfer, None] = {}
        # Bytes of messages that are not on disk yet, by batch.
        self.undurable: dict[int, int] = {}
        self.undurable_bytes = 0

    @property
    def waiting(self) -> Iterable[Transfer]:
        """The outgoing queues that wait for the session that we open."""
        return self.link.transfers if self.link is not None else ()

    def received(self, depends: int, size: int) -> None:
        """Messages of this size wait for a batch."""
        self.undurable[depends] = self.undurable.get(depends, 0) + size
        self.undurable_bytes += size

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        for batch in [each for each in self.undurable if each <= number]:
            self.undurable_bytes -= self.undurable.pop(batch)

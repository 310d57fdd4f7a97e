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

    @property
    def waiting(self) -> Iterable[Transfer]:
        """The outgoing queues that wait for the session that we open."""
        return self.link.transfers if self.link is not None else ()

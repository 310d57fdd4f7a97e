"""The transfer of one outgoing queue to a destination over sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.wire.scalars import GUID_NULL

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.model.outgoing_queue import NextHop
    from openmsmq.core.transfer.outgoing.destinations import Destination
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream
    from openmsmq.security.encryption.published_keys import PublishedKeys

    from .hop_links import HopLink
    from .peer_connection import PeerConnection


class Transfer:
    """The session that the messages of one outgoing queue use, or its attempts to get one."""

    __slots__ = (
        "connection",
        "destination",
        "hops",
        "link",
        "outgoing",
        "published_keys",
        "queue",
        "stream",
        "topology_version",
        "validate_at",
    )

    def __init__(self, stream: OutgoingStream) -> None:
        self.stream = stream
        self.queue = stream.queue
        self.outgoing = stream.outgoing
        # The connection in use, and the link that opens connections.
        self.connection: PeerConnection | None = None
        self.link: HopLink | None = None
        # The queue manager that has the queue; GUID_NULL for the one that answers at the next hop.
        self.destination: UUID = GUID_NULL
        # The remaining next hops to try, the current one first.
        self.hops: tuple[NextHop, ...] = ()
        # RemoteQMPublicKey: read when the session first needs it ([MS-MQQB] 3.1.3.2).
        self.published_keys: PublishedKeys | None = None
        # The version of the directory at the last look-up.
        self.topology_version = 0
        # The time of the next look-up, if the destination was not found.
        self.validate_at: float | None = None

    def may_go_to(self, queue_manager: UUID) -> bool:
        """Whether a queue manager is among the remaining next hops."""
        return any(hop.queue_manager == queue_manager for hop in self.hops)

    def resolved(self, destination: Destination | None) -> None:
        """The destination was looked up, or leads nowhere."""
        self.destination = destination.queue_manager if destination is not None else GUID_NULL
        self.hops = destination.next_hops if destination is not None else ()

"""One outgoing queue on its way to a destination over sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.wire.names.format_name import parse_format_name

if TYPE_CHECKING:
    from openmsmq.core.transfer.outgoing_stream import OutgoingStream

    from .hop_links import HopLink
    from .peer_connection import PeerConnection


class Transfer:
    """Which session the messages of one outgoing queue use, or how they get one."""

    __slots__ = ("connection", "link", "name", "outgoing", "queue", "stream", "validate_at")

    def __init__(self, stream: OutgoingStream) -> None:
        self.stream = stream
        self.queue = stream.queue
        self.outgoing = stream.outgoing
        self.name = parse_format_name(stream.outgoing.destination_format_name)
        # The connection in use, and the link that makes connections.
        self.connection: PeerConnection | None = None
        self.link: HopLink | None = None
        # When to look for the destination again, if it was not found.
        self.validate_at: float | None = None

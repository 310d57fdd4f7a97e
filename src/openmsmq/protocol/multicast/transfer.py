"""The transfer of one outgoing queue to a multicast address."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from openmsmq.protocol.transfer_states import TransferState
from openmsmq.wire.names.format_name import MulticastFormatName, parse_format_name

if TYPE_CHECKING:
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream
    from openmsmq.protocol.pgm import Source


class MulticastTransfer:
    """The progress of the messages of one outgoing queue.

    Attributes:
        name: the destination.
        source: the source that sends them; None while no message waits, or none may leave.
        leaving: messages in the source, each with the number of its last packet.
        retry_at: the time when the socket is requested again.
        idle_at: the time when the source is closed unless more messages arrive.
    """

    __slots__ = (
        "idle_at",
        "leaving",
        "name",
        "outgoing",
        "queue",
        "retry_at",
        "source",
        "state",
        "stream",
    )

    def __init__(self, stream: OutgoingStream) -> None:
        self.stream = stream
        self.queue = stream.queue
        self.outgoing = stream.outgoing
        name = parse_format_name(stream.outgoing.destination_format_name)
        assert isinstance(name, MulticastFormatName)  # noqa: S101 - of the transport multicast
        self.name = name
        self.state = TransferState.RESTING
        self.source: Source | None = None
        self.leaving: deque[tuple[int, object]] = deque()
        self.retry_at: float | None = None
        self.idle_at: float | None = None

    @property
    def timer(self) -> float | None:
        """The time of the next timer of the transfer; the source has timers of its own."""
        times = (self.retry_at, self.idle_at)
        return min([time for time in times if time is not None], default=None)

"""The transfer of one outgoing queue over HTTP or HTTPS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.protocol.transfer_states import TransferState
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import parse_format_name

if TYPE_CHECKING:
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream


# [MC-MQSRM] 3.1.7.2.5 has 400 only. Choice: these equally mean that the message is never taken.
GIVEN_UP: Final = frozenset((400, 413, 414, 415, 431))


class Transfer:
    """The progress of the messages of one outgoing queue.

    Attributes:
        name, url: the destination.
        host: the last connected host: that of the URL, unless it is redirected.
        proxy: the proxy that may have answered in place of that host; empty without one.
        target: the path of their requests.
        outlet: the number of the outlet to the host; 0 for none.
        retry_at: the time of the Retransmission Timer.
        idle_at: the time of the Session Cleanup Timer.
        last_status: the last answer, 0 before the first.
    """

    __slots__ = (
        "host",
        "idle_at",
        "last_status",
        "name",
        "outgoing",
        "outlet",
        "proxy",
        "queue",
        "retry_at",
        "state",
        "stream",
        "target",
        "url",
    )

    def __init__(self, stream: OutgoingStream) -> None:
        self.stream = stream
        self.queue = stream.queue
        self.outgoing = stream.outgoing
        name = parse_format_name(stream.outgoing.destination_format_name)
        assert isinstance(name, DirectFormatName)  # noqa: S101 - of the transports HTTP and HTTPS
        self.name = name
        self.url = name.direct
        self.host = name.address
        self.proxy = ""
        self.target = name.request_target
        self.state = TransferState.RESTING
        self.outlet = 0
        self.retry_at: float | None = None
        self.idle_at: float | None = None
        self.last_status = 0

    @property
    def timer(self) -> float | None:
        """The time of the next timer of the transfer."""
        times = (self.stream.resend_at, self.retry_at, self.idle_at)
        return min([time for time in times if time is not None], default=None)

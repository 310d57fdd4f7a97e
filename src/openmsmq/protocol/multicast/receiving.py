"""Receiving by multicast: APDUs from PGM become messages ([MC-MQSRM] 3.1.5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.protocol.pgm import ApduReceived, DataLost, Receiver
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.pgm import TransportSessionId
from openmsmq.wire.srmp import Services, cut_compound_message, kind_of, packet_from_request
from openmsmq.wire.srmp.formats import MULTICAST_PREFIX
from openmsmq.wire.srmp.kinds import MessageKind
from openmsmq.wire.srmp.multicast import MulticastRequests

from .events import Lost

if TYPE_CHECKING:
    from collections import deque

    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.incoming.inlet import Inlet
    from openmsmq.core.transfer.incoming.received import Received
    from openmsmq.protocol.pgm import OutgoingDatagram, ReceiverEvent
    from openmsmq.wire.names.format_name import MulticastFormatName
    from openmsmq.wire.pgm import Nla

    from .events import MulticastEvent
    from .settings import MulticastSettings, Randomness

_MULTICAST: Final = str(Transport.MULTICAST)


class GroupReceiver:
    """The receiver of one multicast address and port.

    Attributes:
        received_bytes: of datagrams to the address, so far.

    Args:
        number: its number for users.
        events: receives events for the log.
    """

    __slots__ = (
        "_events",
        "_inlets",
        "_manager",
        "_partial_bytes",
        "_requests",
        "_settings",
        "_source",
        "lost",
        "name",
        "number",
        "pgm",
        "received_bytes",
        "report_at",
    )

    def __init__(
        self,
        manager: QueueManager,
        settings: MulticastSettings,
        name: MulticastFormatName,
        randomness: Randomness,
        events: deque[MulticastEvent],
        *,
        number: int = 0,
    ) -> None:
        self.number = number
        self.received_bytes = 0
        self._manager = manager
        self._settings = settings
        self._events = events
        self.name = name
        self.pgm = Receiver(
            settings.receiver,
            group_nla=name.address,
            destination_port=name.port,
            random=randomness.random,
        )
        self._requests: dict[TransportSessionId, MulticastRequests] = {}
        self._partial_bytes = 0
        # The inlets of sources whose messages wait for checks, and the number of waiting reads.
        self._inlets: dict[TransportSessionId, tuple[Inlet, int]] = {}
        # Packets lost since the last report, and a source of them.
        self.lost = 0
        self._source = ""
        self.report_at = 0.0

    def receive_datagram(self, data: bytes, *, source: Nla, now: float) -> None:
        """Process a datagram of the group, and deliver the APDUs that it completes."""
        self.received_bytes += len(data)
        self.pgm.receive_datagram(data, source=source, now=now)
        self._take_events(now)

    def datagrams_to_send(self) -> list[OutgoingDatagram]:
        return self.pgm.datagrams_to_send()

    def next_timer(self) -> float | None:
        times = (self.pgm.next_timer(), self.report_at if self.lost else None)
        return min([time for time in times if time is not None], default=None)

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""
        self.pgm.handle_timer(now=now)
        self._take_events(now)
        self._report(now)

    def _take_events(self, now: float) -> None:
        arrived: dict[tuple[TransportSessionId, Nla], list[UserMessageRun]] = {}
        while (event := self.pgm.next_event()) is not None:
            if isinstance(event, ApduReceived):
                runs = arrived.setdefault((event.tsi, event.source), [])
                runs += self._messages(event)
            else:
                self._forget(event, now)
        for (tsi, source), runs in arrived.items():
            if runs:
                self._deliver(tsi, str(source), runs)

    def _forget(self, event: ReceiverEvent, now: float) -> None:
        """Data of a source was lost, or the source has ended: drop incomplete requests."""
        requests = self._requests.pop(event.tsi, None)
        if requests is not None:
            self._partial_bytes -= requests.pending_bytes
        if isinstance(event, DataLost):
            self.lost += event.packet_count
            self._source = str(event.source)
            self._report(now)

    def _report(self, now: float) -> None:
        """Report losses, summed up over packets."""
        if self.lost and now >= self.report_at:
            self._events.append(Lost(self.group, self._source, self.lost))
            self.lost = 0
            self.report_at = now + self._settings.loss_seconds

    @property
    def group(self) -> str:
        """Address and port."""
        return f"{self.name.address}:{self.name.port}"

    @property
    def waiting_bytes(self) -> int:
        """Data that waits for earlier data, or for the rest of its message."""
        return self.pgm.buffered_bytes + self._partial_bytes

    # Requests

    def _messages(self, event: ApduReceived) -> list[UserMessageRun]:
        """The messages completed by an APDU."""
        requests = self._requests.get(event.tsi)
        if requests is None:
            requests = self._requests[event.tsi] = MulticastRequests()
        self._partial_bytes -= requests.pending_bytes
        address = str(event.source)
        runs: list[UserMessageRun] = []
        try:
            whole = requests.feed(event.data)
        except MalformedPacket as exc:
            self._refuse(address, str(exc))
            return runs
        for request in whole:
            try:
                message = self._message(request)
            except MalformedPacket as exc:
                self._refuse(address, str(exc))
                continue
            if message is not None:
                runs.append(UserMessageRun(message))
        if self._partial_bytes + requests.pending_bytes > self._settings.max_partial_bytes:
            requests.reset()
            self._refuse(address, "too much data waits for the rest of its message")
        self._partial_bytes += requests.pending_bytes
        return runs

    def _message(self, request: bytes) -> UserMessage | None:
        """The message of a request; None for one that is not valid by multicast.

        Raises:
            MalformedPacket: it is not an SRMP message to a multicast address.
        """
        # [MC-MQSRM] note 2: only the lengths in the HTTP header count.
        parsed = cut_compound_message(request)
        envelope = parsed.read_envelope()
        if not envelope.path.to.startswith(MULTICAST_PREFIX):
            raise MalformedPacket("path.to", 0, "it is not a multicast address")
        if envelope.stream is not None or kind_of(envelope) is not MessageKind.USER:
            self._count_ignored("transactional message or receipt by multicast")
            return None
        # Multicast has no answers: requests for them are removed.
        silent = envelope._replace(services=Services(durable=envelope.services.durable))
        return UserMessage(packet_from_request(parsed, silent, utc=self._manager.utc))

    def _refuse(self, address: str, reason: str) -> None:
        self._manager.incoming.refuse_request(address, Transport.MULTICAST, reason)

    def _count_ignored(self, reason: str) -> None:
        self._manager.counters.ignored_messages.add((_MULTICAST, reason))

    # Into queues

    def _deliver(self, tsi: TransportSessionId, address: str, runs: list[UserMessageRun]) -> None:
        """Pass on messages of one source that arrived together."""
        waiting = self._inlets.get(tsi)
        inlet = waiting[0] if waiting is not None else self._manager.incoming.open_inlet(self)
        received = inlet.receive(runs, Origin(Transport.MULTICAST, address), tsi)
        if received is None:
            count = waiting[1] if waiting is not None else 0
            self._inlets[tsi] = inlet, count + 1
        else:
            self._settle(received)

    def received(self, read: object, received: Received, *, now: float) -> None:  # noqa: ARG002 - as for every owner of an inlet
        """Messages that waited for checks were processed."""
        assert isinstance(read, TransportSessionId)  # noqa: S101
        inlet, count = self._inlets.pop(read)
        if count > 1:
            self._inlets[read] = inlet, count - 1
        self._settle(received)

    def _settle(self, received: Received) -> None:
        """Count a message that found no room or failed its check: it is not sent again."""
        if not received.complete:
            self._count_ignored(received.fault or "no room to wait for checks")

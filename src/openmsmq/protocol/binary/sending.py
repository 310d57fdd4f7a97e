"""Sending messages: outgoing queues through sessions, and the effect of acknowledgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.outgoing.departures import DispatchCollection
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import HIGH_USER_FLAGS, PRIVATE_BODY_BIT

from .transfer import Transfer

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager

    from .encrypting import Encrypting
    from .events import MessagesAcknowledged
    from .peer_connection import PeerConnection
    from .settings import BinarySettings

CARRIES: Final = frozenset((Transport.BINARY,))
_TRACED: Final = 0x01
# The number of bytes taken from a queue at a time.
_READ_BYTES: Final = 1024 * 1024


class OutgoingTransfers:
    """The outgoing queues of one queue manager that this protocol serves."""

    __slots__ = ("_encrypting", "_manager", "streams", "transfers")

    def __init__(
        self, manager: QueueManager, settings: BinarySettings, encrypting: Encrypting
    ) -> None:
        self._manager = manager
        self._encrypting = encrypting
        self.streams = manager.outgoing.open_streams(CARRIES, settings.resend_timer_table)
        self.transfers: dict[int, Transfer] = {}

    def find_transfer(self, queue: Queue) -> Transfer | None:
        """The transfer of an outgoing queue; None if another protocol sends its messages."""
        transfer = self.transfers.get(queue.number)
        if transfer is None:
            # [MS-MQQB] 3.1.7.12: other transports carry the others.
            stream = self.streams.find(queue)
            if stream is not None:
                transfer = self.transfers[queue.number] = Transfer(stream)
        return transfer

    def forget(self, queue: Queue) -> Transfer | None:
        """An outgoing queue was deleted."""
        self.streams.forget(queue)
        return self.transfers.pop(queue.number, None)

    def pump(self, connection: PeerConnection, *, now: float) -> bool:
        """Send messages that may leave; return whether some wait for the disk."""
        session = connection.session
        blocked = False
        # Dispatch Send Message ([MS-MQDMPR] 3.1.7.3.9): one message at a time, of the queue whose
        # turn it is; a queue that is alone sends all that fit.
        ready = DispatchCollection([transfer.stream for transfer in connection.transfers])
        while ready.count and (room := session.room) > 0:
            stream = ready.first
            transfer = self.transfers[stream.queue.number]
            departure = stream.take(room if ready.count == 1 else 1, _READ_BYTES)
            packets = departure.packets
            empty = not packets
            for packet in packets:
                if packet[HIGH_USER_FLAGS] & PRIVATE_BODY_BIT:
                    # A message that cannot be encrypted leaves the departure; those after it wait.
                    self._encrypting.encrypt(transfer, departure, now=now)
                    packets = departure.packets
                    break
            if departure.depends or empty:
                blocked |= departure.depends > 0
                ready.pass_over()
            else:
                ready.sent()
            if not packets:
                continue
            if departure.express:
                session.send_express(packets, departure.tokens, now=now)
            else:
                for packet, token in zip(packets, departure.tokens, strict=True):
                    session.send(packet, token, now=now)
            self._report(connection, packets)
        connection.full = ready.count > 0
        return blocked

    def _report(self, connection: PeerConnection, packets: list[bytes]) -> None:
        """Send the reports that traced messages ask for."""
        for packet in packets:
            if packet[3] & _TRACED:
                self._manager.incoming.report(UserMessage(packet), connection.address)

    def acknowledged(self, event: MessagesAcknowledged) -> None:
        """The peer has messages, or has them on disk."""
        self.streams.arrived(event.received)
        self.streams.delivered((*event.express, *event.recoverable))

    def release(self, connection: PeerConnection) -> None:
        """The session is over: messages that it did not deliver go back in place."""
        for transfer in list(connection.transfers):
            self.detach(transfer, connection)

    def detach(self, transfer: Transfer, connection: PeerConnection) -> None:
        """An outgoing queue no longer uses its session: messages in flight are sent again."""
        del connection.transfers[transfer]
        transfer.connection = None
        transfer.stream.release(transfer.stream.in_flight)

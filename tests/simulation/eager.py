"""A node that says at once that messages came, before it knows what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from openmsmq.core.transfer.forwarding.routed import hop_identifiers
from openmsmq.protocol.binary.receiving import Receiver
from openmsmq.protocol.binary.windows import ReceivedMessages
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun

if TYPE_CHECKING:
    from openmsmq.core.transfer.incoming.received import Received
    from openmsmq.protocol.binary.events import MessagesReceived
    from openmsmq.protocol.binary.peer_connection import PeerConnection
    from openmsmq.protocol.binary.receiving import Arrived

Forgotten = Callable[[str], None]


class EagerReceived(ReceivedMessages):
    """Acknowledges what arrived before it is durable; the mask still waits for the disk.

    Args:
        forgotten: is told the tags of express messages that were acknowledged and left out then.
    """

    __slots__ = ("forgotten", "reads")

    def __init__(self, forgotten: Forgotten) -> None:
        super().__init__()
        self.forgotten = forgotten
        # The packets of reads that are not settled, by the number of their last message.
        self.reads: dict[int, list[bytes]] = {}

    @property
    def ready(self) -> int:
        return self.count

    @ready.setter
    def ready(self, count: int) -> None:
        """Everything that arrived may be acknowledged, whatever is on disk."""


class EagerReceiver(Receiver):
    """Notes which express messages are lost by the eagerness of this node, and by nothing else.

    A queue manager that has no room for a message, or cannot route it because the directory cannot
    be read, leaves out it and all that came after it over the same session, and ends the session:
    their sender has them still. From an eager node the sender has heard already that they came. It
    keeps recoverable ones until they are on disk, but not express ones. The product acknowledges
    nothing before it is settled, so that nothing is lost there.
    """

    __slots__ = ()

    def receive(self, connection: PeerConnection, event: MessagesReceived, *, now: float) -> None:
        session = connection.session.received
        if isinstance(session, EagerReceived):
            session.reads[session.count] = [packet for run in event.runs for packet in run.packets]
        super().receive(connection, event, now=now)

    def settle(self, arrived: Arrived, received: Received, *, now: float) -> None:
        super().settle(arrived, received, now=now)
        session = arrived.connection.session.received
        if not isinstance(session, EagerReceived):
            return
        packets = session.reads.pop(arrived.count)
        if received.complete:
            return
        first = arrived.count - len(packets) + 1
        for number, packet in enumerate(packets, first):
            if number <= session.acked and self._is_lost(UserMessage(packet)):
                session.forgotten(UserMessage(packet).label)

    def _is_lost(self, message: UserMessage) -> bool:
        """Whether an express message of an application was left out, and no copy of it came in."""
        if message.delivery_mode or message.message_class != MessageClass.NORMAL:
            return False
        run = UserMessageRun(message)
        history = self._manager.state.message_history
        return history.has_none_of([*run.identifiers(), *hop_identifiers(run)])

"""The functions that transports call for received messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.events import MessageDropped
from openmsmq.core.queues.names import is_this_machine
from openmsmq.core.transfer.checks.checks import Checks
from openmsmq.core.transfer.forwarding.forwarding import Forwarded, forward
from openmsmq.core.transfer.notices.final_acks import route_order_ack
from openmsmq.core.transfer.notices.reports import send_report
from openmsmq.core.transfer.notices.srmp_receipts import send_stream_receipt
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import MESSAGE_IDENTIFIER_SIZE

from .inlet import Inlet
from .streams import forget_old_streams

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.model.message import Message
    from openmsmq.core.state import State
    from openmsmq.core.transfer.checks.checks import Verifier
    from openmsmq.wire.names.direct_format_name import DirectFormatName
    from openmsmq.wire.names.queue_address import QueueAddress
    from openmsmq.wire.packets.order_ack import OrderAck

    from .inlet import InletOwner
    from .multicast_groups import MulticastGroups
    from .received import Acknowledgments, StreamProgress

_NO_IDENTIFIER: Final = bytes(MESSAGE_IDENTIFIER_SIZE)


class Incoming:
    """The operations of a transport on received messages."""

    __slots__ = ("_state", "checks")

    def __init__(self, state: State, verifier: Verifier | None = None) -> None:
        self._state = state
        settings = state.settings
        self.checks = Checks(
            verifier or state.message_checks,
            settings.max_checking_bytes,
            settings.max_failed_checks,
        )

    def open_inlet(
        self,
        owner: InletOwner,
        *,
        acknowledgments: Acknowledgments | None = None,
    ) -> Inlet:
        """The inlet of one connection of a transport."""
        return Inlet(self._state, self.checks, owner, acknowledgments=acknowledgments)

    def set_history_size(self, size: int) -> None:
        """Set how many identifiers of received messages are remembered, to recognize duplicates."""
        self._state.message_history.size = size
        self._state.srmp_history.size = size

    @property
    def has_history(self) -> bool:
        """Whether any identifiers of received messages are remembered."""
        return len(self._state.message_history) + len(self._state.srmp_history) > 0

    def forget_old_history(self, seconds: float) -> None:
        """Delete the identifiers of messages that were received longer ago than this."""
        self._state.message_history.clean(self._state, seconds)
        self._state.srmp_history.clean(self._state, seconds)

    @property
    def has_streams(self) -> bool:
        """Whether any transactional stream of another queue manager is known."""
        return self._state.stream_count.total > 0

    def forget_old_streams(self) -> None:
        """Delete the transactional streams that are no longer needed."""
        forget_old_streams(self._state)

    def refuse_request(self, address: str, transport: Transport, reason: str) -> None:
        """Record that a request is not a message; the reason is for the log."""
        self._state.counters.rejected_messages.add((str(transport), "MALFORMED"))
        self._state.outbox.tell(
            MessageDropped(what="request", queue=address, identifier=_NO_IDENTIFIER, reason=reason)
        )

    def forward(self, packet: bytes, name: DirectFormatName) -> Forwarded:
        """Forward a message that came over HTTP to another machine."""
        return forward(self._state, UserMessage(packet), name)

    @property
    def groups(self) -> MulticastGroups:
        """The multicast addresses that queues listen to."""
        return self._state.groups

    def is_this_machine(self, host: str) -> bool:
        """Whether a host name or address is one of this queue manager."""
        return is_this_machine(self._state, host)

    def send_stream_receipt(self, progress: StreamProgress) -> Message | None:
        """Report the progress of a stream to its sender; return the receipt, if one is sent."""
        stream, sequence = progress.stream, progress.sequence
        return send_stream_receipt(
            self._state,
            stream.receipts_of(sequence),
            stream.sender_identifier,
            sequence,
            progress.number,
        )

    def route_order_ack(
        self, ack: OrderAck, address: QueueAddress, peer: UUID, speaker: UUID
    ) -> bool:
        """Send an OrderAck over other queue managers; False if it must take the session."""
        return route_order_ack(self._state, ack, address, peer, speaker)

    def report(self, message: UserMessage, next_hop: str | None = None) -> bool:
        """Send the report that a traced message asks for at this point of its route."""
        return send_report(self._state, message, next_hop)

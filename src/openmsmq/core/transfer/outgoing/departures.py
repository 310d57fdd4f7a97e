"""What leaves an outgoing queue: packets, and what is known of each transactional message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from openmsmq.wire.message.sequence_info import SequenceInfo

if TYPE_CHECKING:
    from openmsmq.core.model.message import History, Message

    from .stream import OutgoingStream


class OutgoingMessagePosition:
    """A transactional message that was sent and waits for acknowledgments ([MS-MQQB] 3.1.1.3.1.2).

    A plain message stands for itself: the end of it is that it was delivered.
    """

    __slots__ = (
        "awaits_final_ack",
        "message",
        "previous",
        "received_order_ack",
        "received_session_ack",
        "stream",
        "tx_sequence_id",
        "tx_sequence_number",
    )

    def __init__(
        self,
        stream: OutgoingStream,
        message: Message,
        history: History,
        *,
        awaits_final_ack: bool,
    ) -> None:
        self.stream = stream
        self.message = message
        self.tx_sequence_id = history.tx_sequence_id
        self.tx_sequence_number = history.tx_sequence_number
        self.previous = 0
        # The other side has it; with SRMP that is what the HTTP response says.
        self.received_session_ack = False
        # It has it in its place; with SRMP the stream receipt.
        self.received_order_ack = False
        self.awaits_final_ack = awaits_final_ack

    @property
    def sequence_info(self) -> SequenceInfo:
        return SequenceInfo(self.tx_sequence_id, self.tx_sequence_number, self.previous)


class Departure:
    """What leaves now: packets, and a token for each.

    `depends` is the batch that the next message waits for; 0 if it waits for none. `express` says
    that none of them need survive a crash.
    """

    __slots__ = ("depends", "express", "packets", "tokens")

    def __init__(self, depends: int) -> None:
        self.depends = depends
        self.express = True
        self.packets: list[bytes] = []
        self.tokens: Sequence[object] = ()

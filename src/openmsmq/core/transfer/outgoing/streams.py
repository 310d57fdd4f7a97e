"""The outgoing queues that one carrier serves, and acknowledgments of their messages.

Acknowledgments of a transactional message are accepted only from the queue manager that has the
destination queue, over any session or next hop; a receipt of SRMP only with the token that was
sent to that queue manager alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.model.message import Message
from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.message.user_message import UserMessage

from .departures import OutgoingMessagePosition
from .receipt_tokens import is_token_of
from .redirections import RedirectionKind, find_target
from .stream import AwaitingFinalAck, OutgoingStream
from .stream_rules import BINARY_RULES, StreamRules

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Transport

    from .outgoing import Outgoing


class OutgoingStreams:
    """The streams of the outgoing queues of some transports.

    Args:
        resend_table, rules: those of every stream, see `OutgoingStream`.
    """

    __slots__ = (
        "_operations",
        "_resend_table",
        "_rules",
        "_state",
        "_transports",
        "awaiting",
        "streams",
    )

    def __init__(
        self,
        state: State,
        operations: Outgoing,
        transports: frozenset[Transport],
        resend_table: tuple[float, ...],
        rules: StreamRules = BINARY_RULES,
    ) -> None:
        self._state = state
        self._rules = rules
        self._operations = operations
        self._transports = transports
        self._resend_table = resend_table
        # By the number of the queue.
        self.streams: dict[int, OutgoingStream] = {}
        # AwaitingFinalACKTable.
        self.awaiting: AwaitingFinalAck = {}

    def find(self, queue: Queue) -> OutgoingStream | None:
        """The stream of an outgoing queue; None if another carrier sends its messages."""
        stream = self.streams.get(queue.number)
        outgoing = queue.outgoing
        if stream is None and outgoing is not None and outgoing.transport in self._transports:
            stream = OutgoingStream(
                self._state,
                self._operations,
                queue,
                outgoing,
                self.awaiting,
                self._resend_table,
                self._rules,
            )
            self.streams[queue.number] = stream
        return stream

    def forget(self, queue: Queue) -> None:
        """An outgoing queue was deleted."""
        self.streams.pop(queue.number, None)

    def removed(self, queue: Queue, messages: Iterable[Message] = ()) -> None:
        """Messages left an outgoing queue, such as expired ones."""
        stream = self.streams.get(queue.number)
        if stream is not None:
            stream.forget(messages)

    # Arrivals

    def arrived(self, tokens: Iterable[object]) -> None:
        """The peer has messages, perhaps not on disk yet."""
        for token in tokens:
            if isinstance(token, OutgoingMessagePosition):
                token.received_session_ack = True

    def delivered(self, tokens: Iterable[object]) -> None:
        """The peer has stored messages: those that waited only for that are finished."""
        plain: dict[OutgoingStream, list[Message]] = {}
        ordered: dict[OutgoingStream, list[OutgoingMessagePosition]] = {}
        for token in tokens:
            if isinstance(token, Message):
                stream = self.streams[token.queue.number]
                plain.setdefault(stream, []).append(token)
            elif isinstance(token, OutgoingMessagePosition) and token.received_order_ack:
                ordered.setdefault(token.stream, []).append(token)
        for stream, messages in plain.items():
            stream.deliver_plain(messages)
        for stream, positions in ordered.items():
            stream.deliver(positions)

    # Acknowledgments of transactional messages

    def acknowledged(self, sequence: int, number: int, proof: UUID | str) -> bool:
        """A queue manager has all messages of a sequence up to a number; return the acceptance.

        Args:
            proof: the queue manager that sent the acknowledgment, or the token of a receipt.
        """
        stream = self._stream_of(sequence)
        if stream is None or not self._believes(stream, proof):
            return False
        active = stream.outgoing.sequence
        if active is None or number > active.last:
            return False
        if self._rules.first_opens and number > stream.last_sent:
            return False
        stream.acknowledged(number)
        stream.refresh_info()
        return True

    def final(
        self, sequence: int, number: int, message_id: int, message_class: int, proof: UUID | str
    ) -> bool:
        """A queue manager reports the fate of one message; return whether it is accepted."""
        message = self.awaiting.get((sequence, number))
        stream = (
            self.streams[message.queue.number] if message is not None else self._stream_of(sequence)
        )
        if stream is None:
            return False
        if message is None:
            message = stream.find(number)
        # Choice: only the destination may say so. Its identity was on disk before
        # the message left, so it is known after a restart, too.
        if (
            message is None
            or not self._believes(stream, proof)
            or self._message_id(message) != message_id
        ):
            return False
        stream.final(message, message_class)
        return True

    def _believes(self, stream: OutgoingStream, proof: UUID | str) -> bool:
        """Whether the sender of an acknowledgment has received messages of a stream."""
        if isinstance(proof, UUID):
            return stream.outgoing.destination == proof
        name = stream.outgoing.destination_format_name
        # A URL that an administrator has put in place has no token.
        url = name.partition("=")[2]
        if find_target(self._state, RedirectionKind.RECEIPTS, url):
            return True
        return is_token_of(self._state, name, proof)

    def _stream_of(self, sequence: int) -> OutgoingStream | None:
        """The stream with this active sequence."""
        for stream in self.streams.values():
            active = stream.outgoing.sequence
            if active is not None and active.identifier == sequence:
                return stream
        return None

    def _message_id(self, message: Message) -> int:
        return UserMessage(packet_of(self._state, message)).message_id

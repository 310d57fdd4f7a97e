"""The order of transactional streams: the rule of each transport for the next message."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.transports import Transport

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.wire.message.user_message import UserMessage

    from .streams import IncomingTransactionalTransferInfo


class StreamPosition:
    """The position of a message in the streams of its sender.

    `sequence` is the identifier of its sequence in the form of the transport, empty for none; a
    message that `starts` one may name where receipts go. `sender` is the queue manager that
    numbers the stream; None for the source of the message.
    """

    __slots__ = ("number", "previous", "receipts_to", "sender", "sequence", "starts")

    def __init__(
        self,
        sequence: bytes,
        number: int,
        previous: int = 0,
        *,
        sender: UUID | None = None,
        starts: bool = False,
        receipts_to: str = "",
    ) -> None:
        self.sequence = sequence
        self.number = number
        self.previous = previous
        self.sender = sender
        self.starts = starts
        self.receipts_to = receipts_to

    def is_followed_by(self, number: int, previous: int) -> bool:
        """Whether a message with these numbers directly follows the one at this position.

        `previous` is 0 where the message has none: then it is the preceding number.
        """
        return number == self.number + 1 and previous in (0, self.number)

    def next(self) -> StreamPosition:
        """The position right after this one, of a message with the same stream fields."""
        return StreamPosition(
            self.sequence,
            self.number + 1,
            self.number,
            sender=self.sender,
            starts=self.starts,
            receipts_to=self.receipts_to,
        )


OrderRule = Callable[["IncomingTransactionalTransferInfo", StreamPosition], bool]
"""Whether a message at this position is the next of its stream."""


def position_in_session(message: UserMessage) -> StreamPosition:
    """The position of a message of the binary protocol, from its TransactionHeader."""
    # TxSequenceID is a 64-bit number ([MS-MQMQ] 2.2.18.1.2); big-endian bytes compare alike.
    sequence = message.raw_tx_sequence_id[::-1]
    number = message.tx_sequence_number
    previous = message.previous_tx_sequence_number
    # [MS-MQQB] 3.1.1.3.1: 0 stands for no sequence.
    return StreamPosition(sequence if sequence != _NONE else b"", number, previous)


def follows_in_session(stream: IncomingTransactionalTransferInfo, position: StreamPosition) -> bool:
    """[MS-MQQB] 3.1.5.8.6."""
    if position.sequence == stream.sequence_identifier:
        follows = position.number > stream.sequence_number >= position.previous
        return position.sequence != b"" and follows
    greater = position.sequence > stream.sequence_identifier
    return greater and position.previous == 0 and position.number > 0


def follows_in_srmp(stream: IncomingTransactionalTransferInfo, position: StreamPosition) -> bool:
    """[MC-MQSRM] 3.1.5.1.6.3.

    Choice: only a greater number opens a stream, so that a late copy of the first message of an
    older stream is not delivered again.
    """
    if position.sequence == stream.sequence_identifier:
        last = stream.sequence_number
        return position.number == last + 1 or position.number > last >= position.previous
    greater = position.sequence > stream.sequence_identifier
    return greater and position.starts and position.number == 1


_NONE: Final = bytes(8)
ORDER_RULES: Final[dict[Transport, OrderRule]] = {
    Transport.BINARY: follows_in_session,
    Transport.HTTP: follows_in_srmp,
    Transport.HTTPS: follows_in_srmp,
}

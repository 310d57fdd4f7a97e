"""Streams of transactional messages from other queue managers ([MS-MQDMPR] 3.1.1.5)."""

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.message.user_message import UserMessage

from .transports import Transport

_KEY: Final = Struct("<I")
_VALUE: Final = Struct("<QIdIHI")
NEVER_LATE: Final = 0xFFFFFFFF
# The number of no queue.
NO_QUEUE_NUMBER: Final = 0


@dataclass(slots=True)
class IncomingTransactionalTransferInfo:
    """The last message of one sender to one queue; what makes exactly-once possible.

    Kept as a state row in the same batch as the message that it speaks of. `address` is where it
    first came from; after `late_after`, in seconds since 1970, each of its messages is too late.
    `queue` is NO_QUEUE_NUMBER while there is no queue of this name that takes its messages.
    """

    queue: int
    format_name: str
    sender_identifier: UUID
    sequence_identifier: int = 0
    sequence_number: int = 0
    last_access_time: float = 0.0
    reject_count: int = 0
    address: str = ""
    late_after: int = 0

    @property
    def key(self) -> bytes:
        """The key of the row: queue, sender and the name that the sender uses for the queue."""
        return _KEY.pack(self.queue) + self.sender_and_name

    @property
    def sender_and_name(self) -> bytes:
        """What stays the same when the queue is deleted and created again."""
        return self.sender_identifier.bytes_le + self.format_name.casefold().encode()

    def serialize(self) -> bytes:
        name = self.format_name.encode()
        return (
            _VALUE.pack(
                self.sequence_identifier,
                self.sequence_number,
                self.last_access_time,
                self.reject_count,
                len(name),
                self.late_after,
            )
            + name
            + self.address.encode()
        )

    @classmethod
    def parse(cls, key: bytes, value: bytes) -> Self:
        queue = _KEY.unpack_from(key)[0]
        sender = key[_KEY.size : _KEY.size + 16]
        sequence, number, time, rejects, size, late_after = _VALUE.unpack_from(value)
        end = _VALUE.size + size
        return cls(
            queue,
            value[_VALUE.size : end].decode(),
            UUID(bytes_le=sender),
            sequence,
            number,
            time,
            rejects,
            value[end:].decode(),
            late_after,
        )

    def accept(
        self, sequence_identifier: int, sequence_number: int, late_after: int, utc: float
    ) -> None:
        """The last message of the stream was accepted."""
        self.late_after = max(self.late_after, min(late_after, NEVER_LATE))
        self.sequence_identifier = sequence_identifier
        self.sequence_number = sequence_number
        self.last_access_time = utc
        self.reject_count = 0

    def reject(self, utc: float) -> None:
        """The last message of the stream was rejected, for now."""
        self.last_access_time = utc
        self.reject_count += 1


def is_next(
    stream: IncomingTransactionalTransferInfo,
    sequence: int,
    message: UserMessage,
    transport: Transport,
) -> bool:
    """Whether a transactional message is the next of its stream, by the rule of its transport."""
    number = message.tx_sequence_number
    return ORDER_RULES[transport](stream, sequence, number, message.previous_tx_sequence_number)


def _follows_in_session(
    stream: IncomingTransactionalTransferInfo, sequence: int, number: int, previous: int
) -> bool:
    """[MS-MQQB] 3.1.5.8.6."""
    if sequence == stream.sequence_identifier:
        # [MS-MQQB] 3.1.1.3.1: 0 stands for no sequence, so that no message is of it.
        return sequence > 0 and number > stream.sequence_number >= previous
    return sequence > stream.sequence_identifier and previous == 0 and number > 0


OrderRule = Callable[[IncomingTransactionalTransferInfo, int, int, int], bool]
ORDER_RULES: Final[dict[Transport, OrderRule]] = {Transport.BINARY: _follows_in_session}
"""By transport: sequence, number and previous number of a message that is accepted."""

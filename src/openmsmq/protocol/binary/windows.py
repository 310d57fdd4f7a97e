"""Session acknowledgments: those to be sent and those expected ([MS-MQQB] 3.1.1.6.1).

Counters are whole numbers here; on the wire they are their lowest 16 bits.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from openmsmq.wire.errors import ProtocolViolation
from openmsmq.wire.packets.session_header import SessionHeader

COUNTER_MASK: Final = 0xFFFF
_HALF: Final = 0x8000
RECOVERABLE_BITS: Final = 32


class ReceivedMessages:
    """Counts of messages received, of those settled and durable, and of those acknowledged."""

    __slots__ = (
        "acked",
        "acked_recoverable",
        "count",
        "ready",
        "ready_recoverable",
        "recoverable",
    )

    def __init__(self) -> None:
        # MessageReceivedCount, RecoverableMessageReceivedCount.
        self.count = 0
        self.recoverable = 0
        # How many of them may be acknowledged.
        self.ready = 0
        self.ready_recoverable = 0
        # LastAckedRecoverableMsgSeqNumber is the last of these.
        self.acked = 0
        self.acked_recoverable = 0

    @property
    def unacked(self) -> int:
        """UnackedReceivedMsgCount, limited to messages that may be acknowledged."""
        return self.ready - self.acked

    @property
    def unacked_recoverable(self) -> int:
        return self.ready_recoverable - self.acked_recoverable

    def release(self, count: int, recoverable: int) -> None:
        """The first `count` messages, `recoverable` of them recoverable, may be acknowledged."""
        assert self.ready_recoverable <= recoverable <= self.recoverable  # noqa: S101
        assert count <= self.count  # noqa: S101
        self.ready = count
        self.ready_recoverable = recoverable

    def take(self) -> tuple[int, int, int]:
        """AckSequenceNumber, RecoverableMsgAckSeqNumber and -Flags; marks them as acknowledged."""
        self.acked = self.ready
        count = min(self.unacked_recoverable, RECOVERABLE_BITS)
        first = self.acked_recoverable + 1 if count else 0
        self.acked_recoverable += count
        return self.acked & COUNTER_MASK, first & COUNTER_MASK, (1 << count) - 1


class Acked(NamedTuple):
    """The contents of a session acknowledgment of sent messages, in the order of sending."""

    received: list[object]
    express: list[object]
    recoverable: list[object]


class SentMessages:
    """Messages sent in this session and not acknowledged, each with a token of its sender."""

    __slots__ = ("_recoverable", "_unacked", "count", "recoverable")

    def __init__(self) -> None:
        # MessageSentCount, RecoverableMessageSentCount.
        self.count = 0
        self.recoverable = 0
        # Tokens with RecoverableSequenceNumber, 0 for express ones; the last one is number `count`.
        self._unacked: deque[tuple[object, int]] = deque()
        # Recoverable ones that are not known to be on the disk of the peer, by number.
        self._recoverable: dict[int, object] = {}

    @property
    def unacked(self) -> int:
        """UnAckedMessageCount."""
        return len(self._unacked)

    def add(self, token: object, *, recoverable: bool) -> None:
        self.count += 1
        if recoverable:
            self.recoverable += 1
            self._recoverable[self.recoverable] = token
            self._unacked.append((token, self.recoverable))
        else:
            self._unacked.append((token, 0))

    def add_express(self, tokens: Sequence[object]) -> None:
        """Several express messages were sent."""
        self.count += len(tokens)
        self._unacked.extend([(token, 0) for token in tokens])

    def acknowledge(self, header: SessionHeader) -> Acked:
        """Process an acknowledgment of the peer.

        Raises:
            ProtocolViolation: it acknowledges messages that were never sent.
        """
        acked = self.count - len(self._unacked)
        newly = (header.ack_sequence_number - acked) & COUNTER_MASK
        if newly > len(self._unacked):
            raise ProtocolViolation(
                f"AckSequenceNumber {header.ack_sequence_number} is not between"
                f" {acked & COUNTER_MASK} and {self.count & COUNTER_MASK}"
            )
        received = []
        express = []
        for _ in range(newly):
            token, number = self._unacked.popleft()
            received.append(token)
            if not number:
                express.append(token)
        return Acked(received, express, self._acknowledge_recoverable(header))

    def _acknowledge_recoverable(self, header: SessionHeader) -> list[object]:
        flags = header.recoverable_msg_ack_flags
        if not flags and not header.recoverable_msg_ack_seq_number:
            return []
        waiting = self._recoverable
        expected = next(iter(waiting), self.recoverable + 1)
        behind = header.recoverable_msg_ack_seq_number - expected + _HALF & COUNTER_MASK
        first = expected + behind - _HALF
        last = first + max(flags.bit_length() - 1, 0)
        if last > self.recoverable:
            raise ProtocolViolation(
                f"recoverable message {last & COUNTER_MASK} is acknowledged, but only"
                f" {self.recoverable & COUNTER_MASK} were sent"
            )
        # [MS-MQQB] 3.1.5.5.3: all up to the number, and those whose bits are set.
        numbers = []
        for number in waiting:
            if number > first:
                break
            numbers.append(number)
        bits = [first + bit for bit in range(1, RECOVERABLE_BITS) if flags >> bit & 1]
        numbers += [number for number in bits if number in waiting]
        return [waiting.pop(number) for number in numbers]

"""Sent data of a source that can be repaired (RFC 3208, section 16)."""

from collections import deque
from dataclasses import dataclass

from openmsmq.wire.pgm import Fragment, distance, following


@dataclass(slots=True)
class Sent:
    """Data of one packet, and the time when it was first sent."""

    sequence_number: int
    data: bytes
    fragment: Fragment | None
    time: float


class TransmitWindow:
    """Sent packets from the trailing edge to the leading edge."""

    __slots__ = ("_packets", "bytes", "leading_edge")

    def __init__(self, first_sequence_number: int) -> None:
        self.leading_edge = following(first_sequence_number, -1)
        self.bytes = 0
        self._packets: deque[Sent] = deque()

    @property
    def trailing_edge(self) -> int:
        """The oldest packet, or the next one if there is none."""
        return following(self.leading_edge, 1 - len(self._packets))

    def add(self, sent: Sent) -> None:
        self._packets.append(sent)
        self.bytes += len(sent.data)
        self.leading_edge = sent.sequence_number

    def __contains__(self, sequence_number: int) -> bool:
        return 0 <= distance(self.trailing_edge, sequence_number) < len(self._packets)

    def __getitem__(self, sequence_number: int) -> Sent:
        return self._packets[distance(self.trailing_edge, sequence_number)]

    def advance(self, sent_before: float, repairs: set[int]) -> None:
        """Drop older packets, up to the first one that a receiver asked for."""
        packets = self._packets
        while packets and packets[0].time <= sent_before:
            if packets[0].sequence_number in repairs:
                return
            self.bytes -= len(packets.popleft().data)

    def delay_fraction(self, sequence_number: int) -> float:
        """The position of a packet in the window: 0 is the oldest, nearly 1 the newest."""
        return distance(self.trailing_edge, sequence_number) / len(self._packets)

"""Runs: packets in a row that have the same headers, so that these are looked at once.

A program mostly sends messages that differ in label, body and correlation and in nothing else.
"""

from collections.abc import Callable, Iterable
from struct import Struct
from typing import Final

from openmsmq.wire.security.security_header import signature_place

from .message_properties_header import properties_layout
from .user_message import UserMessage

_PACKET_SIZE: Final = 8
_BEHIND_SIZE: Final = 12
# MessageID and what follows it in the UserHeader.
_MESSAGE_ID: Final = 56
_FLAGS: Final = 60
_U32: Final[Callable[[bytes, int], tuple[int]]] = Struct("<I").unpack_from
# In the MessagePropertiesHeader: after LabelLength; both sizes of the body, PrivacyLevel,
# HashAlgorithm, EncryptionAlgorithm and ExtensionSize.
_BEHIND_LABEL_LENGTH: Final = 2
_SIZES: Final = 32
_CIPHER: Final = 40
_CIPHER_END: Final = 52
_SIZES_END: Final = 56


class UserMessageRun:
    """Packets with the same bytes up to the MessagePropertiesHeader, but PacketSize and MessageID.

    Those of a peer may also differ in the signature of their SecurityHeader, those of SRMP in the
    numbers of their TransactionHeader, which then ascend by 1.
    Acknowledgments and encryption are the same in all of them, and none has a header after its
    body, unless all have those of SRMP; or there is only one packet. So what `head` says of all
    this holds for each.
    """

    __slots__ = ("head", "packets")

    def __init__(self, head: UserMessage) -> None:
        self.head = head
        self.packets = [head.packet]

    def identifiers(self) -> list[bytes]:
        """The message identifiers as packets have them: SourceQueueManager and MessageID."""
        source = self.head.source
        return [source + packet[_MESSAGE_ID:_FLAGS] for packet in self.packets]

    def messages(self) -> list[UserMessage]:
        """Each packet as a message."""
        head = self.head
        if len(self.packets) == 1:
            return [head]
        at = head.properties_offset
        size = len(head.packet)
        label_length = head.packet[at + 1]
        sizes = head.packet[at + _SIZES : at + _SIZES_END]
        return [
            UserMessage(packet, head)
            if len(packet) == size
            and packet[at + 1] == label_length
            and packet[at + _SIZES : at + _SIZES_END] == sizes
            else UserMessage(packet)
            for packet in self.packets
        ]

    def first(self, count: int) -> "UserMessageRun":
        """The first packets of the run, at least one."""
        part = UserMessageRun(self.head)
        part.packets = self.packets[:count]
        return part

    def replace(self, packets: list[bytes]) -> None:
        """Take other packets, which again have the same headers."""
        self.head = UserMessage(packets[0])
        self.packets = packets


class RunBuilder:
    """Checks packets as `UserMessage` does, and puts those with the same headers together.

    Args:
        signatures_differ: whether packets of a run may have different signatures.
    """

    __slots__ = (
        "_at",
        "_middle",
        "_run",
        "_signature",
        "_signature_end",
        "_signatures_differ",
        "_size",
        "_sizes",
        "_start",
        "runs",
    )

    def __init__(self, *, signatures_differ: bool = False) -> None:
        self.runs: list[UserMessageRun] = []
        self._signatures_differ = signatures_differ
        # The run to go on with, and parts of its first packet, which starts its properties at `at`.
        self._run: UserMessageRun | None = None
        self._start = self._middle = self._sizes = b""
        self._at = 0
        self._size = 0
        # What of the middle need not be the same.
        self._signature = self._signature_end = 0

    def add(self, packet: bytes) -> None:
        """Take the next packet.

        Raises:
            MalformedPacket: it is not a UserMessage; those before it are kept.
        """
        run = self._run
        at = self._at
        if run is None:
            self._begin(packet)
        elif (
            len(packet) == self._size
            and packet[:_MESSAGE_ID] == self._start
            and packet[_FLAGS : at + _BEHIND_LABEL_LENGTH] == self._middle
            and packet[at + _SIZES : at + _SIZES_END] == self._sizes
        ) or self._has_same_headers(packet, at):
            run.packets.append(packet)
        else:
            self._begin(packet)

    def _has_same_headers(self, packet: bytes, at: int) -> bool:
        """Whether sizes and signatures are all that the headers differ in."""
        middle, signature, behind = self._middle, self._signature, self._signature_end
        if packet[_FLAGS:signature] != middle[: signature - _FLAGS]:
            return False
        if (
            len(packet) == self._size
            and packet[:_MESSAGE_ID] == self._start
            and packet[behind : at + _BEHIND_LABEL_LENGTH] == middle[behind - _FLAGS :]
            and packet[at + _SIZES : at + _SIZES_END] == self._sizes
        ):
            return True
        sizes = self._sizes[_CIPHER - _SIZES : _CIPHER_END - _SIZES]
        if (
            packet[_BEHIND_SIZE:_MESSAGE_ID] != self._start[_BEHIND_SIZE:]
            or packet[:_PACKET_SIZE] != self._start[:_PACKET_SIZE]
            or packet[behind : at + 1] != middle[behind - _FLAGS : -1]
            or packet[at + _CIPHER : at + _CIPHER_END] != sizes
            or _U32(packet, _PACKET_SIZE)[0] != len(packet)
        ):
            return False
        _, _, end, greater_end = properties_layout(packet, at)
        return end == greater_end

    def _begin(self, packet: bytes) -> None:
        head = UserMessage(packet)
        run = UserMessageRun(head)
        self.runs.append(run)
        if head.trailing is not None:
            self._run = None
            return
        at = head.properties_offset
        self._run = run
        self._at = at
        self._size = len(packet)
        self._start = packet[:_MESSAGE_ID]
        self._middle = packet[_FLAGS : at + _BEHIND_LABEL_LENGTH]
        self._sizes = packet[at + _SIZES : at + _SIZES_END]
        self._signature = self._signature_end = at
        if self._signatures_differ and head.security_offset:
            self._signature, self._signature_end = signature_place(packet, head.security_offset)


def split_runs(
    packets: Iterable[bytes], *, signatures_differ: bool = False
) -> list[UserMessageRun]:
    """Check packets as `UserMessage` does, and put those with the same headers together.

    Args:
        signatures_differ: whether packets of a run may have different signatures.

    Raises:
        MalformedPacket: one of them is not a UserMessage.
    """
    builder = RunBuilder(signatures_differ=signatures_differ)
    for packet in packets:
        builder.add(packet)
    return builder.runs

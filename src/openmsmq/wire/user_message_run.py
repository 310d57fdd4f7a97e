"""Runs: packets in a row that have the same headers, so that these are looked at once.

A program mostly sends messages that differ in label, body and correlation and in nothing else.
"""

from collections.abc import Callable, Iterable
from struct import Struct
from typing import Final

from .message_properties_header import properties_layout
from .user_message import UserMessage

_PACKET_SIZE: Final = 8
_BEHIND_SIZE: Final = 12
_U32: Final[Callable[[bytes, int], tuple[int]]] = Struct("<I").unpack_from
# PrivacyLevel, HashAlgorithm and EncryptionAlgorithm in the MessagePropertiesHeader.
_CIPHER: Final = 40
_CIPHER_END: Final = 52


class UserMessageRun:
    """Packets with the same bytes up to the MessagePropertiesHeader, PacketSize aside.

    Acknowledgments and encryption are the same in all of them, and none has a header behind its
    body; or there is only one packet. So what `head` says of all this holds for each.
    """

    __slots__ = ("head", "packets")

    def __init__(self, head: UserMessage) -> None:
        self.head = head
        self.packets = [head.packet]


def split_runs(packets: Iterable[bytes]) -> list[UserMessageRun]:
    """Check packets as `UserMessage` does, and put those with the same headers together.

    Raises:
        MalformedPacket: one of them is not a UserMessage.
    """
    runs: list[UserMessageRun] = []
    # The same parts of the first packet of the run; none while there is no run to go on with.
    start = middle = cipher = b""
    at = 0
    run: UserMessageRun | None = None
    for packet in packets:
        if (
            run is not None
            and packet[_BEHIND_SIZE : at + 1] == middle
            and packet[:_PACKET_SIZE] == start
            and packet[at + _CIPHER : at + _CIPHER_END] == cipher
            and _U32(packet, _PACKET_SIZE)[0] == len(packet)
        ):
            _, _, end, greater_end = properties_layout(packet, at)
            if end == greater_end:
                run.packets.append(packet)
                continue
        head = UserMessage(packet)
        run = UserMessageRun(head)
        runs.append(run)
        if head.trailing is not None:
            run = None
            continue
        at = head.properties_offset
        start, middle = packet[:_PACKET_SIZE], packet[_BEHIND_SIZE : at + 1]
        cipher = packet[at + _CIPHER : at + _CIPHER_END]
    return runs

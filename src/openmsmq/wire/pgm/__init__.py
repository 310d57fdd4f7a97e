"""PGM, the multicast protocol under SRMP: packets and options (RFC 3208, sections 8 and 9).

`parse_packet(data)` gives a `SourcePathMessage`, a `DataPacket` (ODATA or RDATA), a `NakPacket`
(NAK, NNAK or NCF), or an `OtherPacket` for what a member of a group ignores: polls, SPM requests
and parity packets. Malformed input, a wrong checksum included, raises `MalformedPacket`. Each
packet has `serialize()`, which gives its bytes with their checksum.
"""

from .checksum import checksum_of, has_valid_checksum
from .header import Header, Nla, PacketType, TransportSessionId
from .options import MAX_NAK_LIST, Fragment, Options, Reset
from .packets import DataPacket, NakPacket, OtherPacket, Packet, SourcePathMessage, parse_packet
from .sequence_number import distance, following

__all__ = [
    "MAX_NAK_LIST",
    "DataPacket",
    "Fragment",
    "Header",
    "NakPacket",
    "Nla",
    "Options",
    "OtherPacket",
    "Packet",
    "PacketType",
    "Reset",
    "SourcePathMessage",
    "TransportSessionId",
    "checksum_of",
    "distance",
    "following",
    "has_valid_checksum",
    "parse_packet",
]

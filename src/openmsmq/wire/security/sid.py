"""SID: who a user, group or service is ([MS-DTYP] 2.4.2)."""

import re
from dataclasses import dataclass
from struct import Struct, pack, unpack_from
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

SID_HEADER: Final = Struct(">BBHI")
SID_HEADER_SIZE: Final = 8
SID_REVISION: Final = 1
MAX_SUB_AUTHORITIES: Final = 15
SID_TEXT: Final = re.compile(r"S-1-(0x[0-9A-F]{12}|0|[1-9][0-9]{0,9})((?:-(?:0|[1-9][0-9]{0,9}))*)")
U32_MAX: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class SID:
    """A security identifier; `str()` gives its `S-1-...` text."""

    identifier_authority: int
    sub_authority: tuple[int, ...]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        start = require(buf, offset, SID_HEADER_SIZE, "SID")
        revision, count, high, low = SID_HEADER.unpack_from(buf, offset)
        if revision != SID_REVISION:
            raise MalformedPacket("SID.Revision", offset, f"is {revision}, not 1")
        if count > MAX_SUB_AUTHORITIES:
            raise MalformedPacket("SID.SubAuthorityCount", offset + 1, f"{count} is more than 15")
        end = require(buf, start, 4 * count, "SID.SubAuthority")
        return cls(high << 32 | low, unpack_from(f"<{count}I", buf, start)), end

    def serialize(self) -> bytes:
        count = len(self.sub_authority)
        authority = self.identifier_authority
        return SID_HEADER.pack(SID_REVISION, count, authority >> 32, authority & U32_MAX) + pack(
            f"<{count}I", *self.sub_authority
        )

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read `S-1-...` ([MS-DTYP] 2.4.2.1), in any case.

        Raises:
            ValueError: the text is not a SID.
        """
        match = SID_TEXT.fullmatch(text.upper().replace("0X", "0x"))
        if match is None:
            raise ValueError(f"not a SID of the form S-1-authority-number-...: {text!r}")
        authority = int(match[1], 0)
        numbers = tuple(int(number) for number in match[2].split("-")[1:])
        # "0x" with twelve digits is for what does not fit into 32 bits; accept it below, too.
        if max(numbers, default=0) > U32_MAX or (authority > U32_MAX and "x" not in match[1]):
            raise ValueError(f"a number in this SID is larger than 32 bits: {text!r}")
        if len(numbers) > MAX_SUB_AUTHORITIES:
            raise ValueError(f"a SID has at most 15 sub-authorities, not {len(numbers)}")
        return cls(authority, numbers)

    def __str__(self) -> str:
        authority = self.identifier_authority
        first = str(authority) if authority <= U32_MAX else f"0x{authority:012X}"
        return "-".join(["S-1", first, *map(str, self.sub_authority)])


# [MS-DTYP] 2.4.2.4: the same on every machine.
NULL_SID: Final = SID(0, (0,))
EVERYONE: Final = SID(1, (0,))
LOCAL: Final = SID(2, (0,))
CREATOR_OWNER: Final = SID(3, (0,))
CREATOR_GROUP: Final = SID(3, (1,))
OWNER_RIGHTS: Final = SID(3, (4,))
NETWORK: Final = SID(5, (2,))
INTERACTIVE: Final = SID(5, (4,))
SERVICE: Final = SID(5, (6,))
ANONYMOUS: Final = SID(5, (7,))
AUTHENTICATED_USERS: Final = SID(5, (11,))
LOCAL_SYSTEM: Final = SID(5, (18,))
LOCAL_SERVICE: Final = SID(5, (19,))
NETWORK_SERVICE: Final = SID(5, (20,))
BUILTIN_ADMINISTRATORS: Final = SID(5, (32, 544))
BUILTIN_USERS: Final = SID(5, (32, 545))
BUILTIN_GUESTS: Final = SID(5, (32, 546))

WELL_KNOWN_SIDS: Final = {
    NULL_SID: "NULL",
    EVERYONE: "EVERYONE",
    LOCAL: "LOCAL",
    CREATOR_OWNER: "CREATOR_OWNER",
    CREATOR_GROUP: "CREATOR_GROUP",
    OWNER_RIGHTS: "OWNER_RIGHTS",
    NETWORK: "NETWORK",
    INTERACTIVE: "INTERACTIVE",
    SERVICE: "SERVICE",
    ANONYMOUS: "ANONYMOUS",
    AUTHENTICATED_USERS: "AUTHENTICATED_USERS",
    LOCAL_SYSTEM: "LOCAL_SYSTEM",
    LOCAL_SERVICE: "LOCAL_SERVICE",
    NETWORK_SERVICE: "NETWORK_SERVICE",
    BUILTIN_ADMINISTRATORS: "BUILTIN_ADMINISTRATORS",
    BUILTIN_USERS: "BUILTIN_USERS",
    BUILTIN_GUESTS: "BUILTIN_GUESTS",
}

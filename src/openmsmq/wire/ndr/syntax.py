"""The transfer syntaxes of RPC stubs: NDR 2.0 (C706, chapter 14) and NDR64 ([MS-RPCE] 2.2.5)."""

from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID


class TransferSyntax(NamedTuple):
    """How a syntax writes what differs between the two.

    `number` counts the syntaxes from 0. `count_code` and `count_size` are those of pointers,
    maximum counts, offsets and actual counts. With `gaps`, a structure is padded to its own
    alignment, and the tag of a union is aligned as its widest arm.
    """

    number: int
    name: str
    uuid: UUID
    major_version: int
    count_code: str
    count_size: int
    enum_code: str
    enum_size: int
    gaps: bool


NDR: Final = TransferSyntax(
    0, "NDR", UUID("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2, "I", 4, "H", 2, gaps=False
)
NDR64: Final = TransferSyntax(
    1, "NDR64", UUID("71710533-beba-4937-8319-b5dbef9ccc36"), 1, "Q", 8, "I", 4, gaps=True
)
TRANSFER_SYNTAXES: Final = (NDR, NDR64)
# The `struct` of a count, by the number of the syntax.
COUNTERS: Final = tuple(Struct("<" + syntax.count_code) for syntax in TRANSFER_SYNTAXES)

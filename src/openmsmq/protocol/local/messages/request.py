"""Common parts of requests: their first field, and types with limits."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

VERSION: Final = 1
# The maximum number of messages in one request or reply: more are sent in several.
MAX_MESSAGES: Final = 10_000
MAX_STAGES: Final = 100_000
MAX_PROPERTIES: Final = 64
MAX_HEAD_BYTES: Final = 4 * 1024 * 1024

# A count over its limit is refused before it is used.
Packets = Annotated[list[bytes], Meta(max_length=MAX_MESSAGES)]
Handles = Annotated[list[int], Meta(max_length=MAX_MESSAGES)]
Names = Annotated[list[str], Meta(max_length=MAX_MESSAGES)]
LookupIds = Annotated[list[int], Meta(max_length=MAX_MESSAGES)]
Words = Annotated[list[str], Meta(max_length=MAX_PROPERTIES)]
Properties = Annotated[dict[str, bool | int | str | None], Meta(max_length=MAX_PROPERTIES)]
# The size of the part of a body that a reader asks for.
HeadBytes = Annotated[int, Meta(ge=0, le=MAX_HEAD_BYTES)]
# Numbers that are stored in 64 bits.
Number = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Stages = Annotated[list[tuple[Number, Number]], Meta(max_length=MAX_STAGES)]


class Request(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The fields that every request starts with."""

    id: int

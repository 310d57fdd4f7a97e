"""sec_trailer: what stands before an authentication token ([MS-RPCE] 2.2.2.11)."""

from struct import Struct
from typing import Final, NamedTuple, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .header import HEADER_SIZE

SEC_TRAILER_SIZE: Final = 8
# [MS-RPCE] 2.2.2.11: from the start of the stub.
STUB_ALIGNMENT: Final = 16

_TRAILER: Final = Struct("<BBBBI")


class SecTrailer(NamedTuple):
    """The trailer of a PDU with a token; a tuple, since every protected PDU has one."""

    auth_type: int
    auth_level: int
    auth_context_id: int
    auth_pad_length: int = 0

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SEC_TRAILER_SIZE, "sec_trailer")
        auth_type, level, padding, _, context = _TRAILER.unpack_from(buf, offset)
        return cls(auth_type, level, context, padding), end

    def serialize(self) -> bytes:
        return _TRAILER.pack(
            self.auth_type, self.auth_level, self.auth_pad_length, 0, self.auth_context_id
        )


class Verifier(NamedTuple):
    """The authentication part of a PDU, and where it starts: its trailer is at `offset`."""

    trailer: SecTrailer
    offset: int
    token: bytes

    @property
    def body_end(self) -> int:
        """The end of the body without padding."""
        return self.offset - self.trailer.auth_pad_length


def parse_verifier(pdu: bytes, auth_length: int, body_start: int = HEADER_SIZE) -> Verifier:
    """The trailer and token at the end of a PDU whose body starts at `body_start`.

    Raises:
        MalformedPacket: trailer, token and padding do not fit between there and the end.
    """
    offset = len(pdu) - auth_length - SEC_TRAILER_SIZE
    if offset < body_start:
        raise MalformedPacket(
            "CommonHeader.auth_length", 10, f"{auth_length} bytes and a trailer do not fit"
        )
    trailer, end = SecTrailer.parse(pdu, offset)
    if offset - trailer.auth_pad_length < body_start:
        raise MalformedPacket(
            "sec_trailer.auth_pad_length", offset + 2, "more padding than the body has bytes"
        )
    return Verifier(trailer, offset, pdu[end:])

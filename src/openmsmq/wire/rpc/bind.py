"""bind, alter_context, bind_ack, alter_context_resp, bind_nak (C706 12.6.4).

`parse` takes the body of a PDU, which starts after the common header.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import pad4, require
from openmsmq.wire.errors import MalformedPacket

from .header import HEADER_SIZE
from .syntax import SyntaxId

_SIZES: Final = Struct("<HHI")
_CONTEXT: Final = Struct("<HBx")
_RESULT: Final = Struct("<HH")
_COUNT: Final = Struct("<B3x")
_LENGTH: Final = Struct("<H")


@dataclass(frozen=True, slots=True)
class ContextElement:
    """p_cont_elem_t: an interface and the transfer syntaxes that the client proposes for it."""

    p_cont_id: int
    abstract_syntax: SyntaxId
    transfer_syntaxes: tuple[SyntaxId, ...]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, _CONTEXT.size, "p_cont_elem_t")
        context_id, count = _CONTEXT.unpack_from(buf, offset)
        abstract, position = SyntaxId.parse(buf, position)
        syntaxes, position = SyntaxId.parse_many(buf, position, count)
        return cls(context_id, abstract, syntaxes), position

    def serialize(self) -> bytes:
        head = _CONTEXT.pack(self.p_cont_id, len(self.transfer_syntaxes))
        syntaxes = (syntax.serialize() for syntax in self.transfer_syntaxes)
        return head + self.abstract_syntax.serialize() + b"".join(syntaxes)


@dataclass(frozen=True, slots=True)
class Bind:
    """The body of bind and of alter_context."""

    max_xmit_frag: int
    max_recv_frag: int
    assoc_group_id: int
    p_context_elem: tuple[ContextElement, ...]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, _SIZES.size + 1, "bind")
        xmit, recv, group = _SIZES.unpack_from(buf, offset)
        count = buf[offset + _SIZES.size]
        elements = []
        if count:
            # Without contexts the padding may be missing.
            position = require(buf, position - 1, _COUNT.size, "bind.n_context_elem")
        for _ in range(count):
            element, position = ContextElement.parse(buf, position)
            elements.append(element)
        return cls(xmit, recv, group, tuple(elements)), position

    def serialize(self) -> bytes:
        sizes = _SIZES.pack(self.max_xmit_frag, self.max_recv_frag, self.assoc_group_id)
        elements = (element.serialize() for element in self.p_context_elem)
        return sizes + _COUNT.pack(len(self.p_context_elem)) + b"".join(elements)


@dataclass(frozen=True, slots=True)
class ResultElement:
    """p_result_t: the answer to one proposed presentation context."""

    result: int
    reason: int
    transfer_syntax: SyntaxId

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, _RESULT.size, "p_result_t")
        result, reason = _RESULT.unpack_from(buf, offset)
        syntax, position = SyntaxId.parse(buf, position)
        return cls(result, reason, syntax), position

    def serialize(self) -> bytes:
        return _RESULT.pack(self.result, self.reason) + self.transfer_syntax.serialize()


@dataclass(frozen=True, slots=True)
class BindAck:
    """The body of bind_ack and of alter_context_resp.

    `sec_addr` is the text of the secondary address without its NUL; an empty one is written with
    length 0.
    """

    max_xmit_frag: int
    max_recv_frag: int
    assoc_group_id: int
    sec_addr: str
    p_result_list: tuple[ResultElement, ...]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, _SIZES.size + _LENGTH.size, "bind_ack")
        xmit, recv, group = _SIZES.unpack_from(buf, offset)
        (length,) = _LENGTH.unpack_from(buf, offset + _SIZES.size)
        end = require(buf, position, length, "bind_ack.sec_addr")
        address = bytes(buf[position:end]).rstrip(b"\0")
        if not address.isascii():
            raise MalformedPacket("bind_ack.sec_addr", position, "not ASCII text")
        # Padding aligns the results from the start of the PDU, and the header is 16 bytes long.
        position = offset + pad4(end - offset)
        end = require(buf, position, _COUNT.size, "bind_ack.p_result_list")
        (count,) = _COUNT.unpack_from(buf, position)
        results = []
        for _ in range(count):
            result, end = ResultElement.parse(buf, end)
            results.append(result)
        return cls(xmit, recv, group, address.decode("ascii"), tuple(results)), end

    def serialize(self) -> bytes:
        sizes = _SIZES.pack(self.max_xmit_frag, self.max_recv_frag, self.assoc_group_id)
        address = self.sec_addr.encode("ascii") + b"\0" if self.sec_addr else b""
        head = sizes + _LENGTH.pack(len(address)) + address
        head += bytes(-len(head) % 4)
        results = (result.serialize() for result in self.p_result_list)
        return head + _COUNT.pack(len(self.p_result_list)) + b"".join(results)


@dataclass(frozen=True, slots=True)
class BindNak:
    """The body of bind_nak, with the versions that the server speaks.

    What follows the versions (an extended error, [MS-RPCE] 2.2.2.9) is ignored.
    """

    provider_reject_reason: int
    versions: tuple[tuple[int, int], ...] = ((5, 0),)

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, _LENGTH.size, "bind_nak.provider_reject_reason")
        (reason,) = _LENGTH.unpack_from(buf, offset)
        if position == len(buf):
            # C706 12.6.4.5: versions are there only if the reason is about them.
            return cls(reason, ()), position
        count = buf[position]
        end = require(buf, position + 1, 2 * count, "bind_nak.versions")
        raw = bytes(buf[position + 1 : end])
        return cls(reason, tuple(zip(raw[::2], raw[1::2], strict=True))), end

    def serialize(self) -> bytes:
        versions = b"".join(bytes(version) for version in self.versions)
        body = _LENGTH.pack(self.provider_reject_reason) + bytes((len(self.versions),)) + versions
        return body + bytes(-(HEADER_SIZE + len(body)) % 4)

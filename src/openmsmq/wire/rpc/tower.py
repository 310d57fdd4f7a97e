"""Protocol towers: how the endpoint mapper writes an interface with its address.

C706 appendix L, [MS-RPCE] 2.2.1.2. A tower of RPC over TCP has five floors: interface, transfer
syntax, connection-oriented RPC, TCP port, IPv4 address.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .syntax import SyntaxId

_UUID_FLOOR: Final = 0x0D
_NCACN: Final = 0x0B
_TCP: Final = 0x07
_IP: Final = 0x09
_FLOORS: Final = 5
_OTHER_PROTOCOL: Final = "not RPC over TCP and IPv4"
_COUNT: Final = Struct("<H")
_PORT: Final = Struct(">H")
_NAMED: Final = Struct("<B16sH")

NO_ADDRESS: Final = IPv4Address(0)

Floor = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class TcpTower:
    """A tower of RPC over TCP; port and address are 0 in a question."""

    interface: SyntaxId
    transfer_syntax: SyntaxId
    port: int = 0
    address: IPv4Address = NO_ADDRESS

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read a tower.

        Raises:
            MalformedPacket: it does not fit, or is of another protocol.
        """
        floors, end = _parse_floors(buf, offset)
        if [left for left, _ in floors[2:]] != [
            bytes((protocol,)) for protocol in (_NCACN, _TCP, _IP)
        ]:
            raise MalformedPacket("tower", offset, _OTHER_PROTOCOL)
        interface, transfer = (_named(left, right, offset) for left, right in floors[:2])
        port, address = floors[3][1], floors[4][1]
        if len(port) != _PORT.size or len(address) != 4:
            raise MalformedPacket("tower", offset, "no TCP port or no IPv4 address")
        return cls(interface, transfer, _PORT.unpack(port)[0], IPv4Address(address)), end

    def serialize(self) -> bytes:
        floors: tuple[Floor, ...] = (
            _name(self.interface),
            _name(self.transfer_syntax),
            (bytes((_NCACN,)), bytes(2)),
            (bytes((_TCP,)), _PORT.pack(self.port)),
            (bytes((_IP,)), self.address.packed),
        )
        parts = [_COUNT.pack(len(floors))]
        for left, right in floors:
            parts += [_COUNT.pack(len(left)), left, _COUNT.pack(len(right)), right]
        return b"".join(parts)


def _parse_floors(buf: bytes | memoryview, offset: int) -> tuple[list[Floor], int]:
    position = require(buf, offset, _COUNT.size, "tower.floors")
    if _COUNT.unpack_from(buf, offset)[0] != _FLOORS:
        raise MalformedPacket("tower.floors", offset, _OTHER_PROTOCOL)
    floors = []
    for _ in range(_FLOORS):
        left, position = _side(buf, position)
        right, position = _side(buf, position)
        floors.append((left, right))
    return floors, position


def _side(buf: bytes | memoryview, offset: int) -> tuple[bytes, int]:
    start = require(buf, offset, _COUNT.size, "tower.floor")
    end = require(buf, start, _COUNT.unpack_from(buf, offset)[0], "tower.floor")
    return bytes(buf[start:end]), end


def _named(left: bytes, right: bytes, offset: int) -> SyntaxId:
    if len(left) != _NAMED.size or len(right) != _COUNT.size or left[0] != _UUID_FLOOR:
        raise MalformedPacket("tower.floor", offset, "not a UUID with its version")
    _, uuid, major = _NAMED.unpack(left)
    return SyntaxId(uuid, major | _COUNT.unpack(right)[0] << 16)


def _name(syntax: SyntaxId) -> Floor:
    left = _NAMED.pack(_UUID_FLOOR, syntax.uuid_octets, syntax.major)
    return left, _COUNT.pack(syntax.minor)

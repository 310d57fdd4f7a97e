"""The packets of sources and receivers (RFC 3208, section 8)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self, TypeAlias

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .checksum import has_valid_checksum
from .header import (
    CHECKSUM_OFFSET,
    OPTIONS_NETWORK_SIGNIFICANT,
    OPTIONS_PARITY,
    OPTIONS_PRESENT,
    Header,
    Nla,
    PacketType,
    TransportSessionId,
    finish,
    parse_nla,
    serialize_nla,
)
from .options import NO_OPTIONS, Options

TSDU_LENGTH_OFFSET: Final = 14
_SPM: Final = Struct(">III")
_DATA: Final = Struct(">II")
_NAK: Final = Struct(">I")
_DATA_TYPES: Final = (PacketType.ODATA, PacketType.RDATA)
_NAK_TYPES: Final = (PacketType.NAK, PacketType.NNAK, PacketType.NCF)
# RFC 3208, 8.1: these values say that the SPM has no window.
_NO_WINDOW: Final = (0, 0x80000000)


@dataclass(frozen=True, slots=True)
class SourcePathMessage:
    """SPM: the window of a source, and the address to which NAKs go."""

    tsi: TransportSessionId
    destination_port: int
    sequence_number: int
    trailing_edge: int
    leading_edge: int
    path_nla: Nla
    options: Options = NO_OPTIONS

    @property
    def has_window(self) -> bool:
        return (self.trailing_edge, self.leading_edge) != _NO_WINDOW

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        header, start = Header.parse(buf, offset)
        position = require(buf, start, _SPM.size, "SourcePathMessage")
        sequence_number, trailing_edge, leading_edge = _SPM.unpack_from(buf, start)
        path_nla, position = parse_nla(buf, position, "SourcePathMessage.PathNLA")
        options, position = _options(header, buf, position)
        return cls(
            TransportSessionId(header.global_source_id, header.source_port),
            header.destination_port,
            sequence_number,
            trailing_edge,
            leading_edge,
            path_nla,
            options,
        ), position

    def serialize(self) -> bytes:
        ports = (self.tsi.source_port, self.destination_port)
        return finish(
            _header(ports, PacketType.SPM, self.tsi.global_source_id, self.options),
            _SPM.pack(self.sequence_number, self.trailing_edge, self.leading_edge),
            serialize_nla(self.path_nla),
            self.options.serialize(),
        )


@dataclass(frozen=True, slots=True)
class DataPacket:
    """ODATA, or RDATA if it is a repair: data of an application."""

    tsi: TransportSessionId
    destination_port: int
    is_repair: bool
    sequence_number: int
    trailing_edge: int
    data: bytes
    options: Options = NO_OPTIONS

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        header, start = Header.parse(buf, offset)
        position = require(buf, start, _DATA.size, "DataPacket")
        sequence_number, trailing_edge = _DATA.unpack_from(buf, start)
        options, position = _options(header, buf, position)
        end = require(buf, position, header.tsdu_length, "DataPacket.Data")
        return cls(
            TransportSessionId(header.global_source_id, header.source_port),
            header.destination_port,
            header.type == PacketType.RDATA,
            sequence_number,
            trailing_edge,
            bytes(buf[position:end]),
            options,
        ), end

    def serialize(self) -> bytes:
        kind = PacketType.RDATA if self.is_repair else PacketType.ODATA
        ports = (self.tsi.source_port, self.destination_port)
        return finish(
            _header(ports, kind, self.tsi.global_source_id, self.options, len(self.data)),
            _DATA.pack(self.sequence_number, self.trailing_edge),
            self.options.serialize(),
            self.data,
        )


@dataclass(frozen=True, slots=True)
class NakPacket:
    """NAK, NNAK or NCF: a request for data, or the confirmation of one.

    `destination_port` is that of the data, in all three.
    """

    type: PacketType
    tsi: TransportSessionId
    destination_port: int
    requested_sequence_number: int
    source_nla: Nla
    group_nla: Nla
    options: Options = NO_OPTIONS

    @property
    def sequence_numbers(self) -> tuple[int, ...]:
        """The requested number and those of OPT_NAK_LIST."""
        return (self.requested_sequence_number, *self.options.nak_list)

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        header, start = Header.parse(buf, offset)
        if header.type not in _NAK_TYPES:
            raise MalformedPacket("Header.Type", offset + 4, "is not that of a NAK or NCF")
        position = require(buf, start, _NAK.size, "NakPacket")
        (requested,) = _NAK.unpack_from(buf, start)
        source_nla, position = parse_nla(buf, position, "NakPacket.SourceNLA")
        group_nla, position = parse_nla(buf, position, "NakPacket.GroupNLA")
        options, position = _options(header, buf, position)
        ports = (header.source_port, header.destination_port)
        # NAKs travel upstream: their ports are swapped.
        if header.type != PacketType.NCF:
            ports = (ports[1], ports[0])
        return cls(
            PacketType(header.type),
            TransportSessionId(header.global_source_id, ports[0]),
            ports[1],
            requested,
            source_nla,
            group_nla,
            options,
        ), position

    def serialize(self) -> bytes:
        ports = (self.tsi.source_port, self.destination_port)
        if self.type != PacketType.NCF:
            ports = (ports[1], ports[0])
        return finish(
            _header(ports, self.type, self.tsi.global_source_id, self.options),
            _NAK.pack(self.requested_sequence_number),
            serialize_nla(self.source_nla),
            serialize_nla(self.group_nla),
            self.options.serialize(),
        )


@dataclass(frozen=True, slots=True)
class OtherPacket:
    """A packet that sources and receivers ignore, such as a poll or a parity packet."""

    header: Header


Packet: TypeAlias = SourcePathMessage | DataPacket | NakPacket | OtherPacket


def parse_packet(data: bytes | memoryview) -> Packet:
    """The packet that a whole datagram is.

    Raises:
        MalformedPacket: it is no PGM packet, or its checksum or a length is wrong.
    """
    header, _ = Header.parse(data)
    # Zero says that there is no checksum, which data must have.
    is_data = header.type in _DATA_TYPES
    if not (has_valid_checksum(data) if header.checksum else not is_data):
        raise MalformedPacket("Header.Checksum", CHECKSUM_OFFSET, "is wrong or missing")
    if header.options & OPTIONS_PARITY:
        return OtherPacket(header)
    if is_data:
        packet, end = DataPacket.parse(data)
        if end != len(data):
            raise MalformedPacket(
                "Header.TSDULength", TSDU_LENGTH_OFFSET, f"{len(data) - end} bytes follow the data"
            )
        return packet
    if header.type == PacketType.SPM:
        return SourcePathMessage.parse(data)[0]
    if header.type in _NAK_TYPES:
        return NakPacket.parse(data)[0]
    return OtherPacket(header)


def _options(header: Header, buf: bytes | memoryview, offset: int) -> tuple[Options, int]:
    if header.options & OPTIONS_PRESENT:
        return Options.parse(buf, offset)
    return NO_OPTIONS, offset


def _header(
    ports: tuple[int, int],
    kind: PacketType,
    global_source_id: bytes,
    options: Options,
    tsdu_length: int = 0,
) -> Header:
    flags = 0
    if options != NO_OPTIONS:
        flags = OPTIONS_PRESENT | (OPTIONS_NETWORK_SIGNIFICANT if options.nak_list else 0)
    return Header(ports[0], ports[1], kind, flags, 0, global_source_id, tsdu_length)

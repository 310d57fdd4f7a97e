"""Captures of MSMQ traffic: pcap and pcapng files in, streams and datagrams out."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .files import Frame, Readable, is_capture, read_frames
from .flow import Flow
from .layers import ETHERNET, PGM, RAW_IP, TCP, UDP, Layers, Transport
from .streams import Reassembly, StreamData, StreamEnd, StreamEvent, StreamGap, parse_segment

__all__ = [
    "BINARY_PORT",
    "PGM_PORTS",
    "PING_PORT",
    "CaptureEvent",
    "CaptureNotice",
    "Datagram",
    "Flow",
    "Frame",
    "LoneFrame",
    "PgmDatagram",
    "Readable",
    "StreamData",
    "StreamEnd",
    "StreamGap",
    "frame_events",
    "is_capture",
    "lone_frame",
    "read_capture",
]

# [MS-MQQB] 1.9: the ports of the binary protocol and of its ping.
BINARY_PORT: Final = 1801
PING_PORT: Final = 3527
# PGM in UDP: the ports of machines and of groups.
PGM_PORTS: Final = (3055, 3056)

_UDP_HEADER: Final = 8


@dataclass(frozen=True, slots=True)
class Datagram:
    """The payload of a UDP datagram; `missing` bytes of it were not captured."""

    flow: Flow
    frame: int
    time: int | None
    data: bytes
    missing: int


@dataclass(frozen=True, slots=True)
class PgmDatagram:
    """A PGM packet, over IP or over UDP; its ports are 0 over IP."""

    flow: Flow
    frame: int
    time: int | None
    data: bytes
    missing: int


@dataclass(frozen=True, slots=True)
class CaptureNotice:
    """Something in the capture that could not be used, and why."""

    frame: int
    time: int | None
    fault: MalformedPacket


CaptureEvent = Datagram | PgmDatagram | CaptureNotice | StreamEvent


def read_capture(
    file: Readable,
    *,
    ports: Collection[int] = (BINARY_PORT,),
    ping_ports: Collection[int] = (PING_PORT,),
    pgm_ports: Collection[int] = PGM_PORTS,
) -> Iterator[CaptureEvent]:
    """The MSMQ traffic of a capture file, both directions, in the order in which it is complete.

    Args:
        file: an open pcap or pcapng file; it is read once, from its present position.
        ports: TCP ports of queue managers.
        ping_ports: UDP ports of queue managers.
        pgm_ports: UDP ports of PGM; none leaves out PGM over IP, too.

    Raises:
        MalformedPacket: the file itself is damaged or cut off; everything before that was yielded.
    """
    return frame_events(read_frames(file), ports=ports, ping_ports=ping_ports, pgm_ports=pgm_ports)


def frame_events(
    frames: Iterable[Frame],
    *,
    ports: Collection[int] = (BINARY_PORT,),
    ping_ports: Collection[int] = (PING_PORT,),
    pgm_ports: Collection[int] = PGM_PORTS,
) -> Iterator[CaptureEvent]:
    """As `read_capture`, for frames that come from elsewhere."""
    selection = _Selection(ports, ping_ports, pgm_ports)
    last: Frame | None = None
    fault: MalformedPacket | None = None
    try:
        for frame in frames:
            last = frame
            yield from selection.events(frame)
    except MalformedPacket as exc:
        fault = exc
    if last is not None:
        yield from selection.finish(last)
    if fault is not None:
        raise fault


class LoneFrame(NamedTuple):
    """What a frame that comes without a capture shows of itself; `missing` bytes are not there."""

    link_type: int
    missing: int


def lone_frame(data: bytes) -> LoneFrame | None:
    """A frame that comes without its link type, if it is Ethernet or IP with TCP or UDP."""
    for link_type in (ETHERNET, RAW_IP):
        try:
            transport = Layers().transport(Frame(1, None, link_type, data, 0, 0))
        except MalformedPacket:
            continue
        if transport is not None and transport.protocol in (TCP, UDP, PGM):
            return LoneFrame(link_type, transport.missing)
    return None


class _Selection:
    """The part of the traffic that belongs to the given ports."""

    __slots__ = ("_layers", "_pgm_ports", "_ping_ports", "_ports", "_streams", "_unknown_links")

    def __init__(
        self, ports: Collection[int], ping_ports: Collection[int], pgm_ports: Collection[int]
    ) -> None:
        self._ports = frozenset(ports)
        self._ping_ports = frozenset(ping_ports)
        self._pgm_ports = frozenset(pgm_ports)
        self._layers = Layers()
        self._streams = Reassembly()
        self._unknown_links: set[int] = set()

    def events(self, frame: Frame) -> list[CaptureEvent]:
        try:
            transport = self._layers.transport(frame)
            if transport is None:
                return []
            if transport.protocol == TCP:
                return [*self._tcp(frame, transport)]
            if transport.protocol == UDP:
                return [*self._udp(frame, transport)]
            if transport.protocol == PGM and self._pgm_ports:
                flow = Flow(transport.source, 0, transport.destination, 0)
                data, missing = bytes(transport.data), transport.missing
                return [PgmDatagram(flow, frame.number, frame.time, data, missing)]
        except MalformedPacket as exc:
            if exc.field == "Frame.LinkType":
                if frame.link_type in self._unknown_links:
                    return []
                self._unknown_links.add(frame.link_type)
            return [CaptureNotice(frame.number, frame.time, exc)]
        return []

    def finish(self, last: Frame) -> list[CaptureEvent]:
        events: list[CaptureEvent] = [*self._streams.finish(last)]
        if self._layers.incomplete_datagrams:
            fault = MalformedPacket(
                "IP.Fragments",
                0,
                f"{self._layers.incomplete_datagrams} datagrams lack fragments at the end",
            )
            events.append(CaptureNotice(last.number, last.time, fault))
        return events

    def _tcp(self, frame: Frame, transport: Transport) -> list[StreamEvent]:
        source_port, destination_port, segment = parse_segment(transport)
        if source_port not in self._ports and destination_port not in self._ports:
            return []
        flow = Flow(transport.source, source_port, transport.destination, destination_port)
        return self._streams.add(frame, flow, segment)

    def _udp(self, frame: Frame, transport: Transport) -> list[Datagram | PgmDatagram]:
        buf = transport.data
        require(buf, 0, _UDP_HEADER, "UDP")
        source_port = int.from_bytes(buf[0:2], "big")
        destination_port = int.from_bytes(buf[2:4], "big")
        ports = {source_port, destination_port}
        if not ports & (self._ping_ports | self._pgm_ports):
            return []
        flow = Flow(transport.source, source_port, transport.destination, destination_port)
        size = int.from_bytes(buf[4:6], "big")
        if size < _UDP_HEADER:
            raise MalformedPacket("UDP.Length", 4, f"{size} is less than the header")
        data = bytes(buf[_UDP_HEADER:size])
        missing = max(size - len(buf), 0)
        kind = Datagram if ports & self._ping_ports else PgmDatagram
        return [kind(flow, frame.number, frame.time, data, missing)]

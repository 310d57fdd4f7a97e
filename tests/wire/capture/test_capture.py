"""Captures: the traffic of MSMQ's ports."""

import io
import struct

import pytest
from tests.wire.capture import writer
from tests.wire.capture.writer import ACK, FIN, SERVER, SYN, ethernet, ipv4, pcap, tcp, udp

from openmsmq.wire.capture import (
    CaptureEvent,
    CaptureNotice,
    Datagram,
    Frame,
    PgmDatagram,
    StreamData,
    StreamEnd,
    StreamGap,
    frame_events,
    lone_frame,
    read_capture,
)
from openmsmq.wire.errors import MalformedPacket


def events_of(data: bytes, **options: tuple[int, ...]) -> list[CaptureEvent]:
    return list(read_capture(io.BytesIO(data), **options))


def to_server(data: bytes = b"", sequence: int = 1, flags: int = ACK) -> bytes:
    return ethernet(ipv4(tcp(data, sequence=sequence, flags=flags)))


def test_a_conversation_with_a_ping_before_it() -> None:
    back = ipv4(
        tcp(b"answer", source_port=1801, destination_port=50000),
        source=SERVER,
        destination=writer.CLIENT,
    )
    data = pcap(
        ethernet(ipv4(udp(b"ping"), protocol=17)),
        to_server(sequence=0, flags=SYN),
        to_server(b"question"),
        ethernet(back),
        to_server(sequence=9, flags=FIN | ACK),
    )
    ping, question, head, answer, closed, end = events_of(data)
    assert isinstance(ping, Datagram)
    assert (ping.data, ping.frame, str(ping.flow)) == (
        b"ping",
        1,
        "192.0.2.1:50001 -> 192.0.2.2:3527",
    )
    assert isinstance(question, StreamData)
    assert (question.data, question.flow.destination_port) == (b"question", 1801)
    assert isinstance(head, StreamGap)
    assert isinstance(answer, StreamData)
    assert (answer.data, answer.flow) == (b"answer", question.flow.reversed())
    assert isinstance(closed, StreamEnd)
    assert (closed.flow, closed.reason) == (question.flow, "closed")
    assert isinstance(end, StreamEnd)
    assert (end.flow, end.reason) == (answer.flow, "the capture ends")


def test_other_ports_and_protocols_are_left_out() -> None:
    data = pcap(
        ethernet(ipv4(tcp(b"web", destination_port=80))),
        ethernet(ipv4(udp(b"dns", destination_port=53), protocol=17)),
        ethernet(ipv4(b"icmp", protocol=1)),
        ethernet(b"arp", kind=0x0806),
    )
    assert events_of(data) == []


def test_the_ports_can_be_chosen() -> None:
    data = pcap(
        to_server(b"standard"),
        ethernet(ipv4(tcp(b"chosen", destination_port=11801))),
        ethernet(ipv4(udp(b"a ping", source_port=13527), protocol=17)),
    )
    events = events_of(data, ports=(11801,), ping_ports=(13527,))
    assert [event.data for event in events if isinstance(event, StreamData | Datagram)] == [
        b"chosen",
        b"a ping",
    ]


def test_a_datagram_ends_where_its_length_says() -> None:
    raw = udp(b"ping") + b"padding"
    cut = struct.pack(">HHHH", 1, 3527, 8 + 24, 0) + b"half"
    events = events_of(pcap(ethernet(ipv4(raw, protocol=17)), ethernet(ipv4(cut, protocol=17))))
    assert [(event.data, event.missing) for event in events if isinstance(event, Datagram)] == [
        (b"ping", 0),
        (b"half", 20),
    ]


def test_frames_that_cannot_be_read_are_reported_and_the_rest_goes_on() -> None:
    short = struct.pack(">HHHH", 1, 3527, 7, 0)
    data = pcap(
        ethernet(ipv4(b"tiny")),
        ethernet(ipv4(b"tiny", protocol=17)),
        ethernet(ipv4(short, protocol=17)),
        to_server(b"good"),
    )
    events = events_of(data)
    assert [event.fault.field for event in events if isinstance(event, CaptureNotice)] == [
        "TCP",
        "UDP",
        "UDP.Length",
    ]
    assert [event.data for event in events if isinstance(event, StreamData)] == [b"good"]


def test_an_unknown_link_type_is_reported_once() -> None:
    notice = events_of(pcap(b"radio", b"radio", link_type=105))
    assert len(notice) == 1
    assert isinstance(notice[0], CaptureNotice)
    assert notice[0].fault.reason == "105 is not a link type known here"


def test_fragments_without_their_rest_are_reported_at_the_end() -> None:
    events = events_of(pcap(ethernet(ipv4(bytes(16), fragment=0x2000))))
    assert [str(event.fault) for event in events if isinstance(event, CaptureNotice)] == [
        "IP.Fragments at offset 0: 1 datagrams lack fragments at the end"
    ]


def test_a_cut_file_gives_everything_before_the_cut() -> None:
    data = pcap(to_server(b"first"), to_server(b"last", sequence=10), to_server(b"x"))
    reader = read_capture(io.BytesIO(data[:-3]))
    seen: list[CaptureEvent] = []
    with pytest.raises(MalformedPacket, match="the file is cut off"):
        seen.extend(iter(reader))
    assert [type(event) for event in seen] == [
        StreamGap,
        StreamData,
        StreamGap,
        StreamData,
        StreamEnd,
    ]


def test_an_empty_capture_has_no_events() -> None:
    assert events_of(pcap()) == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (to_server(b"data"), (1, 0)),
        (to_server(b"data")[:-3], (1, 3)),
        (ipv4(udp(b"ping"), protocol=17), (101, 0)),
        (writer.ipv6(tcp(b"data")), (101, 0)),
        (ethernet(b"arp", kind=0x0806), None),
        (ipv4(b"icmp", protocol=1), None),
        (b"\x10\xc0\x0b\x00LIOR" + bytes(20), None),
    ],
)
def test_a_frame_without_a_file_shows_its_link_type_and_size(
    data: bytes, expected: tuple[int, int] | None
) -> None:
    assert lone_frame(data) == expected


def test_frames_may_come_from_elsewhere() -> None:
    events = list(frame_events([Frame(1, None, 1, to_server(b"data"), 0, 0)]))
    assert [event.data for event in events if isinstance(event, StreamData)] == [b"data"]


def test_pgm_is_read_over_ip_and_over_udp() -> None:
    frames = [
        writer.ethernet(writer.ipv4(b"over IP", protocol=113)),
        writer.ethernet(writer.ipv4(writer.udp(b"over UDP", destination_port=3056), protocol=17)),
    ]
    data = writer.pcap(*frames)
    events = list(read_capture(io.BytesIO(data)))
    assert [(type(each), each.data) for each in events if isinstance(each, PgmDatagram)] == [
        (PgmDatagram, b"over IP"),
        (PgmDatagram, b"over UDP"),
    ]
    assert list(read_capture(io.BytesIO(data), pgm_ports=())) == []
    alone = lone_frame(frames[0])
    assert alone is not None
    assert alone.link_type == 1

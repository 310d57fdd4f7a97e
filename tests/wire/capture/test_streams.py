"""TCP reassembly."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.capture import writer
from tests.wire.capture.writer import ACK, FIN, RST, SYN

from openmsmq.wire.capture.files import Frame
from openmsmq.wire.capture.flow import Flow
from openmsmq.wire.capture.layers import Transport
from openmsmq.wire.capture.streams import (
    Reassembly,
    StreamData,
    StreamEnd,
    StreamEvent,
    StreamGap,
    parse_segment,
)
from openmsmq.wire.errors import MalformedPacket

A, B = b"\xc0\x00\x02\x01", b"\xc0\x00\x02\x02"
FLOW = Flow(A, 50000, B, 1801)
TEXT = bytes(range(256)) * 4


def transport(segment: bytes, missing: int = 0) -> Transport:
    return Transport(6, A, B, memoryview(segment), missing)


class Wire:
    """Feeds segments to a `Reassembly`, one frame each."""

    def __init__(self, reassembly: Reassembly | None = None) -> None:
        self.reassembly = reassembly or Reassembly()
        self.number = 0

    def frame(self) -> Frame:
        self.number += 1
        return Frame(self.number, self.number * 10, 1, b"", 0, 0)

    def send(
        self,
        data: bytes = b"",
        sequence: int = 1,
        flags: int = ACK,
        *,
        flow: Flow = FLOW,
        missing: int = 0,
        acknowledgment: int = 0,
    ) -> list[StreamEvent]:
        raw = writer.tcp(
            data,
            sequence=sequence,
            flags=flags,
            acknowledgment=acknowledgment,
            source_port=flow.source_port,
            destination_port=flow.destination_port,
        )
        return self.reassembly.add(self.frame(), flow, parse_segment(transport(raw, missing))[2])

    def finish(self) -> list[StreamEvent]:
        return self.reassembly.finish(self.frame())


def text(events: list[StreamEvent]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, StreamData))


def gaps(events: list[StreamEvent]) -> list[tuple[int, int]]:
    """Place and size of the gaps inside streams."""
    return [
        (event.position, event.size)
        for event in events
        if isinstance(event, StreamGap) and event.size is not None
    ]


def reasons(events: list[StreamEvent]) -> list[str]:
    return [event.reason for event in events if isinstance(event, StreamEnd)]


def test_ports_numbers_and_flags_of_a_segment() -> None:
    raw = writer.tcp(b"data", sequence=7, acknowledgment=9, flags=ACK | FIN, options=bytes(8))
    source_port, destination_port, segment = parse_segment(transport(raw, 3))
    assert (source_port, destination_port) == (50000, 1801)
    assert (segment.sequence, segment.acknowledgment) == (7, 9)
    assert (segment.syn, segment.fin, segment.rst) == (False, True, False)
    assert (segment.data, segment.missing) == (b"data", 3)


def test_without_the_flag_the_acknowledgment_number_means_nothing() -> None:
    raw = writer.tcp(b"", sequence=7, acknowledgment=9, flags=RST)
    assert parse_segment(transport(raw))[2].acknowledgment is None


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (writer.tcp()[:19], "TCP"),
        (writer.tcp()[:12] + b"\x40" + writer.tcp()[13:], "TCP.DataOffset"),
        (writer.tcp()[:12] + b"\x60" + writer.tcp()[13:], "TCP.Options"),
    ],
)
def test_headers_that_do_not_fit_are_named(raw: bytes, field: str) -> None:
    with pytest.raises(MalformedPacket) as caught:
        parse_segment(transport(raw))
    assert caught.value.field == field


def test_a_connection_from_syn_to_fin() -> None:
    wire = Wire()
    assert wire.send(sequence=99, flags=SYN) == []
    assert wire.send(b"one", 100) == [StreamData(FLOW, 2, 20, 0, b"one")]
    assert wire.send(b"two", 103) == [StreamData(FLOW, 3, 30, 3, b"two")]
    assert wire.send(b"", 106, ACK | FIN) == [StreamEnd(FLOW, 4, 40, 6, "closed")]
    assert wire.finish() == []


def test_a_reset_ends_the_stream_and_gives_what_waited() -> None:
    wire = Wire()
    wire.send(sequence=0, flags=SYN)
    wire.send(b"late", 5)
    assert wire.send(b"", 1, RST) == [
        StreamGap(FLOW, 3, 30, 0, 4),
        StreamData(FLOW, 2, 20, 4, b"late"),
        StreamEnd(FLOW, 3, 30, 8, "reset"),
    ]


def test_data_may_come_with_the_syn() -> None:
    assert text(Wire().send(b"fast", 10, SYN)) == b"fast"


def test_without_a_syn_the_stream_begins_with_the_first_segment() -> None:
    wire = Wire()
    assert wire.send(b"middle", 5000) == [
        StreamGap(FLOW, 1, 10, 0, None),
        StreamData(FLOW, 1, 10, 0, b"middle"),
    ]
    assert wire.send(b" part", 5006) == [StreamData(FLOW, 2, 20, 6, b" part")]
    assert wire.send(b"before", 4994) == []


def test_segments_that_come_twice_or_overlap_count_once() -> None:
    wire = Wire()
    wire.send(sequence=0, flags=SYN)
    events = wire.send(b"abc", 1)
    events += wire.send(b"abc", 1)
    events += wire.send(b"bcde", 2)
    events += wire.send(b"", 5)
    events += wire.send(b"d", 4)
    assert [event.position for event in events] == [0, 3]
    assert text(events) == b"abcde"


def test_a_repeated_syn_changes_nothing() -> None:
    wire = Wire()
    wire.send(sequence=7, flags=SYN)
    assert wire.send(sequence=7, flags=SYN) == []
    assert text(wire.send(b"x", 8)) == b"x"
    assert wire.send(sequence=7, flags=SYN) == []


@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 2**32), st.integers(1, 200))
def test_any_order_and_any_overlap_give_the_same_bytes(origin: int, seed: int, step: int) -> None:
    """The sequence numbers pass 2**32 for many of the origins."""
    rng = random.Random(seed)
    origin |= 0xFFFFFE00 if seed & 1 else 0
    cuts = [(at, min(at + step + rng.randrange(50), len(TEXT))) for at in range(0, len(TEXT), step)]
    cuts += rng.choices(cuts, k=5)
    rng.shuffle(cuts)
    wire = Wire()
    wire.send(sequence=origin, flags=SYN)
    events = [event for at, end in cuts for event in wire.send(TEXT[at:end], origin + 1 + at)]
    assert text(events) == TEXT
    assert gaps(events + wire.finish()) == []


def test_both_directions_are_streams_of_their_own() -> None:
    wire = Wire()
    back = FLOW.reversed()
    assert back == Flow(B, 1801, A, 50000)
    assert text(wire.send(b"there", 100)) == b"there"
    assert text(wire.send(b"back", 100, flow=back)) == b"back"


def test_what_never_came_is_a_gap_at_the_end() -> None:
    wire = Wire()
    wire.send(sequence=0, flags=SYN)
    assert wire.send(b"world", 7) == []
    assert wire.finish() == [
        StreamGap(FLOW, 3, 30, 0, 6),
        StreamData(FLOW, 2, 20, 6, b"world"),
        StreamEnd(FLOW, 3, 30, 11, "the capture ends"),
    ]


def test_a_fin_ahead_of_the_data_waits_for_it() -> None:
    wire = Wire()
    wire.send(sequence=0, flags=SYN)
    assert wire.send(b"cd", 3, ACK | FIN) == []
    assert wire.send(b"", 5, ACK | FIN) == []
    events = wire.send(b"ab", 1)
    assert (text(events), reasons(events)) == (b"abcd", ["closed"])


def test_data_missing_before_a_fin_is_a_gap() -> None:
    wire = Wire()
    wire.send(sequence=0, flags=SYN)
    wire.send(b"", 11, ACK | FIN)
    assert gaps(wire.finish()) == [(0, 10)]


def test_after_the_end_late_segments_are_ignored() -> None:
    wire = Wire()
    wire.send(b"abc", 1, ACK | FIN)
    assert wire.send(b"abc", 1) == []
    assert wire.send(b"more", 4) == []


def test_a_new_syn_begins_another_connection() -> None:
    wire = Wire()
    wire.send(b"old", 1)
    wire.send(b"early", 10)
    events = wire.send(sequence=70000, flags=SYN)
    assert reasons(events) == ["another connection takes its place"]
    assert gaps(events) == [(3, 6)]
    assert wire.send(b"new", 70001) == [StreamData(FLOW, 4, 40, 0, b"new")]
    wire.send(b"", 70004, FIN)
    assert wire.send(sequence=1, flags=SYN) == []


def test_a_number_outside_any_window_begins_another_connection() -> None:
    wire = Wire()
    wire.send(b"old", 1)
    events = wire.send(b"new", 1 + (3 << 29))
    assert (reasons(events), text(events)) == (["another connection takes its place"], b"new")


def test_an_acknowledged_gap_is_given_up_after_a_while() -> None:
    wire = Wire()
    wire.send(b"a", 1)
    wire.send(b"c", 3)
    back = FLOW.reversed()
    assert wire.send(flow=back, acknowledgment=4) == []
    for _ in range(99):
        assert wire.send(flow=back, acknowledgment=1) == []
    events = wire.send(flow=back, acknowledgment=1)
    assert (gaps(events), text(events)) == ([(1, 1)], b"c")


def test_a_gap_that_nobody_acknowledged_is_waited_for() -> None:
    wire = Wire()
    wire.send(b"a", 1)
    wire.send(b"c", 3)
    for _ in range(300):
        assert wire.send(flow=FLOW.reversed(), acknowledgment=2) == []
    assert text(wire.send(b"b", 2)) == b"bc"


def test_an_acknowledgment_for_a_stream_that_ended_does_nothing() -> None:
    wire = Wire()
    wire.send(b"a", 1, FIN)
    assert wire.send(flow=FLOW.reversed(), acknowledgment=2) == []


def test_bytes_that_were_not_captured_are_a_gap_at_once() -> None:
    wire = Wire()
    assert gaps(wire.send(b"abc", 1, missing=7)) == [(3, 7)]
    assert gaps(wire.send(b"abc", 1, missing=7)) == []
    assert text(wire.send(b"next", 11)) == b"next"
    assert reasons(wire.send(b"z", 15, FIN, missing=1)) == ["closed"]


def test_memory_for_early_segments_is_bounded() -> None:
    wire = Wire(Reassembly(max_early_bytes=1000))
    wire.send(b"start", 1)
    events: list[StreamEvent] = []
    for number in range(4):
        events += wire.send(bytes(200), 1000 + 400 * number)
    assert gaps(events) == [(5, 994)]
    assert len(text(events)) == 200


def test_early_segments_of_one_stream_count_against_another() -> None:
    wire = Wire(Reassembly(max_early_bytes=1000))
    other = Flow(A, 50001, B, 1801)
    wire.send(b"x", 1)
    wire.send(b"x", 1, flow=other)
    assert wire.send(bytes(800), 10) == []
    assert gaps(wire.send(bytes(100), 10, flow=other)) == [(1, 8)]


def test_the_number_of_streams_is_bounded() -> None:
    wire = Wire(Reassembly(max_streams=2))
    flows = [Flow(A, 50000 + number, B, 1801) for number in range(4)]
    wire.send(b"x", 1, flow=flows[0])
    wire.send(b"x", 1, FIN, flow=flows[1])
    wire.send(b"x", 2, flow=flows[0])
    assert reasons(wire.send(b"x", 1, flow=flows[2])) == []
    events = wire.send(b"x", 1, flow=flows[3])
    assert reasons(events) == ["too many connections to follow"]
    assert events[0].flow == flows[0]
    assert {event.flow for event in wire.finish()} == {flows[2], flows[3]}


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        (FLOW, "192.0.2.1:50000 -> 192.0.2.2:1801"),
        (
            Flow(b"\x20\x01\x0d\xb8" + bytes(11) + b"\x01", 1, bytes(15) + b"\x01", 1801),
            "[2001:db8::1]:1 -> [::1]:1801",
        ),
    ],
)
def test_flows_read_as_addresses_and_ports(flow: Flow, expected: str) -> None:
    assert str(flow) == expected

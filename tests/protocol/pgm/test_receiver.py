"""A receiver alone: what it delivers, what it asks for, and what it refuses."""

from dataclasses import replace
from ipaddress import IPv4Address
from itertools import pairwise

import pytest
from tests.protocol.pgm.network import (
    GROUP,
    PORT,
    SOURCE_NLA,
    TSI,
    events_of,
    nak,
    new_receiver,
    packets_of,
)

from openmsmq.protocol.pgm import (
    ApduReceived,
    DataLost,
    Receiver,
    ReceiverEvent,
    ReceiverSettings,
    SourceEnded,
)
from openmsmq.protocol.pgm.repair import STEPS, RepairInput, RepairState
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    NakPacket,
    Options,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
)

OTHER = IPv4Address("10.9.9.9")


def data(
    number: int,
    content: bytes = b"",
    *,
    trail: int = 100,
    repair: bool = False,
    options: Options | None = None,
) -> DataPacket:
    return DataPacket(
        TSI, PORT, repair, number, trail, content or b"%d" % number, options or Options()
    )


def spm(
    sequence_number: int, lead: int, *, trail: int = 100, options: Options | None = None
) -> SourcePathMessage:
    return SourcePathMessage(
        TSI, PORT, sequence_number, trail, lead, SOURCE_NLA, options or Options()
    )


def fragment(number: int, first: int, offset: int, length: int, content: bytes) -> DataPacket:
    return data(number, content, options=Options(Fragment(first, offset, length)))


class Case:
    """A receiver that has heard the first SPM of a source."""

    def __init__(self, settings: ReceiverSettings | None = None, *, joined: bool = True) -> None:
        self.receiver = new_receiver(settings)
        if joined:
            self.hear(spm(0, 99))

    def hear(
        self,
        *packets: SourcePathMessage | DataPacket | NakPacket,
        now: float = 0.0,
        source: IPv4Address = SOURCE_NLA,
    ) -> list[ReceiverEvent]:
        for packet in packets:
            self.receiver.receive_datagram(packet.serialize(), source=source, now=now)
        return events_of(self.receiver)

    def naks(self, until: float) -> list[tuple[float, tuple[int, ...]]]:
        """When NAKs are sent to the source, and for what, if nothing arrives."""
        out = []
        while (time := self.receiver.next_timer()) is not None and time <= until:
            self.receiver.handle_timer(now=time)
            for datagram in self.receiver.datagrams_to_send():
                if datagram.destination == SOURCE_NLA:
                    (packet,) = packets_of([datagram])
                    assert isinstance(packet, NakPacket)
                    out.append((time, packet.sequence_numbers))
        return out


def received(*contents: bytes) -> list[ReceiverEvent]:
    return [ApduReceived(TSI, SOURCE_NLA, content) for content in contents]


def numbers(*sequence_numbers: int) -> list[ReceiverEvent]:
    return received(*(b"%d" % number for number in sequence_numbers))


@pytest.mark.spec("MQSRM-2.1.3-06")
def test_data_is_delivered_in_the_order_in_which_it_was_sent() -> None:
    case = Case()
    assert case.hear(data(102), data(101)) == []
    assert case.hear(data(100)) == numbers(100, 101, 102)
    assert case.receiver.buffered_bytes == 0
    assert case.hear(data(100), data(101, repair=True)) == []
    assert case.receiver.counters.duplicates == 2


def test_sequence_numbers_wrap() -> None:
    case = Case(joined=False)
    case.hear(spm(0xFFFFFFFF, 0xFFFFFFFE, trail=0xFFFFFFFF))
    first = data(0xFFFFFFFF, trail=0xFFFFFFFF)
    second = data(0, trail=0xFFFFFFFF)
    assert case.hear(second, first) == [
        ApduReceived(TSI, SOURCE_NLA, first.data),
        ApduReceived(TSI, SOURCE_NLA, second.data),
    ]
    # The number of the SPM wraps, too.
    case.hear(spm(0, 1, trail=0xFFFFFFFF))
    assert case.receiver.counters.ignored == 0
    assert [asked for _, asked in case.naks(0.1)] == [(1,)]


@pytest.mark.spec("MQSRM-2.1.3.1-07", "MQSRM-2.1.3.1-09", "MQSRM-2.1.3.1-13")
def test_a_nak_backs_off_and_is_repeated_ten_times() -> None:
    case = Case()
    case.hear(data(101))
    naks = case.naks(100.0)
    assert [asked for _, asked in naks] == [(100,)] * 10
    times = [time for time, _ in naks]
    assert 0.01 <= times[0] <= 0.05
    assert all(0.76 <= later - earlier <= 0.8 for earlier, later in pairwise(times))
    assert len({round(later - earlier, 5) for earlier, later in pairwise(times)}) > 1
    # Then the packet is lost, and the stream goes on.
    assert events_of(case.receiver) == [DataLost(TSI, SOURCE_NLA, 100, 1), *numbers(101)]
    assert case.receiver.counters.lost_packets == 1


@pytest.mark.spec("MQSRM-2.1.3.1-08", "MQSRM-2.1.3.1-10")
def test_a_confirmed_nak_waits_two_seconds_for_data_ten_times() -> None:
    case = Case()
    case.hear(data(101))
    now = 0.0
    for _ in range(10):
        ((now, asked),) = case.naks(now + 0.06)
        assert asked == (100,)
        now += 0.1
        case.hear(nak(100, kind=PacketType.NCF), now=now)
        assert case.receiver.next_timer() == pytest.approx(now + 2.0)
        assert case.naks(now + 1.99) == []
        assert events_of(case.receiver) == []
        now += 2.0
    assert case.naks(now + 1.0) == []
    assert events_of(case.receiver) == [DataLost(TSI, SOURCE_NLA, 100, 1), *numbers(101)]


def test_repairs_end_the_requests() -> None:
    case = Case()
    case.hear(data(103))
    assert case.hear(data(101, repair=True)) == []
    assert [asked for _, asked in case.naks(0.06)] in ([(100,), (102,)], [(102,), (100,)])
    assert case.hear(data(102, repair=True), data(100, repair=True)) == numbers(100, 101, 102, 103)
    assert case.naks(200.0) == []


@pytest.mark.spec("MQSRM-2.1.3-07")
def test_a_nak_goes_to_the_last_hop_and_with_a_ttl_of_1_to_the_group() -> None:
    case = Case()
    hop = IPv4Address("10.0.0.254")
    case.hear(replace(spm(1, 100), path_nla=hop))
    case.receiver.handle_timer(now=0.05)
    first, second = case.receiver.datagrams_to_send()
    assert (first.destination, first.ttl) == (hop, None)
    assert (second.destination, second.ttl) == (GROUP, 1)
    assert first.data == second.data
    (packet,) = packets_of([first])
    assert packet == nak(100)


def test_naks_that_are_due_together_share_packets_oldest_first() -> None:
    case = Case()
    case.hear(spm(1, 299))
    case.receiver.handle_timer(now=0.05)
    requests = packets_of(case.receiver.datagrams_to_send())[::2]
    lists = [packet.sequence_numbers for packet in requests if isinstance(packet, NakPacket)]
    assert [len(entry) for entry in lists] == [63, 63, 63, 11]
    assert [number for entry in lists for number in entry] == list(range(100, 300))


def test_no_nak_is_sent_before_the_first_spm() -> None:
    case = Case(joined=False)
    case.hear(data(100), data(102))
    case.hear(nak(101, kind=PacketType.NCF))
    assert case.naks(10.0) == []
    case.hear(spm(5, 102), now=10.0)
    case.hear(spm(6, 102), now=10.0)
    ((time, asked),) = case.naks(10.1)
    assert asked == (101,)
    assert 10.01 <= time <= 10.05


def test_a_nak_of_another_receiver_or_an_ncf_holds_back_the_own_nak() -> None:
    case = Case()
    case.hear(data(101))
    case.hear(nak(100), source=OTHER)
    assert case.receiver.next_timer() == pytest.approx(0.75)
    case.hear(nak(100, kind=PacketType.NCF))
    assert case.receiver.next_timer() == pytest.approx(2.0)
    # NNAKs, and NCFs for what has come, change nothing.
    case.hear(nak(100, kind=PacketType.NNAK), nak(101, kind=PacketType.NCF), now=1.0)
    assert case.receiver.next_timer() == pytest.approx(2.0)


def test_an_ncf_shows_that_a_packet_exists() -> None:
    case = Case()
    case.hear(nak(100, kind=PacketType.NCF))
    assert case.receiver.next_timer() == pytest.approx(2.0)
    # One that is too far ahead is no sign of anything, and neither is a NAK.
    case.hear(nak(900_000, kind=PacketType.NCF), nak(105))
    assert [asked for _, asked in case.naks(2.1)] == [(100,)]


def test_every_pair_of_state_and_input_of_a_repair_is_a_row() -> None:
    assert set(STEPS) == {(state, event) for state in RepairState for event in RepairInput}


def test_an_old_spm_is_ignored_and_an_old_window_in_a_new_one() -> None:
    case = Case()
    case.hear(spm(5, 99))
    case.hear(spm(5, 105), spm(4, 105))
    assert case.receiver.counters.ignored == 2
    assert case.hear(data(100), data(101)) == numbers(100, 101)
    case.hear(spm(6, 100))
    # Without a window it says where NAKs go, and nothing else.
    case.hear(spm(7, 0x80000000, trail=0))
    assert case.naks(10.0) == []
    assert case.hear(data(102)) == numbers(102)


def test_what_the_window_leaves_behind_is_lost() -> None:
    case = Case()
    case.hear(data(102), data(105))
    events = case.hear(spm(1, 106, trail=104))
    assert events == [
        DataLost(TSI, SOURCE_NLA, 100, 2),
        *numbers(102),
        DataLost(TSI, SOURCE_NLA, 103, 1),
    ]
    assert sorted(asked for _, asked in case.naks(0.06)) == [(104,), (106,)]
    assert case.hear(data(104)) == numbers(104, 105)
    assert case.receiver.counters.lost_packets == 3
    # A window that has passed everything.
    assert case.hear(spm(2, 119, trail=120)) == [DataLost(TSI, SOURCE_NLA, 106, 14)]
    assert case.naks(10.0) == []
    assert case.hear(data(120, trail=120)) == numbers(120)


def test_a_packet_that_was_given_up_is_taken_if_it_comes_in_time() -> None:
    case = Case()
    case.hear(data(101), data(103))
    # 102 is given up while 100 is still confirmed again and again.
    now = 0.0
    while now < 12.0:
        now += 0.5
        case.naks(now)
        case.hear(nak(100, kind=PacketType.NCF), now=now)
    assert case.hear(data(102), now=now) == []
    assert case.hear(data(100), now=now) == numbers(100, 101, 102, 103)
    case.hear(data(105), data(107), now=now)
    end = now + 12.0
    while now < end:
        now += 0.5
        case.naks(now)
        case.hear(nak(104, kind=PacketType.NCF), now=now)
    # What was given up and what the window leaves behind is one loss.
    events = case.hear(spm(1, 107, trail=106), now=now)
    assert events == [
        DataLost(TSI, SOURCE_NLA, 104, 1),
        *numbers(105),
        DataLost(TSI, SOURCE_NLA, 106, 1),
        *numbers(107),
    ]


def test_fragments_make_an_apdu() -> None:
    case = Case()
    assert case.hear(fragment(100, 100, 0, 5, b"abc")) == []
    assert case.hear(fragment(102, 102, 0, 2, b"f"), fragment(103, 102, 1, 2, b"g")) == []
    assert case.hear(fragment(101, 100, 3, 5, b"de")) == received(b"abcde", b"fg")
    assert case.hear(fragment(104, 104, 0, 2, b"hi")) == received(b"hi")
    assert case.receiver.counters.lost_apdus == 0


@pytest.mark.parametrize(
    "second",
    [
        fragment(101, 100, 2, 5, b"de"),  # Overlaps.
        fragment(101, 100, 4, 5, b"e"),  # Leaves a gap.
        fragment(101, 100, 3, 6, b"def"),  # Says another length.
        fragment(101, 99, 3, 5, b"de"),  # Belongs to another APDU.
        fragment(101, 100, 3, 5, b"def"),  # Is too long.
    ],
)
def test_fragments_that_do_not_fit_cost_their_apdu_only(second: DataPacket) -> None:
    case = Case()
    assert case.hear(fragment(100, 100, 0, 5, b"abc"), second, data(102)) == numbers(102)
    assert case.receiver.counters.bad_fragments == 1
    assert case.receiver.counters.lost_apdus == 1


def test_an_empty_fragment_is_refused() -> None:
    case = Case()
    empty = replace(fragment(101, 100, 3, 5, b"x"), data=b"")
    assert case.hear(fragment(100, 100, 0, 5, b"abc"), empty, data(102)) == numbers(102)
    assert case.receiver.counters.bad_fragments == 1


def test_fragments_without_their_beginning_are_dropped() -> None:
    case = Case()
    late = fragment(100, 98, 6, 9, b"ghi")
    lying = fragment(101, 90, 0, 9, b"abc")
    assert case.hear(late, lying, fragment(102, 90, 3, 9, b"def")) == []
    assert case.receiver.counters.bad_fragments == 3
    assert case.receiver.counters.lost_apdus == 0


def test_an_apdu_that_never_ends_gives_way_to_the_next() -> None:
    case = Case()
    assert case.hear(fragment(100, 100, 0, 9, b"abc"), data(101)) == numbers(101)
    events = case.hear(fragment(102, 102, 0, 9, b"abc"), fragment(103, 103, 0, 2, b"de"))
    assert events == received(b"de")
    assert case.receiver.counters.lost_apdus == 2


@pytest.mark.spec("MQSRM-2.1.3.1-18")
def test_an_apdu_above_64_kilobytes_is_not_accepted() -> None:
    case = Case()
    large = [fragment(100 + at, 100, 1000 * at, 65_537, bytes(1000)) for at in range(65)]
    large.append(fragment(165, 100, 65_000, 65_537, bytes(537)))
    assert case.hear(*large, data(166)) == numbers(166)
    exact = [fragment(167 + at, 167, 1024 * at, 65_536, bytes(1024)) for at in range(64)]
    assert case.hear(*exact) == received(bytes(65_536))


def test_lost_data_interrupts_an_apdu() -> None:
    case = Case()
    case.hear(fragment(100, 100, 0, 9, b"abc"))
    events = case.hear(spm(1, 102, trail=102), fragment(102, 100, 6, 9, b"ghi"))
    assert events == [DataLost(TSI, SOURCE_NLA, 101, 1)]
    assert case.receiver.counters.lost_apdus == 1


@pytest.mark.spec("MQSRM-2.1.3-10")
def test_a_finished_source_ends_when_everything_was_delivered() -> None:
    reason = "the source has finished and all its data was delivered"
    case = Case()
    assert case.hear(data(101), spm(1, 101, options=Options(fin=True))) == []
    assert case.hear(data(100)) == [*numbers(100, 101), SourceEnded(TSI, reason)]
    # Nothing is delivered twice, and no new session begins.
    assert case.hear(data(100, repair=True), spm(2, 101, options=Options(fin=True))) == []
    assert case.naks(299.0) == []
    assert case.receiver.source_count == 1
    assert case.naks(400.0) == []
    assert (case.receiver.source_count, events_of(case.receiver)) == (0, [])
    case = Case()
    assert case.hear(data(100, options=Options(fin=True)))[-1] == SourceEnded(TSI, reason)


@pytest.mark.spec("MQSRM-2.1.3-11")
def test_a_reset_drops_the_session_at_once() -> None:
    case = Case()
    case.hear(data(101), fragment(103, 103, 0, 5, b"abc"))
    reset = spm(1, 103, options=Options(rst=Reset(no_naks=True, error_code=0)))
    assert case.hear(reset) == [SourceEnded(TSI, "the source has reset the session")]
    assert case.receiver.buffered_bytes == 0
    assert case.hear(data(100)) == []
    assert case.naks(299.0) == []


def test_a_silent_source_is_forgotten_and_may_come_back() -> None:
    case = Case()
    case.hear(data(100), data(105))
    case.naks(500.0)
    assert events_of(case.receiver)[-1] == SourceEnded(TSI, "the source was silent for too long")
    assert case.receiver.source_count == 0
    assert case.hear(data(105, repair=True), now=500.0) == []
    assert case.hear(data(200), now=500.0) == numbers(200)


@pytest.mark.spec("MQSRM-2.1.3-09")
def test_a_session_begins_with_odata_or_an_spm_and_syn_is_not_told() -> None:
    case = Case(joined=False)
    case.hear(data(100, repair=True), nak(100), nak(100, kind=PacketType.NCF))
    case.hear(
        spm(0, 0x80000000, trail=0),
        spm(0, 99, options=Options(fin=True)),
        spm(0, 99, options=Options(rst=Reset(no_naks=False, error_code=1))),
    )
    assert case.receiver.source_count == 0
    assert case.receiver.counters.ignored == 6
    assert case.hear(data(110, options=Options(syn=True))) == numbers(110)
    assert case.hear(data(109)) == []


def test_a_late_receiver_may_ask_back_as_far_as_the_join_option_says() -> None:
    for join, trail, expected in ((107, 100, 107), (90, 105, 105), (120, 100, 110)):
        case = Case(joined=False)
        case.hear(data(110, trail=trail, options=Options(join=join)), spm(0, 110, trail=trail))
        asked = [number for _, entry in case.naks(0.06) for number in entry]
        assert sorted(asked) == list(range(expected, 110))
        assert case.receiver.counters.lost_packets == 0


def test_windows_that_jump_are_refused() -> None:
    case = Case()
    case.hear(
        data(100 + 262_144),
        data(99, trail=101),
        data(100 + 262_143, trail=100 + 262_144),
        spm(1, 100 + 1_000_000),
        spm(1, 100 + 1_000_000, trail=100 + 1_000_000),
        spm(1, 100, trail=102),
    )
    assert case.receiver.counters.out_of_window == 6
    assert case.naks(10.0) == []
    assert case.hear(data(100)) == numbers(100)


def test_a_wide_gap_costs_a_bounded_number_of_requests() -> None:
    case = Case(ReceiverSettings(max_repairs=10))
    case.hear(spm(1, 100 + 200_000))
    asked = {number for _, entry in case.naks(1.0) for number in entry}
    assert asked == set(range(100, 110))
    # Each repair makes room for one more.
    assert case.hear(data(100, repair=True), now=1.0) == numbers(100)
    asked = {number for _, entry in case.naks(2.0) for number in entry}
    assert asked == set(range(101, 111))


def test_the_buffer_is_bounded_and_the_next_packet_always_has_room() -> None:
    case = Case(ReceiverSettings(max_buffered_bytes=10))
    case.hear(data(101, bytes(10)), data(102, bytes(1)))
    assert case.receiver.buffered_bytes == 10
    assert case.receiver.counters.buffer_full == 1
    assert case.hear(data(100, bytes(50))) == received(bytes(50), bytes(10))
    # What was dropped is asked for.
    assert [asked for _, asked in case.naks(0.06)] == [(102,)]


def test_the_number_of_sources_is_bounded() -> None:
    case = Case(ReceiverSettings(max_sources=3))
    for port in range(10):
        case.hear(replace(data(100), tsi=TransportSessionId(b"flood!", port)))
    assert case.receiver.source_count == 3
    assert case.receiver.counters.sources_refused == 8
    assert case.hear(data(100)) == numbers(100)


def test_packets_of_another_address_are_not_those_of_the_source() -> None:
    case = Case()
    reset = spm(1, 99, options=Options(rst=Reset(no_naks=True, error_code=0)))
    ncf = nak(100, kind=PacketType.NCF)
    assert case.hear(data(100, b"forged"), reset, ncf, source=OTHER) == []
    assert case.receiver.counters.forged == 3
    assert case.hear(data(100)) == numbers(100)


def test_malformed_and_foreign_packets_are_counted() -> None:
    case = Case()
    damaged = bytearray(data(100).serialize())
    damaged[-1] ^= 1
    case.receiver.receive_datagram(bytes(damaged), source=SOURCE_NLA, now=0.0)
    assert case.receiver.counters.malformed == 1
    case.hear(replace(data(100), destination_port=PORT + 1))
    poll = bytes.fromhex("0fa0 1f41 01 00 0000 0a0b0c0d0e0f 0000")
    case.receiver.receive_datagram(poll, source=SOURCE_NLA, now=0.0)
    assert case.receiver.counters.ignored == 2
    assert events_of(case.receiver) == []


def test_a_receiver_without_sources_waits_for_nothing() -> None:
    receiver: Receiver = new_receiver()
    assert receiver.next_timer() is None
    assert receiver.next_event() is None

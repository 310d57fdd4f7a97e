"""A source alone: what it sends, when, and what it answers."""

from dataclasses import replace

import pytest
from tests.protocol.pgm.network import GROUP, PORT, TSI, nak, new_source, packets_of, state_of

from openmsmq.protocol.pgm import Source, SourceSettings
from openmsmq.protocol.pgm.source_states import TRANSITIONS, SourceInput, SourceState
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    NakPacket,
    Packet,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
)

FAST = SourceSettings(txw_max_rte=1e9)


def sent(source: Source, now: float) -> list[Packet]:
    """What leaves at a time, timers included."""
    source.handle_timer(now=now)
    return packets_of(source.datagrams_to_send(now=now))


def spm_times(source: Source, until: float) -> list[float]:
    """When SPMs leave if nothing else happens."""
    times = []
    while (time := source.next_timer()) is not None and time <= until:
        times += [round(time, 3) for packet in sent(source, time) if not is_data(packet)]
    return times


def is_data(packet: Packet) -> bool:
    return isinstance(packet, DataPacket)


def ask(source: Source, *numbers: int, now: float = 0.0) -> None:
    source.receive_datagram(nak(*numbers).serialize(), now=now)


def with_data(count: int, settings: SourceSettings = FAST, first: int = 100) -> Source:
    """A source that has sent some packets at the time 0."""
    source = new_source(settings, first=first)
    for number in range(count):
        source.send(b"%d" % number)
    source.datagrams_to_send(now=0.0)
    return source


def test_the_first_packet_is_an_spm_with_an_empty_window() -> None:
    (packet,) = sent(new_source(), 0.0)
    assert isinstance(packet, SourcePathMessage)
    assert (packet.sequence_number, packet.trailing_edge, packet.leading_edge) == (0, 100, 99)
    assert (packet.tsi, packet.destination_port) == (TSI, PORT)


def test_spms_ncfs_and_repairs_have_the_router_alert_option() -> None:
    source = new_source(FAST)
    source.send(b"data")
    first = source.datagrams_to_send(now=0.0)
    ask(source, 100)
    answers = source.datagrams_to_send(now=0.0)
    assert [datagram.router_alert for datagram in first + answers] == [True, False, True, True]
    assert {datagram.destination for datagram in first + answers} == {GROUP}


@pytest.mark.spec("MQSRM-2.1.3.1-05", "MQSRM-2.1.3.1-06")
def test_heartbeats_begin_after_a_second_and_slow_down_to_fifteen() -> None:
    source = with_data(1)
    # The ambient SPM of the data comes before the heartbeats.
    assert spm_times(source, 60.0) == [0.5, 1.0, 3.0, 7.0, 15.0, 30.0, 45.0, 60.0]
    source.send(b"more")
    assert [is_data(packet) for packet in sent(source, 70.0)] == [True, False]
    assert spm_times(source, 74.0) == [71.0, 73.0]


@pytest.mark.spec("MQSRM-2.1.3.1-14")
def test_an_ambient_spm_follows_fifty_packets_or_half_a_second() -> None:
    source = new_source(FAST)
    for _ in range(120):
        source.send(b"x")
    kinds = [is_data(packet) for packet in sent(source, 0.0)]
    assert [index for index, data in enumerate(kinds) if not data] == [0, 51, 102]
    assert source.next_timer() == 0.5
    source.send(b"y")
    assert [is_data(packet) for packet in sent(source, 0.2)] == [True]
    assert [is_data(packet) for packet in sent(source, 0.5)] == [False]


@pytest.mark.spec("MQSRM-2.1.3.1-01", "MQSRM-2.1.3.1-11")
def test_the_rate_is_70_kilobytes_a_second_and_the_bucket_40_milliseconds() -> None:
    source = new_source()
    for _ in range(4):
        source.send(bytes(65_536))
    burst = sum(len(datagram.data) for datagram in source.datagrams_to_send(now=0.0))
    assert 2800 - 1400 < burst <= 2800
    time = 0.0
    while source.queued_bytes and (timer := source.next_timer()) is not None:
        time = timer
        source.handle_timer(now=time)
        source.datagrams_to_send(now=time)
    assert source.counters.bytes <= 2800 + 70_000 * time + 1
    assert source.counters.bytes >= 70_000 * time


def test_a_slow_source_still_sends_whole_packets() -> None:
    source = new_source(SourceSettings(txw_max_rte=1000.0))
    source.send(bytes(1300))
    source.send(bytes(1364))
    assert [is_data(packet) for packet in sent(source, 0.0)] == [False, True]
    assert [is_data(packet) for packet in sent(source, 1.0)] == [False]
    assert [is_data(packet) for packet in sent(source, 2.0)] == [True]


@pytest.mark.spec("MQSRM-2.1.3-04")
def test_each_nak_inside_the_window_is_confirmed_and_then_repaired() -> None:
    source = with_data(3)
    for now in (0.1, 0.2, 0.3):
        ask(source, 100, now=now)
        ncf, repair = packets_of(source.datagrams_to_send(now=now))
        assert isinstance(ncf, NakPacket)
        assert (ncf.type, ncf.sequence_numbers) == (PacketType.NCF, (100,))
        assert isinstance(repair, DataPacket)
        assert (repair.is_repair, repair.sequence_number, repair.data) == (True, 100, b"0")


def test_a_list_is_confirmed_as_a_whole_without_what_is_outside_the_window() -> None:
    source = with_data(3)
    ask(source, 101, 102, 103, 99, 101)
    (ncf,) = packets_of(source.datagrams_to_send(now=0.0))
    assert isinstance(ncf, NakPacket)
    assert ncf.sequence_numbers == (101, 102)


@pytest.mark.spec("MQSRM-2.1.3.1-15", "MQSRM-2.1.3-05")
def test_a_repair_waits_longer_the_newer_it_is() -> None:
    source = with_data(6)
    ask(source, *range(100, 106))
    source.datagrams_to_send(now=0.0)
    times = []
    for _ in range(5):
        time = source.next_timer()
        assert time is not None
        times.append(round(time, 6))
        assert len([packet for packet in sent(source, time) if is_data(packet)]) == 1
    # ((number - trailing edge) * 60 ms) / (last number - trailing edge + 1)
    assert times == [0.01, 0.02, 0.03, 0.04, 0.05]
    assert source.counters.rdata == 6


def test_a_second_nak_while_a_repair_waits_gives_no_second_repair() -> None:
    source = with_data(2)
    ask(source, 101)
    ask(source, 101)
    ask(source, 101, now=0.01)
    assert source.counters.ncfs == 0
    source.datagrams_to_send(now=0.01)
    source.handle_timer(now=0.03)
    source.datagrams_to_send(now=0.03)
    assert (source.counters.ncfs, source.counters.rdata) == (1, 1)


def test_repairs_and_new_data_take_turns() -> None:
    source = with_data(3)
    ask(source, 100, 101, 102)
    for _ in range(4):
        source.send(b"new")
    packets = [packet for packet in sent(source, 0.3) if isinstance(packet, DataPacket)]
    assert [packet.is_repair for packet in packets] == [
        *(True, False, True, False),
        *(True, False, False),
    ]


@pytest.mark.spec("MQSRM-2.1.3.1-02", "MQSRM-2.1.3.1-04", "MQSRM-2.1.3.1-16")
def test_the_window_advances_every_45_seconds_over_what_is_300_seconds_old() -> None:
    source = with_data(2)
    source.send(b"later")
    sent(source, 20.0)
    for step in range(1, 7):
        sent(source, 45.0 * step)
    ask(source, 100, now=314.0)
    assert source.counters.naks_dropped == 0
    sent(source, 314.0)
    sent(source, 315.0)
    for number in (100, 101):
        ask(source, number, now=315.0)
    assert source.counters.naks_dropped == 2
    ask(source, 102, now=315.0)
    assert source.counters.naks_dropped == 2
    sent(source, 315.0)
    sent(source, 360.0)
    spm = sent(source, 400.0)[-1]
    assert isinstance(spm, SourcePathMessage)
    assert (spm.trailing_edge, spm.leading_edge) == (103, 102)


@pytest.mark.spec("MQSRM-2.1.3.1-17")
def test_the_window_stops_at_a_packet_that_was_asked_for() -> None:
    source = with_data(3)
    for step in range(1, 7):
        sent(source, 45.0 * step)
    ask(source, 101, now=314.99)
    source.handle_timer(now=315.0)
    source.datagrams_to_send(now=315.0)
    ask(source, 100, now=315.0)
    assert source.counters.naks_dropped == 1
    ask(source, 102, now=315.0)
    assert source.counters.naks_dropped == 1


@pytest.mark.spec("MQSRM-2.1.3.1-03", "MQSRM-2.1.3.1-12")
def test_the_window_and_the_rate_can_be_configured() -> None:
    assert SourceSettings().txw_adv_ivl == pytest.approx(45.0)
    assert SourceSettings(txw_secs=100.0).txw_adv_ivl == pytest.approx(15.0)


def test_a_full_window_stops_new_data_until_it_advances() -> None:
    settings = SourceSettings(txw_max_rte=2000.0, txw_secs=1.0)
    source = new_source(settings)
    for _ in range(4):
        source.send(bytes(1300))
    source.datagrams_to_send(now=0.0)
    # Somebody asks again and again for the first packet, so that the window cannot advance.
    now = 0.0
    while source.counters.odata < 2:
        now += 0.05
        sent(source, now)
    for _ in range(200):
        now += 0.05
        ask(source, 100, now=now)
        sent(source, now)
    assert source.counters.odata == 2
    for _ in range(200):
        now += 0.05
        sent(source, now)
    assert source.counters.odata == 4


def test_a_large_apdu_leaves_in_fragments() -> None:
    source = new_source(FAST, first=0xFFFFFFFF)
    apdu = bytes(range(256)) * 12
    source.send(apdu)
    datagrams = source.datagrams_to_send(now=0.0)
    assert max(len(datagram.data) for datagram in datagrams) <= 1400
    parts = [packet for packet in packets_of(datagrams) if isinstance(packet, DataPacket)]
    assert b"".join(part.data for part in parts) == apdu
    assert [part.sequence_number for part in parts] == [0xFFFFFFFF, 0, 1]
    assert [part.options.fragment for part in parts] == [
        Fragment(0xFFFFFFFF, offset, len(apdu)) for offset in (0, 1348, 2696)
    ]
    assert [part.options.syn for part in parts] == [True, False, False]
    source.send(bytes(1364))
    (whole,) = packets_of(source.datagrams_to_send(now=0.0))
    assert isinstance(whole, DataPacket)
    assert whole.options.fragment is None


def test_an_apdu_must_fit() -> None:
    source = new_source()
    for size in (0, 65_537):
        with pytest.raises(ValueError, match="1 to 65536 bytes"):
            source.send(bytes(size))
    while source.can_send:
        source.send(bytes(65_536))
    assert source.queued_bytes == 5 * 65_536
    with pytest.raises(ValueError, match="too much data waits"):
        source.send(b"x")


def test_a_source_that_closes_marks_its_last_data_and_every_spm_after_it() -> None:
    source = new_source(FAST)
    source.send(b"one")
    source.send(b"two")
    source.close(now=0.0)
    assert not source.can_send
    spm, one, two, end = packets_of(source.datagrams_to_send(now=0.0))
    assert isinstance(spm, SourcePathMessage)
    assert isinstance(one, DataPacket)
    assert isinstance(two, DataPacket)
    assert isinstance(end, SourcePathMessage)
    fins = [packet.options.fin for packet in (spm, one, two, end)]
    assert fins == [False, False, True, True]
    ask(source, 101)
    repair = sent(source, 0.1)[-1]
    assert isinstance(repair, DataPacket)
    assert repair.options.fin
    (heartbeat,) = [packet for packet in sent(source, 20.0) if not is_data(packet)]
    assert isinstance(heartbeat, SourcePathMessage)
    assert heartbeat.options.fin
    sent(source, 300.0)
    assert state_of(source) is SourceState.CLOSED
    assert source.next_timer() is None
    ask(source, 101, now=300.0)
    assert sent(source, 301.0) == []


@pytest.mark.spec("MQSRM-2.1.3-12")
def test_a_source_that_cancels_data_resets_the_session_and_ends() -> None:
    source = with_data(1)
    source.send(b"cancelled")
    ask(source, 100)
    source.abort(now=0.0)
    (spm,) = sent(source, 0.0)
    assert isinstance(spm, SourcePathMessage)
    assert spm.options.rst == Reset(no_naks=True, error_code=0)
    assert spm.leading_edge == 100
    assert state_of(source) is SourceState.CLOSED
    assert source.next_timer() is None
    ask(source, 100)
    assert source.datagrams_to_send(now=1.0) == []
    assert source.counters.ignored == 1


def test_a_source_without_waiting_data_ends_gracefully() -> None:
    source = with_data(1)
    source.abort(now=0.0)
    assert state_of(source) is SourceState.FINISHED
    source.close(now=1.0)
    assert state_of(source) is SourceState.FINISHED


def test_a_reset_waits_for_the_rate() -> None:
    source = new_source(SourceSettings(txw_max_rte=1000.0))
    # An SPM of 36 bytes and this packet leave fewer than 44 of 1,400 bytes.
    source.send(bytes(1320))
    source.send(b"cancelled")
    assert len(source.datagrams_to_send(now=0.0)) == 2
    source.abort(now=0.0)
    assert source.datagrams_to_send(now=0.0) == []
    assert state_of(source) is SourceState.ABORTED
    time = source.next_timer()
    assert time is not None
    assert len(sent(source, time)) == 1
    assert state_of(source) is SourceState.CLOSED


def test_bad_and_foreign_packets_change_nothing() -> None:
    source = with_data(1)
    request = nak(100)
    source.receive_datagram(b"no packet", now=0.0)
    assert source.counters.malformed == 1
    packets: list[DataPacket | NakPacket] = [
        replace(request, type=PacketType.NNAK),
        replace(request, type=PacketType.NCF),
        replace(request, tsi=TransportSessionId(b"other!", 1)),
        replace(request, destination_port=PORT + 1),
        DataPacket(TSI, PORT, False, 101, 100, b"forged"),
    ]
    for packet in packets:
        source.receive_datagram(packet.serialize(), now=0.0)
    assert source.counters.ignored == len(packets)
    assert source.datagrams_to_send(now=0.1) == []


def test_a_flood_of_naks_is_bounded() -> None:
    source = with_data(200)
    for start in range(100, 300):
        for other in range(start + 1, min(start + 10, 300)):
            ask(source, start, other)
    assert len(source.datagrams_to_send(now=0.0)) <= 1024 + 200
    assert source.counters.ncfs == 1024
    assert source.counters.naks_dropped > 0
    for step in range(1, 61):
        sent(source, step / 1000)
    assert source.counters.rdata <= 200


def test_every_pair_of_state_and_input_is_a_row_or_changes_nothing() -> None:
    for state in SourceState:
        for event in SourceInput:
            source = new_source()
            source.state = state
            assert source._change(event) == ((state, event) in TRANSITIONS)
            assert source.state is TRANSITIONS.get((state, event), state)
    assert all(state is not SourceState.CLOSED for state, _ in TRANSITIONS)

"""Whatever packets come, in whatever order: nothing raises, and nothing grows without bound."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.mutation import mutate
from tests.protocol.pgm.network import (
    PORT,
    SOURCE_NLA,
    TSI,
    events_of,
    nak,
    new_receiver,
    new_source,
)
from tests.wire.pgm.strategies import PACKETS

from openmsmq.protocol.pgm import ApduReceived, DataLost, ReceiverSettings, SourceSettings
from openmsmq.wire.pgm import DataPacket, SourcePathMessage

LIMITS = ReceiverSettings(
    max_repairs=20, max_buffered_bytes=200, max_window_packets=100, max_sources=3
)
# Numbers near the window, and any others.
NEAR = st.integers(90, 130) | st.integers(0, 0xFFFFFFFF)
STEPS = st.lists(st.tuples(PACKETS, NEAR, NEAR, st.floats(0, 3)), max_size=60)


# Any: fields of three kinds of packets.
def aimed(packet: Any, number: int, trail: int) -> bytes:
    """The packet as one of the known source, with numbers that are often in the window."""
    changes: dict[str, object] = {"tsi": TSI, "destination_port": PORT}
    if isinstance(packet, DataPacket):
        changes |= {"sequence_number": number, "trailing_edge": trail}
    elif isinstance(packet, SourcePathMessage):
        changes |= {"leading_edge": number, "trailing_edge": trail}
    else:
        changes |= {"requested_sequence_number": number}
    data: bytes = replace(packet, **changes).serialize()
    return data


@settings(max_examples=200)
@given(STEPS)
def test_a_receiver_takes_any_packets(steps: list[tuple[Any, int, int, float]]) -> None:
    receiver = new_receiver(LIMITS)
    now, lost, delivered = 0.0, 0, 0
    for packet, number, trail, delay in steps:
        now += delay
        receiver.receive_datagram(aimed(packet, number, trail), source=SOURCE_NLA, now=now)
        receiver.handle_timer(now=now)
        assert len(receiver.datagrams_to_send()) <= 2 * LIMITS.max_repairs
        assert 0 <= receiver.buffered_bytes <= LIMITS.max_buffered_bytes
        for event in events_of(receiver):
            lost += event.packet_count if isinstance(event, DataLost) else 0
            delivered += isinstance(event, ApduReceived)
    assert (receiver.counters.lost_packets, receiver.counters.apdus) == (lost, delivered)
    # Silence ends every session, and nothing is left.
    while (time := receiver.next_timer()) is not None:
        receiver.handle_timer(now=time)
    assert (receiver.source_count, receiver.buffered_bytes) == (0, 0)


@settings(max_examples=100)
@given(STEPS)
def test_a_source_takes_any_packets(steps: list[tuple[Any, int, int, float]]) -> None:
    source = new_source(SourceSettings(txw_secs=5.0))
    now = 0.0
    for packet, number, trail, delay in steps:
        now += delay
        if source.can_send:
            source.send(bytes(2000))
        source.receive_datagram(aimed(packet, number, trail), now=now)
        source.receive_datagram(nak(number, trail).serialize(), now=now)
        source.handle_timer(now=now)
        source.datagrams_to_send(now=now)
        assert source.counters.bytes <= 2801 + 70_000 * now
    source.close(now=now)
    # Every timer leads to the end.
    for _ in range(5000):
        timer = source.next_timer()
        if timer is None:
            break
        source.handle_timer(now=timer)
        source.datagrams_to_send(now=timer)
    assert source.next_timer() is None
    assert source.queued_bytes == 0


def test_mutated_datagrams_are_counted_and_nothing_else() -> None:
    kept = [
        DataPacket(TSI, PORT, False, number, 100, b"x" * number).serialize()
        for number in range(100, 110)
    ]
    receiver, source = new_receiver(LIMITS), new_source()
    for index in range(3000):
        data = mutate(14, index, kept)
        receiver.receive_datagram(data, source=SOURCE_NLA, now=0.0)
        source.receive_datagram(data, now=0.0)
    assert receiver.counters.malformed == source.counters.malformed > 1000
    assert receiver.source_count <= LIMITS.max_sources

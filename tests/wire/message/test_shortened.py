"""Packets with the beginning of their bodies."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import user_messages

from openmsmq.wire.message.shortened import shorten_body
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

QUEUE = direct_address("OS:a\\q")
SIZES = {"body", "message_size", "allocation_body_size", "end", "encrypted"}
PROPERTIES = [
    name
    for name, value in vars(UserMessage).items()
    if isinstance(value, property) and name not in SIZES
]


@given(user_messages, st.integers(0, 40))
def test_a_packet_keeps_all_but_the_rest_of_its_body(packet: bytes, head_bytes: int) -> None:
    before = UserMessage(packet)
    short, size = shorten_body(packet, head_bytes)
    after = UserMessage(short)
    assert size == len(before.body)
    if before.srmp_envelope_header is None:
        assert after.body == before.body[:head_bytes]
    else:
        assert short == packet
    assert len(short) <= len(packet)
    for name in PROPERTIES:
        assert getattr(after, name) == getattr(before, name), name


@pytest.mark.parametrize("trace", [None, UUID(int=5)])
def test_a_large_body_is_cut_before_the_headers_behind_it(trace: UUID | None) -> None:
    packet = build_user_message(destination_queue=QUEUE, body=b"x" * 5000, tracing_queue=trace)
    short, size = shorten_body(packet, 9)
    assert (size, UserMessage(short).body) == (5000, b"x" * 9)
    assert UserMessage(short).debug_header == UserMessage(packet).debug_header
    assert len(short) == len(packet) - 5000 + 12


def test_a_small_body_is_not_touched() -> None:
    packet = build_user_message(destination_queue=QUEUE, body=b"small")
    assert shorten_body(packet, 5) == (packet, 5)

"""Packets of messages that were sent before: the short way gives the bytes of the long one."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import user_messages

from openmsmq.client.logic import packets_again
from openmsmq.client.logic.packets_again import PacketsAgain
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.message_properties_header import MESSAGE_PROPERTIES_SIZE
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions, build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import GUID_NULL

OPTIONS = UserMessageOptions(
    source_queue_manager=GUID_NULL,
    routing_count=0,
    connector_type=None,
    transaction_header=None,
    security_header=None,
    srmp_headers=None,
    soap_header=None,
    multi_queue_format_header=None,
)
DESTINATION = direct_address("OS:ab\\q")


def again(builder: PacketsAgain, packet: bytes, **changes: Any) -> bytes | str:
    try:
        return builder.build(packet, cast("UserMessageOptions", changes))
    except (MalformedPacket, ValueError) as exc:
        return str(exc)


def alike(packet: bytes, filler: int) -> bytes:
    """Another message of the same shape: other time, ordinal, correlation and body."""
    view = UserMessage(packet)
    other = bytearray(packet)
    other[52:60] = bytes([filler] * 8)
    at = view.properties_offset + 4
    other[at : at + 20] = bytes([filler] * 20)
    other[view.body_offset : view.body_end] = bytes([filler]) * (view.body_end - view.body_offset)
    return bytes(other)


@given(st.lists(user_messages, min_size=1, max_size=4), st.integers(0, 255))
def test_what_was_built_before_does_not_change_a_packet(packets: list[bytes], filler: int) -> None:
    builder = PacketsAgain(OPTIONS)
    for packet in packets:
        for one in (packet, alike(packet, filler)):
            for changes in ({}, {"message_class": 0}, {"time_to_be_received": filler}):
                whole = again(PacketsAgain(OPTIONS), one, **changes)
                assert again(builder, one, **changes) == whole
                assert again(builder, one, **changes) == whole


@given(user_messages, st.data())
def test_a_packet_with_another_byte_is_built_as_if_nothing_had_been(
    packet: bytes, data: st.DataObject
) -> None:
    builder = PacketsAgain(OPTIONS)
    for _ in range(2):
        again(builder, packet)
    other = bytearray(packet)
    for _ in range(data.draw(st.integers(1, 3))):
        other[data.draw(st.integers(0, len(packet) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert again(builder, bytes(other)) == again(PacketsAgain(OPTIONS), bytes(other))


def test_a_message_with_another_extension_or_length_is_not_like_the_last() -> None:
    first, other = (
        build_user_message(destination_queue=DESTINATION, extension=extension, body=b"body")
        for extension in (b"one", b"two")
    )
    builder = PacketsAgain(OPTIONS)
    for _ in range(2):
        builder.build(first, {})
    assert UserMessage(builder.build(other, {})).extension == b"two"
    builder.build(first, {})
    with pytest.raises(MalformedPacket):
        builder.build(first + first[-4:], {})


def test_messages_with_other_labels_share_a_shape() -> None:
    builder = PacketsAgain(OPTIONS)
    for label in ("one", "two", "six"):
        packet = build_user_message(destination_queue=DESTINATION, label=label, body=b"x")
        view = UserMessage(builder.build(packet, {}))
        assert (view.label, view.body) == (label, b"x")
    assert len(builder._shapes) == 1


def test_a_label_that_is_not_written_as_it_stands_takes_the_long_way() -> None:
    packet = bytearray(build_user_message(destination_queue=DESTINATION, label="abc", body=b"x"))
    at = UserMessage(bytes(packet)).properties_offset + MESSAGE_PROPERTIES_SIZE
    packet[at + 2 : at + 4] = b"\0\0"
    builder = PacketsAgain(OPTIONS)
    for _ in range(2):
        assert UserMessage(builder.build(bytes(packet), {})).label == "a"
    # No label at all, but a NUL.
    packet[at : at + 2] = b"\0\0"
    assert UserMessage(builder.build(bytes(packet), {})).label == ""
    assert builder._shapes == {}


@pytest.mark.parametrize(
    "changes", [{"sent_time": 9}, {"message_id": 9}, {"correlation_id": bytes(range(20))}]
)
def test_other_times_numbers_and_correlations_are_written(changes: dict[str, Any]) -> None:
    packet = build_user_message(destination_queue=DESTINATION, body=b"x")
    builder = PacketsAgain(OPTIONS)
    builder.build(packet, {})
    view = UserMessage(builder.build(packet, cast("UserMessageOptions", changes)))
    (name,) = changes
    assert getattr(view, name) == changes[name]


def test_a_body_of_srmp_comes_out_of_its_compound_message() -> None:
    compound = CompoundMessageHeader(b"POST / body", 4, 7)
    packet = build_user_message(
        destination_queue=DESTINATION, srmp_headers=(SRMPEnvelopeHeader("<se/>"), compound)
    )
    assert UserMessage(packet).body == b"body"
    builder = PacketsAgain(OPTIONS)
    for _ in range(2):
        assert UserMessage(builder.build(packet, {})).body == b"body"


@pytest.mark.interpreted
def test_shapes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets_again, "MAX_SHAPES", 2)
    builder = PacketsAgain(OPTIONS)
    for size in range(5):
        packet = build_user_message(destination_queue=DESTINATION, body=bytes(size))
        builder.build(packet, {})
        assert len(builder._shapes) <= 2

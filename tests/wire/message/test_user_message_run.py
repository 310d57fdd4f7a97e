"""Runs of packets with the same headers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import bodies, correlation_ids, labels

from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageTemplate
from openmsmq.wire.message.user_message_run import split_runs
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader

TEMPLATES = {
    "plain": UserMessageTemplate(destination_queue=direct_address("OS:a\\private$\\b")),
    "recoverable": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"), delivery_mode=1
    ),
    "other queue": UserMessageTemplate(destination_queue=direct_address("OS:a\\private$\\c")),
    "acknowledged": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"),
        admin_queue=direct_address("OS:a\\private$\\d"),
        acknowledgments=3,
    ),
    "acknowledged otherwise": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"),
        admin_queue=direct_address("OS:a\\private$\\d"),
        acknowledgments=1,
    ),
    "private": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"), privacy_level=1
    ),
    "sent by somebody": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"),
        security_header=SecurityHeader(SenderIdType.SID, security_id=b"somebody"),
    ),
    "sent by another": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"),
        security_header=SecurityHeader(SenderIdType.SID, security_id=b"anothers"),
    ),
    "transactional": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"),
        transaction_header=TransactionHeader(0, TxSequenceID(0, 0), 0, 0),
    ),
    "traced": UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"), tracing_requested=True
    ),
}


def numbered(packet: bytes, message_id: int) -> bytes:
    return packet[:56] + message_id.to_bytes(4, "little") + packet[60:]


packets = st.builds(
    lambda name, body, label, correlation_id, message_id: numbered(
        TEMPLATES[name].build(body, label, correlation_id=correlation_id), message_id
    ),
    st.sampled_from(sorted(TEMPLATES)),
    bodies,
    labels,
    correlation_ids,
    st.integers(0, 0xFFFFFFFF),
)
# What a queue manager acts on, and where it writes.
SAME = (
    *("flags", "base_flags", "priority", "time_to_reach_queue", "time_to_be_received"),
    *("acknowledgments", "sender_id_type", "security_id", "authentication_level", "encrypted"),
    *("privacy_level", "transaction_flags", "transaction_offset", "security_offset"),
    *("properties_offset", "destination_queue", "admin_queue", "trailing", "sent_time"),
    "source_queue_manager",
)


@given(st.lists(packets, max_size=12))
def test_a_run_has_the_packets_in_their_order_and_one_head_for_all(several: list[bytes]) -> None:
    runs = split_runs(several)
    assert [packet for run in runs for packet in run.packets] == several
    for run in runs:
        for packet in run.packets:
            message = UserMessage(packet)
            for name in SAME:
                assert getattr(message, name) == getattr(run.head, name), name


def test_messages_that_differ_in_label_body_and_identifier_only_are_one_run() -> None:
    build = TEMPLATES["sent by somebody"].build
    several = [
        numbered(build(b"x" * size, "l" * size, correlation_id=bytes([size] * 20)), size)
        for size in (0, 1, 1, 2, 3, 5, 5, 9)
    ]
    (run,) = split_runs(several)
    assert run.packets == several
    assert run.head.packet is several[0]


@pytest.mark.parametrize("other", sorted(set(TEMPLATES) - {"plain"}))
def test_other_headers_begin_another_run(other: str) -> None:
    plain = TEMPLATES["plain"].build(b"body", "")
    assert len(split_runs([plain, plain, TEMPLATES[other].build(b"body", ""), plain])) == 3


def test_a_message_with_headers_behind_its_body_stands_alone() -> None:
    template = UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"), tracing_requested=True
    )
    assert len(split_runs([template.build(b"body", "")] * 3)) == 3


def test_a_body_with_two_sizes_stands_alone() -> None:
    plain = TEMPLATES["plain"].build(b"body", "")
    odd = bytearray(plain)
    odd[UserMessage(plain).properties_offset + 36] += 1
    assert [len(run.packets) for run in split_runs([plain, bytes(odd), plain, plain])] == [1, 1, 2]


@pytest.mark.parametrize("offset", [8, -1])
def test_a_packet_in_a_run_is_checked_like_any_other(offset: int) -> None:
    plain = TEMPLATES["plain"].build(b"body", "")
    at = UserMessage(plain).properties_offset + 32 if offset < 0 else offset
    wrong = bytearray(plain)
    wrong[at] += 8
    with pytest.raises(MalformedPacket) as alone:
        UserMessage(bytes(wrong))
    with pytest.raises(MalformedPacket) as behind:
        split_runs([plain, bytes(wrong)])
    assert str(behind.value) == str(alone.value)


def test_a_packet_that_is_cut_is_no_part_of_a_run() -> None:
    plain = TEMPLATES["plain"].build(b"body", "")
    for size in range(len(plain)):
        with pytest.raises(MalformedPacket):
            split_runs([plain, plain[:size]])


def test_the_first_packets_of_a_run_are_a_run() -> None:
    packets = [TEMPLATES["plain"].build(bytes([number]), "") for number in range(3)]
    (run,) = split_runs(packets)
    part = run.first(2)
    assert (part.head, part.packets) == (run.head, packets[:2])
    assert run.packets == packets


def with_signature(signature: bytes, size: int = 4, **items: Any) -> bytes:
    defaults = {"security_id": b"somebody", "signature": signature, "sender_cert": b"a cert"}
    header = SecurityHeader(SenderIdType.SID, **{**defaults, **items})
    return UserMessageTemplate(
        destination_queue=direct_address("OS:a\\private$\\b"), security_header=header
    ).build(b"x" * size, "l" * size)


def test_packets_of_a_peer_may_differ_in_their_signatures() -> None:
    """Also with sizes of their own; what is sent here keeps the signature of its own packet."""
    several = [with_signature(bytes([number] * 5), number) for number in (1, 1, 2, 3)]
    several.append(with_signature(bytes(5), 3))
    several.append(with_signature(b"\7" * 5, 1))
    (run,) = split_runs(several, signatures_differ=True)
    assert run.packets == several
    assert [len(each.packets) for each in split_runs(several)] == [2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ("security_id", b"anothers"),
        ("sender_cert", b"A cert"),
        ("sender_cert", b"a cerT"),
        ("encryption_key", b"key"),
        ("signature", b"longer"),
        ("signature", b""),
    ],
)
def test_packets_that_differ_in_more_than_the_signature_are_not_one_run(
    item: str, value: bytes
) -> None:
    first = with_signature(b"first")
    items: dict[str, Any] = {"signature": b"other", item: value}
    other = with_signature(**items)
    assert len(split_runs([first, other], signatures_differ=True)) == 2


@pytest.mark.parametrize("at", [0, 4, 16, 48, 60, 63])
def test_a_difference_before_the_signature_begins_another_run(at: int) -> None:
    first, other = with_signature(b"first"), bytearray(with_signature(b"other"))
    other[at] ^= 1
    try:
        UserMessage(bytes(other))
    except MalformedPacket:
        with pytest.raises(MalformedPacket):
            split_runs([first, bytes(other)], signatures_differ=True)
        return
    assert len(split_runs([first, bytes(other)], signatures_differ=True)) == 2


# Where the parts of a message stand.
PLACES = (
    *("admin_offset", "response_offset", "connector_offset", "extension_offset"),
    *("body_offset", "body_end"),
)
signed_packets = st.builds(
    with_signature,
    st.sampled_from((b"first", b"other", b"longer", b"")),
    st.integers(0, 3),
    security_id=st.sampled_from((b"somebody", b"anothers")),
)


@given(several=st.lists(packets | signed_packets, max_size=12), signatures_differ=st.booleans())
def test_the_messages_of_a_run_are_those_of_its_packets(
    several: list[bytes], *, signatures_differ: bool
) -> None:
    """Where everything stands, too, though most packets are not looked at again."""
    runs = split_runs(several, signatures_differ=signatures_differ)
    messages = [message for run in runs for message in run.messages()]
    assert [message.packet for message in messages] == several
    for message in messages:
        alone = UserMessage(message.packet)
        for name in (*PLACES, *SAME):
            assert getattr(message, name) == getattr(alone, name), name

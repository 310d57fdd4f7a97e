"""Patching a packet in place of building it again."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import guids, tx_sequence_ids, u16, u32, user_messages

from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_patch import (
    patch,
    patch_authentication,
    patch_place,
    patch_transaction,
    stamp,
    stamp_many,
    with_routing_count,
    without_srmp_headers,
)
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader

GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
OPTIONAL_FIELDS = {
    "time_to_reach_queue": u32,
    "source_queue_manager": guids,
    "queue_manager_address": guids,
    "time_to_be_received": u32,
    "sent_time": u32,
    "message_id": u32,
    "routing_count": st.integers(0, 0x1F),
    "message_class": u16,
}
# Properties that take their value from others that a patch may change.
DERIVED = {
    *("identifier", "flags", "base_flags", "admin_queue", "response_queue"),
    *("source", "target", "raw_destination"),
}
PROPERTIES = sorted(
    name
    for name, value in vars(UserMessage).items()
    if isinstance(value, property) and name not in {"destination_queue"} | DERIVED
)
TRANSACTIONAL = build_user_message(
    destination_queue=direct_address("OS:a\\q"),
    transaction_header=TransactionHeader(0x00ABCDE2, TxSequenceID(1, 2), 3, 2),
    security_header=SecurityHeader(0x0041, b"SID!"),
)


TRANSACTION_PROPERTIES = {
    "transaction_header",
    "transaction_flags",
    "tx_sequence_id",
    "raw_tx_sequence_id",
    "tx_sequence_number",
    "previous_tx_sequence_number",
    "first_in_transaction",
    "last_in_transaction",
}


def unpatched(before: UserMessage, after: UserMessage, names: set[str]) -> None:
    """Check that all other properties are what they were."""
    for name in PROPERTIES:
        if name not in names:
            assert getattr(before, name) == getattr(after, name), name


@given(user_messages, guids, u32, u32)
def test_stamp_sets_identity_and_time_only(
    packet: bytes, source: UUID, message_id: int, sent_time: int
) -> None:
    before = UserMessage(packet)
    after = UserMessage(stamp(packet, source.bytes_le, message_id, sent_time))
    assert after.identifier == (source, message_id)
    assert after.sent_time == sent_time
    unpatched(before, after, {"source_queue_manager", "message_id", "sent_time"})


@given(st.lists(user_messages, max_size=4))
def test_stamp_many_counts_the_ordinals_up(packets: list[bytes]) -> None:
    assert stamp_many(packets, GUID.bytes_le, 7, 1000) == [
        stamp(packet, GUID.bytes_le, 7 + index, 1000) for index, packet in enumerate(packets)
    ]


# Any: a value of whatever type the patched property has.
@given(user_messages, st.fixed_dictionaries({}, optional=OPTIONAL_FIELDS))
def test_patch_sets_what_is_named_only(packet: bytes, changes: dict[str, Any]) -> None:
    before = UserMessage(packet)
    after = UserMessage(patch(before, **changes))
    for name, value in changes.items():
        assert getattr(after, name) == value
    unpatched(before, after, set(changes))


@given(user_messages, st.integers(0, 7))
def test_patch_sets_the_priority_bits_only(packet: bytes, priority: int) -> None:
    before = UserMessage(packet)
    after = UserMessage(patch(before, priority=priority))
    assert after.base_flags == before.base_flags & ~7 | priority


@given(
    sequence=tx_sequence_ids,
    number=u32,
    previous=u32,
    first=st.none() | st.booleans(),
    last=st.none() | st.booleans(),
)
def test_place_and_flags_in_a_transaction_are_set_and_nothing_else(
    *, sequence: TxSequenceID, number: int, previous: int, first: bool | None, last: bool | None
) -> None:
    before = UserMessage(TRANSACTIONAL)
    placed = UserMessage(patch_place(before, sequence.value, number, previous))
    after = UserMessage(
        patch_transaction(placed, first_in_transaction=first, last_in_transaction=last)
    )
    flags = 0x00ABCDE2 | (4 if first else 0) | (8 if last else 0)
    assert after.transaction_header == TransactionHeader(flags, sequence, number, previous)
    unpatched(before, after, TRANSACTION_PROPERTIES)


def test_patch_transaction_clears_bits_and_keeps_what_is_not_named() -> None:
    message = UserMessage(
        patch_transaction(
            UserMessage(TRANSACTIONAL), first_in_transaction=True, last_in_transaction=True
        )
    )
    assert (message.first_in_transaction, message.last_in_transaction) == (True, True)
    assert (message.tx_sequence_id, message.tx_sequence_number) == (TxSequenceID(1, 2), 3)
    assert patch_transaction(message) == message.packet
    cleared = patch_transaction(message, first_in_transaction=False, last_in_transaction=False)
    assert cleared == TRANSACTIONAL


@pytest.mark.parametrize("level", [0, 1, 3, 5, 15])
@pytest.mark.parametrize("authenticated", [True, False])
def test_patch_authentication_sets_au_and_as_only(*, authenticated: bool, level: int) -> None:
    before = UserMessage(
        patch_authentication(UserMessage(TRANSACTIONAL), authenticated=True, level=9)
    )
    after = UserMessage(patch_authentication(before, authenticated=authenticated, level=level))
    assert after.security_flags == 0x0041 | (0x10 if authenticated else 0) | level << 8
    assert after.authentication_level == level
    unpatched(before, after, {"security_flags", "security_header", "authentication_level"})


@pytest.mark.parametrize(
    "change",
    [
        lambda message: stamp(message.packet, bytes(16), 1 << 32, 0),
        lambda message: stamp(message.packet, bytes(15), 0, 0),
        lambda message: patch(message, priority=8),
        lambda message: patch(message, priority=-1),
        lambda message: patch(message, routing_count=32),
        lambda message: patch(message, message_id=1 << 32),
        lambda message: patch(message, sent_time=-1),
        lambda message: patch(message, message_class=0x10000),
        lambda message: patch_place(message, 1 << 64, 1, 0),
        lambda message: patch_place(message, 1, 1 << 32, 0),
        lambda message: patch_place(message, 1, 1, -1),
        lambda message: patch_authentication(message, authenticated=True, level=16),
    ],
)
def test_a_value_that_does_not_fit_is_refused(change: Callable[[UserMessage], bytes]) -> None:
    with pytest.raises(ValueError, match=r"is not in 0\.\.|does not fit|16 bytes"):
        change(UserMessage(TRANSACTIONAL))


@given(user_messages, st.integers(0, 0x1F))
def test_another_routing_count_changes_five_bits(packet: bytes, count: int) -> None:
    changed, again = with_routing_count([packet, packet], count)
    assert changed == again == patch(UserMessage(packet), routing_count=count)


def test_a_routing_count_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="routing count 32"):
        with_routing_count([build_user_message(destination_queue=direct_address("OS:x"))], 32)


def test_a_header_that_is_not_there_cannot_be_patched() -> None:
    plain = UserMessage(build_user_message(destination_queue=direct_address("OS:a\\q")))
    with pytest.raises(ValueError, match="no TransactionHeader"):
        patch_transaction(plain, first_in_transaction=True)
    with pytest.raises(ValueError, match="no TransactionHeader"):
        patch_place(plain, 1, 1, 0)
    with pytest.raises(ValueError, match="no SecurityHeader"):
        patch_authentication(plain, authenticated=True, level=1)
    with pytest.raises(ValueError, match="no SRMP headers"):
        without_srmp_headers(plain)
    traced = build_user_message(destination_queue=direct_address("OS:a\\q"), tracing_requested=True)
    with pytest.raises(ValueError, match="no SRMP headers"):
        without_srmp_headers(UserMessage(traced))


SRMP = (SRMPEnvelopeHeader("<Envelope/>"), CompoundMessageHeader(b"POST inner", 5, 5))


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"soap_header": SoapHeader("<a/>", "<b/>")},
        {"multi_queue_format_header": MultiQueueFormatHeader((), (), (), b"sig")},
        {"tracing_requested": True, "tracing_queue": UUID(int=5)},
        {
            "tracing_requested": True,
            "soap_header": SoapHeader("<a/>", "<b/>"),
            "multi_queue_format_header": MultiQueueFormatHeader((), (), (), b"sig"),
        },
    ],
)
@pytest.mark.parametrize(("body", "kept"), [(b"", b"inner"), (b"own", b"own")])
def test_srmp_headers_are_cut_out(others: dict[str, Any], body: bytes, kept: bytes) -> None:
    destination = direct_address("OS:a\\q")
    whole = build_user_message(
        destination_queue=destination, body=body, srmp_headers=SRMP, label="x", **others
    )
    expected = build_user_message(destination_queue=destination, body=kept, label="x", **others)
    assert without_srmp_headers(UserMessage(whole)) == expected
    # Headers of a remote read that follow stay where they are.
    longer = bytearray(whole + b"more")
    longer[8:12] = len(longer).to_bytes(4, "little")
    found = without_srmp_headers(UserMessage(bytes(longer)))
    assert found[12:] == expected[12:] + b"more"

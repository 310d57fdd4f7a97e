"""Fields of a packet without a view of the message: the same as a view says."""

from uuid import UUID

import pytest

from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_patch import (
    BASE_FLAGS,
    INTERNAL_BIT,
    RECOVERABLE_BIT,
    SESSION_HEADER_BIT,
    USER_FLAGS,
    identifier_of,
    source_of,
    with_session_header,
    without_session_header,
)
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.base_header import BaseHeaderFlags
from openmsmq.wire.scalars import TxSequenceID

SOURCE = UUID(int=0x0102030405060708090A0B0C0D0E0F10)
NAME = direct_address(r"OS:host\private$\q")


def packet(**properties: int) -> bytes:
    return build_user_message(
        destination_queue=NAME,
        source_queue_manager=SOURCE,
        message_id=0x11223344,
        delivery_mode=properties.get("delivery_mode", 0),
    )


def test_source_and_identifier_are_those_of_the_message() -> None:
    assert source_of(packet()) == SOURCE.bytes_le == UserMessage(packet()).source
    assert identifier_of(packet()) == SOURCE.bytes_le + bytes.fromhex("44332211")


@pytest.mark.parametrize("mode", [0, 1])
def test_the_delivery_mode_is_found(mode: int) -> None:
    assert bool(packet(delivery_mode=mode)[USER_FLAGS] & RECOVERABLE_BIT) == bool(mode)


def test_the_bit_of_the_session_header_is_set_and_cleared_and_no_other() -> None:
    plain = packet()
    announcing = with_session_header(plain)
    assert UserMessage(announcing).base_flags == UserMessage(plain).base_flags | BaseHeaderFlags.SH
    assert announcing[BASE_FLAGS] & SESSION_HEADER_BIT
    assert not announcing[BASE_FLAGS] & INTERNAL_BIT
    assert without_session_header(announcing) == plain
    assert without_session_header(plain) == plain
    assert with_session_header(announcing) == announcing


def test_the_sequence_of_a_transactional_message_stands_in_its_header() -> None:
    header = TransactionHeader(0, TxSequenceID.from_value(0x0102030405060708), 1, 0)
    ordered = build_user_message(destination_queue=NAME, transaction_header=header)
    assert UserMessage(ordered).raw_tx_sequence_id[::-1] == bytes(range(1, 9))
    assert UserMessage(packet()).raw_tx_sequence_id == b""

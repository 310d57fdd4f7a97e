"""[MS-MQMQ] 2.2.20.5."""

from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.strategies import transaction_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.scalars import TxSequenceID

GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
PLAIN = bytes.fromhex("3e7d5ac0 01000000 02000000 03000000 04000000")
WITH_CONNECTOR = bytes.fromhex("01000000") + PLAIN[4:] + GUID.bytes_le


def test_layout_without_connector() -> None:
    header, end = TransactionHeader.parse(b"\xff" + PLAIN, 1)
    assert end == 21
    assert header == TransactionHeader(
        flags=0xC05A7D3E,
        tx_sequence_id=TxSequenceID(time_stamp=2, ordinal=1),
        tx_sequence_number=3,
        previous_tx_sequence_number=4,
    )
    assert header.transaction_id == 0x5A7D3
    assert header.flags & 0xF == (
        TransactionHeaderFlags.FA | TransactionHeaderFlags.FM | TransactionHeaderFlags.LM
    )
    assert header.serialize() == PLAIN


def test_layout_with_connector() -> None:
    header, end = TransactionHeader.parse(WITH_CONNECTOR)
    assert end == 36
    assert header.connector_qm_guid == GUID
    assert header.serialize() == WITH_CONNECTOR


@given(transaction_headers)
def test_parse_reverses_serialize(header: TransactionHeader) -> None:
    raw = header.serialize()
    assert TransactionHeader.parse(memoryview(raw)) == (header, len(raw))


@pytest.mark.parametrize("size", range(20))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match="TransactionHeader at offset 0: needs 20 bytes"):
        TransactionHeader.parse(PLAIN[:size])


@pytest.mark.parametrize("size", range(20, 36))
def test_a_connector_that_is_cut_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match="ConnectorQMGuid at offset 20: needs 16 bytes"):
        TransactionHeader.parse(WITH_CONNECTOR[:size])

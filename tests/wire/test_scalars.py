"""[MS-MQMQ] 2.2.8, 2.2.18.1.2, 2.2.18.1.3, 2.2.18.1.8; [MS-DTYP] 2.3.4.2."""

from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.strategies import (
    guids,
    message_identifiers,
    tx_sequence_ids,
    xact_uows,
)

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID, XactUow, guid, guid_bytes

# ClientGuid of frame 4 of [MS-MQQB] 4.1, as decoded in the vectors.
GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
GUID_BYTES = bytes.fromhex("0523741f5ebe7741bc77c4dd7719e474")


def test_the_first_three_parts_of_a_guid_are_little_endian() -> None:
    assert guid(GUID_BYTES) == GUID
    assert guid_bytes(GUID) == GUID_BYTES


@given(guids)
def test_guid_reverses_guid_bytes(value: UUID) -> None:
    assert guid(guid_bytes(value)) == value


def test_message_identifier_is_a_guid_and_an_ordinal() -> None:
    raw = GUID_BYTES + b"\xee\x08\x00\x00"
    assert MessageIdentifier.parse(b"\xff" + raw, 1) == ((GUID, 2286), 21)
    assert MessageIdentifier(GUID, 2286).serialize() == raw


def test_message_identifier_as_text() -> None:
    text = "{1F742305-BE5E-4177-BC77-C4DD7719E474}\\2286"
    assert str(MessageIdentifier(GUID, 2286)) == text
    assert MessageIdentifier.from_text(text) == (GUID, 2286)
    assert MessageIdentifier.from_text(text.lower().replace("{", "").replace("}", "")) == (
        GUID,
        2286,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{1F742305-BE5E-4177-BC77-C4DD7719E474}",
        "{1F742305-BE5E-4177-BC77-C4DD7719E474}\\",
        "{1F742305-BE5E-4177-BC77-C4DD7719E474}\\-1",
        "{1F742305-BE5E-4177-BC77-C4DD7719E474}\\4294967296",
        "{1F742305-BE5E-4177-BC77-C4DD7719E474}\\\N{ARABIC-INDIC DIGIT ONE}",
        "{1F742305BE5E4177BC77C4DD7719E474}\\1",
    ],
)
def test_other_text_is_no_message_identifier(text: str) -> None:
    with pytest.raises(ValueError, match="not a message identifier"):
        MessageIdentifier.from_text(text)


@given(message_identifiers)
def test_message_identifier_survives_bytes_and_text(value: MessageIdentifier) -> None:
    assert MessageIdentifier.parse(value.serialize()) == (value, 20)
    assert MessageIdentifier.from_text(str(value)) == value


def test_tx_sequence_id_has_the_ordinal_first() -> None:
    raw = bytes.fromhex("0100000002000000")
    assert TxSequenceID.parse(raw) == (TxSequenceID(time_stamp=2, ordinal=1), 8)
    assert TxSequenceID(time_stamp=2, ordinal=1).serialize() == raw
    assert TxSequenceID(time_stamp=2, ordinal=1).value == 0x0000000200000001


@given(tx_sequence_ids, tx_sequence_ids)
def test_tx_sequence_ids_compare_as_one_number(first: TxSequenceID, second: TxSequenceID) -> None:
    assert (first < second) == (first.value < second.value)


@given(tx_sequence_ids)
def test_tx_sequence_id_survives_bytes_and_number(value: TxSequenceID) -> None:
    assert TxSequenceID.parse(value.serialize()) == (value, 8)
    assert TxSequenceID.from_value(value.value) == value


@given(xact_uows)
def test_xactuow_survives_bytes(value: XactUow) -> None:
    assert XactUow.parse(value.serialize()) == (value, 16)


@pytest.mark.parametrize(
    ("structure", "size"), [(MessageIdentifier, 20), (TxSequenceID, 8), (XactUow, 16)]
)
def test_a_short_buffer_is_malformed(
    structure: type[MessageIdentifier | TxSequenceID | XactUow], size: int
) -> None:
    for length in range(size):
        with pytest.raises(MalformedPacket, match=f"needs {size} bytes, {length} remain"):
            structure.parse(bytes(length))

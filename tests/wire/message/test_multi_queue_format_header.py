"""[MS-MQMQ] 2.2.20.1-2.2.20.3, 2.2.18.1.4."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
    raw_lists,
)

GUID = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
GUID_HEX = "0523741f5ebe7741bc77c4dd7719e474"
PUBLIC = MQFFormatNameElement(MQFFormatType.PUBLIC, GUID)
PRIVATE = MQFFormatNameElement(MQFFormatType.PRIVATE, GUID, 0x2A)
DIRECT = MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="OS:h\\q")
LIST = MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, GUID)

HEADER = MultiQueueFormatHeader((DIRECT, PUBLIC), (PRIVATE,), (LIST,), b"sig")
DESTINATION = (
    "30000000 6400 0000 02000000"
    "0300 4f0053003a0068005c0071000000"  # 12..28: the type, then the name at once
    f"0100 0000 {GUID_HEX}"  # 28..48: the type, two bytes of padding, the GUID
)
ADMINISTRATION = f"24000000 c800 0000 01000000 0200 0000 {GUID_HEX} 2a000000"
RESPONSE = f"20000000 2c01 0000 01000000 0600 0000 {GUID_HEX}"
SIGNATURE = "5e01 0000 03000000 736967 00"
RAW = bytes.fromhex(DESTINATION + ADMINISTRATION + RESPONSE + SIGNATURE)

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
elements = st.one_of(
    st.uuids().map(lambda guid: MQFFormatNameElement(MQFFormatType.PUBLIC, guid)),
    st.tuples(st.uuids(), st.integers(0, 0xFFFFFFFF)).map(
        lambda pair: MQFFormatNameElement(MQFFormatType.PRIVATE, *pair)
    ),
    names.map(lambda name: MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name=name)),
    st.uuids().map(lambda guid: MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, guid)),
)
lists = st.lists(elements, max_size=5).map(tuple)


def test_layout() -> None:
    assert HEADER.serialize() == RAW
    assert MultiQueueFormatHeader.parse(memoryview(RAW)) == (HEADER, len(RAW))


@given(lists, lists, lists, st.binary(max_size=9))
def test_parse_reverses_serialize(
    destination: tuple[MQFFormatNameElement, ...],
    administration: tuple[MQFFormatNameElement, ...],
    response: tuple[MQFFormatNameElement, ...],
    signature: bytes,
) -> None:
    header = MultiQueueFormatHeader(destination, administration, response, signature)
    raw = header.serialize()
    assert len(raw) % 4 == 0
    assert MultiQueueFormatHeader.parse(memoryview(raw)) == (header, len(raw))


@pytest.mark.parametrize("offset", [1, 2, 3, 4])
def test_boundaries_count_from_the_start_of_the_header(offset: int) -> None:
    raw = memoryview(bytes(offset) + RAW)
    assert MultiQueueFormatHeader.parse(raw, offset) == (HEADER, offset + len(RAW))


def test_header_size_may_leave_out_the_final_padding() -> None:
    one = MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="OS:hh\\q")
    raw = bytearray(MultiQueueFormatHeader((one,)).serialize())
    assert raw[0] == 32
    raw[0] = 30
    assert MultiQueueFormatHeader.parse(memoryview(raw))[0].destination == (one,)


def test_a_half_of_a_surrogate_pair_is_replaced() -> None:
    raw = RAW[:14] + b"\x00\xd8" + RAW[16:]
    element = MultiQueueFormatHeader.parse(raw)[0].destination[0]
    assert element.direct_format_name == "\ufffdS:h\\q"


def test_the_number_of_queues_has_a_limit() -> None:
    header = MultiQueueFormatHeader((LIST,) * 510, (), (LIST,) * 2)
    raw = header.serialize()
    assert MultiQueueFormatHeader.parse(raw)[0] == header
    with pytest.raises(ValueError, match="at most 512 queues, not 513"):
        MultiQueueFormatHeader((LIST,) * 510, (LIST,), (LIST,) * 2).serialize()
    third = bytes.fromhex("48000000 2c01 0000 03000000") + RAW[96:116] * 3
    longer = raw[: raw.index(bytes.fromhex("2c01000002000000")) - 4] + third
    with pytest.raises(MalformedPacket, match="3 is more than 2 or than 60 bytes hold"):
        MultiQueueFormatHeader.parse(longer)


def test_padding_and_reserved_fields_are_ignored() -> None:
    raw = bytearray(RAW)
    raw[6:8] = raw[30:32] = raw[54:56] = b"\xff\xff"
    raw[-1] = 0xFF
    assert MultiQueueFormatHeader.parse(memoryview(raw)) == (HEADER, len(RAW))


@pytest.mark.parametrize(
    ("element", "format_name"),
    [
        (PUBLIC, "PUBLIC=1F742305-BE5E-4177-BC77-C4DD7719E474"),
        (PRIVATE, "PRIVATE=1F742305-BE5E-4177-BC77-C4DD7719E474\\2A"),
        (LIST, "DL=1F742305-BE5E-4177-BC77-C4DD7719E474"),
        (DIRECT, "DIRECT=OS:h\\q"),
        (
            MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="Direct=OS:h\\q"),
            "DIRECT=OS:h\\q",
        ),
    ],
)
def test_elements_print_as_format_names(element: MQFFormatNameElement, format_name: str) -> None:
    assert element.format_name == format_name


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 11, "Destination.HeaderSize", 0),
        (0, 0xFFFFFFFF, "Destination.HeaderSize", 0),
        (4, 0x000000C8, "Destination.HeaderID", 4),
        (8, 3, "Destination.FormatType", 48),
        (8, 10, "Destination.ElementCount", 8),
        (8, 0xFFFFFFFF, "Destination.ElementCount", 8),
        # 0x40000001 elements of 4 bytes would be 4 bytes modulo 2**32.
        (8, 0x40000001, "Destination.ElementCount", 8),
        (8, 1, "Destination.HeaderSize", 0),
        (12, 0x004F0004, "Destination.FormatType", 12),
        (28, 0x00000002, "Destination.FormatName", 32),
        (28, 0xFFFF0003, "Destination.DirectFormatName", 30),
        (52, 0x00000064, "Administration.HeaderID", 52),
        (88, 0x00000064, "Response.HeaderID", 88),
        (84, 0xFFFFFFFF, "Response.HeaderSize", 84),
        (116, 0x0000015F, "Signature.ID", 116),
        (120, 0xFFFFFFFF, "Signature.Size", 124),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(RAW)
    damaged[position : position + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        MultiQueueFormatHeader.parse(memoryview(damaged))
    assert caught.value.field == f"MultiQueueFormatHeader.{field}"
    assert caught.value.offset == offset


def test_an_element_does_not_reach_beyond_its_part() -> None:
    raw = bytearray(RAW)
    raw[84:88] = (28).to_bytes(4, "little")  # the Response part ends inside its GUID
    with pytest.raises(MalformedPacket, match=r"Response\.FormatName at offset 100: needs 16"):
        MultiQueueFormatHeader.parse(memoryview(raw))


@pytest.mark.parametrize("size", range(len(RAW) - 1))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        MultiQueueFormatHeader.parse(memoryview(RAW)[:size])


def test_a_signature_may_end_the_packet_without_padding() -> None:
    assert MultiQueueFormatHeader.parse(memoryview(RAW)[:-1]) == (HEADER, len(RAW) - 1)


def test_the_raw_lists_have_no_padding_at_their_end() -> None:
    odd = MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="OS:h\\qq")
    header = MultiQueueFormatHeader((PUBLIC, odd), (PRIVATE,), (), b"sig")
    raw = b"pad!" + header.serialize()
    public = bytes.fromhex(f"0100 0000 {GUID_HEX}")
    direct = b"\x03\0" + "OS:h\\qq\0".encode("utf-16-le")
    private = bytes.fromhex(f"0200 0000 {GUID_HEX} 2a000000")
    assert raw_lists(raw, 4) == (public + direct, private, b"")

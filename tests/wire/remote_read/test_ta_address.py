"""[MS-MQMQ] 2.2.4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.ta_address import TAAddress, TAAddressType

RAW = bytes.fromhex("0400 0100 7f000002")


def test_layout() -> None:
    address = TAAddress(TAAddressType.IP, bytes([127, 0, 0, 2]))
    assert TAAddress.parse(RAW) == (address, 8)
    assert address.serialize() == RAW


@pytest.mark.parametrize(
    ("address_type", "size"),
    [
        (TAAddressType.IP, 4),
        (TAAddressType.IP_RAS, 4),
        (TAAddressType.IPX, 10),
        (TAAddressType.FOREIGN, 16),
    ],
)
@given(st.data())
def test_parse_reverses_serialize(
    address_type: TAAddressType, size: int, data: st.DataObject
) -> None:
    address = TAAddress(address_type, data.draw(st.binary(min_size=size, max_size=size)))
    raw = memoryview(b"?" + address.serialize())
    assert TAAddress.parse(raw, 1) == (address, 5 + size)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (2, 4, "TA_ADDRESS.AddressType", 2),
        (2, 3, "TA_ADDRESS.AddressLength", 0),
        (0, 5, "TA_ADDRESS.AddressLength", 0),
        (1, 255, "TA_ADDRESS.AddressLength", 0),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(RAW)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        TAAddress.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(8))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        TAAddress.parse(RAW[:size])

"""[MS-MQMQ] 2.2.18.1.5, 2.2.19.2: the queue addresses of a UserHeader."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import encoded_addresses

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    QueueAddressType,
    address_end,
    direct_address,
    parse_direct,
    private_address,
    public_address,
    relative_address,
)

GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
GUID_HEX = "0523741f5ebe7741bc77c4dd7719e474"
OTHER = UUID("3C3A6AEB-F567-4143-87D3-85CF4D68CEB4")


@pytest.mark.parametrize(
    ("address", "hexadecimal"),
    [
        pytest.param(NO_QUEUE, "", id="none"),
        pytest.param(QueueAddress(1), "", id="same as admin"),
        pytest.param(QueueAddress(2, None, 0x2A), "2a000000", id="private on source"),
        pytest.param(QueueAddress(3, None, 0x2A), "2a000000", id="private on destination"),
        pytest.param(QueueAddress(4, None, 0x2A), "2a000000", id="private on admin"),
        pytest.param(public_address(GUID), GUID_HEX, id="public"),
        pytest.param(private_address(GUID, 0x2A), GUID_HEX + "2a000000", id="private"),
        # The count is in bytes, with the NUL and without the padding.
        pytest.param(direct_address("OS:a"), "0a004f0053003a0061000000", id="direct"),
        pytest.param(direct_address("OS:ab"), "0c004f0053003a00610062000000 0000", id="padded"),
    ],
)
def test_bytes_of_each_type(address: QueueAddress, hexadecimal: str) -> None:
    raw = bytes.fromhex(hexadecimal)
    assert address.serialize() == raw
    assert QueueAddress.parse(raw, 0, address.type) == (address, len(raw))


def test_types_have_the_codes_of_the_user_header() -> None:
    assert [kind.name for kind in sorted(QueueAddressType)] == [
        "NONE",
        "SAME_AS_ADMIN",
        "PRIVATE_ON_SOURCE",
        "PRIVATE_ON_DESTINATION",
        "PRIVATE_ON_ADMIN",
        "PUBLIC",
        "PRIVATE_ON_OTHER",
        "DIRECT",
    ]
    assert [*map(int, sorted(QueueAddressType))] == [*range(8)]


@given(encoded_addresses(*range(8)), st.integers(0, 9))
def test_parse_reverses_serialize_at_any_offset(address: QueueAddress, before: int) -> None:
    raw = address.serialize()
    parsed = QueueAddress.parse(memoryview(bytes(before) + raw), before, address.type, before)
    assert parsed == (address, before + len(raw))


@given(encoded_addresses(2, 3, 4, 5, 6, 7), st.data())
def test_a_cut_address_is_malformed(address: QueueAddress, data: st.DataObject) -> None:
    raw = address.serialize().rstrip(b"\0") if address.type == 7 else address.serialize()
    cut = raw[: data.draw(st.integers(0, len(raw) - 1))]
    with pytest.raises(MalformedPacket, match="remain"):
        QueueAddress.parse(cut, 0, address.type)


def test_a_cut_count_is_named_with_its_place() -> None:
    with pytest.raises(MalformedPacket, match="needs 2 bytes, 1 remain") as caught:
        address_end(bytes(6), 5, 7)
    assert caught.value.offset == 5


@pytest.mark.parametrize("count", [0, 1, 3, 0xFFFF])
def test_a_direct_name_has_whole_characters_and_at_least_the_nul(count: int) -> None:
    with pytest.raises(MalformedPacket, match="not the size of WCHARs"):
        QueueAddress.parse(count.to_bytes(2, "little") + bytes(70000), 0, 7)


def test_padding_is_not_looked_at() -> None:
    raw = bytes.fromhex("0c004f0053003a00610062000000 beef")
    assert QueueAddress.parse(raw, 0, 7) == (direct_address("OS:ab"), 16)


def test_padding_counts_from_the_start_of_the_user_header() -> None:
    raw = bytes(2) + bytes.fromhex("0a004f0053003a0061000000")
    assert address_end(raw, 2, 7, start=2) == 14
    assert address_end(raw, 2, 7, start=0) == 16


@pytest.mark.parametrize(
    ("hexadecimal", "name"),
    [
        pytest.param("06004f0053003a00", "OS:", id="no NUL"),
        pytest.param("08004f00000053000000", "O", id="NUL inside"),
        pytest.param("06004f0000d80000", "O\N{REPLACEMENT CHARACTER}", id="half a pair"),
    ],
)
def test_odd_names_are_read_as_far_as_they_make_sense(hexadecimal: str, name: str) -> None:
    assert QueueAddress.parse(bytes.fromhex(hexadecimal), 0, 7)[0] == direct_address(name)


@pytest.mark.parametrize(("length", "kept"), [(250, True), (260, False)])
def test_addresses_are_kept_only_while_their_names_are_short(*, length: int, kept: bool) -> None:
    raw = direct_address("OS:" + "a" * length).serialize()
    assert parse_direct(raw, 0) == parse_direct(raw, 0)
    assert (parse_direct(raw, 0) is parse_direct(raw, 0)) == kept


@pytest.mark.parametrize("length", [256, 257, 512, 513, 600, 32766])
def test_long_names_survive(length: int) -> None:
    address = direct_address("x" * length)
    assert QueueAddress.parse(address.serialize(), 0, 7)[0] == address


@pytest.mark.parametrize(
    "address",
    [
        QueueAddress(5),
        QueueAddress(6, None, 1),
        QueueAddress(7),
        direct_address("OS:a\0b"),
        direct_address("x" * 32767),
    ],
)
def test_an_address_without_what_its_type_needs_cannot_be_written(address: QueueAddress) -> None:
    with pytest.raises(ValueError, match=r"GUID|direct format name"):
        address.serialize()


@pytest.mark.parametrize(
    ("address", "admin", "expected"),
    [
        (private_address(GUID, 7), NO_QUEUE, QueueAddress(2, None, 7)),
        (private_address(OTHER, 7), NO_QUEUE, QueueAddress(3, None, 7)),
        (private_address(UUID(int=5), 7), NO_QUEUE, private_address(UUID(int=5), 7)),
        (
            private_address(UUID(int=5), 7),
            private_address(UUID(int=5), 8),
            QueueAddress(4, None, 7),
        ),
        (
            private_address(UUID(int=5), 7),
            private_address(UUID(int=6), 7),
            private_address(UUID(int=5), 7),
        ),
        (private_address(UUID(int=5), 7), public_address(UUID(int=5)), None),
        (public_address(GUID), NO_QUEUE, None),
        (public_address(GUID), public_address(GUID), QueueAddress(1)),
        (direct_address("OS:a"), direct_address("OS:a"), QueueAddress(1)),
        (direct_address("OS:a"), direct_address("OS:b"), None),
        (NO_QUEUE, NO_QUEUE, None),
    ],
)
def test_the_shortest_encoding_is_chosen(
    address: QueueAddress, admin: QueueAddress, expected: QueueAddress | None
) -> None:
    assert relative_address(address, GUID, OTHER, admin) == (expected or address)

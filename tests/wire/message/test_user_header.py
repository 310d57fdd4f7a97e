"""[MS-MQMQ] 2.2.19.2."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame_bytes
from tests.wire.strategies import user_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_header import UserHeader, UserHeaderFlags, check_address_types
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import GUID_NULL


@pytest.mark.spec("MQQB-4.1.7-02")
def test_user_header_of_the_example() -> None:
    raw = frame_bytes(7)
    header, end = UserHeader.parse(raw, 16)
    assert header == UserHeader(
        flags=UserHeaderFlags.SH | UserHeaderFlags.MP,
        source_queue_manager=UUID("557358D1-9150-9595-4997-B6E611EA26C6"),
        message_id=2286,
        # The bytes of SentTime are those of the signature.
        sent_time=0x524F494C,
        destination_queue=direct_address("OS:a04bm02\\q"),
        queue_manager_address=GUID_NULL,
    )
    assert raw[64:66] == b"\x1a\x00"
    assert end == 64 + 28
    assert header.serialize() == raw[16:92]


@given(user_headers)
def test_parse_reverses_serialize(header: UserHeader) -> None:
    raw = header.serialize()
    assert len(raw) % 4 == 0
    assert UserHeader.parse(memoryview(b"\xff\xff" + raw), 2) == (header, 2 + len(raw))


@given(user_headers, st.data())
def test_a_cut_header_is_malformed(header: UserHeader, data: st.DataObject) -> None:
    raw = header.serialize()
    # The padding of a direct name at the very end may be missing.
    cut = data.draw(st.integers(0, len(raw) - 4))
    with pytest.raises(MalformedPacket):
        UserHeader.parse(raw[:cut])


@pytest.mark.parametrize("destination", range(8))
@pytest.mark.parametrize("admin", range(8))
def test_undefined_address_types_are_malformed(destination: int, admin: int) -> None:
    flags = destination << 10 | admin << 13 | 0xFFFF03FF
    if destination not in {0, 3, 5, 7}:
        with pytest.raises(MalformedPacket, match=rf"Flags.DQ at offset 60: {destination} is not"):
            check_address_types(flags, 60)
    elif admin not in {0, 2, 3, 5, 6, 7}:
        with pytest.raises(MalformedPacket, match=rf"Flags.AQ at offset 60: {admin} is not"):
            check_address_types(flags, 60)
    else:
        check_address_types(flags, 60)

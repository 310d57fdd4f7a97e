"""[MS-MQMQ] 2.2.20.6."""

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame, frame_bytes
from tests.wire.strategies import provider_infos, security_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.security_header import (
    ProviderInfo,
    SecurityHeader,
    SecurityHeaderFlags,
    security_header_end,
    signature_and_certificate,
)
from openmsmq.wire.security.sid import SID

EVERY_ITEM = SecurityHeader(
    flags=0x0582 | SecurityHeaderFlags.EB,
    security_id=b"id",
    encryption_key=b"keys!",
    signature=b"sign",
    sender_cert=b"certifi",
    provider_info=ProviderInfo(0x18, "P"),
)


@pytest.mark.spec("MQQB-4.1.7-03")
def test_security_header_of_the_example_has_a_sid_although_ai_is_clear() -> None:
    raw = frame_bytes(7)
    header, end = SecurityHeader.parse(raw, 92)
    assert end == 136
    assert header == SecurityHeader(flags=0x0001, security_id=raw[108:136])
    assert header.sender_id_type == 1
    assert not header.flags & SecurityHeaderFlags.AI
    assert (
        str(SID.parse(header.security_id)[0]) == frame(7)["fields"]["SecurityHeader"]["SecurityID"]
    )
    assert header.serialize() == raw[92:136]


@pytest.mark.spec("MQDMPR-3.1.7.1.32-07", "MQDMPR-3.1.7.1.32-09")
def test_items_come_in_order_each_on_four_bytes() -> None:
    raw = EVERY_ITEM.serialize()
    assert raw == (
        bytes.fromhex("a205 0200 0500 0400 07000000 08000000")
        + b"id\0\0"
        + b"keys!\0\0\0"
        + b"sign"
        + b"certifi\0"
        + bytes.fromhex("18000000 50000000")
    )
    assert SecurityHeader.parse(raw) == (EVERY_ITEM, len(raw))


@given(security_headers, st.integers(0, 5))
def test_parse_reverses_serialize(header: SecurityHeader, before: int) -> None:
    raw = header.serialize()
    parsed = SecurityHeader.parse(memoryview(bytes(before) + raw), before)
    assert parsed == (header, before + len(raw))


@given(provider_infos)
def test_provider_info_reverses_serialize(info: ProviderInfo) -> None:
    assert ProviderInfo.parse(info.serialize()) == info


def test_padding_is_not_looked_at_and_may_be_missing_at_the_end() -> None:
    raw = EVERY_ITEM.serialize()
    assert SecurityHeader.parse(raw.replace(b"id\0\0", b"id\xbe\xef"))[0] == EVERY_ITEM
    only_id = SecurityHeader(flags=1, security_id=b"id")
    assert SecurityHeader.parse(only_id.serialize()[:18]) == (only_id, 18)


@pytest.mark.parametrize("header", [EVERY_ITEM, SecurityHeader(1, b"a SID")])
def test_a_cut_header_is_malformed(header: SecurityHeader) -> None:
    raw = header.serialize()
    for cut in range(len(raw.rstrip(b"\0"))):
        with pytest.raises(MalformedPacket, match="remain"):
            security_header_end(raw[:cut], 0)


@given(security_headers)
def test_the_end_is_known_without_the_items(header: SecurityHeader) -> None:
    raw = header.serialize()
    assert security_header_end(b"\xff" + raw, 1) == 1 + len(raw)


@pytest.mark.parametrize(
    ("sizes", "field"),
    [
        ((1, 0, 0, 0, 0), "SecurityID"),
        ((0, 0xFFFF, 0, 0, 0), "EncryptionKey"),
        ((0, 0, 0xFFFF, 0, 0), "Signature"),
        ((0, 0, 0, 0xFFFF, 0), "SenderCert"),
        ((0, 0, 0, 0, 0xFFFFFFFE), "ProviderInfo"),
        ((0, 0, 0, 0x10000, 0), "SenderCertSize"),
        ((0, 0, 0, 0xFFFFFFFF, 0), "SenderCertSize"),
        ((0, 0, 0, 0, 2), "ProviderInfoSize"),
        ((0, 0, 0, 0, 7), "ProviderInfoSize"),
    ],
)
def test_sizes_are_checked_before_use(sizes: tuple[int, ...], field: str) -> None:
    raw = pack("<HHHHII", 0x80, *sizes)
    for read in (SecurityHeader.parse, security_header_end):
        with pytest.raises(MalformedPacket) as caught:
            read(raw, 0)
        assert caught.value.field == f"SecurityHeader.{field}"


def test_a_header_without_items_is_read() -> None:
    assert SecurityHeader.parse(bytes(16)) == (SecurityHeader(0), 16)


@pytest.mark.parametrize("sizes", [(0, 0, 0, 0), (28, 12, 256, 700), (1, 2, 3, 5)])
def test_signature_and_certificate_are_found_without_the_rest(sizes: tuple[int, ...]) -> None:
    sender, key, signature, certificate = (bytes([size & 255]) * size for size in sizes)
    raw = b"pad!" + SecurityHeader(1, sender, key, signature, certificate).serialize()
    assert signature_and_certificate(raw, 4) == (signature, certificate)

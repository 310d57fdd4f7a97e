"""Packets: bytes as RFC 3208 draws them, and everything that is refused."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from tests.wire.pgm.strategies import PACKETS

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    Header,
    NakPacket,
    Options,
    OtherPacket,
    Packet,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
    checksum_of,
    parse_packet,
)
from openmsmq.wire.pgm.options import NO_OPTIONS

TSI = TransportSessionId(bytes.fromhex("0a0b0c0d0e0f"), 0x1234)
SOURCE = IPv4Address("10.0.0.1")
GROUP = IPv4Address("234.1.1.1")
SPM = SourcePathMessage(TSI, 8001, 1, 2, 3, SOURCE)
ODATA = DataPacket(TSI, 8001, False, 5, 4, b"data")
NAK = NakPacket(PacketType.NAK, TSI, 8001, 7, SOURCE, GROUP)

LAYOUTS: list[tuple[Packet, str]] = [
    (SPM, "1234 1f41 00 00 {} 0a0b0c0d0e0f 0000 00000001 00000002 00000003 0001 0000 0a000001"),
    (
        replace(SPM, path_nla=IPv6Address("::1"), options=Options(fin=True)),
        (
            "1234 1f41 00 01 {} 0a0b0c0d0e0f 0000 00000001 00000002 00000003"
            "0002 0000 00000000000000000000000000000001 00040008 8e040000"
        ),
    ),
    (
        replace(SPM, options=Options(rst=Reset(no_naks=True, error_code=5))),
        (
            "1234 1f41 00 01 {} 0a0b0c0d0e0f 0000 00000001 00000002 00000003"
            "0001 0000 0a000001 00040008 8f040045"
        ),
    ),
    (ODATA, "1234 1f41 04 00 {} 0a0b0c0d0e0f 0004 00000005 00000004 64617461"),
    (
        replace(ODATA, is_repair=True, options=Options(Fragment(5, 0, 9), syn=True)),
        (
            "1234 1f41 05 01 {} 0a0b0c0d0e0f 0004 00000005 00000004"
            "00040018 01100000 00000005 00000000 00000009 8d040000 64617461"
        ),
    ),
    (
        replace(ODATA, options=Options(join=4)),
        "1234 1f41 04 01 {} 0a0b0c0d0e0f 0004 00000005 00000004 0004000c 83080000 0000000464617461",
    ),
    (
        replace(NAK, options=Options(nak_list=(8, 9))),
        (
            "1f41 1234 08 03 {} 0a0b0c0d0e0f 0000 00000007 00010000 0a000001 00010000 ea010101"
            "00040010 820c0000 00000008 00000009"
        ),
    ),
    (
        replace(NAK, type=PacketType.NNAK),
        "1f41 1234 09 00 {} 0a0b0c0d0e0f 0000 00000007 00010000 0a000001 00010000 ea010101",
    ),
    (
        replace(NAK, type=PacketType.NCF),
        "1234 1f41 0a 00 {} 0a0b0c0d0e0f 0000 00000007 00010000 0a000001 00010000 ea010101",
    ),
]


def signed(text: str) -> bytes:
    """The bytes of a layout, with their checksum in the place of `{}`."""
    checksum = checksum_of(bytes.fromhex(text.format("0000")))
    return bytes.fromhex(text.format(f"{checksum:04x}"))


def refused(data: bytes) -> MalformedPacket:
    with pytest.raises(MalformedPacket) as caught:
        parse_packet(data)
    return caught.value


@pytest.mark.parametrize(("packet", "layout"), LAYOUTS)
def test_a_packet_has_the_layout_of_the_drawing(packet: SourcePathMessage, layout: str) -> None:
    assert packet.serialize() == signed(layout)
    assert parse_packet(signed(layout)) == packet


@given(PACKETS)
def test_what_is_written_is_read_again(packet: SourcePathMessage) -> None:
    assert parse_packet(packet.serialize()) == packet
    assert parse_packet(memoryview(packet.serialize())) == packet


def test_the_checksum_is_checked_and_data_must_have_one() -> None:
    for packet in (SPM, ODATA, NAK):
        data = packet.serialize()
        assert refused(data[:-1] + bytes([data[-1] ^ 1])).field == "Header.Checksum"
    for packet in (SPM, NAK):
        data = packet.serialize()
        assert parse_packet(data[:6] + b"\0\0" + data[8:]) == packet
    data = ODATA.serialize()
    assert refused(data[:6] + b"\0\0" + data[8:]).field == "Header.Checksum"


def test_every_cut_of_a_packet_is_refused() -> None:
    for _, layout in LAYOUTS:
        data = bytes.fromhex(layout.format("0000"))
        for size in range(len(data)):
            cut = data[:size]
            if size >= 8:
                cut = cut[:6] + checksum_of(cut).to_bytes(2, "big") + cut[8:]
            refused(cut)


def test_data_is_as_long_as_the_header_says() -> None:
    for length in ("0003", "0005"):
        text = f"1234 1f41 04 00 {{}} 0a0b0c0d0e0f {length} 00000005 00000004 64617461"
        assert refused(signed(text)).field in ("Header.TSDULength", "DataPacket.Data")


def test_another_version_is_refused() -> None:
    for kind in ("40", "10", "f4"):
        error = refused(signed(f"1234 1f41 {kind} 00 {{}} 0a0b0c0d0e0f 0000"))
        assert error.field == "Header.Type"


def test_polls_and_parity_packets_are_other_packets() -> None:
    for kind, options in ((0x01, 0), (0x0C, 0), (0x0D, 0), (0x04, 0x80), (0x08, 0x80)):
        packet = parse_packet(signed(f"0001 0002 {kind:02x}{options:02x} {{}} 0a0b0c0d0e0f 0000"))
        assert isinstance(packet, OtherPacket)
        assert (packet.header.type, packet.header.options) == (kind, options)


def test_an_unknown_address_family_is_refused() -> None:
    for layout in (LAYOUTS[0][1], LAYOUTS[-1][1]):
        unknown = layout.replace("0001 0000", "0003 0000").replace("00010000", "00030000")
        assert "NLA" in refused(signed(unknown)).field


def test_a_packet_of_another_type_is_no_nak() -> None:
    with pytest.raises(MalformedPacket, match="not that of a NAK"):
        NakPacket.parse(SPM.serialize())


@pytest.mark.parametrize(
    "options",
    [
        "",  # Nothing where OPT_LENGTH should be.
        "01100008 8e040000",  # Not OPT_LENGTH.
        "00080008 8e040000",  # OPT_LENGTH of another length.
        "0004000c 8e040000",  # More than there is.
        "00040004",  # No option at all.
        "00040002",  # Shorter than OPT_LENGTH itself.
        "00040008 0e040000",  # No OPT_END.
        "0004000c 8e040000 8d040000",  # An option behind the last one.
        "00040008 8e030000",  # Shorter than an option.
        "00040008 8e080000",  # Longer than the options are together.
        "0004000c 8e080000 00000000",  # Longer than OPT_FIN is.
        "00040014 810c0000 00000005 00000000",  # OPT_FRAGMENT without its length.
        "0004000c 0d040000 8d040000",  # Repeated.
        "00040008 82040000",  # An empty list.
        "0004000a 82060000 0000",  # Half a number.
        "00040104 82ff0000" + "00" * 251,  # Not whole numbers.
        "00040048" + "7e040000" * 16 + "fe040000",  # Seventeen options.
    ],
)
def test_bad_options_are_refused(options: str) -> None:
    refused(
        signed(
            "1234 1f41 00 01 {} 0a0b0c0d0e0f 0000 00000001 00000002 00000003 0001 0000 0a000001"
            + options
        )
    )


def test_unknown_options_are_ignored() -> None:
    spm = signed(
        "1234 1f41 00 01 {} 0a0b0c0d0e0f 0000 00000001 00000002 00000003 0001 0000 0a000001"
        "0004004c 7e040000 70040000 fd400000" + "00" * 60
    )
    assert parse_packet(spm) == SPM


def test_an_spm_may_have_no_window() -> None:
    assert SPM.has_window
    assert not replace(SPM, trailing_edge=0, leading_edge=0x80000000).has_window


def test_a_nak_names_all_its_numbers() -> None:
    assert NAK.sequence_numbers == (7,)
    assert replace(NAK, options=Options(nak_list=(8, 9))).sequence_numbers == (7, 8, 9)


def test_a_source_is_named_by_its_identifier_and_port() -> None:
    assert str(TSI) == "0a0b0c0d0e0f.4660"


def test_no_options_take_no_bytes() -> None:
    assert NO_OPTIONS.serialize() == b""
    header = Header.parse(ODATA.serialize())[0]
    assert (header.options, header.tsdu_length) == (0, 4)

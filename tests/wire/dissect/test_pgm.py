"""PGM packets as trees, whole and damaged."""

import pytest
from tests.protocol.pgm.network import GROUP, PORT, SOURCE_NLA, TSI

from openmsmq.wire.dissect import ApduCollector, dissect_pgm, summarize_pgm
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    NakPacket,
    Options,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
)

SPM = SourcePathMessage(TSI, PORT, 3, 100, 120, SOURCE_NLA)
SESSION = f"session {TSI} to port {PORT}"


def data(number: int, content: bytes, options: Options | None = None) -> bytes:
    return DataPacket(TSI, PORT, False, number, 100, content, options or Options()).serialize()


@pytest.mark.parametrize(
    ("packet", "name", "text"),
    [
        (SPM.serialize(), "PgmSPM", f"{SESSION}, window 100 to 120"),
        (data(100, b"abc"), "PgmODATA", f"{SESSION}, packet 100, 3 bytes"),
        (
            data(100, b"abc", Options(fragment=Fragment(99, 5, 8), syn=True, fin=True)),
            "PgmODATA",
            (
                f"{SESSION}, packet 100, 3 bytes (OPT_FRAGMENT 5 of 8 bytes from packet 99 on; "
                "OPT_SYN the session begins; OPT_FIN the session ends)"
            ),
        ),
        (
            NakPacket(
                PacketType.NAK, TSI, PORT, 7, SOURCE_NLA, GROUP, Options(nak_list=(8, 9))
            ).serialize(),
            "PgmNAK",
            f"{SESSION}, about 7, 8, 9 (OPT_NAK_LIST 8, 9)",
        ),
        (
            SourcePathMessage(
                TSI, PORT, 3, 1, 2, SOURCE_NLA, Options(join=1, rst=Reset(True, 5))
            ).serialize(),
            "PgmSPM",
            f"{SESSION}, window 1 to 2 (OPT_JOIN 1; OPT_RST the session is reset, error 5)",
        ),
    ],
)
def test_a_packet_in_one_line(packet: bytes, name: str, text: str) -> None:
    summary = summarize_pgm(packet)
    assert (summary.name, summary.text, summary.fault) == (name, text, None)


def test_every_field_is_shown() -> None:
    tree = dissect_pgm(data(100, b"abc"))
    kind, content = tree.find("Header", "Type"), tree.find("Data")
    assert kind is not None
    assert (kind.value, kind.meaning) == (4, "ODATA")
    assert content is not None
    assert (content.value, content.offset, content.size) == (b"abc", 24, 3)


def test_options_are_shown_where_they_stand() -> None:
    packet = data(100, b"abc", Options(fragment=Fragment(99, 5, 8), fin=True))
    shown = [(node.name, node.offset, node.size) for node in dissect_pgm(packet).children[3:]]
    assert shown == [
        ("OPT_LENGTH", 24, 4),
        ("OPT_FRAGMENT", 28, 16),
        ("OPT_FIN", 44, 4),
        ("Data", 48, 3),
    ]
    nak = NakPacket(PacketType.NAK, TSI, PORT, 7, SOURCE_NLA, GROUP, Options(nak_list=(8, 9)))
    (length, numbers) = dissect_pgm(nak.serialize()).children[-2:]
    assert (length.offset, length.value, numbers.offset, numbers.size) == (36, 16, 40, 12)
    # An option that sources and receivers do not use, instead of OPT_FIN.
    other = bytearray(
        SourcePathMessage(TSI, PORT, 3, 1, 2, SOURCE_NLA, Options(fin=True)).serialize()
    )
    other[-4] = 0x80 | 0x11
    other[6:8] = b"\0\0"
    tree = dissect_pgm(bytes(other))
    assert (tree.children[-1].name, tree.first_fault()) == ("Option11", None)
    assert tree.children[-1].offset == len(other) - 4


def test_a_packet_of_another_kind_has_its_header() -> None:
    poll = bytearray(SPM.serialize())
    poll[4] = 1
    poll[6:8] = b"\0\0"
    tree = dissect_pgm(bytes(poll))
    assert (tree.name, tree.first_fault()) == ("PgmOther", None)


def test_a_damaged_packet_is_shown_up_to_the_fault() -> None:
    packet = data(100, b"abc")
    for size in range(len(packet)):
        assert dissect_pgm(packet[:size]).first_fault() is not None
    fault = dissect_pgm(packet[:-1] + b"x").first_fault()
    assert fault is not None
    assert fault.field == "Header.Checksum"


# APDUs


def pieces(tsi: TransportSessionId = TSI) -> list[bytes]:
    parts = ((10, 0, b"aaa"), (11, 3, b"bbb"), (12, 6, b"c"))
    return [
        DataPacket(
            tsi, PORT, False, number, 1, part, Options(fragment=Fragment(10, offset, 7))
        ).serialize()
        for number, offset, part in parts
    ]


def test_fragments_are_put_together() -> None:
    collector = ApduCollector()
    assert collector.add(data(9, b"alone")) == b"alone"
    assert [collector.add(piece) for piece in pieces()] == [None, None, b"aaabbbc"]
    whole = data(1, b"abc", Options(fragment=Fragment(1, 0, 3)))
    assert collector.add(whole) == b"abc"
    assert collector.add(SPM.serialize()) is None
    assert collector.add(b"damaged") is None


def test_fragments_that_do_not_fit_are_left_out() -> None:
    collector = ApduCollector()
    first, second, third = pieces()
    assert [collector.add(piece) for piece in (second, first, third)] == [None] * 3
    too_long = data(1, b"abcd", Options(fragment=Fragment(1, 0, 3)))
    assert collector.add(too_long) is None


def test_the_sources_that_are_followed_are_limited() -> None:
    collector = ApduCollector(max_sources=2)
    sources = [TransportSessionId(b"source", port) for port in (1, 2, 3)]
    for tsi in sources:
        collector.add(pieces(tsi)[0])
    found = [[collector.add(piece) for piece in pieces(tsi)[1:]][-1] for tsi in sources]
    assert found == [None, b"aaabbbc", b"aaabbbc"]

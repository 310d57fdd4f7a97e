"""Bytes out of hex text."""

from base64 import b64encode, urlsafe_b64encode
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.cli.decode.hex_text import HexTextError, Resume, parse_hex_text, parse_lines

DATA = bytes.fromhex("10c00b004c494f523c020000ffffffff00000200d1587355")

XXD = """\
00000000: 10c0 0b00 4c49 4f52 3c02 0000 ffff ffff  ....LIOR<.......
00000010: 0000 0200 d158 7355                      .....XsU
"""
XXD_8 = """\
00000000: 10c0 0b00 4c49 4f52  ....LIOR
00000008: 3c02 0000 ffff ffff  <.......
00000010: 0000 0200 d158 7355  .....XsU
"""
HEXDUMP = """\
00000000  10 c0 0b 00 4c 49 4f 52  3c 02 00 00 ff ff ff ff  |....LIOR<.......|
00000010  00 00 02 00 d1 58 73 55                           |.....XsU|
00000018
"""
OD = """\
0000000 10 c0 0b 00 4c 49 4f 52 3c 02 00 00 ff ff ff ff
0000020 00 00 02 00 d1 58 73 55
0000030
"""
OD_DECIMAL = """\
0000000 10 c0 0b 00 4c 49 4f 52 3c 02 00 00 ff ff ff ff  >....LIOR<.......<
0000016 00 00 02 00 d1 58 73 55                          >.....XsU<
0000024
"""
WIRESHARK = """\
0000   10 c0 0b 00 4c 49 4f 52 3c 02 00 00 ff ff ff ff   ....LIOR<.......
0010   00 00 02 00 d1 58 73 55                           .....XsU
"""
WIRESHARK_4 = """\
0000  10 c0 0b 00 4c 49 4f 52  3c 02 00 00 ff ff ff ff   ....LIOR<.......
0010  00 00 02 00 d1 58 73 55                            .....XsU
"""
TCPDUMP = """\
22:39:07.897807 IP 192.0.2.1.50000 > 192.0.2.2.1801: Flags [P.], length 24
\t0x0000:  10c0 0b00 4c49 4f52 3c02 0000 ffff ffff  ....LIOR<.......
\t0x0010:  0000 0200 d158 7355                      .....XsU
"""


XXD_I = """\
unsigned char pkt_bin[] = {
  0x10, 0xc0, 0x0b, 0x00, 0x4c, 0x49, 0x4f, 0x52, 0x3c, 0x02, 0x00, 0x00,
  0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x02, 0x00, 0xd1, 0x58, 0x73, 0x55
};
unsigned int pkt_bin_len = 24;
"""
WIRESHARK_C = """\
/* Frame (24 bytes) */
static const unsigned char pkt1[24] = {
0x10, 0xc0, 0x0b, 0x00, 0x4c, 0x49, 0x4f, 0x52, /* ....LIOR */
0x3c, 0x02, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, /* <....... */
0x00, 0x00, 0x02, 0x00, 0xd1, 0x58, 0x73, 0x55  /* .....XsU */
};
"""


@pytest.mark.parametrize(
    "text",
    [
        XXD,
        XXD_I,
        WIRESHARK_C,
        "var packet = new byte[] {" + ",".join(f"0x{byte:x}" for byte in DATA) + "}; // C#",
        b64encode(DATA).decode(),
        b64encode(DATA).decode()[:20] + "\n" + b64encode(DATA).decode()[20:] + "\n",
        urlsafe_b64encode(DATA).decode(),
        XXD_8,
        HEXDUMP,
        OD,
        OD_DECIMAL,
        WIRESHARK,
        WIRESHARK_4,
        TCPDUMP,
        DATA.hex(),
        DATA.hex(" "),
        DATA.hex(" ").upper(),
        DATA.hex(":"),
        DATA.hex(" ", 2),
        "# a comment\n\n" + DATA.hex(" ", 4) + "\n",
        "{ " + ", ".join(f"0x{byte:02X}" for byte in DATA) + " };",
        'b"' + "".join(f"\\x{byte:02x}" for byte in DATA) + '"',
        DATA[:10].hex(" ") + "\n" + DATA[10:].hex(),
        XXD.replace("\n", "\r\n"),
    ],
)
def test_every_known_way_to_write_hex(text: str) -> None:
    assert parse_hex_text(text) == [DATA]


@pytest.mark.parametrize("star", ["*", " * "])
def test_a_star_stands_for_lines_like_the_one_before(star: str) -> None:
    row = "41 " * 16
    text = f"00000000  {row}\n{star}\n00000040  42\n00000041\n"
    assert parse_hex_text(text) == [b"A" * 64 + b"B"]


def test_a_star_before_the_end_repeats_up_to_the_size() -> None:
    row = "41 " * 16
    assert parse_hex_text(f"0000000 {row}\n*\n0000100\n") == [b"A" * 64]


def test_offsets_that_begin_again_begin_another_piece() -> None:
    assert parse_hex_text(XXD + "\n" + XXD_8) == [DATA, DATA]


def test_each_array_is_a_piece() -> None:
    assert parse_hex_text(XXD_I + XXD_I) == [DATA, DATA]


def test_base64_ends_with_its_padding() -> None:
    longer = DATA + b"\1"
    text = b64encode(longer).decode()
    assert text.endswith("==")
    assert parse_hex_text(f"{text}\n{text}\n") == [longer, longer]
    ping = bytes.fromhex("017d485504000000d1587355509195954997b6e611ea26c6")
    assert parse_hex_text(b64encode(ping).decode()) == [ping]


@pytest.mark.parametrize(
    "text", [b64encode(b"no packet at all").decode(), b64encode(DATA).decode()[:-3], "{ 0x100 }"]
)
def test_what_could_be_base64_or_an_array_and_is_no_packet_is_refused(text: str) -> None:
    with pytest.raises(HexTextError):
        parse_hex_text(text)


def test_a_dump_goes_on_where_it_was() -> None:
    lines = list(enumerate(XXD_8.splitlines(), 1))
    first = parse_lines(lines[:1])
    assert (first.pieces, first.resume) == ([DATA[:8]], (8, DATA[:8]))
    rest = parse_lines(lines[1:], first.resume)
    assert (rest.pieces, rest.resume) == ([DATA[8:]], (24, DATA[16:]))
    again = parse_lines(lines, rest.resume)
    assert (again.pieces, again.last_line) == ([b"", DATA], 0)
    star = parse_lines([(9, "*"), (10, "00000030: 41")], rest.resume)
    assert star.pieces == [DATA[16:] * 3 + b"A"]


def test_a_dump_that_does_not_go_on_where_it_was_is_none() -> None:
    with pytest.raises(HexTextError, match="line 7: "):
        parse_lines([(7, "00000099: 4142 zz")], Resume(16, bytes(16)))


def test_text_that_looks_like_hex_behind_the_bytes_is_not_read() -> None:
    assert parse_hex_text("00000000: 6162 6364                                abcd\n") == [b"abcd"]
    assert parse_hex_text("00000000: 6162 6364  abcd\n") == [b"abcd"]
    assert parse_hex_text("0000  61 62 63 64   ab cd\n") == [b"abcd"]
    row = "61 62 63 64  ab cd"
    assert parse_hex_text(f"00000000: {row}\n00000004: {row}\n") == [b"abcdabcd"]


def test_groups_of_two_bytes_are_no_offsets() -> None:
    assert parse_hex_text("0000 0001 0002") == [b"\0\0\0\1\0\2"]


def test_no_text_is_no_bytes() -> None:
    assert parse_hex_text("") == []
    assert parse_hex_text("# nothing\n\n") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10 c0\nhello", "line 2: 'h' is not a hexadecimal digit"),
        ("10 c0 0", "5 hexadecimal digits are half a byte too many"),
        ("0000000 c010 000b 494c 524f", "line 1: words of two bytes, whose order depends on the"),
        # Text inside a piece.
        ("0000  10 c0\nand more\n0002  0b 00", "line 2: 'n' is not a hexadecimal digit"),
        ("0010  10 c0 .", "line 1: '.' is not a hexadecimal digit"),
        # More bytes left out than any packet has, or less than none.
        ("0000  41 41\n*\nffffffffffff  42 .", "line 2: '*' is not a hexadecimal digit"),
        ("0000  41 41\n*\n0001  42 .", "line 2: '*' is not a hexadecimal digit"),
    ],
)
def test_what_is_not_hex_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(HexTextError) as caught:
        parse_hex_text(text)
    assert message in str(caught.value)


def test_offsets_that_do_not_fit_the_bytes_are_no_offsets() -> None:
    assert parse_hex_text("00000000: 10c0\n00000009: 0b00") == [
        bytes.fromhex("0000000010c0000000090b00")
    ]


@given(st.binary(min_size=1, max_size=200))
def test_plain_hex_gives_its_bytes(data: bytes) -> None:
    assert parse_hex_text(data.hex(" ")) == [data]


@given(st.binary(min_size=1, max_size=200), st.integers(1, 32))
def test_a_dump_of_any_width_gives_its_bytes(data: bytes, width: int) -> None:
    lines = []
    for at in range(0, len(data), width):
        row = data[at : at + width]
        text = "".join(chr(byte) if 0x20 < byte < 0x7F else "." for byte in row)
        lines.append(f"{at:08x}: {row.hex(' '):<{3 * width}}  {text}")
    assert parse_hex_text("\n".join(lines)) == [data]


@given(st.text(alphabet="0123456789abcdefx:*|> \n\\#,", max_size=80))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(HexTextError):
        parse_hex_text(text)

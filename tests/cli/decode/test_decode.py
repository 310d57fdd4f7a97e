"""`openmsmq decode`, as people use it: trees, JSON, summaries."""

import gzip
from pathlib import Path

import pytest
from tests.cli.decode.captures import (
    ALL,
    CUT,
    KINDS,
    a_message,
    capture_of_the_example,
    objects,
)
from tests.cli.runner import run
from tests.wire.frames import frame_bytes

from openmsmq.client import ReceivedMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address


@pytest.fixture
def capture(tmp_path: Path) -> str:
    path = tmp_path / "example.pcap"
    path.write_bytes(capture_of_the_example())
    return str(path)


def test_a_tree_has_offsets_names_values_and_meanings() -> None:
    outcome = run("decode", stdin=frame_bytes(5))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == TREE


TREE = """\
Packet 1: ConnectionParameters, 32 bytes
  window 64, acknowledge within 120 s, recoverable within 1.496 s
0000    16 BaseHeader
0000     1 ├─ VersionNumber               0x10
0001     1 ├─ Reserved                    0xC0  ignored
0002     2 ├─ Flags                       0x000B
           │  ├─ PR                       3  priority 3
           │  ├─ IN                       1  internal packet
           │  ├─ SH                       0  no SessionHeader
           │  ├─ DH                       0  no DebugHeader
           │  └─ TR                       0  not traced
0004     4 ├─ Signature                   0x524F494C  "LIOR"
0008     4 ├─ PacketSize                  32  bytes
000c     4 └─ TimeToReachQueue            4294967295  infinite
0010     4 InternalHeader
0010     2 ├─ Reserved                    0x0000  ignored
0012     2 └─ Flags                       0x0003
              ├─ PT                       3  connection parameters
              └─ CS                       0  accepted
0014    12 ConnectionParametersHeader
0014     4 ├─ RecoverableAckTimeout       1496  1.496 s
0018     4 ├─ AckTimeout                  120000  120 s
001c     2 ├─ Reserved                    0x0000  ignored
001e     2 └─ WindowSize                  64  packets
"""


@pytest.mark.parametrize(
    ("stdin", "arguments"),
    [
        (b"".join(ALL), ()),
        (b"".join(ALL).hex().encode(), ()),
        ("\n".join(data.hex(" ") for data in ALL).encode("utf-16"), ()),
        (gzip.compress(b"".join(ALL), mtime=0), ("-",)),
        (b"".join(ALL), ("--format", "raw", "-")),
        (b"".join(ALL).hex().encode(), ("--format", "hex")),
    ],
)
def test_the_example_session_from_every_kind_of_input(
    stdin: bytes, arguments: tuple[str, ...]
) -> None:
    outcome = run("decode", "--json", *arguments, stdin=stdin)
    assert (outcome.code, outcome.err) == (0, "")
    found = objects(outcome.out)
    assert [packet["packet"] for packet in found] == KINDS
    assert [packet["number"] for packet in found] == list(range(1, 9))
    assert [packet["position"] for packet in found[:4]] == [0, 24, 48, 620]


def test_a_long_file_of_packets_is_read_in_pieces() -> None:
    outcome = run("decode", "--json", stdin=b"".join(ALL[:2]) + frame_bytes(7) * 20)
    assert outcome.code == 0
    positions = [packet["position"] for packet in objects(outcome.out)]
    assert positions == [0, 24, *range(48, 48 + 20 * 2224, 2224)]


def test_a_capture_of_the_example_session(capture: str) -> None:
    outcome = run("decode", "--json", capture)
    assert (outcome.code, outcome.err) == (0, "")
    found = objects(outcome.out)
    assert [packet["packet"] for packet in found] == KINDS
    assert [packet["stream"] for packet in found] == [None, None, 1, 1, 1, 1, 1, 1]
    assert [packet["frame"] for packet in found] == [1, 2, 5, 6, 7, 8, 9, 11]
    assert found[2]["source"] == "192.0.2.1:50000"
    assert found[2]["destination"] == "192.0.2.2:1801"
    assert found[2]["time"] == "2023-11-14T22:13:24.000500Z"


def test_json_has_every_field_as_a_tree() -> None:
    (packet,) = objects(run("decode", "--json", stdin=frame_bytes(1)).out)
    assert packet["fault"] is None
    assert packet["summary"] == "cookie 4 from {557358D1-9150-9595-4997-B6E611EA26C6}"
    flags, signature, *_ = packet["fields"]
    assert signature == {
        "name": "Signature",
        "offset": 2,
        "size": 2,
        "value": 0x5548,
        "meaning": '"HU"',
    }
    assert flags["fields"][0] == {
        "name": "RC",
        "offset": 0,
        "size": 2,
        "mask": 1,
        "value": 1,
        "meaning": "not from a server",
    }


def test_json_with_hex_has_the_bytes_of_every_field() -> None:
    (packet,) = objects(run("decode", "--json", "--hex", stdin=frame_bytes(1)).out)
    assert [field["hex"] for field in packet["fields"]] == [
        "017d",
        "4855",
        "04000000",
        "d1587355509195954997b6e611ea26c6",
    ]


def test_bytes_in_json_are_hex() -> None:
    data = build_user_message(destination_queue=direct_address("OS:h\\q"), extension=b"\x01\xff")
    (packet,) = objects(run("decode", "--json", stdin=data).out)
    properties = packet["fields"][2]["fields"]
    assert next(field for field in properties if field["name"] == "ExtensionData")["value"] == (
        "01ff"
    )


def test_the_summary_is_one_line_per_packet(capture: str) -> None:
    outcome = run("decode", "--summary", capture)
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert len(lines) == 8
    assert lines[0] == (
        "    1  frame 1  2023-11-14T22:13:20.000500Z  192.0.2.1:50001 -> 192.0.2.2:3527  "
        "Ping  24  cookie 4 from {557358D1-9150-9595-4997-B6E611EA26C6}"
    )
    assert "stream 1  192.0.2.2:1801 -> 192.0.2.1:50000  SessionAck  36  received 1" in lines[7]


def test_the_tree_says_where_a_packet_comes_from(capture: str) -> None:
    lines = run("decode", "--limit", "1", capture).out.splitlines()
    assert lines[:3] == [
        "Packet 1: Ping, 24 bytes",
        "  frame 1  2023-11-14T22:13:20.000500Z  192.0.2.1:50001 -> 192.0.2.2:3527",
        "  cookie 4 from {557358D1-9150-9595-4997-B6E611EA26C6}",
    ]


def test_the_limit_ends_the_output() -> None:
    outcome = run("decode", "--summary", "--limit", "2", stdin=b"".join(ALL))
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 2)


def test_a_malformed_packet_is_shown_up_to_the_fault() -> None:
    outcome = run("decode", stdin=CUT)
    assert outcome.code == 1
    assert 'Label                       "mqsender label"\n' in outcome.out
    assert (
        "FAULT MessagePropertiesHeader.MessageBody at offset 222 (0xde): needs 2000 bytes, "
        "1428 remain\n"
    ) in outcome.out
    lines = outcome.out.splitlines()
    row = next(index for index, line in enumerate(lines) if "00d0  20 00" in line)
    assert lines[row + 1].index("^^") == lines[row].index("00d0") + 6 + 3 * 14
    assert outcome.err == (
        "openmsmq decode: packet 1: MessagePropertiesHeader.MessageBody at offset 222 (0xde): "
        "needs 2000 bytes, 1428 remain\n"
    )


def test_a_fault_is_in_the_summary_and_in_json() -> None:
    outcome = run("decode", "--summary", stdin=CUT)
    assert outcome.code == 1
    assert "  FAULT MessagePropertiesHeader.MessageBody at offset 222" in outcome.out
    (packet,) = objects(run("decode", "--json", stdin=CUT).out)
    fault = {
        "field": "MessagePropertiesHeader.MessageBody",
        "offset": 222,
        "reason": "needs 2000 bytes, 1428 remain",
    }
    assert packet["fault"] == fault
    assert packet["fields"][-1]["fields"][-1]["fault"] == fault


def test_what_follows_a_malformed_packet_is_found() -> None:
    damaged = frame_bytes(5)[:4] + b"LION" + frame_bytes(5)[8:]
    outcome = run("decode", "--summary", stdin=frame_bytes(5) + damaged + frame_bytes(8))
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert "BaseHeader.Signature at offset 4 (0x4): is 0x4E4F494C, not 0x524F494C" in lines[1]
    assert "SessionAck" in lines[2]


def test_many_faults_are_counted() -> None:
    wrong = frame_bytes(5)[:20] + bytes(4) + frame_bytes(5)[24:]
    outcome = run("decode", "--summary", stdin=wrong * 103)
    assert outcome.code == 1
    assert len(outcome.err.splitlines()) == 101
    assert outcome.err.endswith("openmsmq decode: 3 more faults\n")


def test_hex_adds_the_bytes_of_every_field() -> None:
    out = run("decode", "--hex", stdin=frame_bytes(8)).out
    assert '"LIOR"\n           │     0004  4c 49 4f 52 ' in out
    assert "0x001B\n           │  │  0002  1b 00 " in out


def test_a_long_dump_is_cut() -> None:
    out = run("decode", "--hex", stdin=frame_bytes(7)).out
    assert "... 976 more bytes\n" in out


def message(body: bytes, label: str = "") -> bytes:
    return build_user_message(
        destination_queue=direct_address("OS:host\\q"), label=label, body=body
    )


def test_text_of_several_lines_stands_below_its_name() -> None:
    lines = run("decode", stdin=message(b"<a>\n  <b/>\n</a>")).out.splitlines()
    at = next(index for index, line in enumerate(lines) if "MessageBody  " in line)
    assert lines[at].endswith("  xml, utf-8, root element a")
    assert [line.strip(" │") for line in lines[at + 1 : at + 4]] == ["<a>", "<b/>", "</a>"]


def test_long_text_is_cut_and_the_rest_counted() -> None:
    out = run("decode", stdin=message(b"line of text\n" * 30)).out
    assert out.count("line of text\n") == 20
    assert "... 130 more characters, --json has them all\n" in out


def test_text_from_the_wire_cannot_command_the_terminal() -> None:
    evil = "\x1b[2Jred \u202e\x9b"
    data = message(f"{evil}\nbody".encode(), label=evil)
    for mode in ([], ["--summary"]):
        out = run("decode", *mode, stdin=data).out
        assert "\\x1b[2Jred \\u202e\\x9b" in out
        assert not {"\x1b", "\u202e", "\x9b"} & set(out)
    assert "\x1b" not in run("decode", "--json", stdin=data).out


def test_lines_are_wrapped_at_the_columns_of_the_terminal() -> None:
    out = run("decode", stdin=frame_bytes(7), environment={"COLUMNS": "80"}).out
    assert max(map(len, out.splitlines())) <= 80
    assert (
        "0x0000  MQMSG_CLASS_NORMAL: a message\n           │                              "
        "of an application\n"
    ) in out


def test_a_narrow_terminal_still_shows_everything() -> None:
    out = run("decode", stdin=frame_bytes(7), environment={"COLUMNS": "20"}).out
    assert "S-1-5-21-318126762" in out


def test_colours_only_when_wanted() -> None:
    forced = {"FORCE_COLOR": "1"}
    assert "\x1b[" not in run("decode", stdin=frame_bytes(8)).out
    assert "\x1b[1;36mSessionAck" in run("decode", stdin=frame_bytes(8), environment=forced).out
    refused = run("decode", "--no-color", stdin=frame_bytes(8), environment=forced).out
    assert "\x1b[" not in refused
    no_color = {**forced, "NO_COLOR": "1"}
    assert run("decode", stdin=frame_bytes(8), environment=no_color).out == refused


def test_json_has_the_message_under_the_names_of_receive() -> None:
    data = a_message(message_id=7, label="order 7", body=b"hello", priority=5)
    (packet,) = objects(run("decode", "--json", stdin=data).out)
    message = packet["message"]
    assert set(message) == set(ReceivedMessage(data, 1, 0.0).to_dict(soap=True))
    assert message["id"] == "{00000000-0000-0000-0000-000000000001}\\7"
    assert (message["label"], message["body"], message["priority"]) == ("order 7", "hello", 5)
    assert message["sent_time"] == "2023-11-14T22:13:20+00:00"
    assert message["destination_queue"] == "DIRECT=TCP:127.0.0.3\\private$\\orders"
    of_queues = ("lookup_id", "arrived_time", "abort_count", "move_count", "deliver_at")
    assert [message[name] for name in of_queues] == [None] * len(of_queues)


@pytest.mark.parametrize("data", [frame_bytes(1), frame_bytes(5), CUT])
def test_json_of_other_and_malformed_packets_has_no_message(data: bytes) -> None:
    (packet,) = objects(run("decode", "--json", stdin=data).out)
    assert packet["message"] is None

"""`openmsmq decode`, as people use it."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.cli.runner import run
from tests.wire.capture import writer
from tests.wire.capture.writer import ACK, CLIENT, FIN, RST, SERVER, SYN
from tests.wire.frames import frame, frame_bytes

from openmsmq.cli.decode import stats as decode_stats
from openmsmq.client import ReceivedMessage
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import (
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    order_queue,
)
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID

SESSION = [frame_bytes(number) for number in range(3, 9)]
ALL = [frame_bytes(number) for number in range(1, 9)]
KINDS = [frame(number)["packet"] for number in range(1, 9)]
CUT = bytes.fromhex(frame(7)["hex"])


def segment(
    data: bytes, *, at: int = 0, flags: int = ACK, back: bool = False, port: int = 50000
) -> bytes:
    """A frame of a TCP connection; the sequence numbers begin at 1000."""
    source, destination = (SERVER, CLIENT) if back else (CLIENT, SERVER)
    ports = (1801, port) if back else (port, 1801)
    raw = writer.tcp(
        data,
        sequence=1001 + at,
        flags=flags,
        source_port=ports[0],
        destination_port=ports[1],
    )
    return writer.ethernet(writer.ipv4(raw, source=source, destination=destination))


def start(*, back: bool = False, port: int = 50000) -> bytes:
    return segment(b"", at=-1, flags=SYN, back=back, port=port)


def capture_of_the_example() -> bytes:
    """The example session, its user message in two segments that come in the wrong order."""
    message = frame_bytes(7)
    ping = writer.udp(frame_bytes(1))
    pong = writer.udp(frame_bytes(2), source_port=3527, destination_port=50001)
    return writer.pcap(
        writer.ethernet(writer.ipv4(ping, protocol=17)),
        writer.ethernet(writer.ipv4(pong, protocol=17, source=SERVER, destination=CLIENT)),
        start(),
        start(back=True),
        segment(frame_bytes(3)),
        segment(frame_bytes(4), back=True),
        segment(frame_bytes(5), at=572),
        segment(frame_bytes(6), at=572, back=True),
        segment(message[1000:], at=1604),
        segment(message[:1000], at=604),
        segment(frame_bytes(8), at=604, back=True),
        segment(b"", at=2828, flags=FIN | ACK),
        segment(b"", at=640, flags=FIN | ACK, back=True),
    )


# Any: JSON is free-form.
def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


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


def test_other_ports_can_be_chosen() -> None:
    raw = writer.tcp(frame_bytes(5), destination_port=11801)
    ping = writer.udp(frame_bytes(1), destination_port=13527)
    data = writer.pcap(
        writer.ethernet(writer.ipv4(raw)), writer.ethernet(writer.ipv4(ping, protocol=17))
    )
    options = ("--port", "11801", "--port", "1801", "--ping-port", "13527")
    found = objects(run("decode", "--json", *options, stdin=data).out)
    assert [packet["packet"] for packet in found] == ["ConnectionParameters", "Ping"]
    nothing = run("decode", stdin=data)
    assert nothing.code == 1
    assert nothing.err == (
        "openmsmq decode: no packets found\n"
        "Likely cause: the input is empty, a capture without TCP port 1801 and UDP port 3527, or "
        "without a packet that was asked for.\n"
        "Remedy: choose other ports with --port and --ping-port, or other packets with --stream, "
        "--kind, --queue, --label, --id and --since.\n"
    )


def test_one_connection_of_several() -> None:
    data = writer.pcap(
        start(),
        start(port=50002),
        segment(frame_bytes(3)),
        segment(frame_bytes(5), port=50002),
        segment(b"", at=32, flags=RST, port=50002),
        start(port=50002),
        segment(frame_bytes(8), port=50002),
    )
    found = objects(run("decode", "--json", stdin=data).out)
    assert [(packet["stream"], packet["packet"]) for packet in found] == [
        (1, "EstablishConnection"),
        (2, "ConnectionParameters"),
    ]
    outcome = run("decode", "--json", "--stream", "2", stdin=data)
    assert [packet["packet"] for packet in objects(outcome.out)] == ["ConnectionParameters"]
    assert "stream 2, 192.0.2.1:50002 -> 192.0.2.2:1801: the stream ends: reset" in outcome.err
    assert "stream 1" not in outcome.err


def test_a_port_that_is_used_again_is_another_connection() -> None:
    data = writer.pcap(
        start(),
        segment(frame_bytes(5), flags=FIN | ACK),
        start(back=True),
        segment(frame_bytes(6), back=True, flags=FIN | ACK),
        segment(b"", at=99999, flags=SYN),
        segment(frame_bytes(8), at=100000),
    )
    found = objects(run("decode", "--json", stdin=data).out)
    assert [packet["stream"] for packet in found] == [1, 1, 2]


def test_gaps_are_told_between_the_packets() -> None:
    data = writer.pcap(
        segment(frame_bytes(4)[300:], at=0),
        segment(frame_bytes(5), at=272),
        segment(frame_bytes(5)[:10], at=304),
        segment(frame_bytes(8), at=404),
    )
    outcome = run("decode", "--summary", stdin=data)
    where = "-- stream 1, 192.0.2.1:50000 -> 192.0.2.2:1801: "
    lines = [line if line.startswith("--") else line[7:] for line in outcome.out.splitlines()]
    assert lines[0] == f"{where}the connection began before the capture"
    assert lines[1] == f"{where}272 bytes belong to no packet and are skipped"
    assert "ConnectionParameters" in lines[2]
    assert "FAULT BaseHeader.PacketSize at offset 8 (0x8): needs 4 bytes, 2 remain" in lines[3]
    assert lines[4] == f"{where}90 bytes are missing from the capture"
    assert "SessionAck" in lines[5]
    assert outcome.code == 1
    assert outcome.err.endswith(
        "decode: 90 bytes of TCP connections are missing from the capture\n"
    )


def test_bytes_that_a_capture_lacks_are_a_failure() -> None:
    data = writer.pcap(start(), segment(frame_bytes(5)), segment(frame_bytes(8), at=33))
    for mode in ("--summary", "--json"):
        outcome = run("decode", mode, stdin=data)
        assert outcome.code == 1
        assert outcome.err.endswith(
            "openmsmq decode: 1 byte of TCP connections are missing from the capture\n"
        )
    # Of another connection than the one that was asked for.
    two = writer.pcap(
        start(),
        start(port=50002),
        segment(frame_bytes(5)),
        segment(frame_bytes(5), port=50002),
        segment(frame_bytes(8), at=40, port=50002),
    )
    assert run("decode", "--summary", "--stream", "1", stdin=two).code == 0
    assert run("decode", "--summary", "--stream", "2", stdin=two).code == 1


def test_a_connection_that_began_before_the_capture_is_no_failure() -> None:
    outcome = run("decode", "--summary", stdin=writer.pcap(segment(frame_bytes(5))))
    assert (outcome.code, outcome.err) == (0, "")
    assert "the connection began before the capture" in outcome.out


def test_a_destination_that_is_no_name_is_a_fault() -> None:
    data = build_user_message(destination_queue=direct_address("TCP:127.0.0.3\\private$\\q"))
    at = data.index("TCP".encode("utf-16-le"))
    damaged = data[:at] + b"\xff" * 6 + data[at + 6 :]
    outcome = run("decode", "--summary", stdin=damaged)
    assert outcome.code == 1
    assert "to DIRECT=\\uffff\\uffff\\uffff:127.0.0.3\\private$\\q, " in outcome.out
    reason = "UserHeader.DestinationQueue at offset 64 (0x40): not a valid name: no OS:, TCP:"
    assert f"  FAULT {reason}" in outcome.out
    assert outcome.err.startswith(f"openmsmq decode: packet 1: {reason}")
    tree = run("decode", stdin=damaged)
    assert (tree.code, "MessagePropertiesHeader" in tree.out) == (1, True)


def a_message(**options: Any) -> bytes:
    return build_user_message(
        destination_queue=direct_address("TCP:127.0.0.3\\private$\\orders"),
        source_queue_manager=UUID(int=1),
        sent_time=1_700_000_000,
        **options,
    )


def test_json_has_the_message_under_the_names_of_receive() -> None:
    data = a_message(message_id=7, label="order 7", body=b"hello", priority=5)
    (packet,) = objects(run("decode", "--json", stdin=data).out)
    message = packet["message"]
    assert set(message) == set(ReceivedMessage(data, 1, 0.0).to_dict())
    assert message["id"] == "{00000000-0000-0000-0000-000000000001}\\7"
    assert (message["label"], message["body"], message["priority"]) == ("order 7", "hello", 5)
    assert message["sent_time"] == "2023-11-14T22:13:20+00:00"
    assert message["destination_queue"] == "DIRECT=TCP:127.0.0.3\\private$\\orders"
    of_queues = ("lookup_id", "arrived_time", "abort_count", "move_count")
    assert [message[name] for name in of_queues] == [None] * 4


@pytest.mark.parametrize("data", [frame_bytes(1), frame_bytes(5), CUT])
def test_json_of_other_and_malformed_packets_has_no_message(data: bytes) -> None:
    (packet,) = objects(run("decode", "--json", stdin=data).out)
    assert packet["message"] is None


FLOW = (
    a_message(message_id=7, label="order 7"),
    a_message(message_id=8, label="invoice 8"),
    build_user_message(
        destination_queue=direct_address("OS:alpha\\private$\\admin"),
        message_class=MessageClass.ACK_REACH_QUEUE,
        correlation_id=MessageIdentifier(UUID(int=1), 7).serialize(),
        message_id=1,
    ),
    build_final_ack(
        FinalAck(TxSequenceID(1, 2), 1, 0, UUID(int=1), 7),
        MessageClass.ACK_RECEIVE,
        order_queue(UUID(int=1)),
        source_queue_manager=UUID(int=2),
        message_id=2,
        sent_time=1,
    ),
    frame_bytes(8),
)


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (("--kind", "UserMessage"), [0, 1, 2]),
        (("--kind", "finalack", "--kind", "SessionAck"), [3, 4]),
        (("--queue", "private$\\ORDERS"), [0, 1]),
        (("--queue", "direct=os:alpha*"), [2]),
        (("--queue", "orders"), []),
        (("--label", "order *"), [0]),
        (("--label", "ORDER 7"), []),
        (("--id", r"{00000000-0000-0000-0000-000000000001}\7"), [0, 2, 3]),
        (("--id", r"00000000-0000-0000-0000-000000000001\8", "--label", "*8"), [1]),
        (("--since", "2023-11-14T22:13:22.0005"), [1, 2, 3, 4]),
        (("--since", "2023-11-14T23:13:24.000501+01:00"), [4]),
    ],
)
def test_only_packets_that_were_asked_for(options: tuple[str, ...], taken: list[int]) -> None:
    frames = [start()]
    at = 0
    for packet in FLOW:
        frames.append(segment(packet, at=at))
        at += len(packet)
    outcome = run("decode", "--json", *options, stdin=writer.pcap(*frames))
    assert [packet["frame"] - 2 for packet in objects(outcome.out)] == taken
    assert outcome.code == (0 if taken else 1)


def flow_capture() -> bytes:
    """One connection with messages that ask for acknowledgments, of which one is answered."""
    wanted = {
        "acknowledgments": 3,
        "admin_queue": direct_address("OS:alpha\\private$\\admin"),
    }
    header = TransactionHeader(0, TxSequenceID(1_700_000_000, 2), 5, 4)
    order_ack = build_order_ack(
        OrderAck(TxSequenceID(1_700_000_000, 2), 4),
        order_queue(UUID(int=1)),
        source_queue_manager=UUID(int=2),
        message_id=3,
        sent_time=1,
    )
    answered, asked = (a_message(message_id=number, **wanted) for number in (7, 9))
    transactional = a_message(message_id=10, transaction_header=header)
    frames, at = [start()], 0
    for packet in (answered, *FLOW[1:], asked, transactional, order_ack):
        frames.append(segment(packet, at=at))
        at += len(packet)
    return writer.pcap(*frames)


def test_stats_count_packets_queues_connections_and_sequences() -> None:
    (found,) = objects(run("decode", "--stats", "--json", stdin=flow_capture()).out)
    assert (found["packets"], found["malformed"], found["missing_bytes"]) == (8, 0, 0)
    assert found["first_time"] == "2023-11-14T22:13:21.000500Z"
    kinds = {each["packet"]: each["packets"] for each in found["kinds"]}
    assert kinds == {"UserMessage": 5, "FinalAck": 1, "SessionAck": 1, "OrderAck": 1}
    orders = next(each for each in found["queues"] if each["queue"].endswith("orders"))
    assert (orders["messages"], orders["ask_for_acknowledgment"]) == (4, 2)
    # The acknowledgment of one was seen.
    assert orders["unacknowledged"] == 1
    assert [(each["stream"], each["packets"]) for each in found["connections"]] == [(1, 8)]
    assert found["sequences"] == [
        {"sequence": "2/1700000000", "sent_up_to": 5, "acknowledged_up_to": 4}
    ]


def test_stats_for_people() -> None:
    lines = run("decode", "--stats", stdin=flow_capture()).out.splitlines()
    assert lines[0].startswith("8 packets, ")
    assert lines[0].endswith("; 0 malformed, 0 bytes missing")
    assert any(line.split() == ["2/1700000000", "5", "4"] for line in lines)
    plain = run("decode", "--stats", stdin=frame_bytes(8)).out
    assert plain.splitlines()[0] == "1 packet, 36 B; 0 malformed, 0 bytes missing"
    assert "Stream" not in plain


def test_stats_count_what_is_wrong_and_keep_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = writer.pcap(start(), segment(CUT[:20]), segment(frame_bytes(8), at=90))
    outcome = run("decode", "--stats", stdin=gap)
    assert outcome.code == 1
    assert "; 1 malformed, 70 bytes missing" in outcome.out
    monkeypatch.setattr(decode_stats, "MAX_QUEUES", 1)
    (found,) = objects(run("decode", "--stats", "--json", stdin=flow_capture()).out)
    assert [each["queue"] for each in found["queues"]][1:] == ["others"]
    monkeypatch.setattr(decode_stats, "MAX_AWAITED", 0)
    (found,) = objects(run("decode", "--stats", "--json", stdin=flow_capture()).out)
    assert [each["unacknowledged"] for each in found["queues"]] == [0, 0]


def test_the_bytes_of_one_packet(tmp_path: Path) -> None:
    path = tmp_path / "flow.pcap"
    path.write_bytes(flow_capture())
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode", str(path)]
    taken = subprocess.run([*command, "--packet", "2", "--raw"], capture_output=True, check=True)
    assert taken.stdout == FLOW[1]
    only = run("decode", "--summary", "--kind", "UserMessage", "--packet", "2", str(path)).out
    assert only.startswith("    2  ")
    assert len(only.splitlines()) == 1
    beyond = run("decode", "--packet", "9", str(path))
    assert (beyond.code, beyond.out) == (1, "")


def test_raw_bytes_are_not_mixed_with_notices(tmp_path: Path) -> None:
    path = tmp_path / "gap.pcap"
    path.write_bytes(writer.pcap(start(), segment(frame_bytes(5)), segment(frame_bytes(8), at=40)))
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode", str(path)]
    done = subprocess.run([*command, "--raw"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, frame_bytes(5) + frame_bytes(8))
    assert b"8 bytes are missing" in done.stderr


@pytest.mark.parametrize(
    "options", [("--json", "--summary"), ("--raw", "--json"), ("--stats", "--summary")]
)
def test_one_way_to_print_at_a_time(options: tuple[str, ...]) -> None:
    assert run("decode", *options, stdin=frame_bytes(8)).code == 2


def test_packets_without_a_time_are_not_since_any() -> None:
    assert run("decode", "--since", "2000-01-01", stdin=frame_bytes(8)).code == 1


@pytest.mark.parametrize(
    "arguments", [("--since", "yesterday"), ("--id", "7"), ("--kind", "Message")]
)
def test_wrong_filters_have_exit_code_2_and_name_the_option(arguments: tuple[str, ...]) -> None:
    outcome = run("decode", *arguments, stdin=frame_bytes(8))
    assert outcome.code == 2
    assert arguments[0] in outcome.err


def test_frames_that_cannot_be_read_are_told() -> None:
    data = writer.pcap(writer.ethernet(writer.ipv4(b"tiny")), segment(frame_bytes(5)))
    outcome = run("decode", "--summary", "--stream", "1", stdin=data)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0] == "-- frame 1: TCP at offset 0: needs 20 bytes, 4 remain"


@pytest.mark.parametrize("ethernet", [True, False])
def test_dumps_of_whole_frames_are_a_capture(*, ethernet: bool) -> None:
    cut = 0 if ethernet else 14
    frames = [start(), segment(frame_bytes(3)[:200]), segment(frame_bytes(3)[200:], at=200)]
    text = ""
    for data in frames:
        raw = data[cut:]
        for at in range(0, len(raw), 16):
            text += f"{at:04x}   {raw[at : at + 16].hex(' ')}\n"
        text += "\n"
    found = objects(run("decode", "--json", stdin=text.encode()).out)
    assert [(packet["packet"], packet["frame"]) for packet in found] == [("EstablishConnection", 3)]


def test_a_capture_that_is_cut_off_is_shown_and_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(capture_of_the_example()[:-1])
    outcome = run("decode", "--summary", str(path))
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) == 8
    assert "Pcap.PacketData at offset " in outcome.err
    assert "the file is cut off\nLikely cause: the file was cut off while it was " in outcome.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "text"),
    [
        ((), b"hello, world", "-: line 1: 'h' is not a hexadecimal digit\nLikely cause: the input"),
        (("--format", "pcap"), b"nothing", "Capture.Magic at offset 0 (0x0): "),
        ((), b"", "no packets found\nLikely cause: the input is empty, a"),
        (("/does/not/exist",), b"", "/does/not/exist cannot be read: "),
        ((), gzip.compress(CUT, mtime=0)[:60], "- cannot be read: "),
    ],
)
def test_input_that_cannot_be_used_is_explained(
    arguments: tuple[str, ...], stdin: bytes, text: str
) -> None:
    outcome = run("decode", *arguments, stdin=stdin)
    assert (outcome.code, outcome.out) == (1, "")
    assert text in outcome.err
    assert "\nRemedy: " in outcome.err


def test_bytes_that_are_no_packet_are_shown_as_one_with_a_fault() -> None:
    outcome = run("decode", stdin=b"\x89PNG\r\n\x1a\n" + bytes(range(60)))
    assert outcome.code == 1
    assert "BaseHeader.VersionNumber at offset 0 (0x0): is 0x89, not 0x10" in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [("--port", "0"), ("--port", "65536"), ("--limit", "0"), ("--format", "xml"), ("a", "b")],
)
def test_wrong_options_have_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run("decode", *arguments).code == 2


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"".join(SESSION))
        process.stdin.close()
        assert process.stderr.read() == b""


PAGE = Path(__file__).parents[3] / "docs" / "decode.md"
EXAMPLE = re.compile(
    r"```console\n\$ echo '([^']*)' \| openmsmq (decode[^\n]*)\n(.*?)```\n", re.DOTALL
)


def test_the_examples_of_the_page_are_what_the_command_prints() -> None:
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    assert len(examples) == 4
    for stdin, command, printed in examples:
        outcome = run(*command.split(), stdin=stdin.encode())
        assert outcome.out + outcome.err == printed

"""`openmsmq decode` with filters, and its statistics."""

import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest
from tests.cli.decode.captures import (
    CUT,
    a_message,
    objects,
    segment,
    start,
)
from tests.cli.runner import run
from tests.wire.capture import writer
from tests.wire.frames import frame_bytes

from openmsmq.cli.decode import stats as decode_stats
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

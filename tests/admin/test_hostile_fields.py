"""Hostile text in what a message carries beside label and body, and in names of other machines."""

import csv
import html
import io
import json
import socket
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import pytest
from tests.admin.callers import Program, add_token, queue_path
from tests.admin.console_process import watched
from tests.admin.hostile import HOSTS, TEXTS

import openmsmq
from openmsmq.admin.pages.message_pages import message_facts
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import correlation_bytes
from openmsmq.client.received_message import ReceivedMessage

QUEUE: Final = ".\\private$\\fields"
AT: Final = queue_path("fields")
CORRELATION_BYTES: Final = 20
# Bytes of other machines may be no text at all.
FIELDS: Final = (*(text.encode() for text in TEXTS), b"nul\0bad\0\xd8\0", b"\x00\xd8bad")
MARKUP: Final = (
    "<script>window",
    "<img",
    "<svg onload",
    "<svg/onload",
    "<div hx-get",
    "<div/hx-get",
)
UNSEEN: Final = ("\x1b", "\x07", "\0", "\u202e", "\u200b", "\ufeff")
pytestmark = pytest.mark.timeout(200)


def filled(field: bytes, size: int) -> bytes:
    return field[:size].ljust(size, b"!")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with watched(tmp_path_factory.mktemp("fields"), "--http-port", "0") as manager:
        with openmsmq.connect(manager.socket) as client:
            queue = client.create_queue(QUEUE)
            for field in FIELDS:
                correlation = filled(field, CORRELATION_BYTES)
                queue.send(openmsmq.Message(b"x", extension=field, correlation_id=correlation))
            for host in HOSTS:
                name = f"DIRECT=OS:{host}\\private$\\x"
                queue.send(openmsmq.Message(b"x", response_queue=name, admin_queue=name))
                client.send(name, openmsmq.Message(b"x"))
                if "/" not in host:
                    client.send(f"DIRECT=HTTP://{host}/msmq/private$/x", openmsmq.Message(b"x"))
            client.flush()
        yield Program(manager, add_token(manager, "all"))


def assert_plain(page: str) -> None:
    assert not [markup for markup in MARKUP if markup in page]
    assert not [hidden for hidden in UNSEEN if hidden in page]


def test_json_has_every_field(program: Program) -> None:
    messages = program.get(f"{AT}/messages")["messages"]
    assert len(messages) == len(FIELDS) + len(HOSTS)
    for message, field in zip(messages, FIELDS, strict=False):
        assert correlation_bytes(message["correlation_id"]) == filled(field, CORRELATION_BYTES)
        _, _, packet = program.ask("GET", f"{AT}/messages/{message['lookup_id']}/packet.bin")
        assert field in packet
    for message, host in zip(messages[len(FIELDS) :], HOSTS, strict=True):
        whole = program.get(f"{AT}/messages/{message['lookup_id']}")
        for key in ("response_queue", "admin_queue"):
            assert whole[key] == f"DIRECT=OS:{host}\\private$\\x"


def test_pages_show_every_field_as_text(program: Program) -> None:
    for message in program.get(f"{AT}/messages")["messages"]:
        for path in ("", "?view=properties", "?view=packet"):
            status, _, content = program.ask("GET", f"{AT}/messages/{message['lookup_id']}{path}")
            assert status == 200
            assert_plain(content.decode())


def test_names_of_other_machines_are_shown_as_text(program: Program) -> None:
    listed = {each["destination"] for each in program.get("/outgoing")["outgoing"]}
    assert {f"DIRECT=OS:{host}\\private$\\x" for host in HOSTS} <= listed
    for path in ("/outgoing", "/"):
        assert_plain(program.ask("GET", path)[2].decode())
    page = html.unescape(program.ask("GET", "/outgoing")[2].decode())
    assert not [host for host in HOSTS if host.isprintable() and host not in page]


def test_a_table_has_no_formula_in_any_field(program: Program) -> None:
    _, _, content = program.ask("GET", f"{AT}/export.csv")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    assert len(rows) == len(FIELDS) + len(HOSTS) + 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))]


@pytest.mark.parametrize(
    "words",
    [("peek", QUEUE, "--all"), ("find", "--queue", QUEUE), ("outgoing",), ("status",)],
)
def test_a_terminal_gets_no_control_characters(program: Program, words: tuple[str, ...]) -> None:
    shown = program.manager.run(*words)
    assert shown.code == 0, shown.err
    assert not [hidden for hidden in UNSEEN if hidden in shown.out]


def test_the_log_has_no_control_characters(program: Program) -> None:
    log = program.manager.log
    assert not [hidden for hidden in UNSEEN if hidden in log]
    assert "Traceback" not in log


@pytest.mark.parametrize("field", FIELDS)
def test_a_sender_that_is_no_sid_is_shown_as_digits(field: bytes) -> None:
    # As only another machine can send it.
    sender = Sender(computer_name="beta", sid=field)
    packet = PacketBuilder(sender, transactional=False).build(openmsmq.Message(b"x"))
    message = ReceivedMessage(packet, 1, 0.0)
    assert message.sender_id == field.hex()
    assert message.to_dict()["sender_id"] == message.sender_id
    assert_plain(str(dict(message_facts(message))["Sent"]))


def test_addresses_and_user_agents_of_any_bytes_are_logged_as_text(program: Program) -> None:
    for field in FIELDS:
        address = quote(field, safe="").encode()
        agent = bytes(byte for byte in field if byte not in b"\0\r\n")
        for request in (
            b"GET /%b" % address,
            b"GET /queues/%b" % address,
            b"POST /api/v1/queues/%b/purge" % address,
        ):
            head, content = exchange(program, request, agent)
            assert head.split()[1] in (b"200", b"400", b"404", b"422"), head
            if b"text/html" in head:
                assert_plain(content.decode())
    audit = (program.manager.data / "console" / "audit.jsonl").read_text("utf-8")
    targets = [json.loads(line)["target"] for line in audit.splitlines()]
    # A header with control characters ends a request before it is read.
    assert {text for text in TEXTS if "\x1b" not in text} <= set(targets)
    for text in (program.manager.log, audit):
        assert not [control for control in ("\x1b", "\x07", "\0") if control in text]


def exchange(program: Program, request: bytes, agent: bytes) -> tuple[bytes, bytes]:
    """Ask with headers that no library sends; head and content of the answer."""
    fields = {
        b"Host": program.console.encode(),
        b"Authorization": program.headers["Authorization"].encode(),
        b"User-Agent": agent,
        b"Referer": agent,
        b"Connection": b"close",
    }
    lines = [b"%b HTTP/1.1" % request, *(b"%b: %b" % field for field in fields.items()), b"", b""]
    host, _, port = program.console.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(b"\r\n".join(lines))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    return head, content

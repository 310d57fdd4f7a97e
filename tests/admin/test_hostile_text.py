"""Hostile text of messages, queues and clients in files, JSON, metrics and pages of errors."""

import csv
import io
import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from tests.admin.callers import PREFIX, Program, add_token
from tests.admin.console_process import watched
from tests.admin.hostile import TEXTS

import openmsmq

MESSAGES = len(TEXTS) + 1
NAME = "private$\\<img/onerror=hurt()>"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with watched(tmp_path_factory.mktemp("hostile")) as manager:
        with openmsmq.connect(manager.socket) as client:
            queue = client.create_queue(f".\\{NAME}", label=TEXTS[0])
            for text in TEXTS:
                queue.send(openmsmq.Message(f"\0{text}".encode(), text))
            build = queue.packet_builder(transactional=False)
            packet = build.build(openmsmq.Message(b"x", "lone ! bad"))
            # Half a character, as only another machine can send it.
            queue.send_packets([packet.replace(b"!\0", b"\x00\xd8")])
            client.flush()
        yield Program(manager, add_token(manager, "all"))


def test_json_has_it_exactly(program: Program) -> None:
    messages = program.get(f"/queues/{quote(NAME, safe='$')}/messages")["messages"]
    labels = [message["label"] for message in messages]
    assert labels[: len(TEXTS)] == list(TEXTS)
    assert labels[-1].startswith("lone ")
    assert labels[-1].endswith(" bad")


def test_no_cell_of_a_table_is_a_formula(program: Program) -> None:
    _, headers, content = program.ask("GET", f"/queues/{quote(NAME, safe='$')}/export.csv")
    assert headers["content-disposition"].startswith("attachment")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    assert len(rows) == MESSAGES + 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))]


def test_metrics_have_it_in_one_label(program: Program) -> None:
    text = program.manager.get("/metrics?family=queue_messages").text
    (line,) = [line for line in text.splitlines() if "onerror" in line]
    assert line == f'msmq_queue_messages{{queue="{NAME.replace(chr(92), chr(92) * 2)}"}} {MESSAGES}'


@pytest.mark.parametrize("text", [text for text in TEXTS if text.isprintable()])
def test_addresses_and_user_agents_are_shown_as_text(program: Program, text: str) -> None:
    address = quote(text, safe="")
    agent = text.encode("ascii", "replace").decode()
    for path in (f"/{address}", f"/queues/{address}", f"/find?id={address}", f"/jobs/{address}"):
        status, headers, content = program.ask("GET", path, **{"User-Agent": agent})
        assert status in (200, 404, 422, 400), path
        assert headers["content-type"].startswith("text/html")
        for markup in (b"<script>window", b"<img", b"<svg onload", b"<div hx-get"):
            assert markup not in content
    program.ask("POST", f"{PREFIX}/queues/{address}/purge")
    log = (program.manager.data / "console" / "audit.jsonl").read_text("utf-8").splitlines()
    assert json.loads(log[-1])["target"] == text
    assert "\x1b" not in program.manager.log

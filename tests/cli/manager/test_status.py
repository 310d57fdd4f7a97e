"""`openmsmq status`, and who answers."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager, run
from tests.net.certificate import Authority

import openmsmq
from openmsmq import __version__


def test_programs_get_identity_endpoints_and_totals(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--count", "3")
    status = manager.run("status", "--json").object
    assert status["state"] == "Ready"
    assert status["version"] == __version__
    assert status["guid"].startswith("{")
    assert status["endpoints"]["local"] == manager.socket
    assert status["queues"] >= 1
    assert status["messages"] >= 3
    assert status["bytes"] > 0


def test_people_get_the_same_in_words(manager: Manager) -> None:
    told = manager.run("status", "--json").object
    lines = manager.run("status").out.splitlines()
    texts = {line[:13].strip(): line[15:] for line in lines}
    assert texts["Queue manager"] == told["name"]
    assert texts["State"] == "Ready"
    assert texts["GUID"] == told["guid"]
    assert texts["Version"].startswith(f"{__version__}, process {manager.process.pid}, up ")
    assert texts["Endpoints"] == f"local  {manager.socket}"
    assert texts["Data"] == str(manager.data)
    assert texts["Messages"].startswith(f"{told['messages']:,} (")
    assert texts["To be sent"] == "0"
    assert texts["Dead letters"] == f"{told['dead_letters']:,}"
    assert texts["Transactions"] == "0 open"
    assert texts["Sessions"] == "0 sessions with other queue managers, 1 client"


def test_what_went_wrong_is_counted_for_people(manager: Manager, queue: str) -> None:
    options = ("--dead-letter", "--time-to-be-received", "0", "--label", "late")
    manager.run("send", queue, "--body", "x", *options)
    assert manager.run("receive", queue, "--timeout", "0.3").code == 3
    assert manager.run("queue", "show", r".\private$\nothing").code == 1
    told = manager.run("status", "--json").object
    assert told["dead_letters"] >= 1
    shown = manager.run("status").out
    assert "Left unread" in shown
    assert "NACK_RECEIVE_TIMEOUT" in shown
    assert "Refused" in shown
    assert f"{told['refused_requests']['MQ_ERROR_QUEUE_NOT_FOUND']:,}  MQ_ERROR_QUEUE_" in shown
    manager.run("queue", "purge", ";deadletter")


def test_it_waits_for_a_start(tmp_path: Path) -> None:
    command = [
        PROGRAM,
        "status",
        "--wait",
        "60",
        "--socket",
        str(tmp_path / "qm" / "openmsmq.sock"),
    ]
    waiting = subprocess.Popen(command, stdout=subprocess.PIPE)
    running = Manager(tmp_path / "qm")
    out, _ = waiting.communicate(timeout=SECONDS)
    assert waiting.returncode == 0
    assert b"Ready" in out
    assert running.stop() == 0


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    outcome = run(["status", "--wait", "0.2", "--socket", str(tmp_path / "none")])
    assert outcome.code == 1
    assert "MQ_ERROR_SERVICE_NOT_AVAILABLE" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("top", "--count", "1"),
        ("queue", "list"),
        ("send", r".\private$\q", "--body", "x"),
        ("receive", r".\private$\q"),
        ("peek", r".\private$\q"),
        ("move", r".\private$\q", r".\private$\q;a", "--all"),
        ("outgoing",),
        ("backup", "file"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_queue_manager_is_a_clear_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    socket = tmp_path / "none.sock"
    outcome = run([*arguments, "--socket", str(socket)])
    assert (outcome.code, outcome.raw) == (1, b"")
    assert "MQ_ERROR_SERVICE_NOT_AVAILABLE (0xC00E000B): no queue manager answers at " in (
        outcome.err
    )
    assert str(socket) in outcome.err
    assert "Remedy: Start it with `openmsmq serve`" in outcome.err


def test_the_environment_names_the_socket(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENMSMQ_SOCKET", manager.socket)
    assert run(["status"]).code == 0


def test_the_default_is_the_data_directory_of_the_user(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "openmsmq").symlink_to(manager.data)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run(["status"]).code == 0


def test_the_option_wins(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENMSMQ_SOCKET", "/nowhere")
    assert run(["status", "--socket", manager.socket]).code == 0
    assert run(["--socket", manager.socket, "status"]).code == 0


CLOSED_STREAMS = (
    ("status <&- >&- 2>&-", 0),
    ("queue list <&- >&- 2>&-", 0),
    (r"queue create '.\private$\closed' <&- >&- 2>&-", 0),
    (r"send '.\private$\closed' --body x <&- >&- 2>&-", 0),
    (r"send '.\private$\closed' <&-", 1),
    (r"send '.\private$\closed' --lines - <&-", 1),
    (r"queue purge '.\private$\closed' <&- >&- 2>&-", 0),
    ("top --count 1 <&- >&- 2>&-", 0),
    (r"queue delete '.\private$\closed' <&- >&- 2>&-", 0),
)


def test_a_queue_manager_on_the_network_is_reached_with_a_token_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("127.0.0.1")
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'"{hashlib.sha256(b"secret").hexdigest()}" = "uid:{os.geteuid()}"\n')
    running = openmsmq.embedded(
        local_port=0, local_certificate=certificate, local_key=key, local_tokens=tokens
    )
    try:
        there = ["status", "--json", "--socket", running.endpoints["local-tcp"]]
        outcome = run(there)
        assert outcome.code == 1
        assert "Set OPENMSMQ_TOKEN_FILE to a file with your token." in outcome.err
        token = tmp_path / "token"
        token.write_text("secret\n")
        monkeypatch.setenv("OPENMSMQ_TOKEN_FILE", str(token))
        monkeypatch.setenv("OPENMSMQ_CA_FILE", str(authority.file))
        outcome = run(there)
        assert (outcome.code, outcome.err) == (0, "")
        assert json.loads(outcome.raw)["endpoints"]["local-tcp"] == there[-1]
    finally:
        running.close()


def test_streams_may_be_closed(manager: Manager) -> None:
    for command, code in CLOSED_STREAMS:
        done = subprocess.run(
            ["bash", "-c", f'"$0" {command}', manager.program],
            env=manager.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == code, command
        if code:
            assert "stdin cannot be read: it is closed" in done.stderr

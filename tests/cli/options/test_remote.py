"""Commands that read queues of another machine, in processes of their own."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager

from openmsmq.cli.options.remote import Auth, Level, host_of
from openmsmq.client.remote.address import LEVELS
from openmsmq.service.account_file import AccountFile

# A name without a port means 135 and 2103: every process of tests has an address of its own.
ADDRESS = f"127.72.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF or 1}"
SOURCE = rf"DIRECT=TCP:{ADDRESS}\private$\orders"
QUEUE = r".\private$\orders"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Manager]:
    data = tmp_path / "server"
    data.mkdir(mode=0o700)
    account = AccountFile(data).add("ada", "secret", None)
    (tmp_path / "password").write_text("secret\n")
    manager = Manager(data, "--bind", ADDRESS, "--rpc-port", "2103")
    try:
        assert manager.run("queue", "create", QUEUE).code == 0
        sid = str(account.sid)
        assert manager.run("queue", "grant", QUEUE, sid, "receive", "peek").code == 0
        lines = b"one\ntwo\nthree\nfour\n"
        assert manager.run("send", QUEUE, "--lines", "-", stdin=lines).code == 0
        yield manager
    finally:
        manager.stop()


def run(directory: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A command in another directory, without a queue manager of its own."""
    environment = {
        **os.environ,
        "OPENMSMQ_SOCKET": str(directory / "no.sock"),
        "OPENMSMQ_RPC_USER": "ada",
        "OPENMSMQ_RPC_PASSWORD_FILE": str(directory / "password"),
    }
    return subprocess.run(
        [PROGRAM, *words],
        cwd=directory,
        env=environment,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


def bodies(outcome: subprocess.CompletedProcess[bytes]) -> list[str]:
    assert outcome.returncode == 0, outcome.stderr
    return [json.loads(line)["body"] for line in outcome.stdout.splitlines()]


@pytest.mark.usefixtures("server")
def test_queue_of_another_machine_is_peeked_received_moved_and_purged(tmp_path: Path) -> None:
    assert bodies(run(tmp_path, "peek", SOURCE, "--all", "--json")) == [
        *("one", "two", "three", "four")
    ]
    assert bodies(run(tmp_path, "receive", SOURCE, "--count", "2", "--json")) == ["one", "two"]
    number = json.loads(run(tmp_path, "peek", SOURCE, "--json").stdout)["lookup_id"]
    moved = run(tmp_path, "move", SOURCE, f"{SOURCE};retry", "--lookup-id", number)
    assert moved.returncode == 0, moved.stderr
    assert bodies(run(tmp_path, "peek", f"{SOURCE};retry", "--all", "--json")) == ["three"]
    purged = run(tmp_path, "queue", "purge", SOURCE, "--yes", "--json")
    assert json.loads(purged.stdout)["purged"] == 1
    assert run(tmp_path, "receive", SOURCE).returncode == 3


@pytest.mark.usefixtures("server")
def test_wrong_password_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("wrong\n")
    refused = run(
        tmp_path, "peek", SOURCE, "--user", "ada", "--password-file", str(tmp_path / "wrong")
    )
    assert refused.returncode == 1
    assert b"MQ_ERROR_ACCESS_DENIED" in refused.stderr
    assert b"privacy" in refused.stderr


def test_name_that_means_this_machine_stays_local(server: Manager) -> None:
    assert server.run("peek", SOURCE, "--json").object["body"] == "one"
    refused = server.run("peek", QUEUE, "--user", "ada")
    assert refused.code == 2


@pytest.mark.parametrize("option", ["--auth", "--level"])
def test_unknown_way_to_log_on_is_wrong_usage(tmp_path: Path, option: str) -> None:
    refused = run(tmp_path, "peek", SOURCE, option, "nonsense")
    assert refused.returncode == 2
    assert option.encode() in refused.stderr
    assert b"'nonsense' is not one of" in refused.stderr


def test_levels_and_ways_to_log_on_are_those_of_the_client() -> None:
    assert set(Level) == set(LEVELS)
    assert set(Auth) == {"kerberos", "ntlm", "none"}


@pytest.mark.parametrize("content", [b"\xff\n", None], ids=["not text", "no file"])
def test_unusable_password_file_is_named_in_plain_words(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "unusable"
    if content is not None:
        file.write_bytes(content)
    refused = run(tmp_path, "peek", SOURCE, "--user", "ada", "--password-file", str(file))
    assert refused.returncode == 2
    reason = "No such file or directory" if content is None else "is not UTF-8"
    assert f"{file}: {reason}\n".encode() in refused.stderr


@pytest.mark.parametrize(
    ("source", "host"),
    [
        (r"DIRECT=TCP:192.0.2.7\private$\orders", "192.0.2.7"),
        (r"DIRECT=OS:server\private$\orders;journal", "server"),
        (r"DIRECT=OS:.\private$\orders", None),
        (r"DIRECT=OS:localhost\private$\orders", None),
        (r"DIRECT=HTTP://server/msmq/private$/orders", None),
        (r"DIRECT=nonsense", None),
        (r"server\private$\orders", "server"),
        (r".\private$\orders", None),
        (r"PRIVATE=00112233-4455-6677-8899-aabbccddeeff\0000000a", None),
    ],
)
def test_direct_names_say_which_machine_they_are_for(source: str, host: str | None) -> None:
    assert host_of(source) == host

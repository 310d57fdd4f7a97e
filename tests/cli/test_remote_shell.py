"""Remote read as people do it in a shell: an account, a right, and commands of another user."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager, run

# A name without a port means 135 and 2103: every process of tests has an address of its own.
ADDRESS = f"127.74.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF or 1}"
QUEUE = r".\private$\orders"
SOURCE = rf"DIRECT=TCP:{ADDRESS}\private$\orders"
RETRY = rf"{SOURCE};retry"
OTHER_USER = "nobody"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(tmp_path / "server", "--bind", ADDRESS, "--rpc-port", "2103")
    try:
        yield manager
    finally:
        manager.stop()


class Shell:
    """Commands of another user of this machine, in a directory of that user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        user = pwd.getpwnam(OTHER_USER)
        os.chown(folder, user.pw_uid, user.pw_gid)
        self.password_file = folder / "password"
        self.password_file.write_text("secret\n")
        self.password_file.chmod(0o600)
        os.chown(self.password_file, user.pw_uid, user.pw_gid)
        self._options: dict[str, Any] = {
            "cwd": folder,
            "env": {
                **os.environ,
                "HOME": str(folder),
                "OPENMSMQ_SOCKET": str(folder / "no.sock"),
                "OPENMSMQ_RPC_USER": "ada",
                "OPENMSMQ_RPC_PASSWORD_FILE": str(self.password_file),
            },
            "user": user.pw_uid,
            "group": user.pw_gid,
            "extra_groups": [],
        }

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [PROGRAM, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            **self._options,
        )

    def run(self, *words: str) -> list[dict[str, Any]]:
        """What a command prints as JSON; it must succeed."""
        with self.start(*words, "--json") as process:
            out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()]

    def left(self, source: str) -> list[str]:
        """Take what is left in a queue."""
        with self.start("receive", source, "--all", "--json") as process:
            out, err = process.communicate(timeout=SECONDS)
        assert process.returncode in (0, 3), err
        return [json.loads(line)["body"] for line in out.splitlines()]

    def bodies(self, *words: str) -> list[str]:
        return [message["body"] for message in self.run(*words)]


@pytest.fixture
def shell() -> Iterator[Shell]:
    if os.geteuid() != 0:
        pytest.skip("only root can run commands as another user")
    folder = Path(tempfile.mkdtemp(prefix="openmsmq-shell-"))
    try:
        made = Shell(folder)
        with made.start("--version") as process:
            process.communicate(timeout=SECONDS)
        if process.returncode:
            pytest.skip(
                f"{OTHER_USER} cannot reach {PROGRAM}: a folder above it is closed to others"
            )
        yield made
    finally:
        shutil.rmtree(folder)


def add_account(server: Manager, shell: Shell) -> None:
    words = ["user", "add", "ada", "--password-file", str(shell.password_file)]
    added = run([*words, "--data", str(server.data)])
    assert added.code == 0, added.err


@pytest.mark.timeout(180)
def test_another_user_reads_a_queue_of_this_machine_over_the_network(
    server: Manager, shell: Shell
) -> None:
    add_account(server, shell)
    assert server.run("queue", "create", QUEUE).code == 0
    assert server.run("queue", "grant", QUEUE, "ada", "receive", "peek").code == 0
    assert server.run("send", QUEUE, "--lines", "-", stdin=b"one\ntwo\nthree\nfour\n").code == 0

    assert shell.bodies("peek", SOURCE, "--all") == ["one", "two", "three", "four"]

    with shell.start("receive", SOURCE, "--follow", "--json") as following:
        assert following.stdout is not None
        lines = [json.loads(following.stdout.readline())["body"] for _ in range(4)]
        assert server.run("send", QUEUE, "--body", "five").code == 0
        lines.append(json.loads(following.stdout.readline())["body"])
        # Once: a second one would end the clean end.
        following.send_signal(signal.SIGINT)
        _, err = following.communicate(timeout=SECONDS)
    assert following.returncode == 0, err
    assert lines == ["one", "two", "three", "four", "five"]
    # The last one is removed when the next one is asked for; Ctrl-C may have come before that.
    assert shell.left(SOURCE) in ([], ["five"])

    assert server.run("send", QUEUE, "--lines", "-", stdin=b"six\nseven\neight\n").code == 0
    first = shell.run("peek", SOURCE)[0]["lookup_id"]
    assert shell.run("move", SOURCE, RETRY, "--lookup-id", first)[0]["moved"] == 1
    assert shell.run("move", SOURCE, RETRY, "--all", "--dry-run")[0]["moved"] == 2
    assert shell.run("move", SOURCE, RETRY, "--all", "--yes")[0]["moved"] == 2
    assert shell.bodies("peek", RETRY, "--all") == ["six", "seven", "eight"]
    assert shell.run("queue", "purge", RETRY, "--yes")[0]["purged"] == 3
    assert shell.left(RETRY) == []


@pytest.mark.timeout(120)
def test_another_user_without_the_right_is_refused(server: Manager, shell: Shell) -> None:
    add_account(server, shell)
    assert server.run("queue", "create", QUEUE).code == 0
    with shell.start("peek", SOURCE) as refused:
        _, err = refused.communicate(timeout=SECONDS)
    assert refused.returncode == 1
    assert b"MQ_ERROR_ACCESS_DENIED" in err
    assert b"secret" not in err

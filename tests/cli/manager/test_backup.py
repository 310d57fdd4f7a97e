"""`openmsmq backup`, `restore` and `store check`."""

import os
import time
from pathlib import Path

import pytest
from tests.cli.running import Manager, run
from tests.interop.loopback import new_address

QUEUE = r".\private$\kept"
BODIES = [f"message {number}" for number in range(200)]


@pytest.fixture(scope="module")
def backup(manager: Manager, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a queue manager that goes on afterwards."""
    file = tmp_path_factory.mktemp("backup") / "file"
    assert manager.run("queue", "create", QUEUE, "--label", "kept").code == 0
    lines = "\n".join(BODIES).encode()
    assert manager.run("send", QUEUE, "--lines", "-", "--recoverable", stdin=lines).code == 0
    assert manager.run("send", QUEUE, "--body", "express").code == 0
    done = manager.run("backup", str(file), "--json").object
    assert done["file"] == str(file)
    assert done["bytes"] > 200 * 100
    manager.run("queue", "delete", QUEUE)
    return file


def test_a_restored_queue_manager_has_what_was_on_disk(backup: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    restored = run(["restore", str(backup), "--data", str(data)])
    assert restored.code == 0
    assert restored.out.splitlines() == [
        f"Restored {backup} into {data}",
        f"Start it with: openmsmq serve --data {data}",
    ]
    checked = run(["store", "check", "--data", str(data), "--json"])
    assert checked.code == 0
    assert checked.object["sound"] is True
    assert checked.object["messages"] >= 200
    again = Manager(data)
    try:
        shown = again.run("queue", "show", QUEUE, "--json").object
        assert (shown["messages"], shown["label"]) == (200, "kept")
        messages = again.run("receive", QUEUE, "--all", "--json").objects
        assert [each["body"] for each in messages] == BODIES
        again.run("send", QUEUE, "--body", "new")
        new = again.run("receive", QUEUE, "--json").object
        numbers = [int(each["id"].partition("\\")[2]) for each in (messages[-1], new)]
        # Skipped ahead, so that no number is used twice.
        assert numbers[1] > numbers[0] + 1
    finally:
        assert again.stop() == 0


@pytest.mark.spec("MQQB-3.1.1.3.1-03", "MQQB-3.1.1.3.1-04")
def test_a_restored_copy_is_heard_by_those_who_know_the_original(tmp_path: Path) -> None:
    """What the original sent after the backup, the copy must not send again as something else."""
    at = {name: ("--bind", new_address(), "--binary-port", "1801") for name in ("alpha", "beta")}
    beta = Manager(tmp_path / "beta", *at["beta"])
    destination = rf"DIRECT=TCP:{at['beta'][1]}\private$\orders"
    assert beta.run("queue", "create", r".\private$\orders", "--transactional").code == 0
    alpha = Manager(tmp_path / "alpha", *at["alpha"])

    def send(*bodies: str) -> None:
        lines = "\n".join(bodies).encode()
        sent = alpha.run("send", destination, "--transactional", "--lines", "-", stdin=lines)
        assert sent.code == 0
        wait = ("--count", str(len(bodies)), "--timeout", "30", "--json")
        received = beta.run("receive", r".\private$\orders", *wait)
        assert [each["body"] for each in received.objects] == list(bodies)
        deadline = time.monotonic() + 30
        # The sequence is over when everything is acknowledged.
        while alpha.run("outgoing", "--json").object["messages"]:
            assert time.monotonic() < deadline, "nothing is acknowledged"
            time.sleep(0.05)

    try:
        send("before")
        assert alpha.run("backup", str(tmp_path / "file")).code == 0
        send("o1", "o2", "o3")
        assert alpha.stop() == 0
        data = tmp_path / "restored"
        assert run(["restore", str(tmp_path / "file"), "--data", str(data)]).code == 0
        alpha = Manager(data, *at["alpha"])
        for _ in range(2):
            assert alpha.stop() == 0
            alpha = Manager(data, *at["alpha"])
        send("n1")
        send("n2", "n3", "n4")
    finally:
        assert [manager.stop() for manager in (alpha, beta)] == [0, 0]


def test_a_relative_path_is_that_of_the_shell(
    manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = manager.run("backup", "here")
    assert outcome.code == 0
    assert outcome.out.startswith("Backed up ")
    assert outcome.out.endswith(f" to {tmp_path / 'here'}\n")
    assert (tmp_path / "here").stat().st_size > 0


def test_a_backup_that_cannot_be_written_is_refused(manager: Manager, tmp_path: Path) -> None:
    outcome = manager.run("backup", str(tmp_path / "missing" / "file"))
    assert outcome.code == 1
    assert "openmsmq backup: MQ_ERROR_" in outcome.err
    assert "No such file or directory" in outcome.err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = manager.run("backup", str(pipe))
    assert (outcome.code, pipe.is_fifo()) == (1, True)
    assert "it is not a regular file" in outcome.err
    assert "Remedy: Name a new file." in outcome.err


def test_restore_keeps_what_is_there(manager: Manager, backup: Path) -> None:
    outcome = run(["restore", str(backup), "--data", str(manager.data)])
    assert (outcome.code, outcome.raw) == (1, b"")
    assert "not empty; restore into a new directory" in outcome.err
    assert "Remedy: Give a new directory with --data" in outcome.err
    assert manager.run("status").code == 0


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"something else" * 1000)
    outcome = run(["restore", str(file), "--data", str(tmp_path / "data")])
    assert outcome.code == 1
    assert "MQ_ERROR_MESSAGE_STORAGE_FAILED (0xC00E002A)" in outcome.err
    assert "not a backup of openmsmq" in outcome.err


def test_a_damaged_backup_is_refused(backup: Path, tmp_path: Path) -> None:
    damaged = bytearray(backup.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file = tmp_path / "file"
    file.write_bytes(damaged)
    outcome = run(["restore", str(file), "--data", str(tmp_path / "data")])
    assert outcome.code == 1
    assert "the backup is damaged" in outcome.err


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    assert run(["restore", str(tmp_path / "none"), "--data", str(tmp_path / "d")]).code == 2


def test_the_default_data_directory(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    restored = run(["restore", str(backup), "--json"]).object
    assert restored == {"file": str(backup), "data": str(tmp_path / "openmsmq")}
    lines = run(["store", "check"]).out.splitlines()
    assert [line.split()[0] for line in lines] == ["Store", "State", "Messages", "Files", "Batches"]
    assert lines[1].split() == ["State", "sound"]


def test_a_store_in_use_is_not_checked(manager: Manager) -> None:
    outcome = run(["store", "check", "--data", str(manager.data)])
    assert outcome.code == 1
    assert f"is in use by process {manager.process.pid}" in outcome.err
    assert f"Remedy: Stop process {manager.process.pid}, or give" in outcome.err


def test_no_store_is_refused(tmp_path: Path) -> None:
    outcome = run(["store", "check", "--data", str(tmp_path)])
    assert outcome.code == 1
    assert "openmsmq store check: MQ_ERROR_MESSAGE_STORAGE_FAILED" in outcome.err


def test_damage_is_found_and_told(backup: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run(["restore", str(backup), "--data", str(data)]).code == 0
    segment = max((data / "store").glob("*"), key=lambda file: file.stat().st_size)
    content = bytearray(segment.read_bytes())
    place = content.index(b"message 7")
    content[place] ^= 0xFF
    segment.write_bytes(content)
    outcome = run(["store", "check", "--data", str(data)])
    assert outcome.code == 1
    assert "State     DAMAGED" in outcome.out
    assert f"{segment.name} at " in outcome.out
    assert "is damaged" in outcome.err
    assert "Remedy: Copy the directory, then restore the newest backup" in outcome.err
    found = run(["store", "check", "--data", str(data), "--json"]).object
    assert found["sound"] is False
    assert found["damage"][0]["file"] == segment.name
    assert 0 < found["damage"][0]["offset"] <= place

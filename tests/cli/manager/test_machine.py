"""`openmsmq machine`: rights of the queue manager itself."""

from pathlib import Path

import pytest
from tests.cli.running import Manager


def test_rights_are_shown_granted_and_revoked(manager: Manager) -> None:
    before = manager.run("machine", "rights", "--json").object
    assert before["name"] == manager.run("status", "--json").object["name"]
    command = ("machine", "grant", "uid:4711", "create-queue", "peek-deadletter", "--json")
    granted = manager.run(*command).object
    entry = next(each for each in granted["permissions"] if each["sid"] == "S-1-22-1-4711")
    assert (entry["allow"], entry["rights"]) == (True, ["peek-deadletter", "create-queue"])
    assert granted == manager.run("machine", "rights", "--json").object
    denied = manager.run("machine", "grant", "uid:4711", "create-queue", "--deny").out
    assert "denied: create-queue" in denied
    words = ("create-queue", "peek-deadletter")
    after = manager.run("machine", "revoke", "uid:4711", *words, "--json").object
    assert after == before
    assert "Permissions" in manager.run("machine", "rights").out


@pytest.mark.spec("MQDMPR-3.1.4.12-01", "MQDMPR-3.1.1.1-18")
def test_taken_offline_and_brought_online(tmp_path: Path) -> None:
    manager = Manager(tmp_path / "qm")
    manager.run("queue", "create", r".\private$\here")
    assert "is offline" in manager.run("machine", "offline").out
    assert not manager.run("status", "--json").object["online"]
    assert ", offline" in manager.run("status").out
    # Local work goes on; what is for others waits, with the reason.
    manager.run("send", r".\private$\here", "--body", "local")
    assert "local" in manager.run("receive", r".\private$\here").out
    away = r"DIRECT=TCP:127.0.77.1\private$\away"
    manager.run("send", away, "--body", "later")
    assert "offline" in manager.run("outgoing", "show", away).out
    assert not manager.run("machine", "offline", "--json").object["online"]
    assert manager.run("machine", "online", "--json").object["online"]
    assert "is online" in manager.run("machine", "online").out
    assert manager.run("status", "--json").object["online"]
    assert manager.stop() == 0


def test_they_survive_a_restart(tmp_path: Path) -> None:
    first = Manager(tmp_path / "qm")
    granted = first.run("machine", "grant", "uid:4711", "peek-journal", "--json").object
    assert first.stop() == 0
    again = Manager(tmp_path / "qm")
    assert again.run("machine", "rights", "--json").object == granted
    assert again.stop() == 0


@pytest.mark.parametrize("words", [("nobody", "full"), ("everyone", "fly")])
def test_wrong_words_are_named(manager: Manager, words: tuple[str, str]) -> None:
    outcome = manager.run("machine", "grant", *words)
    assert outcome.code == 1
    assert "MQ_ERROR_INVALID_PARAMETER" in outcome.err


def test_no_right_is_wrong_usage(manager: Manager) -> None:
    assert manager.run("machine", "grant", "everyone").code == 2

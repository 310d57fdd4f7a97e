"""`openmsmq outgoing`."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.running import SECONDS, Manager

FAR = r"DIRECT=TCP:10.99.99.99\private$\far"
CONTRACT = {
    "destination",
    "state",
    "next_hop",
    "messages",
    "unacknowledged",
    "last_error",
    "retry_in_seconds",
}


def outgoing(manager: Manager) -> dict[str, dict[str, Any]]:
    found = manager.run("outgoing", "--json").objects
    return {each["destination"]: each for each in found}


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    """A queue manager of its own, with one message on its way."""
    running = Manager(tmp_path_factory.mktemp("qm") / "data")
    assert running.run("outgoing").out == "There are no outgoing queues.\n"
    assert running.run("outgoing", "--json") == (0, b"", "")
    assert running.run("send", FAR, "--body", "hello", "--recoverable").code == 0
    yield running
    assert running.stop() == 0


def test_an_outgoing_queue_has_the_fields_that_programs_rely_on(manager: Manager) -> None:
    shown = outgoing(manager)[FAR]
    assert shown.keys() >= CONTRACT
    assert shown["messages"] == 1


def test_people_see_a_table(manager: Manager) -> None:
    title, row = manager.run("outgoing").out.splitlines()
    assert title.split()[:6] == ["Destination", "State", "Messages", "Oldest", "Last", "error"]
    assert row.split()[0] == FAR
    assert row.split()[2] == "1"
    assert "Unacknowledged  Awaiting final" in title


def test_a_queue_is_paused_and_goes_on(manager: Manager) -> None:
    assert FAR in manager.run("outgoing", "pause", FAR).out
    assert outgoing(manager)[FAR]["state"] == "ONHOLD"
    assert manager.run("outgoing", "resume", FAR, "--json").object["state"] != "ONHOLD"
    assert outgoing(manager)[FAR]["state"] != "ONHOLD"


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_a_destination_that_nothing_goes_to_is_refused(manager: Manager, command: str) -> None:
    outcome = manager.run("outgoing", command, r"DIRECT=TCP:10.99.99.98\private$\q")
    assert outcome.code == 1
    assert f"openmsmq outgoing {command}: MQ_ERROR_QUEUE_NOT_" in outcome.err


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_url_that_is_not_reached_has_its_reason(manager: Manager, scheme: str) -> None:
    name = f"DIRECT={scheme.upper()}://no-such-host.invalid/msmq/private$/far"
    assert manager.run("send", name, "--body", "hello", "--recoverable").code == 0
    reason = "the host name no-such-host.invalid could not be resolved"
    deadline = time.monotonic() + SECONDS
    while (shown := outgoing(manager)[name])["last_error"] != reason:
        assert time.monotonic() < deadline, shown
    assert (shown["transport"], shown["messages"]) == (scheme, 1)
    assert shown["history"][-1]["reason"] == reason
    lines = manager.run("outgoing", "show", name).out.splitlines()
    assert lines[-1].endswith(f"NAME_RESOLUTION_FAILURE no-such-host.invalid: {reason}")


# Looking into an outgoing queue and emptying it

WRONG = r"DIRECT=TCP:10.99.99.90\private$\wrong"


@pytest.fixture
def wrong(manager: Manager) -> Iterator[str]:
    """Three messages to a destination that is misspelt."""
    for body in ("one", "two", "three"):
        assert manager.run("send", WRONG, "--body", body, "--recoverable").code == 0
    yield WRONG
    if WRONG in outgoing(manager):
        assert manager.run("outgoing", "purge", WRONG).code == 0
        assert manager.run("outgoing", "delete", WRONG).code == 0


def bodies(manager: Manager, *command: str) -> list[str]:
    return [each["body"] for each in manager.run(*command, "--all", "--json").objects]


def test_one_queue_is_shown_with_what_is_known_of_it(manager: Manager, wrong: str) -> None:
    shown = manager.run("outgoing", "show", wrong).out
    assert wrong in shown
    assert "Messages" in shown
    assert "Why it waits" in shown
    assert manager.run("outgoing", "show", wrong, "--json").object.keys() >= CONTRACT


def test_messages_can_be_looked_at(manager: Manager, wrong: str) -> None:
    assert bodies(manager, "outgoing", "peek", wrong) == ["one", "two", "three"]
    first = manager.run("outgoing", "peek", wrong, "--json").object
    assert first["body"] == "one"
    again = manager.run("outgoing", "peek", wrong, "--lookup-id", first["lookup_id"], "--json")
    assert again.object == first
    assert outgoing(manager)[wrong]["messages"] == 3


def test_messages_are_purged_and_the_empty_queue_is_deleted(manager: Manager, wrong: str) -> None:
    refused = manager.run("outgoing", "delete", wrong)
    assert refused.code == 1
    assert "MQ_ERROR_ILLEGAL_OPERATION" in refused.err
    assert manager.run("outgoing", "purge", wrong, "--dry-run").out == (
        f"Would remove 3 messages to {wrong}\n"
    )
    assert manager.run("outgoing", "purge", wrong, "--json").object == {
        "destination": wrong,
        "purged": 3,
        "dry_run": False,
    }
    assert manager.run("outgoing", "peek", wrong).code == 3
    dry = manager.run("outgoing", "delete", wrong, "--dry-run", "--json").object
    assert dry == {"destination": wrong, "deleted": False, "dry_run": True}
    assert wrong in outgoing(manager)
    assert manager.run("outgoing", "delete", wrong).out == (
        f"Deleted the outgoing queue of {wrong}\n"
    )
    assert wrong not in outgoing(manager)


def test_messages_are_moved_to_another_destination(manager: Manager, wrong: str) -> None:
    right = r"DIRECT=TCP:10.99.99.91\private$\right"
    assert manager.run("outgoing", "move", wrong, right).code == 2
    dry = manager.run("outgoing", "move", wrong, right, "--all", "--dry-run")
    assert dry.out == f"Would move 3 messages from {wrong} to {right}\n"
    first = manager.run("outgoing", "peek", wrong, "--json").object
    only = manager.run("outgoing", "move", wrong, right, "--lookup-id", first["lookup_id"])
    assert only.out == f"Moved 1 message from {wrong} to {right}\n"
    rest = manager.run("outgoing", "move", wrong, right, "--all", "--json").object
    assert rest == {"destination": wrong, "target": right, "moved": 2, "dry_run": False}
    assert outgoing(manager)[wrong]["messages"] == 0
    moved = manager.run("outgoing", "peek", right, "--all", "--json").objects
    assert [each["body"] for each in moved] == ["one", "two", "three"]
    assert {each["destination_queue"] for each in moved} == {right}
    assert moved[0]["id"] == first["id"]


def test_messages_are_moved_to_a_queue_here(manager: Manager, wrong: str) -> None:
    kept = r".\private$\kept"
    assert manager.run("queue", "create", kept).code == 0
    assert manager.run("outgoing", "move", wrong, kept, "--all").code == 0
    assert bodies(manager, "receive", kept) == ["one", "two", "three"]

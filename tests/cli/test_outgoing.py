"""`openmsmq outgoing`."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.running import Manager

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
    assert running.run("outgoing").out == "Nothing is on its way to another machine.\n"
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


@pytest.mark.parametrize(
    ("name", "transport", "words"),
    [
        ("DIRECT=HTTP://10.99.99.97/msmq/private$/far", "http", "over HTTP"),
        ("DIRECT=HTTPS://10.99.99.97/msmq/private$/far", "https", "over HTTPS"),
    ],
)
def test_a_queue_whose_transport_is_not_there_says_why_it_waits(
    manager: Manager, name: str, transport: str, words: str
) -> None:
    assert manager.run("send", name, "--body", "hello", "--recoverable").code == 0
    shown = outgoing(manager)[name]
    assert (shown["transport"], shown["messages"]) == (transport, 1)
    assert f"does not send {words}" in shown["reason"]
    assert words in manager.run("outgoing").out

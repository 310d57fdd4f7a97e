"""`openmsmq move`."""

import pytest
from tests.cli.running import Manager

import openmsmq


def fill(manager: Manager, queue: str, *bodies: str) -> list[str]:
    """Send messages; return their lookup ids."""
    lines = "".join(f"{body}\n" for body in bodies).encode()
    assert manager.run("send", queue, "--lines", "-", stdin=lines).code == 0
    shown = manager.run("peek", queue, "--all", "--json").objects
    return [str(each["lookup_id"]) for each in shown]


def bodies(manager: Manager, queue: str) -> str:
    return manager.run("peek", queue, "--all", "--raw").out


def test_all_messages_to_a_subqueue_and_back(manager: Manager, queue: str) -> None:
    fill(manager, queue, "a", "b", "c")
    moved = manager.run("move", queue, f"{queue};later", "--all")
    assert moved.out == f"Moved 3 messages from {queue} to {queue};later\n"
    assert (bodies(manager, queue), bodies(manager, f"{queue};later")) == ("", "abc")
    back = manager.run("move", f"{queue};later", queue, "--all", "--json").object
    assert back == {
        "source": f"{queue};later",
        "target": queue,
        "moved": 3,
        "dry_run": False,
    }
    shown = manager.run("receive", queue, "--all", "--json").objects
    assert [(each["body"], each["move_count"]) for each in shown] == [("a", 2), ("b", 2), ("c", 2)]


def test_more_messages_than_fit_into_one_step(manager: Manager, queue: str) -> None:
    fill(manager, queue, *(f"{number}," for number in range(2500)))
    assert manager.run("move", queue, f"{queue};x", "--all", "--json").object["moved"] == 2500
    assert bodies(manager, f"{queue};x") == "".join(f"{number}," for number in range(2500))


def test_messages_by_lookup_id(manager: Manager, queue: str) -> None:
    ids = fill(manager, queue, "a", "b", "c")
    options = ("--lookup-id", ids[0], "--lookup-id", ids[2], "--lookup-id", ids[0])
    assert manager.run("move", queue, f"{queue};x", *options, "--json").object["moved"] == 2
    assert (bodies(manager, queue), bodies(manager, f"{queue};x")) == ("b", "ac")


@pytest.mark.parametrize("which", ["--all", "--lookup-id"])
def test_a_dry_run_moves_nothing(manager: Manager, queue: str, which: str) -> None:
    ids = fill(manager, queue, "a", "b")
    options = (which,) if which == "--all" else (which, ids[1])
    count = 2 if which == "--all" else 1
    outcome = manager.run("move", queue, f"{queue};x", *options, "--dry-run", "--json")
    assert (outcome.object["moved"], outcome.object["dry_run"]) == (count, True)
    said = manager.run("move", queue, f"{queue};x", *options, "--dry-run").out
    assert said.startswith("Would move ")
    assert bodies(manager, queue) == "ab"


def test_a_dry_run_does_not_count_messages_that_a_reader_has(manager: Manager, queue: str) -> None:
    first, *_ = fill(manager, queue, "a", "b", "c")
    with (
        openmsmq.connect(str(manager.socket)) as client,
        client.open_queue(queue, "receive").hold_by_lookup_id(int(first)),
    ):
        for options in (("--dry-run",), ()):
            moved = manager.run("move", queue, ";x", "--all", *options, "--json").object
            assert moved["moved"] == 2


def test_a_message_that_is_not_there_keeps_the_others_in_place(
    manager: Manager, queue: str
) -> None:
    ids = fill(manager, queue, "a", "b")
    outcome = manager.run("move", queue, f"{queue};x", "--lookup-id", ids[0], "--lookup-id", "4711")
    assert outcome.code == 1
    assert "MQ_ERROR_MESSAGE_NOT_FOUND (0xC00E0088)" in outcome.err
    assert bodies(manager, queue) == "ab"


def test_back_from_the_dead_letters(manager: Manager, queue: str) -> None:
    options = ("--body", "late", "--dead-letter", "--time-to-be-received", "0", "--label", queue)
    assert manager.run("send", queue, *options).code == 0
    assert manager.run("receive", queue, "--timeout", "0.3").code == 3
    letters = manager.run("peek", ";deadletter", "--all", "--json").objects
    (letter,) = [each for each in letters if each["label"] == queue]
    moved = manager.run("move", ";deadletter", queue, "--lookup-id", str(letter["lookup_id"]))
    assert moved.code == 0
    assert bodies(manager, queue) == "late"


def test_queues_that_do_not_belong_together_are_refused(
    manager: Manager, queue: str, transactional_queue: str
) -> None:
    fill(manager, queue, "a")
    outcome = manager.run("move", queue, transactional_queue, "--all")
    assert outcome.code == 1
    assert "openmsmq move: MQ_ERROR_" in outcome.err
    assert bodies(manager, queue) == "a"


@pytest.mark.parametrize("options", [(), ("--all", "--lookup-id", "1")])
def test_it_must_be_said_which_messages(
    manager: Manager, queue: str, options: tuple[str, ...]
) -> None:
    outcome = manager.run("move", queue, f"{queue};x", *options)
    assert outcome.code == 2
    assert "--lookup-id ID, --where FILTER, or --all" in outcome.err

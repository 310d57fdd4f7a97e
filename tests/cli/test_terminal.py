"""What is different on a terminal: questions, widths, colours, progress, the live view."""

import json
from pathlib import Path

import pytest
from tests.cli.running import Manager, interrupt
from tests.cli.terminal import Terminal


def messages(manager: Manager, queue: str) -> int:
    count: int = manager.run("queue", "show", queue, "--json").object["messages"]
    return count


@pytest.fixture
def filled(manager: Manager, queue: str) -> str:
    assert manager.run("send", queue, "--body", "x" * 100, "--count", "3").code == 0
    return queue


@pytest.mark.parametrize(("answer", "code", "left"), [("n", 1, 3), ("y", 0, 0)])
def test_purge_asks_with_the_count(
    manager: Manager, filled: str, answer: str, code: int, left: int
) -> None:
    with Terminal(manager, "queue", "purge", filled) as terminal:
        terminal.expect("Remove 3 messages (")
        terminal.expect("[y/N]:")
        terminal.type(f"{answer}\n")
        assert terminal.wait() == code
    assert messages(manager, filled) == left


def test_an_empty_queue_is_purged_without_a_question(manager: Manager, queue: str) -> None:
    with Terminal(manager, "queue", "purge", queue) as terminal:
        assert terminal.wait() == 0
        assert "Removed 0 messages" in terminal.text


def test_delete_asks(manager: Manager, filled: str) -> None:
    with Terminal(manager, "queue", "delete", filled) as terminal:
        terminal.expect("with 3 messages (")
        terminal.type("\n")
        assert terminal.wait() == 1
    assert messages(manager, filled) == 3


def test_move_of_all_asks(manager: Manager, filled: str) -> None:
    with Terminal(manager, "move", filled, f"{filled};x", "--all") as terminal:
        terminal.expect("Move 3 messages to ")
        terminal.type("n\n")
        assert terminal.wait() == 1
    assert messages(manager, filled) == 3


@pytest.mark.parametrize("command", ["purge", "delete"])
def test_yes_is_the_answer_in_advance(manager: Manager, filled: str, command: str) -> None:
    with Terminal(manager, "queue", command, filled, "--yes") as terminal:
        assert terminal.wait() == 0
        assert "[y/N]" not in terminal.text


def test_a_save_asks_before_it_replaces_a_file(
    manager: Manager, filled: str, tmp_path: Path
) -> None:
    file = tmp_path / "kept.omq"
    file.write_bytes(b"older")
    with Terminal(manager, "save", str(file), filled) as terminal:
        terminal.expect("Replace ")
        terminal.type("n\n")
        assert terminal.wait() == 1
    assert file.read_bytes() == b"older"


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_apply_asks_before_it_deletes_what_is_not_listed(
    manager: Manager, filled: str, tmp_path: Path, answer: str, code: int
) -> None:
    file = tmp_path / "queues.json"
    exported = manager.run("export", "--json").object
    name = filled.partition("\\")[2]
    exported["queues"] = [each for each in exported["queues"] if each["path"] != name]
    file.write_text(json.dumps(exported), "utf-8")
    with Terminal(manager, "apply", str(file), "--prune", "--force") as terminal:
        terminal.expect("Delete 1 queue, with all messages in them?")
        terminal.type(f"{answer}\n")
        assert terminal.wait() == code
    assert (manager.run("queue", "show", filled).code == 0) == (answer == "n")
    if answer == "y":
        manager.run("queue", "create", filled)


def test_a_body_can_be_typed(manager: Manager, queue: str) -> None:
    with Terminal(manager, "send", queue) as terminal:
        terminal.expect("Type the body; Ctrl-D on a line of its own ends it.")
        terminal.type("größe\nzwei\n\x04")
        assert terminal.wait() == 0
        assert "Sent 1 message (13 B)" in terminal.text
    assert manager.run("receive", queue, "--raw").out == "größe\nzwei\n"


@pytest.mark.parametrize("columns", [80, 120])
def test_tables_fit_the_terminal(manager: Manager, columns: int) -> None:
    path = rf".\private$\{'long-' * 15}"
    manager.run("queue", "create", path, "--label", "label " * 20, "--journal", "--transactional")
    try:
        with Terminal(manager, "queue", "list", columns=columns) as terminal:
            assert terminal.wait() == 0
            lines = terminal.text.splitlines()
        assert max(map(len, lines)) <= columns
        assert any("…" in line for line in lines)
        assert ("Label" in lines[0]) == (columns == 120)
    finally:
        manager.run("queue", "delete", path)


def test_colours_are_for_terminals(manager: Manager, filled: str) -> None:
    for arguments in (("queue", "list"), ("peek", filled), ("queue", "show", "nothing")):
        with Terminal(manager, *arguments) as terminal:
            terminal.wait()
            assert "\x1b[" in terminal.raw
        outcome = manager.run(*arguments)
        assert "\x1b[" not in outcome.out + outcome.err


def test_a_long_body_is_cut_on_a_terminal(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x" * 10_000)
    with Terminal(manager, "peek", queue) as terminal:
        assert terminal.wait() == 0
        assert "… 6,000 more characters; --raw or --json has all" in terminal.text
    assert "x" * 10_000 in manager.run("peek", queue).out


def test_many_bytes_are_cut_on_a_terminal(manager: Manager, queue: str) -> None:
    manager.run("send", queue, stdin=b"\x81\x00\x02" * 1000)
    with Terminal(manager, "peek", queue) as terminal:
        assert terminal.wait() == 0
        assert "01f0  " in terminal.text
        assert "0200  " not in terminal.text
        assert "… 2,488 more bytes" in terminal.text


def test_the_shell_goes_on_in_a_new_line_after_a_raw_body(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "no end")
    with Terminal(manager, "peek", queue, "--raw") as terminal:
        assert terminal.wait() == 0
        assert terminal.text == "no end\n"


def test_the_live_view_ends_with_the_last_look(manager: Manager, filled: str) -> None:
    with Terminal(manager, "top", "--interval", "0.1", "--count", "3") as terminal:
        assert terminal.wait() == 0
        lines = terminal.text.splitlines()
    assert any(line.startswith("Queue ") for line in lines[-24:])
    assert any(filled in line for line in lines[-24:])


def test_the_live_view_ends_with_an_interrupt(manager: Manager, filled: str) -> None:
    with Terminal(manager, "top", "--interval", "60") as terminal:
        terminal.expect("Messages")
        assert interrupt(terminal.process) == 0


def test_long_work_has_a_progress_bar(manager: Manager, queue: str) -> None:
    with Terminal(manager, "send", queue, "--body", "x" * 1000, "--count", "300000") as terminal:
        terminal.expect("sending")
        terminal.expect("/300000")
        terminal.process.kill()
        terminal.process.wait()

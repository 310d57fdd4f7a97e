"""`openmsmq send --delay`, `delayed` and `queue release`."""

import pytest
from tests.cli.running import Manager


def test_delayed_messages_are_listed_delivered_and_cancelled(manager: Manager, queue: str) -> None:
    assert manager.run("delayed", "list").out == "No message waits for its time.\n"
    sent = manager.run("send", queue, "--body", "1", "--delay", "2h", "--label", "one", "--json")
    assert sent.object["deliver_at"].endswith("+00:00")
    options = ("--deliver-at", "2099-01-01T00:00:00Z")
    far = manager.run("send", queue, "--body", "2", *options)
    assert (far.code, "up to 366 days, not for " in far.err) == (1, True)
    lines = ("--lines", "-", "--delay", "90")
    assert manager.run("send", queue, *lines, stdin=b"2\n3\n").code == 0
    shown = manager.run("delayed", "list", queue, "--json").objects
    assert [each["label"] for each in shown] == ["", "", "one"]
    table = manager.run("delayed", "list").out
    assert "one" in table
    assert shown[2]["lookup_id"] in table
    assert f"{shown[2]['deliver_at'][:19].replace('T', ' ')} UTC" in table
    first = shown[0]["lookup_id"]
    tried = manager.run("delayed", "deliver", queue, "--all", "--dry-run")
    assert tried.out == f"Would deliver 3 messages for {queue}\n"
    unknown = manager.run("delayed", "deliver", queue, "--lookup-id", "17", "--dry-run")
    assert (unknown.code, "MQ_ERROR_MESSAGE_NOT_FOUND" in unknown.err) == (1, True)
    assert manager.run("delayed", "deliver", queue, "--lookup-id", first).out == (
        f"Delivered 1 message for {queue}\n"
    )
    assert manager.run("receive", queue, "--raw").out == "2"
    tried = manager.run("delayed", "cancel", queue, "--all", "--dry-run")
    assert tried.out == f"Would cancel 2 messages for {queue}\n"
    missing = manager.run("delayed", "cancel", queue, "--lookup-id", first, "--dry-run")
    assert missing.code == 1
    assert "MQ_ERROR_MESSAGE_NOT_FOUND" in missing.err
    cancelled = manager.run("delayed", "cancel", queue, "--all", "--yes", "--json").object
    assert cancelled == {"queue": queue, "cancelled": 2, "dry_run": False}
    assert manager.run("delayed", "deliver", queue, "--all", "--json").object["delivered"] == 0


def test_a_transaction_is_delayed_whole(manager: Manager, queue: str) -> None:
    path = f"{queue}-exact"
    assert manager.run("queue", "create", path, "--transactional").code == 0
    lines = ("--transactional", "--lines", "-", "--delay", "1d")
    assert manager.run("send", path, *lines, stdin=b"1\n2\n").code == 0
    assert len(manager.run("delayed", "list", path, "--json").objects) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("send", "--body", "1", "--delay", "1", "--deliver-at", "2026-01-01"),
        ("send", "--body", "1", "--delay", "infinite"),
        ("send", "--body", "1", "--deliver-at", "soon"),
        ("delayed", "deliver"),
        ("delayed", "cancel", "--all", "--lookup-id", "1"),
    ],
)
def test_wrong_usage_ends_with_2(manager: Manager, queue: str, arguments: tuple[str, ...]) -> None:
    words = 2 if arguments[0] == "delayed" else 1
    command = (*arguments[:words], queue, *arguments[words:])
    assert manager.run(*command).code == 2


def test_a_policy_is_set_and_shown_and_held_messages_are_released(
    manager: Manager, queue: str
) -> None:
    options = (
        *("--receive-retry-count", "0", "--retry-cycle-delay", "5m"),
        *("--max-retry-cycles", "0", "--receive-error-handling", "hold"),
    )
    assert manager.run("queue", "set", queue, *options).code == 0
    shown = manager.run("queue", "show", queue, "--json").object
    assert (shown["retry_cycle_delay"], shown["receive_error_handling"]) == (300, "hold")
    text = manager.run("queue", "show", queue).out
    assert "Retries" in text
    assert "then hold" in text
    released = manager.run("queue", "release", queue, "--all")
    assert released.out == f"Released 0 messages of {queue}\n"
    assert manager.run("queue", "release", queue, "--lookup-id", "7", "--json").code == 1
    created = (*("queue", "create", f"{queue}-new"), *options, "--json")
    assert manager.run(*created).object["max_retry_cycles"] == 0

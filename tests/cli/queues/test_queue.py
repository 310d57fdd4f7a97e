"""`openmsmq queue`."""

import contextlib
from typing import Any

import pytest
from tests.cli.running import Manager

import openmsmq

CONTRACT = {
    "path",
    "format_name",
    "transactional",
    "messages",
    "bytes",
    "journal_messages",
    "oldest_message_age_seconds",
}


def show(manager: Manager, path: str) -> dict[str, Any]:
    outcome = manager.run("queue", "show", path, "--json")
    assert outcome.code == 0
    return outcome.object


def test_a_new_queue_has_the_fields_that_programs_rely_on(manager: Manager, queue: str) -> None:
    shown = show(manager, queue)
    assert shown.keys() >= CONTRACT
    assert shown["path"].endswith(queue[1:])
    assert shown["format_name"] == f"DIRECT=OS:{shown['path']}"
    assert shown["transactional"] is False
    assert shown["messages"] == shown["bytes"] == shown["journal_messages"] == 0
    assert shown["oldest_message_age_seconds"] is None


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--transactional"], "transactional", True),
        (["--label", "Bestellungen 世界"], "label", "Bestellungen 世界"),
        (["--journal"], "journal", True),
        (["--quota", "1000"], "quota", 1000),
        (["--quota", "none"], "quota", 0xFFFFFFFF),
        (["--journal-quota", "5"], "journal_quota", 5),
        (["--authenticate"], "authenticate", True),
        (["--privacy", "none"], "privacy", "none"),
        (["--privacy", "optional"], "privacy", "optional"),
        (["--privacy", "body"], "privacy", "body"),
        (["--base-priority", "-7"], "base_priority", -7),
        (["--multicast", "234.1.1.1:8001"], "multicast", "234.1.1.1:8001"),
    ],
)
def test_every_option_of_create_is_a_property(
    manager: Manager, options: list[str], name: str, value: object
) -> None:
    path = r".\private$\created"
    created = manager.run("queue", "create", path, *options, "--json")
    try:
        assert created.code == 0
        assert created.object[name] == value
        assert show(manager, path)[name] == value
    finally:
        assert manager.run("queue", "delete", path).code == 0


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--label", "new"], "label", "new"),
        (["--journal"], "journal", True),
        (["--quota", "77"], "quota", 77),
        (["--journal-quota", "78"], "journal_quota", 78),
        (["--authenticate"], "authenticate", True),
        (["--privacy", "body"], "privacy", "body"),
        (["--base-priority", "3"], "base_priority", 3),
        (["--multicast", "234.1.1.2:8002"], "multicast", "234.1.1.2:8002"),
        (["--multicast", ""], "multicast", None),
    ],
)
def test_every_property_can_be_set(
    manager: Manager, queue: str, options: list[str], name: str, value: object
) -> None:
    changed = manager.run("queue", "set", queue, *options)
    assert changed.code == 0
    assert changed.out.endswith(f"{queue[1:]}: {name}\n")
    assert show(manager, queue)[name] == value
    assert manager.run("queue", "set", queue, *options, "--json").object[name] == value


@pytest.mark.parametrize("switch", ["journal", "authenticate"])
def test_a_switch_can_be_set_back(manager: Manager, queue: str, switch: str) -> None:
    for option, value in ((f"--{switch}", True), (f"--no-{switch}", False)):
        assert manager.run("queue", "set", queue, option, "--json").object[switch] is value


def test_set_takes_the_kind_that_the_queue_has(manager: Manager, queue: str) -> None:
    outcome = manager.run("queue", "set", queue, "--no-transactional", "--label", "x", "--json")
    assert (outcome.object["transactional"], outcome.object["label"]) == (False, "x")
    assert "nothing" in manager.run("queue", "set", queue, "--no-transactional").out


def test_set_refuses_another_kind(manager: Manager, queue: str) -> None:
    outcome = manager.run("queue", "set", queue, "--transactional", "--label", "x")
    assert outcome.code == 1
    assert "MQ_ERROR_PROPERTY_NOTALLOWED (0xC00E003E): transactional cannot be changed" in (
        outcome.err
    )
    assert manager.run("queue", "show", queue, "--json").object["label"] == ""


def test_set_needs_something_to_change(manager: Manager, queue: str) -> None:
    outcome = manager.run("queue", "set", queue)
    assert outcome.code == 2
    assert "name at least one property" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("queue", "create"),
        ("queue", "create", r".\private$\x", "--quota", "much"),
        ("queue", "create", r".\private$\x", "--quota", "4294967296"),
        ("queue", "create", r".\private$\x", "--privacy", "some"),
        ("queue", "create", r".\private$\x", "--base-priority", "40000"),
        ("queue", "grant", r".\private$\x", "everyone"),
        ("queue", "erase", r".\private$\x"),
    ],
)
def test_wrong_usage(manager: Manager, arguments: tuple[str, ...]) -> None:
    outcome = manager.run(*arguments)
    assert (outcome.code, outcome.raw) == (2, b"")
    assert "Error: " in outcome.err


@pytest.mark.parametrize(
    "command", ["show", "set --label x", "purge", "delete", "grant everyone send"]
)
def test_a_queue_that_is_not_there_is_refused(manager: Manager, command: str) -> None:
    word, *rest = command.split()
    outcome = manager.run("queue", word, r".\private$\nothing", *rest)
    assert (outcome.code, outcome.raw) == (1, b"")
    assert f"openmsmq queue {word}: MQ_ERROR_QUEUE_NOT_FOUND (0xC00E0003)" in outcome.err
    assert "Likely cause: " in outcome.err
    assert "Remedy: " in outcome.err


def test_a_queue_that_exists_cannot_be_created(manager: Manager, queue: str) -> None:
    outcome = manager.run("queue", "create", queue)
    assert outcome.code == 1
    assert "MQ_ERROR_QUEUE_EXISTS (0xC00E0005)" in outcome.err


def test_a_name_that_the_shell_has_changed_is_explained(manager: Manager) -> None:
    outcome = manager.run("queue", "create", ".private$orders")
    assert outcome.code == 1
    assert "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME (0xC00E0014)" in outcome.err
    assert "in single quotes" in outcome.err


def test_people_read_what_a_queue_is_and_who_may_use_it(manager: Manager) -> None:
    path = r".\private$\shown"
    options = ("--transactional", "--journal", "--label", "for people", "--quota", "2048")
    assert manager.run("queue", "create", path, *options).out.startswith("Created ")
    for _ in range(2):
        manager.run("send", path, "--body", "x" * 1000, "--transactional")
    manager.run("receive", path)
    manager.run("move", path, f"{path};later", "--all")
    manager.run("send", path, "--body", "x", "--transactional")
    lines = [line.split(maxsplit=1) for line in manager.run("queue", "show", path).out.splitlines()]
    texts = {line[0]: line[1] for line in lines}
    assert texts["Queue"].endswith(path[1:])
    assert texts["Label"] == "for people"
    assert texts["Kind"] == "private queue, transactional, journal"
    assert texts["Messages"].startswith("1 (")
    assert texts["Oldest"].endswith(" ago")
    assert texts["Journal"] in ("1 (1.2 KiB)", "quota  none")
    assert texts["Quota"] == "2.0 MiB"
    assert texts["Subqueues"] == "later"
    assert texts["Left"] == "1  MQMSG_CLASS_ACK_RECEIVE"
    assert texts["Permissions"] == "everyone   send get-properties get-permissions"
    assert texts["anonymous"] == "send get-properties get-permissions"
    assert manager.run("queue", "delete", path).code == 0


def test_the_list_has_every_queue_once(
    manager: Manager, queue: str, transactional_queue: str
) -> None:
    shown = manager.run("queue", "list", "--json").objects
    paths = [each["path"] for each in shown]
    assert len(set(paths)) == len(paths)
    assert all(each.keys() >= CONTRACT for each in shown)
    table = manager.run("queue", "list").out.splitlines()
    assert table[0].split() == [
        "Queue",
        "Messages",
        "Size",
        "Oldest",
        "Journal",
        "Properties",
        "Label",
    ]
    rows = {line.split()[0]: line.split()[1:] for line in table[1:]}
    assert rows[queue] == ["0", "0", "B"]
    assert rows[transactional_queue] == ["0", "0", "B", "transactional"]
    assert len(rows) == len(paths)


def test_queues_of_the_system_are_listed_on_request(manager: Manager, queue: str) -> None:
    usual = {each["path"] for each in manager.run("queue", "list", "--json").objects}
    everything = {
        each["path"] for each in manager.run("queue", "list", "--system", "--json").objects
    }
    assert usual < everything
    assert any(path.lower().endswith(";deadletter") for path in everything - usual)


def test_purge_counts_what_it_removes(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--count", "25")
    dry = manager.run("queue", "purge", queue, "--dry-run", "--json")
    assert (dry.object["purged"], dry.object["dry_run"]) == (25, True)
    assert show(manager, queue)["messages"] == 25
    assert "Would remove 25 messages" in manager.run("queue", "purge", queue, "--dry-run").out
    assert "Removed 25 messages" in manager.run("queue", "purge", queue).out
    assert show(manager, queue)["messages"] == 0
    assert manager.run("queue", "purge", queue, "--json").object["purged"] == 0


def test_a_dry_run_of_purge_leaves_out_what_a_reader_has(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--lines", "-", stdin=b"1\n2\n3\n")
    with (
        openmsmq.connect(str(manager.socket)) as client,
        client.open_queue(queue, "receive") as reader,
        reader.hold_by_lookup_id(reader.peek(timeout=0).lookup_id),
    ):
        for option in ("--dry-run", "--yes"):
            assert manager.run("queue", "purge", queue, option, "--json").object["purged"] == 2


def test_a_journal_can_be_purged(manager: Manager, queue: str) -> None:
    manager.run("queue", "set", queue, "--journal")
    manager.run("send", queue, "--body", "x", "--count", "3")
    manager.run("receive", queue, "--all")
    assert show(manager, queue)["journal_messages"] == 3
    assert manager.run("queue", "purge", f"{queue};journal", "--json").object["purged"] == 3
    assert show(manager, queue)["journal_messages"] == 0


def test_held_messages_are_not_being_read(manager: Manager) -> None:
    path = r".\private$\holding"
    options = ("--receive-retry-count", "0", "--max-retry-cycles", "0")
    manager.run("queue", "create", path, *options, "--receive-error-handling", "hold")
    manager.run("send", path, "--body", "bad")
    with (
        openmsmq.connect(manager.socket) as client,
        contextlib.suppress(ValueError),
        client.open_queue(path).messages(timeout=5) as stream,
    ):
        next(stream)
        raise ValueError
    shown = manager.run("queue", "show", path).out
    assert "Held           1 message for an operator\n" in shown
    assert "Being read" not in shown
    manager.run("queue", "delete", path)


def test_delete_tells_of_messages_that_are_set_aside(manager: Manager) -> None:
    path = r".\private$\doomed-too"
    manager.run("queue", "create", path)
    manager.run("send", path, "--body", "x", "--count", "2")
    manager.run("move", path, f"{path};held", "--all")
    manager.run("send", path, "--body", "later", "--delay", "1h")
    deleted = manager.run("queue", "delete", path)
    assert deleted.out.endswith(
        "with 0 messages (0 B) and 2 messages in its subqueues and 1 delayed message\n"
    )


def test_delete_tells_what_is_lost(manager: Manager) -> None:
    path = r".\private$\doomed"
    manager.run("queue", "create", path, "--journal")
    manager.run("send", path, "--body", "x", "--count", "3")
    manager.run("receive", path)
    dry = manager.run("queue", "delete", path, "--dry-run")
    assert dry.out.startswith("Would delete ")
    assert "2 messages (" in dry.out
    assert dry.out.endswith("and 1 message in its journal\n")
    deleted = manager.run("queue", "delete", path, "--json").object
    assert (deleted["messages"], deleted["journal_messages"], deleted["deleted"]) == (2, 1, True)
    assert manager.run("queue", "show", path).code == 1


def test_no_name_of_a_queue_reaches_the_terminal_as_it_is(manager: Manager) -> None:
    queue = ".\\private$\\a\u202eb\u200bc"
    for words in (
        ("queue", "create", queue),
        ("queue", "set", queue, "--label", "x"),
        ("send", queue, "--body", "x", "--delay", "1h"),
        ("send", queue, "--body", "x"),
        ("move", queue, ";held", "--all"),
        ("delayed", "cancel", queue, "--all"),
        ("queue", "purge", queue),
        ("queue", "delete", queue, "--dry-run"),
        ("queue", "delete", queue),
        ("queue", "show", queue),
    ):
        outcome = manager.run(*words)
        assert "a\\u202eb\\u200bc" in outcome.out + outcome.err
        assert "\u202e" not in outcome.out + outcome.err


def test_grants_are_shown_and_revoked(manager: Manager, queue: str) -> None:
    def entries() -> list[tuple[str, bool, list[str]]]:
        found = show(manager, queue)["permissions"]
        return [(each["sid"], each["allow"], each["rights"]) for each in found]

    before = entries()
    granted = manager.run("queue", "grant", queue, "uid:4711", "peek", "delete", "--json").object
    assert ("S-1-22-1-4711", True, ["peek", "delete"]) in entries()
    assert granted["permissions"] == show(manager, queue)["permissions"]
    table = manager.run("queue", "grant", queue, "uid:4711", "send", "--deny").out
    assert "uid:4711" in table
    assert "denied: send" in table
    assert ("S-1-22-1-4711", False, ["send"]) in entries()
    revoked = manager.run("queue", "revoke", queue, "uid:4711", "peek", "delete", "send", "--json")
    assert revoked.code == 0
    assert entries() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("uid:4711", "send"), True),
        (("S-1-5-21-1-2-3-1001", "full"), True),
        (("uid:4711", "peek", "receive"), False),
        (("uid:4711", "send", "--deny"), False),
        (("everyone", "send"), False),
        (("S-1-5-7", "send"), False),
    ],
)
def test_a_right_to_send_says_who_can_claim_it(
    manager: Manager, queue: str, arguments: tuple[str, ...], *, told: bool
) -> None:
    words = "anybody can claim to be"
    assert (words in manager.run("queue", "grant", queue, *arguments).err) is told
    assert manager.run("queue", "set", queue, "--authenticate").code == 0
    assert words not in manager.run("queue", "grant", queue, *arguments).err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nobody-in-particular", "send"), "principal: "),
        (("everyone", "fly"), "rights: 'fly' must be one of full, receive"),
    ],
)
def test_words_that_mean_nothing_are_refused(
    manager: Manager, queue: str, arguments: tuple[str, str], text: str
) -> None:
    outcome = manager.run("queue", "grant", queue, *arguments)
    assert outcome.code == 1
    assert "MQ_ERROR_INVALID_PARAMETER (0xC00E0006)" in outcome.err
    assert text in outcome.err

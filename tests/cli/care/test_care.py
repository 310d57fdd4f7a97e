"""Commands for many messages: find, retry, copy, save, load, deadletter, job, audit."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import Manager, run

import openmsmq
from openmsmq.care.durable import locked_directory

HOSTILE = [
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m",
    "{{ 7*7 }}",
    "javascript:alert(1)",
    "a\u202eb\u200bc",
    '=1+1,"x"',
    "e" + "\u0301" * 248,
]


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENMSMQ_JOBS", str(tmp_path / "jobs"))
    return tmp_path / "jobs"


@pytest.fixture
def filled(manager: Manager, queue: str) -> str:
    lines = b"\n".join(b"%d apples" % number for number in range(10))
    manager.run("send", queue, "--lines", "-", "--label", "order", "--recoverable", stdin=lines)
    return queue


@pytest.fixture
def other(manager: Manager, queue: str) -> Iterator[str]:
    path = f"{queue}-other"
    assert manager.run("queue", "create", path).code == 0
    yield path
    manager.run("queue", "delete", path)


def count(manager: Manager, queue: str) -> int:
    found: int = manager.run("queue", "show", queue, "--json").object["messages"]
    return found


def test_messages_are_found(manager: Manager, filled: str) -> None:
    found = manager.run("find", "7 apples", "--queue", filled, "--json")
    assert [(each["body"], each["queue"]) for each in found.objects] == [("7 apples", filled)]
    shown = manager.run("find", "--where", "body ~ APPLES", "--queue", filled, "--count", "3")
    assert len(shown.out.splitlines()) == 3
    assert "3 messages of" in shown.err
    everywhere = manager.run("find", "7 apples", "--in", "queue", "--json")
    assert "7 apples" in [each["body"] for each in everywhere.objects]


def test_messages_that_readers_do_not_see_are_found(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "soon", "--label", "late", "--delay", "1h")
    found = manager.run("find", "soon", "--queue", queue, "--json").object
    assert (found["state"], found["holder"]) == ("delayed", "")
    assert found["deliver_at"] is not None
    shown = manager.run("find", "soon", "--queue", queue).out
    assert shown.rstrip().endswith("late  [delayed]")
    manager.run("send", queue, "--body", "now")
    with (
        openmsmq.connect(manager.socket) as connection,
        connection.open_queue(queue) as reader,
        reader.messages(timeout=5) as messages,
    ):
        next(messages)
        taken = manager.run("find", "now", "--queue", queue, "--json").object
        assert taken["state"] == "locked"
        assert taken["holder"].startswith("reader ")


def test_nothing_is_found(manager: Manager, queue: str) -> None:
    assert manager.run("find", "nothing at all", "--queue", queue).code == 3
    wrong = manager.run("find", "--where", "labl ~ x")
    assert wrong.code == 1
    assert "'labl' is not a property" in wrong.err
    cellar = manager.run("find", "x", "--in", "cellar")
    assert (cellar.code, "'cellar' must be one of deadletter," in cellar.err) == (2, True)
    assert "0 messages of 0 in 1 place\n" in manager.run("find", "x", "--queue", queue).err


def test_where_on_peek_and_receive(manager: Manager, filled: str) -> None:
    filter_ = ("--where", "body ~ '7 a' or body ~ '8 a'")
    peeked = manager.run("peek", filled, *filter_, "--all", "--json")
    assert [each["body"] for each in peeked.objects] == ["7 apples", "8 apples"]
    received = manager.run("receive", filled, *filter_, "--json")
    assert received.object["body"] == "7 apples"
    assert count(manager, filled) == 9
    assert manager.run("peek", filled, *filter_, "--follow").code == 2
    assert manager.run("peek", filled, "--where", "priority = 0").code == 3


def test_where_on_move_and_purge(manager: Manager, filled: str) -> None:
    words = (filled, ";held", "--where", "body ~ '7 a'")
    assert manager.run("move", *words, "--dry-run").out == "Would move 1 message\n"
    assert count(manager, filled) == 10
    moved = manager.run("move", *words)
    assert moved.out.startswith("Moved 1 message\nUndo: openmsmq job undo ")
    assert manager.run("move", *words, "--all").code == 2
    purged = manager.run("queue", "purge", filled, "--where", "body ~ '8 a'", "--json")
    assert (purged.object["kind"], purged.object["done"]) == ("purge", 1)
    assert count(manager, filled) == 8


def test_a_retry_and_its_undo(manager: Manager, filled: str, other: str) -> None:
    tried = manager.run("retry", filled, "--to", other, "--first", "4", "--dry-run", "--json")
    assert (tried.object["done"], tried.object["dry_run"]) == (4, True)
    assert run(["job", "list", "--json"]).objects == []
    done = manager.run("retry", filled, "--to", other, "--first", "4", "--json").object
    assert (done["state"], done["done"], count(manager, other)) == ("finished", 4, 4)
    shown = run(["job", "show", done["job"], "--messages", "--json"]).objects
    assert [each["outcome"] for each in shown[1:]] == ["done"] * 4
    assert done["job"] in run(["job", "list"]).out
    tried = manager.run("job", "undo", done["job"], "--dry-run")
    assert (tried.out, count(manager, other)) == ("Would put back 4 messages\n", 4)
    undone = manager.run("job", "undo", done["job"])
    assert undone.out == "Put back 4 messages\n"
    assert (count(manager, filled), count(manager, other)) == (10, 0)
    assert run(["job", "list", "--json"]).object["state"] == "undone"
    for word in ("resume", "stop", "undo"):
        ended = run(["job", word, done["job"]])
        assert (ended.code, f"job {done['job']} is undone" in ended.err) == (1, True)


def test_portion_rate_and_step_of_a_filter(manager: Manager, filled: str, tmp_path: Path) -> None:
    part = ("--where", "body ~ apples", "--first", "2", "--rate", "1000", "--step", "1", "--json")
    moved = manager.run("move", filled, ";held", *part)
    assert (moved.object["done"], count(manager, filled)) == (2, 8)
    purged = manager.run("queue", "purge", filled, *part)
    assert (purged.object["done"], count(manager, filled)) == (2, 6)
    assert manager.run("save", str(tmp_path / "a.omq"), filled, *part).object["done"] == 2
    for words in (("move", filled, ";held", "--all"), ("queue", "purge", filled)):
        for option in (("--first", "1"), ("--rate", "1")):
            wrong = manager.run(*words, *option)
            assert (wrong.code, "go with --where" in wrong.err) == (2, True)
    assert count(manager, filled) == 6


def test_a_job_that_runs_says_so_and_only_that_is_stopped(
    manager: Manager, filled: str, other: str, jobs: Path
) -> None:
    assert manager.run("copy", filled, other).code == 0
    (folder,) = jobs.iterdir()
    # As after a kill in the middle.
    (folder / "journal.jsonl").unlink()
    idle = run(["job", "stop", folder.name])
    assert (idle.code, "is planned: no process runs it" in idle.err) == (1, True)
    with locked_directory(folder):
        assert run(["job", "list", "--json"]).object["state"] == "running"
        assert "State            running" in run(["job", "show", folder.name]).out
        asked = run(["job", "stop", folder.name, "--json"]).object
        assert (asked["job"], asked["state"]) == (folder.name, "stopping")
        assert run(["job", "stop", folder.name]).out == f"Asked job {folder.name} to stop\n"
    assert run(["job", "list", "--json"]).object["state"] == "planned"


def test_a_lookup_id_that_is_not_there_is_refused(
    manager: Manager, filled: str, other: str
) -> None:
    known = manager.run("peek", filled, "--json").object["lookup_id"]
    for command in (("copy", filled, other), ("retry", filled, "--to", other)):
        wrong = manager.run(*command, "--lookup-id", known, "--lookup-id", "17")
        assert (wrong.code, f"{filled}: no message 17" in wrong.err) == (1, True)
    assert (count(manager, filled), count(manager, other)) == (10, 0)
    assert run(["job", "list", "--json"]).objects == []


@pytest.mark.parametrize("wrong", ["abc", "-1", "99999999999999999999", "9" * 5000])
def test_what_is_no_lookup_id_is_wrong_usage(manager: Manager, queue: str, wrong: str) -> None:
    for words in (("peek", queue), ("copy", queue, queue), ("delayed", "cancel", queue)):
        outcome = manager.run(*words, f"--lookup-id={wrong}")
        assert (outcome.code, "is not a lookup id such as" in outcome.err) == (2, True)


def test_a_count_of_any_size_is_a_limit(manager: Manager, filled: str) -> None:
    for command in ("peek", "receive"):
        taken = manager.run(command, filled, "--count", "9" * 30, "--json").objects
        assert len(taken) == 10


def test_a_journal_offers_no_undo(manager: Manager, queue: str) -> None:
    manager.run("queue", "set", queue, "--journal")
    manager.run("send", queue, "--body", "1")
    manager.run("receive", queue)
    outcome = manager.run("move", f"{queue};journal", queue, "--where", "body ~ 1")
    assert outcome.out == "Moved 1 message\n"


@pytest.mark.parametrize("rate", ["inf", "nan"])
def test_a_rate_that_is_no_number_is_refused_before_a_job_is_made(
    manager: Manager, filled: str, other: str, rate: str
) -> None:
    refused = manager.run("retry", filled, "--to", other, "--rate", rate, "--dry-run")
    assert (refused.code, "the rate is a number above 0" in refused.err) == (1, True)
    assert run(["job", "list", "--json"]).objects == []


def test_what_is_refused_says_why(manager: Manager, filled: str) -> None:
    outcome = manager.run("retry", filled, "--to", r".\private$\none")
    assert outcome.code == 1
    assert outcome.out == "Sent 0 messages\n"
    assert "10 messages refused, and stay:" in outcome.err
    assert "MQ_ERROR_QUEUE_NOT_FOUND" in outcome.err
    assert count(manager, filled) == 10


def test_a_file_that_cannot_be_written_is_refused_before_a_job_is_made(
    manager: Manager, filled: str, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file, fault in (
        (tmp_path / "none" / "a.omq", "there is no directory"),
        (tmp_path, "it is a directory"),
        (pipe, "it is not a regular file"),
    ):
        for options in ([], ["--dry-run"]):
            refused = manager.run("save", str(file), filled, "--yes", *options)
            assert (refused.code, fault in refused.err) == (1, True)
            assert "Remedy: Name a file in a directory that exists" in refused.err
    assert run(["job", "list", "--json"]).objects == []
    assert pipe.is_fifo()


def test_files_and_copies(manager: Manager, filled: str, other: str, tmp_path: Path) -> None:
    for name in ("a.omq", "a.jsonl"):
        file = str(tmp_path / name)
        assert manager.run("save", file, filled, "--dry-run").out == "Would save 10 messages\n"
        assert not Path(file).exists()
        assert manager.run("save", file, filled).out == "Saved 10 messages\n"
        loaded = manager.run("load", file, other, "--where", "body ~ '3 a'", "--json").object
        assert loaded["done"] == 1
    assert count(manager, other) == 2
    copied = manager.run("copy", filled, other, "--json").object
    assert (copied["done"], count(manager, filled), count(manager, other)) == (10, 10, 12)
    broken = tmp_path / "b.omq"
    broken.write_bytes((tmp_path / "a.omq").read_bytes()[:-5])
    outcome = manager.run("load", str(broken), other)
    assert outcome.code == 1
    assert "cut short; whole messages in it: 10" in outcome.err
    assert "Remedy: Save the messages again" in outcome.err
    missing = manager.run("load", str(tmp_path / "none.omq"), other)
    assert "Remedy: Name a file that `openmsmq save` wrote." in missing.err


def test_dead_letters(manager: Manager, filled: str) -> None:
    manager.run(
        *("send", filled, "--body", "late", "--dead-letter", "--recoverable"),
        *("--time-to-be-received", "0", "--label", "late one"),
    )
    where = ("--where", f"destination_queue ~ '{filled[2:]}'")
    (group,) = manager.run("deadletter", "list", *where, "--by", "label,age", "--json").objects
    assert (group["label"], group["messages"], group["age"]) == ("late one", 1, "less than 1 hour")
    shown = manager.run("deadletter", "show", *where, "--json").object
    assert group["oldest"] == group["newest"] == shown["arrived_time"]
    listed = manager.run("deadletter", "list", *where).out
    assert "the time to be received ran out" in listed
    assert "Remedy: Check that the receiver runs" in listed
    assert shown["body"] == "late"
    kept = manager.run("deadletter", "retry", *where, "--limits", "keep")
    assert (kept.code, "its time is over" in kept.err) == (1, True)
    sent = manager.run("deadletter", "retry", *where, "--limits", "lift", "--json").object
    assert (sent["done"], sent["refused"]) == (1, 0)
    assert manager.run("deadletter", "list", *where).out == "No dead letters\n"
    manager.run("job", "undo", sent["job"])
    dropped = manager.run("deadletter", "drop", *where, "--json").object
    assert (dropped["kind"], dropped["done"]) == ("remove", 1)
    for words in (
        ("list", "--by", "colour"),
        ("retry", "--queue", "x"),
        ("retry", "--limits", "x"),
    ):
        assert manager.run("deadletter", *words).code == 2


def test_no_undo_is_offered_for_what_another_machine_gets(manager: Manager, queue: str) -> None:
    other = "DIRECT=TCP:127.0.0.9\\private$\\elsewhere"
    manager.run("send", queue, "--body", "x")
    assert "Undo: openmsmq job undo" in manager.run("copy", queue, f"{queue}").out
    assert manager.run("copy", queue, other, "--first", "1").out == "Copied 1 message\n"
    manager.run("outgoing", "purge", other)


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_text_appears_as_itself(manager: Manager, queue: str, label: str) -> None:
    manager.run("send", queue, "--body", label, "--label", label)
    assert manager.run("find", "--queue", queue, "--json").object["label"] == label
    shown = manager.run("find", "--queue", queue).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n") == 1
    job = manager.run("copy", queue, queue, "--json").object["job"]
    shown = run(["job", "show", job, "--messages"]).out
    assert "\x1b" not in shown
    objects = run(["job", "show", job, "--messages", "--json"]).objects
    assert objects[1]["label"] == label


def test_the_advice_holds_for_messages_that_were_purged(manager: Manager, queue: str) -> None:
    path = f"{queue}-exact"
    manager.run("queue", "create", path, "--transactional")
    manager.run("send", path, "--body", "x", "--transactional", "--dead-letter")
    manager.run("queue", "purge", path, "--yes")
    shown = manager.run("deadletter", "list", "--queue", "transactional").out
    assert "(MQMSG_CLASS_NACK_Q_PURGED)" in shown
    # Sent again, they would arrive.
    assert "Retry only if the cause is gone, or if they were removed by mistake." in shown
    manager.run("deadletter", "drop", "--yes")


def test_a_message_is_traced(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--recoverable")
    sent = manager.run("peek", queue, "--json").object["id"]
    found = manager.run("trace", sent, "--json").object
    assert [each["queue"].lower().endswith(queue[2:]) for each in found["places"]] == [True]
    assert [each["event"] for each in found["events"]] == ["arrived"]
    assert found["not_searched"] == []
    manager.run("queue", "grant", queue, "everyone", "peek", "--deny")
    closed = manager.run("trace", sent, "--json").object
    (hidden, *_) = closed["not_searched"]
    assert hidden["queue"].lower().endswith(queue[2:])
    assert "MQ_ERROR_ACCESS_DENIED" in hidden["reason"]
    manager.run("queue", "revoke", queue, "everyone", "peek")
    manager.run("move", queue, ";held", "--all")
    manager.run("receive", f"{queue};held")
    shown = manager.run("trace", sent)
    assert "It is in no queue here" in shown.out
    words = [line.partition("  It ")[2].split()[:2] for line in shown.out.splitlines()[1:]]
    assert words == [["arrived", "in"], ["was", "moved"], ["was", "received"]]


def test_a_message_that_readers_do_not_see_is_traced(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--delay", "1h")
    delayed = manager.run("delayed", "list", queue, "--json").object
    shown = manager.run("trace", delayed["id"])
    assert shown.code == 0
    due = delayed["deliver_at"][:16].replace("T", " ")
    assert "It waits in " in shown.out
    assert f"{queue[2:]} until {due}" in shown.out
    assert len(shown.out.splitlines()) == 1
    manager.run("delayed", "cancel", queue, "--all", "--yes")
    shown = manager.run("trace", delayed["id"])
    assert "cancelled" in shown.out
    assert "or never" not in shown.out
    manager.run("send", queue, "--body", "x", "--recoverable")
    sent = manager.run("peek", queue, "--json").object
    with openmsmq.connect(str(manager.socket)) as client:
        orders = client.open_queue(queue, "receive")
        with orders.hold_by_lookup_id(int(sent["lookup_id"])):
            assert "; locked: reader " in manager.run("trace", sent["id"]).out
            (place,) = manager.run("trace", sent["id"], "--json").object["places"]
            assert (place["state"], place["body"]) == ("locked", "x")


@pytest.mark.usefixtures("filled")
def test_an_unknown_message_is_explained(manager: Manager) -> None:
    unknown = manager.run("trace", r"{11111111-2222-3333-4444-555555555555}\17")
    assert unknown.code == 3
    assert "It has not come here since" in unknown.out
    assert manager.run("trace", "nothing").code == 2


def test_a_queue_is_explained(manager: Manager, filled: str) -> None:
    said = manager.run("queue", "explain", filled).out
    assert "It is not transactional" in said
    assert "It has 10 messages" in said
    assert "No program has it open to read" in said
    assert manager.run("queue", "explain", filled, "--json").object["sentences"]


def test_one_program_and_its_rights_are_explained(manager: Manager, filled: str) -> None:
    manager.run("queue", "grant", filled, "uid:4711", "peek")
    manager.run("queue", "grant", filled, "uid:4712", "peek", "send", "--deny")
    with openmsmq.connect(manager.socket) as program, program.open_queue(filled, "receive"):
        said = manager.run("queue", "explain", filled).out.splitlines()
    assert "1 program has it open to read, none waits for a message." in said
    assert "uid:4711 has the right peek." in said
    assert "uid:4712 is denied the rights peek, send." in said


def test_what_somebody_may_do_is_explained(manager: Manager, filled: str) -> None:
    manager.run("queue", "grant", filled, "uid:4711", "peek")
    lines = manager.run("queue", "explain", filled, "--principal", "uid:4711").out.splitlines()
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[1:]}
    assert rows["peek"] == "yes It is granted to uid:4711."
    assert rows["receive"] == "no No entry grants it."
    machine = manager.run("machine", "explain", "uid:0", "--json").out.splitlines()
    answers = {answer["right"]: answer for answer in map(json.loads, machine)}
    assert answers["delete"]["allowed"]
    assert "Administrators" in answers["delete"]["reason"]


def test_readers_of_a_queue_are_listed(manager: Manager, filled: str) -> None:
    assert manager.run("queue", "readers", filled).out == "No reader has the queue open.\n"
    with openmsmq.connect(manager.socket) as program, program.open_queue(filled, "receive") as held:
        held.peek()
        assert "receive" in manager.run("queue", "readers", filled).out.splitlines()[1]
        reader = manager.run("queue", "readers", filled, "--json").object
    assert (reader["access"], reader["waiting_reads"]) == ("receive", 0)


def test_a_job_that_is_not_there(tmp_path: Path) -> None:
    assert run(["job", "show", "../x"]).code == 2
    outcome = run(["job", "show", "20260101-000000-abcd"])
    assert outcome.code == 1
    assert "no such job" in outcome.err


def test_an_audit_log_says_whose_it_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = run(["audit", "--data", str(tmp_path / "empty")])
    assert nothing.out == f"There are no actions at the console of {tmp_path}/empty.\n"
    missing = run(["audit", "--data", str(tmp_path / "missing")])
    assert (missing.code, f"{tmp_path}/missing: there is no such directory" in missing.err) == (
        *(1, True),
    )


def test_the_audit_log_is_that_of_the_queue_manager_that_is_asked(
    manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"There are no actions at the console of {manager.data}.\n"
    assert manager.run("audit").out == said
    monkeypatch.setenv("OPENMSMQ_SOCKET", str(manager.socket))
    assert run(["audit"]).out == said
    monkeypatch.setenv("OPENMSMQ_SOCKET", str(tmp_path / "none.sock"))
    assert "no queue manager answers" in run(["audit"]).err


def test_the_audit_log_is_read_with_its_old_files(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "console"
    folder.mkdir(parents=True)
    entries = [
        {"time": f"2026-01-0{day}", "principal": "user:ann", "action": "purge", "count": day}
        for day in (1, 2, 3)
    ]
    for name, entry in zip(("audit.2.jsonl", "audit.1.jsonl", "audit.jsonl"), entries, strict=True):
        (folder / name).write_text(json.dumps(entry) + "\n")
    with (folder / "audit.jsonl").open("a") as file:
        file.write('{"time": "cut')
    shown = run(["audit", "--data", str(tmp_path / "data"), "--json"]).objects
    assert [entry["count"] for entry in shown] == [1, 2, 3]
    table = run(["audit", "--data", str(tmp_path / "data"), "--last", "1"]).out
    assert "2026-01-03" in table
    assert "2026-01-02" not in table

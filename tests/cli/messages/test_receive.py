"""`openmsmq receive` and `openmsmq peek`."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest
from tests.cli.running import SECONDS, Manager, interrupt

from openmsmq.client.received_message import PROPERTIES

PIPE: Final = subprocess.PIPE
BOTH: Final = pytest.mark.parametrize("command", ["receive", "peek"])


def fill(manager: Manager, queue: str, *bodies: str) -> None:
    lines = "".join(f"{body}\n" for body in bodies).encode()
    assert manager.run("send", queue, "--lines", "-", stdin=lines).code == 0


def bodies(manager: Manager, queue: str) -> list[str]:
    """What is in a queue, without taking it."""
    return [each["body"] for each in manager.run("peek", queue, "--all", "--json").objects]


@BOTH
def test_a_message_has_every_property_by_its_name(
    manager: Manager, queue: str, command: str
) -> None:
    fill(manager, queue, "größe")
    message = manager.run(command, queue, "--json").object
    assert tuple(message) == (*PROPERTIES, "soap_envelope", "compound_message")
    assert (message["body"], message["transport"]) == ("größe", "local")


def test_soap_is_printed_as_json_only(manager: Manager, queue: str) -> None:
    fill(manager, queue, "one")
    message = manager.run("peek", queue, "--json", "--soap").object
    assert (message["soap_envelope"], message["compound_message"]) == (None, None)
    assert manager.run("peek", queue, "--soap").code == 2


def test_soap_can_be_left_out(manager: Manager, queue: str) -> None:
    fill(manager, queue, "one")
    assert tuple(manager.run("peek", queue, "--json", "--no-soap").object) == PROPERTIES
    assert manager.run("peek", queue, "--no-soap").code == 2


def test_receive_removes_and_peek_does_not(manager: Manager, queue: str) -> None:
    fill(manager, queue, "one", "two")
    assert manager.run("peek", queue, "--json").object["body"] == "one"
    assert manager.run("peek", queue, "--json").object["body"] == "one"
    assert manager.run("receive", queue, "--json").object["body"] == "one"
    assert manager.run("receive", queue, "--json").object["body"] == "two"
    assert manager.run("receive", queue).code == 3


@BOTH
def test_nothing_in_time_is_exit_code_3(manager: Manager, queue: str, command: str) -> None:
    started = time.monotonic()
    assert manager.run(command, queue) == (3, b"", "")
    assert manager.run(command, queue, "--timeout", "0.3", "--count", "5") == (3, b"", "")
    assert time.monotonic() - started >= 0.3


@BOTH
def test_a_message_that_comes_in_time_ends_the_waiting(
    manager: Manager, queue: str, command: str
) -> None:
    process = manager.start(command, queue, "--timeout", "60", "--raw", stdout=PIPE)
    fill(manager, queue, "late")
    out, _ = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (0, b"late")


@BOTH
def test_at_most_as_many_as_asked_for(manager: Manager, queue: str, command: str) -> None:
    fill(manager, queue, *map(str, range(10)))
    shown = manager.run(command, queue, "--count", "4", "--json").objects
    assert [each["body"] for each in shown] == ["0", "1", "2", "3"]
    left = 6 if command == "receive" else 10
    assert len(bodies(manager, queue)) == left


@BOTH
def test_fewer_than_asked_for_is_exit_code_0(manager: Manager, queue: str, command: str) -> None:
    fill(manager, queue, "a", "b")
    outcome = manager.run(command, queue, "--count", "5", "--json")
    assert (outcome.code, len(outcome.objects)) == (0, 2)


def test_what_is_over_the_count_stays_in_place(manager: Manager, queue: str) -> None:
    fill(manager, queue, *map(str, range(3000)))
    got = manager.run("receive", queue, "--count", "1500", "--raw", "--separator", r"\n").out
    assert got == "".join(f"{number}\n" for number in range(1500))
    assert bodies(manager, queue) == [str(number) for number in range(1500, 3000)]


@BOTH
def test_all_that_is_there(manager: Manager, queue: str, command: str) -> None:
    fill(manager, queue, *map(str, range(1234)))
    shown = manager.run(command, queue, "--all", "--json").objects
    assert [each["body"] for each in shown] == [str(number) for number in range(1234)]


@BOTH
def test_raw_is_the_body_and_nothing_else(
    manager: Manager, queue: str, file: Path, command: str
) -> None:
    file.write_bytes(bytes(range(256)) + b"\r\n")
    manager.run("send", queue, "--body-file", str(file))
    assert manager.run(command, queue, "--raw").raw == file.read_bytes()


@pytest.mark.parametrize(
    ("separator", "between"),
    [("", b""), (r"\n", b"\n"), (r"\0", b"\0"), (r"\t;\\n", b"\t;\\n"), ("世", "世".encode())],
)
def test_raw_bodies_can_be_told_apart(
    manager: Manager, queue: str, separator: str, between: bytes
) -> None:
    fill(manager, queue, "a", "b")
    shown = manager.run("peek", queue, "--all", "--raw", "--separator", separator)
    assert shown.raw == b"a" + between + b"b" + between


@pytest.mark.parametrize("separator", [None, r"\n"])
def test_lines_go_in_and_come_out(manager: Manager, queue: str, separator: str | None) -> None:
    fill(manager, queue, "eins", "zwei", "größer")
    options = () if separator is None else ("--separator", separator)
    shown = manager.run("receive", queue, "--all", "--raw", *options).out
    assert shown == ("einszweigrößer" if separator is None else "eins\nzwei\ngrößer\n")


@BOTH
def test_messages_by_lookup_id(manager: Manager, queue: str, command: str) -> None:
    fill(manager, queue, "a", "b", "c")
    ids = [each["lookup_id"] for each in manager.run("peek", queue, "--all", "--json").objects]
    options = [f"--lookup-id={ids[index]}" for index in (2, 1)]
    assert manager.run(command, queue, *options, "--raw").out == "cb"
    assert bodies(manager, queue) == (["a"] if command == "receive" else ["a", "b", "c"])


@BOTH
def test_a_lookup_id_that_is_not_there_is_refused(
    manager: Manager, queue: str, command: str
) -> None:
    outcome = manager.run(command, queue, "--lookup-id", "12345")
    assert (outcome.code, outcome.raw) == (1, b"")
    assert "MQ_ERROR_MESSAGE_NOT_FOUND (0xC00E0088)" in outcome.err


@BOTH
def test_follow_goes_on_until_interrupted(manager: Manager, queue: str, command: str) -> None:
    process = manager.start(command, queue, "--follow", "--json", stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    for body in ("first", "second", "third"):
        fill(manager, queue, body)
        assert json.loads(process.stdout.readline())["body"] == body
    assert interrupt(process) == 0
    assert process.communicate(timeout=SECONDS) == (b"", b"\n")
    assert bodies(manager, queue) == ([] if command == "receive" else ["first", "second", "third"])


@BOTH
def test_follow_without_a_message_is_exit_code_3(
    manager: Manager, queue: str, command: str
) -> None:
    outcome = manager.run(command, queue, "--follow", "--timeout", "0.2")
    assert outcome.code == 3


@BOTH
def test_follow_ends_with_the_count(manager: Manager, queue: str, command: str) -> None:
    fill(manager, queue, "a", "b", "c")
    assert manager.run(command, queue, "--follow", "--count", "2", "--raw").out == "ab"


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        ("--json", "--raw"),
        ("--separator", "x"),
        ("--all", "--count", "2"),
        ("--count", "0"),
        ("--timeout", "-1"),
        ("--lookup-id", "x"),
    ],
)
def test_wrong_usage(manager: Manager, queue: str, command: str, options: tuple[str, ...]) -> None:
    fill(manager, queue, "a")
    assert manager.run(command, queue, *options)[:2] == (2, b"")
    assert bodies(manager, queue) == ["a"]


@BOTH
@pytest.mark.parametrize(
    "source", [r".\private$\nothing", r"DIRECT=TCP:10.99.99.99\private$\orders", "MULTICAST=1.2"]
)
def test_a_queue_that_cannot_be_read_is_refused(
    manager: Manager, command: str, source: str
) -> None:
    outcome = manager.run(command, source)
    assert (outcome.code, outcome.raw) == (1, b"")
    assert f"openmsmq {command}: MQ_ERROR_" in outcome.err
    assert "Remedy: " in outcome.err


def test_higher_priorities_come_first(manager: Manager, queue: str) -> None:
    for priority in "3175":
        manager.run("send", queue, "--body", priority, "--priority", priority)
    assert manager.run("receive", queue, "--all", "--raw").out == "7531"


# A message is removed only after its output is flushed


def test_a_closed_pipe_takes_nothing_more(manager: Manager, queue: str) -> None:
    fill(manager, queue, *("x" * 60_000 + str(number) for number in range(20)))
    with manager.start("receive", queue, "--all", "--json", stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.stdout.close()
        assert process.wait(SECONDS) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert json.loads(first)["body"].endswith("x0")
    left = [body[60_000:] for body in bodies(manager, queue)]
    # What was in the pipe when it was closed is gone, the rest is whole and in order.
    assert 15 <= len(left) <= 19
    assert left == [str(number) for number in range(20 - len(left), 20)]


def test_a_pipe_that_nobody_reads_takes_nothing(manager: Manager, queue: str) -> None:
    fill(manager, queue, "a", "b")
    reader, writer = os.pipe()
    os.close(reader)
    process = manager.start("receive", queue, "--all", stdout=writer)
    os.close(writer)
    assert process.wait(SECONDS) == 1
    assert bodies(manager, queue) == ["a", "b"]


@pytest.mark.parametrize("by_lookup_id", [False, True])
def test_a_full_disk_takes_nothing(manager: Manager, queue: str, *, by_lookup_id: bool) -> None:
    fill(manager, queue, "a", "b")
    first = manager.run("peek", queue, "--json").objects[0]["lookup_id"]
    which = f"--lookup-id={first}" if by_lookup_id else "--all"
    with Path("/dev/full").open("wb") as full:
        process = manager.start("receive", queue, which, stdout=full, stderr=PIPE)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert b"stdout: No space left on device" in err
    assert b"still in the queue" in err
    assert bodies(manager, queue) == ["a", "b"]


def test_without_stdout_nothing_is_received(manager: Manager, queue: str) -> None:
    fill(manager, queue, "a")
    process = subprocess.run(
        ["bash", "-c", '"$0" receive "$1" >&-', manager.program, queue],
        env=manager.environment,
        stderr=PIPE,
        timeout=SECONDS,
        check=False,
    )
    assert process.returncode == 1
    assert b"stdout is closed" in process.stderr
    assert bodies(manager, queue) == ["a"]


def test_an_interrupt_gives_back_what_was_not_printed(manager: Manager, queue: str) -> None:
    fill(manager, queue, *("x" * 60_000 + str(number) for number in range(20)))
    # Nobody reads: the output stops when the pipe is full.
    with manager.start("receive", queue, "--all", "--raw", stdout=PIPE, stderr=PIPE) as process:
        deadline = time.monotonic() + SECONDS
        while manager.run("queue", "show", queue, "--json").object["locked_messages"] == 0:
            assert time.monotonic() < deadline
        time.sleep(0.3)
        assert interrupt(process) == 0
        assert process.stdout is not None
        printed = process.stdout.read()
    left = [body[60_000:] for body in bodies(manager, queue)]
    whole = 20 - len(left)
    assert left == [str(number) for number in range(whole, 20)]
    assert printed.startswith(b"".join(b"x" * 60_000 + b"%d" % number for number in range(whole)))
    assert 1 <= whole <= 2


def test_a_killed_receiver_loses_nothing(manager: Manager, queue: str) -> None:
    fill(manager, queue, *("x" * 60_000 + str(number) for number in range(20)))
    with manager.start("receive", queue, "--all", "--raw", stdout=PIPE) as process:
        deadline = time.monotonic() + SECONDS
        while manager.run("queue", "show", queue, "--json").object["locked_messages"] == 0:
            assert time.monotonic() < deadline
        process.kill()
        process.wait(SECONDS)
    deadline = time.monotonic() + SECONDS
    while manager.run("queue", "show", queue, "--json").object["locked_messages"]:
        assert time.monotonic() < deadline
    left = [body[60_000:] for body in bodies(manager, queue)]
    assert left == [str(number) for number in range(20 - len(left), 20)]
    assert len(left) >= 17


# For people


def test_people_see_what_is_special_and_the_body(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "two\nlines\u202e", "--label", "order 1", "--recoverable")
    fill(manager, queue, "plain")
    lines = manager.run("receive", queue, "--all").out.splitlines()
    first, second = lines[: lines.index("")], lines[lines.index("") + 1 :]
    names = [line.split()[0] for line in first[:-2]]
    assert names == [
        "label",
        "id",
        "lookup_id",
        "arrived_time",
        "priority",
        "delivery",
        "sender_id",
        "body_size",
    ]
    assert first[0].split(maxsplit=1)[1] == "order 1"
    assert first[-2:] == ["  two", r"  lines\u202e"]
    assert [line.split()[0] for line in second[:-1]] == [
        "id",
        "lookup_id",
        "arrived_time",
        "priority",
        "sender_id",
        "body_size",
    ]
    assert second[-1] == "  plain"


def test_a_message_without_a_sender_shows_none(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--admin-queue", queue, "--ack", "arrival")
    manager.run("receive", queue)
    acknowledgment = manager.run("receive", queue).out
    assert "MQMSG_CLASS_ACK_REACH_QUEUE" in acknowledgment
    assert "sender_id" not in acknowledgment


def test_people_see_bytes_in_hexadecimal_digits(manager: Manager, queue: str, file: Path) -> None:
    file.write_bytes(b"\x00\x01\xfe\xff" * 5)
    manager.run("send", queue, "--body-file", str(file), "--app-specific", "7")
    out = manager.run("receive", queue).out
    assert "  0000  00 01 fe ff 00 01 fe ff" in out
    assert "  0010  00 01 fe ff" in out
    assert "app_specific         7\n" in out


def test_a_dead_letter_says_where_it_was_going_and_why_it_failed(
    manager: Manager, queue: str
) -> None:
    options = ("--body", "late", "--dead-letter", "--time-to-be-received", "0", "--label", queue)
    manager.run("send", queue, *options)
    assert manager.run("receive", queue, "--timeout", "0.3").code == 3
    lines = manager.run("peek", ";deadletter", "--all").out.splitlines()
    start = lines.index(f"label                {queue}")
    texts = dict(line.split(maxsplit=1) for line in lines[start : start + 8])
    assert texts["class_name"] == "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"
    assert texts["reason"] == "the time to be received ran out in the queue"
    assert texts["destination_queue"].endswith(queue[1:])


def test_the_destination_is_left_out_where_everybody_knows_it(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--journal")
    assert "destination_queue" not in manager.run("receive", queue).out
    assert "destination_queue" in manager.run("receive", ";journal", "--all").out


def test_a_lookup_id_survives_programs_that_know_no_large_numbers(
    manager: Manager, queue: str
) -> None:
    manager.run("send", queue, "--body", "x")
    lookup_id = manager.run("peek", queue, "--json").object["lookup_id"]
    assert isinstance(lookup_id, str)
    assert int(lookup_id) > 2**53
    assert manager.run("receive", queue, "--lookup-id", lookup_id, "--raw").out == "x"

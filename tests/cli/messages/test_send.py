"""`openmsmq send`: every option, looked at by the receiver."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.cli.running import Manager

from openmsmq import QueueManager, ReceivedMessage, connect
from openmsmq.wire.codes.message_enums import Acknowledgment

GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture(scope="module")
def client(manager: Manager) -> Iterator[QueueManager]:
    with connect(manager.socket) as connection:
        yield connection


def received(manager: Manager, queue: str) -> list[dict[str, Any]]:
    return manager.run("receive", queue, "--all", "--json").objects


def send(manager: Manager, queue: str, *options: str, stdin: bytes = b"") -> dict[str, Any]:
    """Send one message and return it as the receiver gets it."""
    sent = manager.run("send", queue, *options, stdin=stdin)
    assert (sent.code, sent.err) == (0, "")
    (message,) = received(manager, queue)
    return message


def packet(client: QueueManager, manager: Manager, queue: str, *options: str) -> ReceivedMessage:
    assert manager.run("send", queue, "--body", "x", *options).code == 0
    with client.open_queue(queue) as opened:
        return opened.receive(timeout=5)


# Where the body comes from


@pytest.mark.parametrize("text", ["12 apples", "größe, 世界 🍎", "", "two\nlines", " blanks "])
def test_text_is_sent_as_utf8_with_body_type_0(manager: Manager, queue: str, text: str) -> None:
    message = send(manager, queue, "--body", text)
    assert message["body"] == text
    assert base64.b64decode(message["body_base64"]) == text.encode()
    assert message["body_type"] == 0
    assert message["body_size"] == len(text.encode())


def test_a_file_is_sent_byte_for_byte(manager: Manager, queue: str, file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 100)
    message = send(manager, queue, "--body-file", str(file))
    assert base64.b64decode(message["body_base64"]) == file.read_bytes()
    assert message["body"] is None


@pytest.mark.parametrize("options", [(), ("--body-file", "-")])
def test_without_a_body_stdin_is_sent(
    manager: Manager, queue: str, options: tuple[str, ...]
) -> None:
    message = send(manager, queue, *options, stdin=b"\xff\x00line\n")
    assert base64.b64decode(message["body_base64"]) == b"\xff\x00line\n"


@pytest.mark.parametrize("size", [64 * 1024, 4 * 1024 * 1024 - 4096])
def test_large_bodies_arrive_whole(manager: Manager, queue: str, file: Path, size: int) -> None:
    file.write_bytes(os.urandom(size))
    assert manager.run("send", queue, "--body-file", str(file)).code == 0
    assert manager.run("receive", queue, "--raw").raw == file.read_bytes()


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_each_line_is_a_message(manager: Manager, queue: str, file: Path, source: str) -> None:
    text = "eins\nzwei größer\r\n\nvier".encode()
    file.write_bytes(text)
    if source == "file":
        sent = manager.run("send", queue, "--lines", str(file), "--json")
    else:
        sent = manager.run("send", queue, "--lines", "-", "--json", stdin=text)
    assert (sent.object["sent"], sent.object["bytes"]) == (4, 4 + 13 + 4)
    bodies = [message["body"] for message in received(manager, queue)]
    assert bodies == ["eins", "zwei größer", "", "vier"]


def test_no_line_is_no_message(manager: Manager, queue: str) -> None:
    sent = manager.run("send", queue, "--lines", "-")
    assert (sent.code, sent.out.split(" to ")[0]) == (0, "Sent 0 messages (0 B)")


def test_thousands_of_lines_keep_their_order(manager: Manager, queue: str) -> None:
    lines = [f"line {number}" for number in range(5000)]
    sent = manager.run("send", queue, "--lines", "-", stdin="\n".join(lines).encode())
    assert "Sent 5,000 messages" in sent.out
    assert [message["body"] for message in received(manager, queue)] == lines


def test_a_message_can_be_sent_many_times(manager: Manager, queue: str) -> None:
    sent = manager.run("send", queue, "--body", "again", "--count", "7", "--json").object
    assert sent["sent"] == 7
    messages = received(manager, queue)
    assert [message["body"] for message in messages] == ["again"] * 7
    assert len({message["id"] for message in messages}) == 7


@pytest.mark.parametrize(
    "options",
    [("--body", "x", "--lines", "-"), ("--body", "x", "--body-file", "-")],
)
def test_one_source_only(manager: Manager, queue: str, options: tuple[str, ...]) -> None:
    outcome = manager.run("send", queue, *options)
    assert outcome.code == 2
    assert "exclude each other" in outcome.err


@pytest.mark.parametrize("option", ["--body-file", "--lines"])
def test_a_file_that_cannot_be_read_is_refused(
    manager: Manager, queue: str, tmp_path: Path, option: str
) -> None:
    for path in (tmp_path / "missing", tmp_path):
        outcome = manager.run("send", queue, option, str(path))
        assert outcome.code == 1
        assert f"MQ_ERROR_INVALID_PARAMETER (0xC00E0006): {path} cannot be read" in outcome.err
    assert received(manager, queue) == []


# Properties


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ((), "label", ""),
        (("--label", "Bestellung 世界"), "label", "Bestellung 世界"),
        (("--label", "x" * 249), "label", "x" * 249),
        ((), "priority", 3),
        (("--priority", "0"), "priority", 0),
        (("--priority", "7"), "priority", 7),
        ((), "delivery", "express"),
        (("--express",), "delivery", "express"),
        (("--recoverable",), "delivery", "recoverable"),
        ((), "time_to_reach_queue", 345600),
        (("--time-to-reach-queue", "90"), "time_to_reach_queue", 90),
        # [MS-MQDMPR] 3.1.1.12: without end means the default of the enterprise.
        (("--time-to-reach-queue", "infinite"), "time_to_reach_queue", 345600),
        ((), "time_to_be_received", None),
        (("--time-to-be-received", "90"), "time_to_be_received", 90),
        (("--time-to-be-received", "5m"), "time_to_be_received", 300),
        (("--time-to-be-received", "2h"), "time_to_be_received", 7200),
        (("--time-to-be-received", "1d"), "time_to_be_received", 86400),
        (("--time-to-be-received", "infinite"), "time_to_be_received", None),
        ((), "app_specific", 0),
        (("--app-specific", "4294967295"), "app_specific", 4294967295),
        ((), "correlation_id", None),
        (("--correlation-id", rf"{{{GUID}}}\17"), "correlation_id", rf"{{{GUID.upper()}}}\17"),
        ((), "response_queue", None),
        (
            ("--response-queue", r"DIRECT=TCP:10.0.0.9\private$\answers"),
            "response_queue",
            r"DIRECT=TCP:10.0.0.9\private$\answers",
        ),
        ((), "admin_queue", None),
        (
            ("--admin-queue", r"DIRECT=TCP:10.0.0.9\private$\reports"),
            "admin_queue",
            r"DIRECT=TCP:10.0.0.9\private$\reports",
        ),
        (("--body-type", "VT_LPSTR"), "body_type", 30),
        (("--body-type", "blob"), "body_type", 65),
        (("--body-type", "0x300"), "body_type", 0x300),
        ((), "authenticated", False),
        ((), "encrypted", False),
        ((), "class_name", "MQMSG_CLASS_NORMAL"),
    ],
)
def test_properties_arrive(
    manager: Manager, queue: str, options: tuple[str, ...], name: str, value: object
) -> None:
    assert send(manager, queue, "--body", "x", *options)[name] == value


def test_queues_of_this_machine_get_format_names(manager: Manager, queue: str) -> None:
    message = send(manager, queue, "--body", "x", "--response-queue", queue, "--admin-queue", queue)
    assert message["response_queue"] == message["admin_queue"] == message["destination_queue"]


def test_text_is_utf16_where_the_body_type_says_so(manager: Manager, queue: str) -> None:
    message = send(manager, queue, "--body", "größe", "--body-type", "VT_BSTR")
    assert (message["body"], message["body_type"], message["body_size"]) == ("größe", 8, 10)
    sent = manager.run("send", queue, "--lines", "-", "--body-type", "8", stdin="世\n".encode())
    assert sent.code == 0
    assert received(manager, queue)[0]["body"] == "世"


def test_bytes_that_are_no_text_cannot_become_utf16(manager: Manager, queue: str) -> None:
    outcome = manager.run("send", queue, "--lines", "-", "--body-type", "8", stdin=b"ab\xff\n")
    assert outcome.code == 1
    assert "MQ_ERROR_ILLEGAL_PROPERTY_VALUE (0xC00E0018): the text is not UTF-8 at byte 2" in (
        outcome.err
    )


def test_files_are_sent_as_they_are_whatever_the_body_type(
    manager: Manager, queue: str, file: Path
) -> None:
    file.write_bytes("größe".encode("utf-16-le"))
    message = send(manager, queue, "--body-file", str(file), "--body-type", "VT_BSTR")
    assert message["body"] == "größe"


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("none", Acknowledgment.NONE),
        ("arrival", Acknowledgment.FULL_REACH_QUEUE),
        ("receive", Acknowledgment.FULL_RECEIVE),
        ("full", Acknowledgment.FULL_REACH_QUEUE | Acknowledgment.FULL_RECEIVE),
        ("positive-arrival", Acknowledgment.POS_ARRIVAL),
        ("positive-receive", Acknowledgment.POS_RECEIVE),
        ("negative-arrival", Acknowledgment.NACK_REACH_QUEUE),
        ("negative-receive", Acknowledgment.NACK_RECEIVE),
        ("positive-arrival,negative-receive", 1 | 12),
    ],
)
def test_acknowledgments_are_asked_for_in_words(
    client: QueueManager, manager: Manager, queue: str, words: str, flags: int
) -> None:
    assert packet(client, manager, queue, "--ack", words).acknowledge == flags


def test_acknowledgments_come_to_the_administration_queue(
    manager: Manager, queue: str, transactional_queue: str
) -> None:
    reports = rf"{queue}-reports"
    assert manager.run("queue", "create", reports).code == 0
    sent = send(manager, queue, "--body", "x", "--ack", "full", "--admin-queue", reports)
    classes = [(each["class_name"], each["correlation_id"]) for each in received(manager, reports)]
    assert classes == [
        ("MQMSG_CLASS_ACK_REACH_QUEUE", sent["id"]),
        ("MQMSG_CLASS_ACK_RECEIVE", sent["id"]),
    ]
    manager.run("queue", "delete", reports)


def test_reports_of_the_way_can_be_asked_for(
    client: QueueManager, manager: Manager, queue: str
) -> None:
    view = packet(client, manager, queue, "--trace-queue", GUID).view
    assert view.tracing_requested
    assert view.debug_header is not None
    assert view.debug_header.queue_identifier == UUID(GUID)


def test_a_dead_letter_is_kept(manager: Manager, queue: str) -> None:
    options = ("--dead-letter", "--time-to-be-received", "0", "--label", queue)
    assert manager.run("send", queue, "--body", "late", *options).code == 0
    assert manager.run("receive", queue, "--timeout", "0.5").code == 3
    letters = manager.run("receive", ";deadletter", "--all", "--json").objects
    (letter,) = [each for each in letters if each["label"] == queue]
    assert letter["body"] == "late"
    assert letter["class_name"] == "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"


def test_a_copy_is_kept_in_the_journal_of_the_machine(manager: Manager, queue: str) -> None:
    send(manager, queue, "--body", "copied", "--journal", "--label", queue)
    copies = manager.run("receive", ";journal", "--all", "--json").objects
    assert [each["body"] for each in copies if each["label"] == queue] == ["copied"]


# Transactions


def test_a_transaction_holds_all_messages(manager: Manager, transactional_queue: str) -> None:
    sent = manager.run(
        "send", transactional_queue, "--lines", "-", "--transactional", "--json", stdin=b"a\nb\nc\n"
    )
    assert sent.object["transactional"] is True
    messages = received(manager, transactional_queue)
    assert [each["body"] for each in messages] == ["a", "b", "c"]
    assert len({each["transaction_id"] for each in messages}) == 1
    assert [each["first_in_transaction"] for each in messages] == [True, False, False]
    assert [each["last_in_transaction"] for each in messages] == [False, False, True]
    assert all(each["delivery"] == "recoverable" and each["priority"] == 0 for each in messages)


def test_a_queue_and_a_message_must_both_be_transactional(
    manager: Manager, queue: str, transactional_queue: str
) -> None:
    for outcome in (
        manager.run("send", transactional_queue, "--body", "x"),
        manager.run("send", queue, "--body", "x", "--transactional"),
    ):
        assert outcome.code == 1
        assert "MQ_ERROR_TRANSACTION_USAGE (0xC00E0050)" in outcome.err
        assert "--transactional exactly when" in outcome.err
    assert received(manager, queue) == received(manager, transactional_queue) == []


def test_what_fails_in_a_transaction_was_never_sent(
    manager: Manager, transactional_queue: str
) -> None:
    outcome = manager.run(
        "send",
        transactional_queue,
        "--lines",
        "-",
        "--transactional",
        "--body-type",
        "8",
        stdin=b"good\n" * 100 + b"\xff\n",
    )
    assert outcome.code == 1
    assert received(manager, transactional_queue) == []


# Destinations


def test_several_destinations(manager: Manager, queue: str) -> None:
    other = f"{queue}-b"
    assert manager.run("queue", "create", other).code == 0
    name = ",".join(
        manager.run("queue", "show", path, "--json").object["format_name"]
        for path in (queue, other)
    )
    assert manager.run("send", name, "--body", "both").code == 0
    assert [received(manager, path)[0]["body"] for path in (queue, other)] == ["both", "both"]
    manager.run("queue", "delete", other)


def test_a_format_name_is_a_destination(manager: Manager, queue: str) -> None:
    name = manager.run("queue", "show", queue, "--json").object["format_name"]
    sent = manager.run("send", name, "--body", "x", "--json").object
    assert sent["destination"] == name
    assert len(received(manager, queue)) == 1


def test_people_are_told_what_was_sent(manager: Manager, queue: str) -> None:
    assert manager.run("send", queue, "--body", "x" * 2048).out.startswith(
        "Sent 1 message (2.0 KiB) to DIRECT=OS:"
    )


# What is refused


def test_a_body_for_this_machine_needs_no_encryption(manager: Manager, queue: str) -> None:
    assert manager.run("send", queue, "--body", "x", "--encrypt").code == 0
    (message,) = received(manager, queue)
    assert (message["body"], message["encrypted"]) == ("x", True)
    direct = r"DIRECT=TCP:127.0.0.9\private$\orders"
    outcome = manager.run("send", direct, "--body", "x", "--encrypt")
    assert outcome.code == 1
    assert "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION (0xC00E0020)" in outcome.err
    assert "Remedy: Send to PUBLIC=guid or PRIVATE=guid" in outcome.err


@pytest.mark.parametrize(
    "options", [("--certificate", "me"), ("--signature", "2.0"), ("--hash", "sha1")]
)
def test_what_goes_with_a_signature_needs_one(
    manager: Manager, queue: str, options: tuple[str, str]
) -> None:
    outcome = manager.run("send", queue, "--body", "x", *options)
    assert outcome.code == 2
    assert "go with --sign" in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    "options",
    [
        ("--priority", "8"),
        ("--priority", "high"),
        ("--express", "--recoverable"),
        ("--express", "--transactional"),
        ("--time-to-be-received", "soon"),
        ("--time-to-be-received", "-1"),
        ("--time-to-be-received", "50000d"),
        ("--ack", "maybe"),
        ("--correlation-id", "12"),
        ("--app-specific", "4294967296"),
        ("--body-type", "VT_SOMETHING"),
        ("--body-type", "4294967296"),
        ("--trace-queue", "orders"),
        ("--count", "0"),
    ],
)
def test_values_that_do_not_fit_are_wrong_usage(
    manager: Manager, queue: str, options: tuple[str, ...]
) -> None:
    outcome = manager.run("send", queue, "--body", "x", *options)
    assert (outcome.code, outcome.raw) == (2, b"")
    assert received(manager, queue) == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--label", "x" * 250), "MQ_ERROR_"),
        (("--response-queue", "nowhere"), "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (("--admin-queue", "FOO=bar"), "MQ_ERROR_ILLEGAL_"),
    ],
)
def test_values_that_the_message_cannot_have_are_refused(
    manager: Manager, queue: str, options: tuple[str, ...], code: str
) -> None:
    outcome = manager.run("send", queue, "--body", "x", *options)
    assert outcome.code == 1
    assert f"openmsmq send: {code}" in outcome.err
    assert received(manager, queue) == []


@pytest.mark.parametrize("options", [(), ("--recoverable",)])
def test_lines_that_fit_are_sent_and_counted(
    manager: Manager, queue: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    manager.run("queue", "set", queue, "--quota", "64")
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{number:02}{'x' * 9998}\n" for number in range(10)))
    outcome = manager.run("send", queue, "--lines", str(lines), *options)
    assert outcome.code == 1
    assert "MQ_ERROR_INSUFFICIENT_RESOURCES" in outcome.err
    assert "; 6 of 10 messages were accepted" in outcome.err
    assert [each["body"][:2] for each in received(manager, queue)] == [
        f"{each:02}" for each in range(6)
    ]
    again = manager.run("send", queue, "--lines", str(lines), "--json", *options)
    assert again.code == 1
    assert again.object == {
        "destination": manager.run("queue", "show", queue, "--json").object["format_name"],
        "sent": 6,
        "bytes": 60_000,
        "transactional": False,
    }


def test_a_full_queue_refuses(manager: Manager, queue: str) -> None:
    manager.run("queue", "set", queue, "--quota", "1")
    outcome = manager.run("send", queue, "--body", "x" * 900, "--count", "5")
    assert outcome.code == 1
    assert "MQ_ERROR_INSUFFICIENT_RESOURCES (0xC00E0027)" in outcome.err

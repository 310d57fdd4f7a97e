"""A queue in words."""

from typing import Any

import pytest

from openmsmq.cli.queues.text import (
    NO_QUOTA,
    queue_properties,
    queue_row,
    quota_text,
    short_path,
    traits,
)

QUEUE: dict[str, Any] = {
    "path": r"alpha\private$\orders",
    "format_name": r"DIRECT=OS:alpha\private$\orders",
    "routed_format_name": "",
    "kind": "queue",
    "scope": "private",
    "guid": "{0F8FAD5B-D9CB-469F-A165-70867728950E}",
    "label": "",
    "transactional": False,
    "journal": False,
    "quota": NO_QUOTA,
    "journal_quota": NO_QUOTA,
    "authenticate": False,
    "privacy": "optional",
    "base_priority": 0,
    "multicast": "",
    "created_time": 0,
    "modified_time": 0,
    "messages": 0,
    "bytes": 0,
    "receive_retry_count": 5,
    "retry_cycle_delay": 1800,
    "max_retry_cycles": 2,
    "receive_error_handling": "none",
    "locked_messages": 0,
    "held_messages": 0,
    "delayed_messages": 0,
    "journal_messages": 0,
    "journal_bytes": 0,
    "oldest_message_age_seconds": None,
    "subqueues": [],
    "readers": 0,
    "waiting_reads": 0,
    "deleted": {},
    "refused": {},
    "last_refused_time": None,
    "permissions": [],
}


def shown(**changes: Any) -> dict[str, str]:
    return dict(queue_properties(QUEUE | changes))


def test_a_plain_queue_is_told_in_few_lines() -> None:
    assert shown() == {
        "Queue": r"alpha\private$\orders",
        "Format name": r"DIRECT=OS:alpha\private$\orders",
        "Kind": "private queue",
        "Messages": "0",
        "Quota": "none",
        "Journal quota": "none",
        "Readers": "0",
        "Created": "1970-01-01 00:00:00 UTC",
        "GUID": "{0F8FAD5B-D9CB-469F-A165-70867728950E}",
    }


@pytest.mark.parametrize(
    ("changes", "name", "text"),
    [
        ({"label": "a\x1b[2J"}, "Label", r"a\x1b[2J"),
        ({"messages": 1204, "bytes": 2048}, "Messages", "1,204 (2.0 KiB)"),
        ({"locked_messages": 2}, "Being read", "2 messages"),
        ({"oldest_message_age_seconds": 61.0}, "Oldest", "1 min 1 s ago"),
        ({"journal": True}, "Journal", "0"),
        ({"journal_messages": 1, "journal_bytes": 10}, "Journal", "1 (10 B)"),
        ({"quota": 1}, "Quota", "1.0 KiB"),
        ({"held_messages": 1}, "Held", "1 message for an operator"),
        ({"delayed_messages": 2}, "Delayed", "2 messages"),
        (
            {"receive_error_handling": "move"},
            "Retries",
            "5 times in a row, 2 times after 30 min, then move",
        ),
        ({"base_priority": -5}, "Base priority", "-5"),
        ({"subqueues": ["a", "b"]}, "Subqueues", "a, b"),
        ({"readers": 1}, "Readers", "1"),
        ({"readers": 2, "waiting_reads": 1}, "Readers", "2, 1 read waiting"),
        ({"modified_time": 60}, "Changed", "1970-01-01 00:01:00 UTC"),
        (
            {"refused": {"NACK_Q_EXCEED_QUOTA": 2}, "last_refused_time": 60.0},
            "Refused",
            "2  NACK_Q_EXCEED_QUOTA",
        ),
        (
            {"refused": {"NACK_Q_EXCEED_QUOTA": 2}, "last_refused_time": 60.0},
            "Last refused",
            "1970-01-01 00:01:00 UTC",
        ),
        (
            {"deleted": {"MQMSG_CLASS_ACK_RECEIVE": 1200, "0x8FFF": 1}},
            "Left",
            "1,200  MQMSG_CLASS_ACK_RECEIVE\n1  0x8FFF",
        ),
        (
            {"permissions": [{"principal": "everyone", "allow": False, "rights": ["send"]}]},
            "Permissions",
            "everyone  denied: send",
        ),
    ],
)
def test_what_is_special_is_told(changes: dict[str, Any], name: str, text: str) -> None:
    assert shown(**changes)[name] == text


def test_traits_in_words() -> None:
    everything = QUEUE | {
        "transactional": True,
        "journal": True,
        "authenticate": True,
        "privacy": "body",
        "multicast": "234.1.1.1:8001",
    }
    assert traits(everything) == [
        "transactional",
        "journal",
        "authenticated",
        "encrypted",
        "multicast 234.1.1.1:8001",
    ]
    assert traits(QUEUE) == []


def test_a_row_has_what_there_is() -> None:
    assert queue_row(QUEUE) == (r".\private$\orders", "0", "0 B", "", "", "", "")
    changed = QUEUE | {"messages": 1, "bytes": 5, "oldest_message_age_seconds": 0.0}
    changed |= {"journal": True, "journal_messages": 2, "label": "x"}
    row = (r".\private$\orders", "1", "5 B", "0.0 s", "2", "journal", "x")
    assert queue_row(changed) == row


def test_small_words() -> None:
    assert short_path(r"alpha\orders") == r".\orders"
    assert quota_text(NO_QUOTA) == "none"
    assert quota_text(0) == "0 B"

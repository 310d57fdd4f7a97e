"""`openmsmq top`."""

from typing import Any

import pytest
from tests.cli.running import Manager

from openmsmq.cli.manager.top import Rates, Sample, rate_text, rates_of, screen

STATUS = {
    "name": "host",
    "state": "Ready",
    "uptime_seconds": 83.0,
    "queues": 2,
    "messages": 7,
    "bytes": 2048,
    "memory_bytes": 10,
    "disk_bytes": 1 << 20,
    "sessions": {"binary": 2},
    "clients": 3,
    "transactions": 1,
    "outgoing_messages": 0,
    "dead_letters": 0,
    "refused_requests": {},
    "dropped_messages": {},
}


def info(path: str, messages: int, removed: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "path": path,
        "messages": messages,
        "bytes": messages * 100,
        "arrived_messages": messages + removed,
        "deleted": {"MQMSG_CLASS_ACK_RECEIVE": removed},
        "oldest_message_age_seconds": 5.0 if messages else None,
        "readers": 0,
        "label": "",
        **more,
    }


def sample(time: float, *queues: dict[str, Any]) -> Sample:
    return Sample(time, STATUS, {queue["path"]: queue for queue in queues})


def test_rates_come_from_what_is_there_and_what_has_left() -> None:
    before = sample(10.0, info(r"h\a", 5, removed=100))
    now = sample(12.0, info(r"h\a", 3, removed=110))
    assert rates_of(r"h\a", now, before) == Rates(arrived=4.0, removed=5.0)


@pytest.mark.parametrize("before", [None, sample(10.0)], ids=["first", "new"])
def test_what_is_new_has_no_rates(before: Sample | None) -> None:
    assert rates_of(r"h\a", sample(12.0, info(r"h\a", 3)), before) == Rates(0.0, 0.0)


def test_a_queue_that_was_created_again_did_not_count_backwards() -> None:
    before, now = sample(10.0, info(r"h\a", 50)), sample(12.0, info(r"h\a", 3))
    assert rates_of(r"h\a", now, before) == Rates(0.0, 0.0)


@pytest.mark.parametrize(
    ("rate", "text"), [(0, "0"), (0.5, "0.5"), (99.94, "99.9"), (100, "100"), (12345.6, "12,346")]
)
def test_rates_have_the_digits_that_matter(rate: float, text: str) -> None:
    assert rate_text(rate) == text


def test_busy_queues_come_first_then_deep_ones_then_names() -> None:
    before = sample(0.0, info(r"h\a", 0), info(r"h\b", 0), info(r"h\c", 9), info(r"h\d", 0))
    now = sample(1.0, info(r"h\a", 0), info(r"h\b", 2), info(r"h\c", 9), info(r"h\d", 0))
    rows = screen(now, before, None, None)[5:]
    assert [row.split()[0] for row in rows] == [r".\b", r".\c", r".\a", r".\d"]


def test_the_head_has_totals() -> None:
    before = sample(0.0, info(r"h\a", 0), info(r"h\b", 0))
    now = sample(2.0, info(r"h\a", 4, removed=6), info(r"h\b", 3))
    first, second, third, *_ = screen(now, before, None, None)
    assert first == "host, Ready, up 1 min 23 s, 2 queues, 7 messages (2.0 KiB)"
    assert second == "6.5/s in, 3.0/s out, 10 B in memory, 1.0 MiB on disk"
    assert third == "2 sessions with other queue managers, 3 clients, 1 transaction"


def test_the_head_has_what_somebody_must_look_after() -> None:
    status = {
        **STATUS,
        "outgoing_messages": 1204,
        "dead_letters": 1,
        "refused_requests": {"MQ_ERROR_ACCESS_DENIED": 2, "MQ_ERROR_QUEUE_NOT_FOUND": 3},
        "dropped_messages": {"journal copy: over the quota": 2},
    }
    fourth = screen(Sample(0.0, status, {}), None, None, None)[3]
    assert fourth == "1,204 to be sent, 1 dead letter, 5 refused, 2 dropped"


def test_queues_without_room_are_counted() -> None:
    queues = [info(rf"h\{number:03}", number) for number in range(100)]
    lines = screen(sample(0.0, *queues), None, 80, 24)
    assert len(lines) <= 24
    assert lines[-1] == "82 more"


def test_without_a_terminal_each_look_is_printed(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--count", "3")
    outcome = manager.run("top", "--count", "2", "--interval", "0.1")
    assert outcome.code == 0
    looks = outcome.out.split("\n\n")
    rows = [line for line in outcome.out.splitlines() if line.startswith(queue)]
    assert len(looks) == 4
    assert [row.split()[1] for row in rows] == ["3", "3"]


def test_programs_get_an_object_for_each_look(manager: Manager, queue: str) -> None:
    manager.run("send", queue, "--body", "x", "--count", "3")
    shown = manager.run("top", "--count", "2", "--interval", "0.1", "--json").objects
    assert [each["state"] for each in shown] == ["Ready", "Ready"]
    (row,) = [each for each in shown[1]["queue_list"] if each["path"].endswith(queue[1:])]
    assert (row["messages"], row["arrived_per_second"], row["removed_per_second"]) == (3, 0, 0)


def test_queues_of_the_system_on_request(manager: Manager) -> None:
    assert ";DEADLETTER" in manager.run("top", "--count", "1", "--system").out


@pytest.mark.parametrize("options", [("--interval", "0"), ("--count", "0")])
def test_wrong_usage(manager: Manager, options: tuple[str, ...]) -> None:
    assert manager.run("top", *options).code == 2

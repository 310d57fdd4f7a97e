"""What needs attention: each rule speaks at its threshold and is silent below it."""

from typing import Any

import msgspec
import pytest

from openmsmq.admin.pages.attention import RULES, View, attention, watched
from openmsmq.admin.pages.rows import LinkRow, QueueRow
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.settings import ConsoleSettings
from openmsmq.directory.objects import UNLIMITED

SETTINGS = ConsoleSettings(address="/nowhere")
ROW = QueueRow(
    name=r"private$\orders",
    label="",
    messages=10,
    bytes=100,
    arriving=0.0,
    leaving=0.0,
    oldest=30.0,
    readers=1,
    line=(10.0,) * 4,
    unread=False,
    transactional=False,
    journal=False,
    authenticate=False,
    multicast=None,
)
LINK = LinkRow(
    name="10.0.0.9",
    destination=r"DIRECT=TCP:10.0.0.9\private$\a",
    href="/outgoing/a",
    messages=3,
    bytes=30,
    unacknowledged=0,
    awaiting_final_ack=0,
    oldest=10.0,
    tone="ok",
    words="connected",
    reason="",
    transport="binary",
    paused=False,
    history=[],
)
TEXTS = dict.fromkeys(("label", "privacy", "receive_error_handling"), "")
INFO = QueueInfo.of(
    {
        **dict.fromkeys(QueueInfo.__struct_fields__, 0),
        **TEXTS,
        "path": r"alpha\private$\orders",
        "kind": "queue",
        "quota": UNLIMITED,
        "journal_quota": UNLIMITED,
        "bytes": 100,
        "messages": 10,
    }
)
STATUS: dict[str, Any] = {
    "throttled": False,
    "quota_used_up": False,
    "online": True,
    "dead_letters": 0,
    "in_doubt_transactions": 0,
}
QUIET = View(STATUS, [INFO], [ROW], [LINK], SETTINGS)


def row(**changes: Any) -> View:
    return QUIET._replace(rows=[msgspec.structs.replace(ROW, **changes)])


def link(**changes: Any) -> View:
    return QUIET._replace(links=[msgspec.structs.replace(LINK, **changes)])


def info(**changes: Any) -> View:
    return QUIET._replace(infos=[msgspec.structs.replace(INFO, **changes)])


def status(**changes: Any) -> View:
    return QUIET._replace(status=STATUS | changes)


def test_a_link_that_is_down_is_told_once() -> None:
    down = msgspec.structs.replace(LINK, tone="bad", words="retry in 4 s", reason="refused")
    items = attention(QUIET._replace(links=[down, down, LINK]))
    assert [item.title for item in items] == ["The link to 10.0.0.9 is down"]
    assert items[0].detail == "Refused. 6 messages wait for 2 queues there; retry in 4 s."


SPEAKING: dict[str, tuple[View, str]] = {
    "No reader": (row(unread=True, oldest=90.0), "has not been read for"),
    "Queue grows": (row(messages=1500, line=(400.0, 900.0, 1500.0)), "grows: 1,100 messages"),
    "Old message": (row(oldest=3601.0), "waits in orders for"),
    "Quota": (info(quota=1, bytes=922), "used to 90 %"),
    "Refused": (
        info(refused={"NACK_Q_EXCEED_QUOTA": 3}, last_refused_time=100.0)._replace(utc=1000.0),
        "orders refuses messages, last 15 min ago",
    ),
    "Disk full": (status(throttled=True), "disk is full"),
    "Quota of all": (status(quota_used_up=True), "all queues together is used up"),
    "Disk low": (QUIET._replace(disk_free=(1 << 30) - 1), "disk has 1024.0 MiB left"),
    "Offline": (status(online=False), "is offline"),
    "Link down": (link(tone="bad", reason="refused"), "link to 10.0.0.9 is down"),
    "Not acknowledged": (link(unacknowledged=2, oldest=3601.0), "does not acknowledge 2 messages"),
    "Dead letters": (status(dead_letters=2), "2 dead letters"),
    "Poison": (info(path=r"alpha\private$\orders;poison", messages=1), "1 poison message"),
    "In doubt": (status(in_doubt_transactions=1), "1 transaction in doubt"),
    "Journal": (info(kind="journal", messages=100_000), "no quota"),
    "Certificate": (
        QUIET._replace(certificates={"https_certificate": 30 * 86_400.0}),
        "https_certificate ends in 30 d",
    ),
    "Clock": (QUIET._replace(clocks={"{PEER}": 90.0}), "clock of {PEER} is 2 min ahead"),
    "Late": (QUIET._replace(lag_seconds=0.25), "late by 250 ms"),
    "Console": (
        QUIET._replace(
            settings=msgspec.structs.replace(SETTINGS, restarts=2), started=400.0, utc=4000.0
        ),
        "started again 2 times",
    ),
}
BELOW: dict[str, View] = {
    "Queue grows": row(messages=1399, line=(400.0, 900.0, 1399.0)),
    "Queue that shrinks again": row(messages=1500, line=(400.0, 2000.0)),
    "Old message": row(oldest=3600.0),
    "Old message without a reader, which is another rule": row(oldest=3601.0, readers=0),
    "Quota": info(quota=1, bytes=921),
    "Refused long ago": info(refused={"NACK_Q_EXCEED_QUOTA": 3}, last_refused_time=99.0)._replace(
        utc=1000.0
    ),
    "Console that was started again long ago": QUIET._replace(
        settings=msgspec.structs.replace(SETTINGS, restarts=2), started=400.0, utc=4001.0
    ),
    "Console that was started once": QUIET._replace(started=3999.0, utc=4000.0),
    "Disk low": QUIET._replace(disk_free=1 << 30),
    "Disk that nothing is known of": QUIET._replace(disk_free=0),
    "Link down that has nothing to send": link(tone="bad", messages=0),
    "Not acknowledged": link(unacknowledged=2, oldest=3600.0),
    "Journal": info(kind="journal", messages=99_999),
    "Certificate": QUIET._replace(certificates={"https_certificate": 30 * 86_400.0 + 1}),
    "Late": QUIET._replace(lag_seconds=0.24),
    "Journal with a quota": info(kind="journal", messages=100_000, journal_quota=10**6, bytes=1),
    "Journal of a queue that is full": info(kind="journal", bytes=1024, quota=1),
}


def test_nothing_needs_attention_where_all_is_well() -> None:
    assert attention(QUIET) == []


def test_every_rule_has_a_case_and_words() -> None:
    assert list(SPEAKING) == [rule.name for rule in RULES]
    assert all(words for _, words, _ in watched(SETTINGS))


@pytest.mark.parametrize("name", SPEAKING)
def test_a_rule_speaks_and_no_other(name: str) -> None:
    view, words = SPEAKING[name]
    (item,) = attention(view)
    assert words in item.title
    assert item.href.startswith("/")
    assert [rule.name for rule in RULES if list(rule.find(view))] == [name]


@pytest.mark.parametrize("case", BELOW)
def test_nothing_is_said_below_the_threshold(case: str) -> None:
    assert attention(BELOW[case]) == []


@pytest.mark.parametrize(
    ("key", "value", "view"),
    [
        ("console_growth_messages", 2_000, SPEAKING["Queue grows"][0]),
        ("console_age_seconds", 4_000.0, SPEAKING["Old message"][0]),
        ("console_quota_percent", 95, SPEAKING["Quota"][0]),
        ("console_journal_messages", 200_000, SPEAKING["Journal"][0]),
        ("console_certificate_days", 29, SPEAKING["Certificate"][0]),
        ("console_lag_seconds", 0.3, SPEAKING["Late"][0]),
        ("console_disk_bytes", 1 << 29, SPEAKING["Disk low"][0]),
        ("console_refused_seconds", 899.0, SPEAKING["Refused"][0]),
        ("console_restart_seconds", 3599.0, SPEAKING["Console"][0]),
    ],
)
def test_thresholds_are_settings(key: str, value: float, view: View) -> None:
    settings = msgspec.structs.replace(SETTINGS, **{key: value})
    assert attention(view._replace(settings=settings)) == []


def test_the_worst_comes_first_and_not_too_much_is_shown() -> None:
    rows = [msgspec.structs.replace(ROW, unread=True) for _ in range(30)]
    items = attention(QUIET._replace(status=STATUS | {"dead_letters": 1}, rows=rows))
    assert len(items) == 20
    assert {item.tone for item in items} == {"bad"}


def test_refusals_are_told_with_their_reasons_the_most_frequent_first() -> None:
    refused = {"NACK_ACCESS_DENIED": 1, "MQ_ERROR_INSUFFICIENT_RESOURCES": 2_000}
    view = info(refused=refused, last_refused_time=1.0)._replace(utc=1.0)
    (item,) = attention(view)
    assert item.detail == (
        "Since the start 2,000 messages: a quota or the memory is used up; "
        "1 message: the sender may not write to the destination queue."
    )
    assert item.href == "/queues/private$%5Corders/activity"


@pytest.mark.parametrize(("end", "words"), [(0.0, "has ended"), ("no such file", "cannot be read")])
def test_a_certificate_that_does_not_work_is_bad(end: float | str, words: str) -> None:
    (item,) = attention(QUIET._replace(certificates={"console_certificate": end}, utc=1.0))
    assert item.tone == "bad"
    assert words in item.title


def test_a_journal_has_the_quota_for_journals_of_its_queue() -> None:
    (full,) = attention(info(kind="journal", bytes=1024, journal_quota=1))
    assert "used to 100 %" in full.title
    (large,) = attention(info(kind="journal", messages=100_000, bytes=1, quota=10**6))
    assert "no quota" in large.title


def test_a_full_disk_is_not_also_low() -> None:
    (item,) = attention(status(throttled=True)._replace(disk_free=1))
    assert item.title == "New messages are refused: the disk is full"


def test_one_message_waits_and_two_wait() -> None:
    for count, words in ((1, "1 message waits and"), (2, "2 messages wait and")):
        (item,) = attention(row(unread=True, oldest=90.0, messages=count))
        assert item.detail == f"{words} nobody has the queue open."


def test_dead_letters_are_told_with_reasons_and_since_when() -> None:
    classes = {"NACK_RECEIVE_TIMEOUT": 96, "NACK_Q_PURGED": 16, "NACK_BAD_DST_Q": 0, "0xF000": 1}
    view = info(kind="deadletter", oldest_message_age_seconds=120.0)
    view = view._replace(status=STATUS | {"dead_letters": 113}, dead_letters=classes)
    (item,) = attention(view)
    assert (item.title, item.since) == ("113 dead letters", "2 min")
    assert item.detail == (
        "96: the time to be received ran out in the queue; "
        "16: the queue was purged before the message was received; 1: of an unknown class. "
        "Sending 97 again makes sense."
    )


@pytest.mark.parametrize(
    "view",
    [
        info(path=r"alpha\private$\orders;poison", messages=1, oldest_message_age_seconds=120.0),
        info(kind="journal", messages=100_000, oldest_message_age_seconds=120.0),
        status(in_doubt_transactions=1)._replace(doubt_seconds=120.0),
    ],
)
def test_what_is_wrong_is_told_with_since_when(view: View) -> None:
    (item,) = attention(view)
    assert item.since == "2 min"


def test_transactions_in_doubt_are_counted_in_words() -> None:
    (one,), (two,) = (attention(status(in_doubt_transactions=count)) for count in (1, 2))
    assert one.detail == "Its coordinator does not answer; the messages in it are locked."
    assert two.detail == "Their coordinators do not answer; the messages in them are locked."

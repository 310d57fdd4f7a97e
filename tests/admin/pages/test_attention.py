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
        "bytes": 100,
        "messages": 10,
    }
)
STATUS: dict[str, Any] = {
    "throttled": False,
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
    "Disk full": (status(throttled=True), "disk is full"),
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
        QUIET._replace(settings=msgspec.structs.replace(SETTINGS, restarts=2)),
        "started again 2 times",
    ),
}
BELOW: dict[str, View] = {
    "Queue grows": row(messages=1399, line=(400.0, 900.0, 1399.0)),
    "Queue that shrinks again": row(messages=1500, line=(400.0, 2000.0)),
    "Old message": row(oldest=3600.0),
    "Old message without a reader, which is another rule": row(oldest=3601.0, readers=0),
    "Quota": info(quota=1, bytes=921),
    "Link down that has nothing to send": link(tone="bad", messages=0),
    "Not acknowledged": link(unacknowledged=2, oldest=3600.0),
    "Journal": info(kind="journal", messages=99_999),
    "Certificate": QUIET._replace(certificates={"https_certificate": 30 * 86_400.0 + 1}),
    "Late": QUIET._replace(lag_seconds=0.24),
    "Journal with a quota": info(kind="journal", messages=100_000, quota=10**6, bytes=1),
}


def test_nothing_needs_attention_where_all_is_well() -> None:
    assert attention(QUIET) == []


def test_every_rule_has_a_case_and_words() -> None:
    assert list(SPEAKING) == [rule.name for rule in RULES]
    assert all(words for _, words in watched(SETTINGS))


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


@pytest.mark.parametrize(("end", "words"), [(0.0, "has ended"), ("no such file", "cannot be read")])
def test_a_certificate_that_does_not_work_is_bad(end: float | str, words: str) -> None:
    (item,) = attention(QUIET._replace(certificates={"console_certificate": end}, utc=1.0))
    assert item.tone == "bad"
    assert words in item.title

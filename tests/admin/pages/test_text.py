"""Values as pages show them."""

from datetime import UTC, datetime, timedelta

import pytest

from openmsmq.admin.pages.care_pages import group_words
from openmsmq.admin.pages.text import advice, host_at, queue_at, short_destination, travel
from openmsmq.care.filters import parse_filter


@pytest.mark.parametrize(
    ("format_name", "shown", "queue"),
    [
        (r"DIRECT=OS:alpha\private$\orders", "orders", "orders"),
        (r"DIRECT=OS:.\private$\orders", "orders", "orders"),
        (r"DIRECT=OS:beta\private$\orders", r"beta\orders", "orders"),
        (r"DIRECT=TCP:10.0.0.9\private$\a;retry", r"10.0.0.9\a;retry", "a;retry"),
        (r"direct=tcp:10.0.0.9\public", r"10.0.0.9\public", "public"),
        ("DIRECT=HTTP://h/msmq/private$/a", "DIRECT=HTTP://h/msmq/private$/a", "a"),
        ("PUBLIC=1234", "PUBLIC=1234", "PUBLIC=1234"),
        ("DIRECT=HTTP://h/", "DIRECT=HTTP://h/", "DIRECT=HTTP://h/"),
    ],
)
def test_a_destination_is_shown_by_machine_and_queue(
    format_name: str, shown: str, queue: str
) -> None:
    assert short_destination(format_name, "ALPHA") == shown
    assert queue_at(format_name) == queue


@pytest.mark.parametrize(
    ("by", "key", "words"),
    [
        ("reason", "MQMSG_CLASS_NACK_Q_PURGED", 'class_name = "MQMSG_CLASS_NACK_Q_PURGED"'),
        ("label", 'say "hello"', 'label = "say ""hello"""'),
        ("age", "1 hour to 1 day", "age >= 1h and age < 24h"),
    ],
)
def test_a_group_of_dead_letters_is_a_filter_in_words(by: str, key: str, words: str) -> None:
    assert group_words(by, key) == words
    parse_filter(words)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        (r"DIRECT=TCP:192.0.2.7\private$\orders", "192.0.2.7"),
        ("DIRECT=HTTP://beta:8080/msmq/private$/orders", "beta"),
        ("DIRECT=HTTPS://[2001:db8::7]:8443/msmq/orders", "[2001:db8::7]"),
        ("MULTICAST=234.1.1.1:8001", "MULTICAST=234.1.1.1:8001"),
    ],
)
def test_a_link_is_named_after_its_host(name: str, host: str) -> None:
    assert host_at(name) == host


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.9, "within a second"),
        (1.9, "1 s later"),
        (200, "3 min later"),
        (-2, "before it was sent, by the clock of its sender"),
    ],
)
def test_a_way_is_told_no_more_exactly_than_it_is_known(seconds: float, words: str) -> None:
    sent = datetime(2026, 11, 18, tzinfo=UTC)
    assert travel(sent, sent + timedelta(seconds=seconds)) == words


def test_commands_in_advice_are_code_and_nothing_else_is_markup() -> None:
    text = "Run `openmsmq <b>` or <i>ask</i>."
    code = "<code>openmsmq &lt;b&gt;</code>"
    assert advice(text) == f"Run {code} or &lt;i&gt;ask&lt;/i&gt;."

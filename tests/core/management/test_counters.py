"""Counters: declared once, named for Prometheus, documented."""

import re
from pathlib import Path

import pytest
from tests.core.harness import ORDERS, RECEIVE, Harness

from openmsmq.core.management.counters import (
    DROPPED_MESSAGES,
    FLUSHES,
    METRICS,
    REFUSED_REQUESTS,
    Counter,
    Counters,
    Metric,
    reason_name,
    series_name,
)
from openmsmq.wire.codes.message_class import MessageClass

PAGE = Path(__file__).parents[3] / "docs" / "management.md"


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_name_is_one_of_prometheus(metric: Metric) -> None:
    assert re.fullmatch(r"msmq_[a-z_]+_total", metric.name)
    assert all(re.fullmatch(r"[a-z]+", label) for label in metric.labels)
    assert metric.help.endswith(".")
    assert metric.unit


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_counter_is_on_its_page(metric: Metric) -> None:
    (line,) = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `{metric.name}` |")
    ]
    _, _, labels, unit, help_text, _ = (cell.strip() for cell in line.split("|"))
    assert labels == ", ".join(f"`{label}`" for label in metric.labels)
    assert (unit, help_text) == (metric.unit, metric.help)


@pytest.mark.interpreted
def test_names_are_unique_and_every_counter_of_a_queue_manager_is_declared() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert {counter.metric for counter in Counters().all} <= set(METRICS)
    assert len(Counters().all) == len(Counters.__slots__)


def test_a_counter_counts_by_label() -> None:
    counter = Counter(DROPPED_MESSAGES, [("report", "no queue")])
    assert counter.of() == 0
    counter.add(("journal copy", "over the quota"))
    counter.add(("journal copy", "over the quota"), 4)
    counter.add(("report", "over the quota"))
    assert counter.of() == 6
    assert counter.of("journal copy") == 5
    assert counter.of("journal copy", "no queue") == 0
    assert counter.by("journal copy") == {"over the quota": 5}
    # What never happened is not shown.
    assert counter.by() == {"journal copy: over the quota": 5, "report: over the quota": 1}


def test_series_are_written_as_prometheus_writes_them() -> None:
    assert series_name(FLUSHES, ()) == "msmq_store_flushes_total"
    hostile = 'a"b\\c\nd'
    assert series_name(REFUSED_REQUESTS, (hostile,)) == (
        'msmq_refused_requests_total{code="a\\"b\\\\c\\nd"}'
    )


def test_a_reason_without_a_name_is_a_number() -> None:
    assert reason_name(MessageClass.NACK_Q_PURGED) == "NACK_Q_PURGED"
    assert reason_name(0xFFF0) == "0xFFF0"


# What is counted where it happens


def test_arrivals_and_deletions_of_a_queue_are_counted() -> None:
    harness = Harness()
    queue = harness.create()
    sent = harness.send(b"1", b"2", b"3")
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE))
    assert queue.counters.arrived_messages == 3
    assert queue.counters.arrived_bytes == sum(message.size for message in sent.messages)
    assert queue.counters.deleted == {MessageClass.ACK_RECEIVE: 1}
    harness.restart()
    again = harness.qm.find_queue(ORDERS)
    assert (again.counters.arrived_messages, again.counters.deleted) == (0, {})


def test_dead_letters_are_counted_by_reason() -> None:
    harness = Harness()
    harness.create()
    harness.send(b"1", b"2", negative_journaling=True, time_to_be_received=9)
    harness.advance(9)
    counters = harness.qm.counters
    assert counters.deleted_messages.by() == {"NACK_RECEIVE_TIMEOUT": 2}
    assert counters.dead_letters.by() == {"NACK_RECEIVE_TIMEOUT": 2}

"""The series of queues: each has them from its creation to its deletion."""

from array import array
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from .shown_queues import ShownQueues
from .text import Family, Kind, encoded, escaped, listed, number, single

OTHER: Final = "(other)"
# No quota is set.
NO_QUOTA: Final = 0xFFFFFFFF
KIBIBYTE: Final = 1024


class QueueSeries(NamedTuple):
    """One family with a series for each queue; `column` is that of the sample."""

    name: str
    kind: Kind
    help: str
    column: str


SERIES: Final = (
    QueueSeries("messages", "gauge", "Messages in the queue, locked ones included.", "messages"),
    QueueSeries("bytes", "gauge", "Bytes of the messages in the queue.", "bytes"),
    QueueSeries("journal_messages", "gauge", "Messages in its journal.", "journal_messages"),
    QueueSeries("journal_bytes", "gauge", "Bytes of the messages in its journal.", "journal_bytes"),
    QueueSeries(
        "locked_messages", "gauge", "Messages that a reader has not decided on.", "locked_messages"
    ),
    QueueSeries("delayed_messages", "gauge", "Messages that are not due yet.", "delayed_messages"),
    QueueSeries("readers", "gauge", "Who has the queue open to read it.", "readers"),
    QueueSeries("arrived_messages_total", "counter", "Messages that came.", "arrived_messages"),
    QueueSeries(
        "arrived_bytes_total", "counter", "Bytes of the messages that came.", "arrived_bytes"
    ),
    QueueSeries(
        "received_messages_total", "counter", "Messages that were received.", "received_messages"
    ),
    QueueSeries(
        "aborted_messages_total",
        "counter",
        "Messages that came back because a transaction was aborted.",
        "aborted_messages",
    ),
)
# Counts that few queues have: a series from the first event on.
SPARSE: Final = (
    QueueSeries(
        "poisoned_messages_total",
        "counter",
        "Messages that were set aside after too many retries.",
        "poisoned_messages",
    ),
)


def queue_families(shown: ShownQueues, utc: float) -> Iterator[Family]:
    """Every family of queues."""
    for series in SERIES:
        yield _family(series, shown)
    for series in SPARSE:
        yield _sparse(series, shown)
    yield _ages(shown, utc)
    yield _quotas(shown)
    yield _journal_quotas(shown)
    yield _last_received(shown)
    yield _by_reason(shown, "deleted", "Messages that left the queue unread, by reason.")
    yield _by_reason(shown, "refused", "Messages that were refused, by what senders were told.")
    yield single(
        "msmq_metrics_other_queues",
        "gauge",
        f'Queues without series of their own, summed under queue="{OTHER}".',
        len(shown.others),
    )


def _other(name: str, value: float) -> bytes:
    """The line of the queues without series of their own."""
    return encoded(f'{name}{{queue="{OTHER}"}} {number(value)}\n')


def _family(series: QueueSeries, shown: ShownQueues) -> Family:
    name, column = f"msmq_queue_{series.name}", series.column

    def pieces() -> Iterator[bytes]:
        yield from shown.lines(name, shown.values(column))
        if shown.others:
            counter = series.kind == "counter"
            total = shown.other_count(column) if counter else sum(shown.other_values(column))
            yield _other(name, total)

    return Family(name, series.kind, series.help, pieces)


def _sparse(series: QueueSeries, shown: ShownQueues) -> Family:
    name, column = f"msmq_queue_{series.name}", series.column

    def lines() -> list[str]:
        found = [
            f'{name}{{queue="{escaped(queue.path)}"}} {count}'
            for queue, count in zip(shown.queues, shown.values(column), strict=True)
            if count
        ]
        if others := shown.other_count(column):
            found.append(f'{name}{{queue="{OTHER}"}} {others}')
        return found

    return listed(name, series.kind, series.help, lines)


def _ages(shown: ShownQueues, utc: float) -> Family:
    name = "msmq_queue_oldest_message_age_seconds"

    def ages(oldest: "array[Any]") -> "array[Any]":
        # Most queues are empty.
        return array("d", [round(max(utc - each, 0.0), 3) if each else 0.0 for each in oldest])

    def pieces() -> Iterator[bytes]:
        yield from shown.lines(name, ages(shown.values("oldest_arrived")), number)
        if shown.others:
            yield _other(name, max(ages(shown.other_values("oldest_arrived"))))

    return Family(name, "gauge", "How long the oldest message has waited; 0 for none.", pieces)


def _quotas(shown: ShownQueues) -> Family:
    name = "msmq_queue_quota_bytes"

    def text(kilobytes: int) -> str:
        return "+Inf" if kilobytes >= NO_QUOTA else number(kilobytes * KIBIBYTE)

    return Family(
        name,
        "gauge",
        "How many bytes the queue may have; +Inf without a quota.",
        lambda: shown.lines(name, shown.values("quota"), text),
    )


def _journal_quotas(shown: ShownQueues) -> Family:
    """Few queues have one: only these have a series."""
    name = "msmq_queue_journal_quota_bytes"

    def lines() -> list[str]:
        return [
            f'{name}{{queue="{escaped(queue.path)}"}} {kilobytes * KIBIBYTE}'
            for queue, kilobytes in zip(shown.queues, shown.values("journal_quota"), strict=True)
            if kilobytes < NO_QUOTA
        ]

    return listed(name, "gauge", "How many bytes its journal may have, if it has a quota.", lines)


def _last_received(shown: ShownQueues) -> Family:
    name = "msmq_queue_last_received_timestamp_seconds"

    def pieces() -> Iterator[bytes]:
        yield from shown.lines(name, shown.values("last_received"), number)
        if shown.others:
            yield _other(name, max(shown.other_values("last_received")))

    return Family(name, "gauge", "When a message was last received; 0 for never.", pieces)


def _by_reason(shown: ShownQueues, what: str, words: str) -> Family:
    """Counts that few queues have: a series from the first event on."""
    name = f"msmq_queue_{what}_messages_total"

    def lines() -> list[str]:
        found = [
            f'{name}{{queue="{escaped(queue.path)}",reason="{reason}"}} {count}'
            for queue in shown.queues
            for reason, count in getattr(queue, what).items()
        ]
        found += [
            f'{name}{{queue="{OTHER}",reason="{reason}"}} {count}'
            for reason, count in shown.other_by_reason(what).items()
        ]
        return found

    return listed(name, "counter", words, lines)

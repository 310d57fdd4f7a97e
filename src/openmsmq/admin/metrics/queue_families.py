"""The series of queues: each has them from its creation to its deletion."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from operator import add
from typing import Final, NamedTuple

from openmsmq.admin.picture import Picture, QueuePicture

from .text import Family, Kind, escaped, number, single

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
# What happened to few queues: a series from the first time on.
SPARSE: Final = (
    QueueSeries(
        "poisoned_messages_total",
        "counter",
        "Messages that were set aside after too many retries.",
        "poisoned_messages",
    ),
)


class Shown(NamedTuple):
    """The queues with series of their own, and those that are summed."""

    queues: list[QueuePicture]
    others: list[QueuePicture]


def shown_queues(picture: Picture, limit: int, pattern: str = "") -> Shown:
    """The oldest queues up to a limit, of those whose names match."""
    queues = [queue for queue in picture.queues.values() if queue.values]
    if pattern:
        wanted = pattern.lower()
        queues = [queue for queue in queues if fnmatchcase(queue.path.lower(), wanted)]
    queues.sort(key=lambda queue: queue.number)
    return Shown(queues[:limit], queues[limit:])


def queue_families(shown: Shown, utc: float) -> Iterator[Family]:
    """Every family of queues."""
    marks = [f'{{queue="{escaped(queue.path)}"}} ' for queue in shown.queues]
    for series in SERIES:
        yield _family(series, shown, marks)
    for series in SPARSE:
        yield _sparse(series, shown.queues)
    yield _ages(shown, marks, utc)
    yield _quotas(shown.queues, marks)
    yield _last_received(shown, marks)
    yield _deleted(shown)
    yield single(
        "msmq_metrics_other_queues",
        "gauge",
        f'Queues without series of their own, summed under queue="{OTHER}".',
        len(shown.others),
    )


def _each(name: str, marks: list[str], values: list[str]) -> list[str]:
    """A line for each queue, in one piece: there may be many thousands."""
    return [name + f"\n{name}".join(map(add, marks, values))] if marks else []


def _family(series: QueueSeries, shown: Shown, marks: list[str]) -> Family:
    name, column = f"msmq_queue_{series.name}", series.column

    def lines() -> Iterable[str]:
        found = _each(name, marks, [str(queue.values[column]) for queue in shown.queues])
        if shown.others:
            total = sum(queue.values[column] for queue in shown.others)
            found.append(f'{name}{{queue="{OTHER}"}} {total}')
        return found

    return Family(name, series.kind, series.help, lines)


def _sparse(series: QueueSeries, queues: list[QueuePicture]) -> Family:
    name, column = f"msmq_queue_{series.name}", series.column
    return Family(
        name,
        series.kind,
        series.help,
        lambda: [
            f'{name}{{queue="{escaped(queue.path)}"}} {queue.values[column]}'
            for queue in queues
            if queue.values[column]
        ],
    )


def _ages(shown: Shown, marks: list[str], utc: float) -> Family:
    name = "msmq_queue_oldest_message_age_seconds"

    def age(queue: QueuePicture) -> float:
        arrived = queue.values["oldest_arrived"]
        return max(utc - arrived, 0.0) if arrived else 0.0

    def lines() -> Iterable[str]:
        # Most queues are empty.
        ages = [
            number(round(age(queue), 3)) if queue.values["oldest_arrived"] else "0"
            for queue in shown.queues
        ]
        found = _each(name, marks, ages)
        if shown.others:
            oldest = max(map(age, shown.others))
            found.append(f'{name}{{queue="{OTHER}"}} {number(round(oldest, 3))}')
        return found

    return Family(name, "gauge", "How long the oldest message has waited; 0 for none.", lines)


def _quotas(queues: list[QueuePicture], marks: list[str]) -> Family:
    name = "msmq_queue_quota_bytes"

    def lines() -> Iterable[str]:
        kilobytes = [queue.values["quota"] for queue in queues]
        quotas = ["+Inf" if each >= NO_QUOTA else number(each * KIBIBYTE) for each in kilobytes]
        return _each(name, marks, quotas)

    return Family(name, "gauge", "How many bytes the queue may have; +Inf without a quota.", lines)


def _last_received(shown: Shown, marks: list[str]) -> Family:
    name = "msmq_queue_last_received_timestamp_seconds"

    def lines() -> Iterable[str]:
        times = [queue.values["last_received"] for queue in shown.queues]
        found = _each(name, marks, [number(each) if each else "0" for each in times])
        if shown.others:
            last = max(queue.values["last_received"] for queue in shown.others)
            found.append(f'{name}{{queue="{OTHER}"}} {number(last)}')
        return found

    return Family(name, "gauge", "When a message was last received; 0 for never.", lines)


def _deleted(shown: Shown) -> Family:
    name = "msmq_queue_deleted_messages_total"

    def lines() -> Iterable[str]:
        found = [
            f'{name}{{queue="{escaped(queue.path)}",reason="{reason}"}} {count}'
            for queue in shown.queues
            for reason, count in queue.deleted.items()
        ]
        sums: dict[str, int] = {}
        for queue in shown.others:
            for reason, count in queue.deleted.items():
                sums[reason] = sums.get(reason, 0) + count
        found += [
            f'{name}{{queue="{OTHER}",reason="{reason}"}} {count}' for reason, count in sums.items()
        ]
        return found

    return Family(name, "counter", "Messages that left the queue unread, by reason.", lines)

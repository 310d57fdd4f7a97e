"""Conditions that need attention: a table of rules over the newest figures, with thresholds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.settings import ConsoleSettings
from openmsmq.admin.web import segment
from openmsmq.care.reasons import refusal_words, remedy
from openmsmq.directory.objects import UNLIMITED
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.wire.codes.message_class import MessageClass

from .rows import LinkRow, QueueRow, by_next_hop
from .text import age, short_name

# The maximum number of shown conditions.
MOST_ITEMS: Final = 20
QUOTA_BYTES: Final = 1024
DAY_SECONDS: Final = 86_400
POISON: Final = ";poison"
JOURNALS: Final = ("journal", "machine_journal")
DEAD: Final = ("deadletter", "xact_deadletter")
# The number of reasons of dead letters in a sentence.
MOST_REASONS: Final = 3


class Item(NamedTuple):
    """A sentence about a fault: what is wrong, since when, and where to act."""

    tone: str
    icon: str
    title: str
    detail: str
    since: str
    href: str
    action: str


class View(NamedTuple):
    """The input of the rules: only queues that the person may see."""

    status: dict[str, Any]
    infos: Sequence[QueueInfo]
    rows: Sequence[QueueRow]
    links: Sequence[LinkRow]
    settings: ConsoleSettings
    # Expiry of certificates by the key that names them, or why it is unknown.
    certificates: Mapping[str, float | str] = {}
    # The lead of clocks of peers.
    clocks: Mapping[str, float] = {}
    lag_seconds: float = 0.0
    utc: float = 0.0
    # Free bytes on the disk of the store, if known.
    disk_free: int = 0
    # Dead letters by message class.
    dead_letters: Mapping[str, int] = {}
    # Age of the oldest transaction in doubt, if known.
    doubt_seconds: float | None = None
    # The start of this console.
    started: float = 0.0


class Rule(NamedTuple):
    """A rule: its name, its alert for Prometheus, its condition as text, and its search."""

    name: str
    alert: str
    words: Callable[[ConsoleSettings], str]
    find: Callable[[View], Iterator[Item]]


def attention(view: View) -> list[Item]:
    """The conditions that need attention, the worst first."""
    items = [item for rule in RULES for item in rule.find(view)]
    return sorted(items, key=lambda item: item.tone != "bad")[:MOST_ITEMS]


def watched(settings: ConsoleSettings) -> list[tuple[str, str, str]]:
    """Every rule as text, with the name of its alert."""
    return [(rule.name, rule.words(settings), rule.alert) for rule in RULES]


def _queue(name: str) -> str:
    return f"/queues/{segment(name)}"


def _waiting(messages: int) -> str:
    return f"{count_text(messages, 'message')} {'waits' if messages == 1 else 'wait'}"


def _no_reader(view: View) -> Iterator[Item]:
    for row in sorted(view.rows, key=lambda row: -(row.oldest or 0.0)):
        if row.unread:
            yield Item(
                "bad",
                "circle-alert",
                f"{short_name(row.name)} has not been read for {age(row.oldest)}",
                f"{_waiting(row.messages)} and nobody has the queue open.",
                age(row.oldest),
                _queue(row.name),
                "Open queue",
            )


def _grows(view: View) -> Iterator[Item]:
    least = view.settings.console_growth_messages
    for row in view.rows:
        grown = row.messages - min(row.line, default=row.messages)
        if grown >= least and row.messages >= max(row.line, default=0):
            yield Item(
                "warn",
                "inbox",
                f"{short_name(row.name)} grows: {count_text(int(grown), 'message')} more",
                "More messages arrive than are received.",
                "",
                _queue(row.name),
                "Open queue",
            )


def _too_old(view: View) -> Iterator[Item]:
    for row in view.rows:
        if row.readers and row.oldest and row.oldest > view.settings.console_age_seconds:
            yield Item(
                "warn",
                "circle-alert",
                f"A message waits in {short_name(row.name)} for {age(row.oldest)}",
                "The queue has readers, but the oldest message is not received.",
                age(row.oldest),
                _queue(row.name),
                "Open queue",
            )


def _quota(view: View) -> Iterator[Item]:
    for info in view.infos:
        quota = info.own_quota
        if quota == UNLIMITED or not quota:
            continue
        percent = 100 * info.bytes // (quota * QUOTA_BYTES)
        if percent >= view.settings.console_quota_percent:
            name = info.name
            yield Item(
                "bad" if percent >= 99 else "warn",
                "circle-alert",
                f"The quota of {short_name(name)} is used to {percent} %",
                "When it is full, messages for this queue are refused.",
                "",
                _queue(name),
                "Open queue",
            )


def _refused(view: View) -> Iterator[Item]:
    for info in view.infos:
        last = info.last_refused_time
        if not last or view.utc - last > view.settings.console_refused_seconds:
            continue
        reasons = sorted(info.refused.items(), key=lambda pair: -pair[1])
        words = "; ".join(
            f"{count_text(count, 'message')}: {refusal_words(name)}" for name, count in reasons
        )
        yield Item(
            "bad",
            "circle-alert",
            f"{short_name(info.name)} refuses messages, last {age(view.utc - last)} ago",
            f"Since the start {words}.",
            "",
            f"{_queue(info.name)}/activity",
            "See why",
        )


def _disk(view: View) -> Iterator[Item]:
    if view.status.get("throttled"):
        yield Item(
            "bad",
            "circle-alert",
            "New messages are refused: the disk is full",
            "Make room on the disk of the data directory; it goes on by itself.",
            "",
            "/settings",
            "About",
        )


def _manager_quota(view: View) -> Iterator[Item]:
    if view.status.get("quota_used_up"):
        yield Item(
            "bad",
            "circle-alert",
            "New messages are refused: the quota of all queues together is used up",
            "Receive or purge messages, or raise quota_kilobytes in the configuration.",
            "",
            "/queues",
            "Queues",
        )


def _disk_low(view: View) -> Iterator[Item]:
    if 0 < view.disk_free < view.settings.console_disk_bytes and not view.status.get("throttled"):
        yield Item(
            "warn",
            "circle-alert",
            f"The disk has {size_text(view.disk_free)} left",
            "When it is full, new messages are refused. Make room, or receive messages.",
            "",
            "/settings",
            "About",
        )


def _offline(view: View) -> Iterator[Item]:
    if view.status and not view.status.get("online", True):
        yield Item(
            "warn",
            "unplug",
            "The queue manager is offline",
            "Nothing is sent to other machines or accepted from them. "
            "`openmsmq machine online` ends this.",
            "",
            "/outgoing",
            "Outgoing",
        )


def _link_down(view: View) -> Iterator[Item]:
    for link in by_next_hop(link for link in view.links if link.tone == "bad" and link.messages):
        queues = f" for {count_text(link.queues, 'queue')} there" if link.queues > 1 else ""
        yield Item(
            "bad",
            "unplug",
            f"The link to {link.name} is down",
            f"{link.reason[:1].upper()}{link.reason[1:]}. "
            f"{_waiting(link.messages)}{queues}; {link.words}.",
            age(link.oldest),
            link.href,
            "Open links" if link.queues > 1 else "Open link",
        )


def _not_acknowledged(view: View) -> Iterator[Item]:
    for link in view.links:
        waiting = link.unacknowledged + link.awaiting_final_ack
        if link.tone != "ok" or not waiting:
            continue
        if (link.oldest or 0.0) > view.settings.console_age_seconds:
            yield Item(
                "warn",
                "send",
                f"{link.name} does not acknowledge {count_text(waiting, 'message')}",
                "They were sent and nothing is known of their fate.",
                age(link.oldest),
                link.href,
                "Open link",
            )


def _dead_letters(view: View) -> Iterator[Item]:
    if view.status.get("dead_letters"):
        yield Item(
            "warn",
            "mail-x",
            count_text(view.status["dead_letters"], "dead letter"),
            _why_dead(view.dead_letters),
            _oldest(info for info in view.infos if info.kind in DEAD),
            "/dead-letters",
            "Review",
        )


def _why_dead(classes: Mapping[str, int]) -> str:
    """The most frequent reasons, and whether a retry makes sense."""
    known = sorted(
        ((count, remedy(_class_of(name))) for name, count in classes.items() if count),
        key=lambda pair: -pair[0],
    )
    if not known:
        return "Messages that were not delivered or not received."
    reasons = "; ".join(f"{count:,}: {why.in_short}" for count, why in known[:MOST_REASONS])
    again = sum(count for count, why in known if why.retry_now)
    return f"{reasons}." + (f" Sending {again:,} again makes sense." if again else "")


def _class_of(name: str) -> int:
    """The class with this name or number in a sample."""
    return MessageClass[name] if name in MessageClass.__members__ else int(name, 16)


def _oldest(infos: Iterable[QueueInfo]) -> str:
    """The age of the oldest message of some queues."""
    ages = [info.oldest_message_age_seconds for info in infos]
    return age(max((seconds for seconds in ages if seconds is not None), default=None))


def _poison(view: View) -> Iterator[Item]:
    for info in view.infos:
        name = info.name
        moved = name.endswith(POISON)
        count = info.messages if moved else info.held_messages
        if count:
            yield Item(
                "warn",
                "circle-alert",
                f"{count_text(count, 'poison message')} in {short_name(name)}",
                "Programs received them again and again without success.",
                _oldest([info]) if moved else "",
                _queue(name),
                "Open queue",
            )


def _in_doubt(view: View) -> Iterator[Item]:
    count = view.status.get("in_doubt_transactions")
    if count:
        whose = "Its coordinator" if count == 1 else "Their coordinators"
        answers = "does not answer" if count == 1 else "do not answer"
        yield Item(
            "bad",
            "arrow-left-right",
            count_text(count, "transaction") + " in doubt",
            f"{whose} {answers}; the messages in {'it' if count == 1 else 'them'} are locked.",
            age(view.doubt_seconds),
            "/transactions",
            "Open",
        )


def _journal(view: View) -> Iterator[Item]:
    for info in view.infos:
        large = info.messages >= view.settings.console_journal_messages
        if info.kind in JOURNALS and info.own_quota == UNLIMITED and large:
            name = info.name
            yield Item(
                "warn",
                "notebook-text",
                f"{short_name(name)} has {count_text(info.messages, 'message')} and no quota",
                "A journal grows until somebody reads or purges it, or it has a quota.",
                _oldest([info]),
                "/journals",
                "Journals",
            )


def _certificates(view: View) -> Iterator[Item]:
    days = view.settings.console_certificate_days
    for key, end in view.certificates.items():
        if isinstance(end, str):
            yield Item(
                "bad",
                "shield",
                f"The certificate of {key} cannot be read",
                end,
                "",
                "/settings",
                "About",
            )
        elif end <= view.utc:
            yield Item(
                "bad",
                "shield",
                f"The certificate of {key} has ended",
                "Others refuse it. Put a new one in its place and reload.",
                age(view.utc - end),
                "/settings",
                "About",
            )
        elif end - view.utc <= days * DAY_SECONDS:
            yield Item(
                "warn",
                "shield",
                f"The certificate of {key} ends in {age(end - view.utc)}",
                "Put a new one in its place and reload.",
                "",
                "/settings",
                "About",
            )


def _clocks(view: View) -> Iterator[Item]:
    for peer, ahead in view.clocks.items():
        yield Item(
            "warn",
            "clock",
            f"The clock of {peer} is {age(ahead)} ahead",
            "Messages from there arrive before they were sent; their time limits end late.",
            "",
            "/sessions",
            "Sessions",
        )


def _lag(view: View) -> Iterator[Item]:
    if view.lag_seconds >= view.settings.console_lag_seconds:
        yield Item(
            "warn",
            "activity",
            f"The queue manager is late by {1000 * view.lag_seconds:.0f} ms",
            "Its event loop has more to do than time, or its disk or machine is slow.",
            "",
            "/settings",
            "About",
        )


def _console(view: View) -> Iterator[Item]:
    settings, running = view.settings, view.utc - view.started
    if settings.restarts and running <= settings.console_restart_seconds:
        yield Item(
            "warn",
            "circle-alert",
            f"The console was started again {count_text(settings.restarts, 'time')}",
            "Its log, in that of the queue manager, says why it ended.",
            age(running),
            "/settings",
            "About",
        )


RULES: Final = (
    Rule(
        "No reader",
        "MsmqNoReader",
        lambda s: (
            f"messages wait longer than {duration_text(s.console_unread_seconds)} "
            "and nobody has the queue open"
        ),
        _no_reader,
    ),
    Rule(
        "Queue grows",
        "MsmqQueueGrows",
        lambda s: (
            f"{s.console_growth_messages:,} more messages wait than an hour ago, the most "
            "since then"
        ),
        _grows,
    ),
    Rule(
        "Old message",
        "MsmqMessagesWait",
        lambda s: (
            f"one waits longer than {duration_text(s.console_age_seconds)} in a queue with readers"
        ),
        _too_old,
    ),
    Rule(
        "Quota",
        "MsmqQueueNearQuota",
        lambda s: f"{s.console_quota_percent} % of the quota of a queue or of its journal is used",
        _quota,
    ),
    Rule(
        "Refused",
        "MsmqMessagesRefused",
        lambda s: (
            f"a queue refused messages within {duration_text(s.console_refused_seconds)}: it is "
            "full, or they are not of its kind, or their sender may not"
        ),
        _refused,
    ),
    Rule("Disk full", "MsmqDiskFull", lambda _: "new messages are refused", _disk),
    Rule("Quota of all", "MsmqQuotaUsedUp", lambda _: "new messages are refused", _manager_quota),
    Rule(
        "Disk low",
        "MsmqDiskLow",
        lambda s: f"the disk has less than {size_text(s.console_disk_bytes)} left",
        _disk_low,
    ),
    Rule("Offline", "MsmqOffline", lambda _: "the queue manager does not talk to others", _offline),
    Rule(
        "Link down",
        "MsmqLinkDown",
        lambda _: "messages wait for another machine that does not answer",
        _link_down,
    ),
    Rule(
        "Not acknowledged",
        "MsmqNotAcknowledged",
        lambda s: (
            "a machine that is connected has not acknowledged messages for "
            f"{duration_text(s.console_age_seconds)}"
        ),
        _not_acknowledged,
    ),
    Rule(
        "Dead letters",
        "MsmqDeadLetters",
        lambda _: "messages were not delivered or not received",
        _dead_letters,
    ),
    Rule(
        "Poison",
        "MsmqPoisonMessages",
        lambda _: "messages failed again and again, or are held for you",
        _poison,
    ),
    Rule(
        "In doubt",
        "MsmqTransactionInDoubt",
        lambda _: "the coordinator of a prepared transaction does not answer",
        _in_doubt,
    ),
    Rule(
        "Journal",
        "MsmqJournalGrows",
        lambda s: f"one without a quota has {s.console_journal_messages:,} messages",
        _journal,
    ),
    Rule(
        "Certificate",
        "MsmqCertificateEnds",
        lambda s: f"one ends within {count_text(s.console_certificate_days, 'day')}",
        _certificates,
    ),
    Rule(
        "Clock",
        "MsmqClockWrong",
        lambda s: (
            f"that of another queue manager is {duration_text(s.console_clock_seconds)} ahead"
        ),
        _clocks,
    ),
    Rule(
        "Late",
        "MsmqEventLoopSlow",
        lambda s: f"the queue manager is {1000 * s.console_lag_seconds:.0f} ms late",
        _lag,
    ),
    Rule(
        "Console",
        "MsmqConsoleRestarts",
        lambda s: (
            "this console was started again after a failure within "
            f"{duration_text(s.console_restart_seconds)}"
        ),
        _console,
    ),
)

"""A queue in words, for people."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, duration_text, size_text, time_text

# [MS-MQMQ] 2.3.1.6: the quota that means no limit.
NO_QUOTA: Final = 0xFFFFFFFF


def short_path(path: str) -> str:
    """The path as the shortest name that means it on this machine."""
    return "." + path[path.index("\\") :]


def traits(info: dict[str, Any]) -> list[str]:
    """What is special about a queue."""
    words = []
    if info["transactional"]:
        words.append("transactional")
    if info["journal"]:
        words.append("journal")
    if info["authenticate"]:
        words.append("authenticated")
    if info["privacy"] == "body":
        words.append("encrypted")
    if info["multicast"]:
        words.append(f"multicast {info['multicast']}")
    return words


def queue_row(info: dict[str, Any]) -> tuple[str, ...]:
    """A line of `queue list`."""
    return (
        short_path(info["path"]),
        count_text(info["messages"]),
        size_text(info["bytes"]),
        duration_text(info["oldest_message_age_seconds"]),
        count_text(info["journal_messages"]) if info["journal_messages"] else "",
        ", ".join(traits(info)),
        info["label"],
    )


def queue_properties(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines of `queue show`."""
    yield "Queue", info["path"]
    yield "Format name", info["format_name"]
    if info["routed_format_name"]:
        yield "By identifier", info["routed_format_name"]
    if info["label"]:
        yield "Label", printable(info["label"])
    yield "Kind", ", ".join([f"{info['scope']} {info['kind']}", *traits(info)])
    yield from _contents(info)
    yield "Quota", quota_text(info["quota"])
    yield "Journal quota", quota_text(info["journal_quota"])
    if info["base_priority"]:
        yield "Base priority", str(info["base_priority"])
    if info["receive_error_handling"] != "none":
        yield "Retries", retries_text(info)
    if info["subqueues"]:
        yield "Subqueues", ", ".join(map(printable, info["subqueues"]))
    yield "Readers", readers_text(info)
    if info["deleted"]:
        yield "Left", "\n".join(map(reason_text, info["deleted"].items()))
    if info["refused"]:
        yield "Refused", "\n".join(map(reason_text, info["refused"].items()))
        yield "Last refused", moment(info["last_refused_time"])
    yield "Created", moment(info["created_time"])
    if info["modified_time"] != info["created_time"]:
        yield "Changed", moment(info["modified_time"])
    yield "GUID", info["guid"]
    if info["permissions"]:
        yield "Permissions", permissions(info["permissions"])


def _contents(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is in a queue, and around it."""
    yield "Messages", amount(info["messages"], info["bytes"])
    # Those that are held are locked, too.
    if being_read := info["locked_messages"] - info["held_messages"]:
        yield "Being read", count_text(being_read, "message")
    if info["held_messages"]:
        yield "Held", f"{count_text(info['held_messages'], 'message')} for an operator"
    if info["delayed_messages"]:
        yield "Delayed", count_text(info["delayed_messages"], "message")
    age = info["oldest_message_age_seconds"]
    if age is not None:
        yield "Oldest", f"{duration_text(age)} ago"
    if info["journal"] or info["journal_messages"]:
        yield "Journal", amount(info["journal_messages"], info["journal_bytes"])


def amount(count: int, size: int) -> str:
    """Messages and their size."""
    return f"{count_text(count)} ({size_text(size)})" if count else "0"


def quota_text(kilobytes: int) -> str:
    """A quota in words."""
    return "none" if kilobytes == NO_QUOTA else size_text(kilobytes * 1024)


def retries_text(info: dict[str, Any]) -> str:
    """The retry policy of a queue in words."""
    retries = count_text(info["receive_retry_count"], "time")
    rest = duration_text(info["retry_cycle_delay"])
    cycles = count_text(info["max_retry_cycles"], "time")
    return f"{retries} in a row, {cycles} after {rest}, then {info['receive_error_handling']}"


def readers_text(info: dict[str, Any]) -> str:
    """How many have the queue open for reading."""
    text = count_text(info["readers"])
    waiting = info["waiting_reads"]
    return f"{text}, {count_text(waiting, 'read')} waiting" if waiting else text


def reason_text(counted: tuple[str, int]) -> str:
    """How many messages left or were refused for a reason, which is what their sender is told."""
    reason, count = counted
    return f"{count_text(count)}  {reason}"


def moment(seconds: float) -> str:
    """A time of a queue, which counts seconds."""
    return time_text(datetime.fromtimestamp(seconds, UTC))


def permissions(entries: list[dict[str, Any]]) -> str:
    """Who may do what, a line for each entry."""
    width = max(len(entry["principal"]) for entry in entries)
    return "\n".join(
        f"{entry['principal']:{width}}  "
        f"{'' if entry['allow'] else 'denied: '}{' '.join(entry['rights'])}"
        for entry in entries
    )

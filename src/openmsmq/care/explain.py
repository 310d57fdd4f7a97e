"""The state of a queue, and why messages stay in it or do not arrive, in sentences."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from openmsmq.client import QueueManager
from openmsmq.core.model.message import HELD
from openmsmq.wire.codes.queue_error import QueueError

from .reasons import refusal_words

UNLIMITED: Final = 0xFFFFFFFF
_KB: Final = 1024


def explain_queue(
    manager: QueueManager,
    path: str,
    size_text: Callable[[float], str],
    duration_text: Callable[[float], str],
) -> list[str]:
    """Sentences about a queue.

    Args:
        size_text, duration_text: the format of bytes and seconds.

    Raises:
        QueueError: there is no such queue, or the caller may not see it.
    """
    info = manager.queue_info(path)
    with manager.open_queue(path, "peek") as queue:
        holders = queue.ranges.info().lock_holders
    return [
        *_what_it_takes(info),
        *_room(info, size_text),
        *_contents(info, size_text, duration_text),
        *_not_seen(info, holders),
        *_readers(info),
        *_refused(info),
        *_rights(info),
        *_machine(manager),
    ]


def explain_access(manager: QueueManager, path: str, principal: str) -> list[str]:
    """The effective rights of a principal on a queue, and why, one sentence per right.

    Args:
        path: of the queue; empty for the queue manager itself.

    Raises:
        QueueError: there is no such queue or principal, or the caller may not see permissions.
    """
    return [
        f"{principal} {'may' if answer['allowed'] else 'may not'} {answer['right']}. "
        f"{answer['reason']}"
        for answer in manager.explain_access(path, principal)
    ]


def _some(count: int, word: str = "message") -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _what_it_takes(info: dict[str, Any]) -> Iterator[str]:
    if info["transactional"]:
        yield "It is transactional: messages that are sent outside a transaction are refused."
    else:
        yield "It is not transactional: messages that are sent in a transaction are refused."
    if info["authenticate"]:
        yield "It takes signed messages only; others are refused as not authenticated."
    if info["privacy"] != "optional":
        takes = "encrypted" if info["privacy"] == "body" else "clear"
        yield f"It takes messages with a body that travelled {takes}; others are refused."
    if info["multicast"]:
        yield f"It listens to the multicast address {info['multicast']}."


def _room(info: dict[str, Any], size_text: Callable[[float], str]) -> Iterator[str]:
    quota = info["quota"]
    if quota == UNLIMITED:
        return
    left = quota * _KB - info["bytes"]
    if left <= 0:
        full = size_text(quota * _KB)
        yield f"It is full: its quota of {full} is used up, and new messages are refused."
    else:
        yield f"Its quota of {size_text(quota * _KB)} has room for {size_text(left)} more."


def _contents(
    info: dict[str, Any],
    size_text: Callable[[float], str],
    duration_text: Callable[[float], str],
) -> Iterator[str]:
    if not info["messages"]:
        yield "It is empty."
    else:
        oldest = info["oldest_message_age_seconds"]
        age = "" if oldest is None else f"; the oldest is {duration_text(oldest)} old"
        yield f"It has {_some(info['messages'])}, {size_text(info['bytes'])}{age}."
    if info["journal"]:
        yield f"Received messages are kept in its journal, which has {info['journal_messages']:,}."
    for subqueue in info["subqueues"]:
        yield f"It has the subqueue {subqueue}."


def _not_seen(info: dict[str, Any], holders: dict[str, int]) -> Iterator[str]:
    """Messages hidden from readers."""
    others = {holder: count for holder, count in holders.items() if holder != HELD}
    locked = info["locked_messages"] - info["held_messages"]
    # Holders also include senders in a transaction that is not committed.
    sent = sum(others.values()) - locked
    if sent > 0:
        if locked > 0:
            yield f"Locked: {_some(locked)}, which other readers do not see."
        yield f"Sent and not committed yet: {_some(sent)}, which readers do not see."
        yield f"The transactions are those of {', '.join(others)}."
    else:
        for holder, count in others.items():
            yield f"Locked by {holder}: {_some(count)}, which other readers do not see."
    if info["held_messages"]:
        yield (
            f"Held for an operator after all retries: {_some(info['held_messages'])}, which "
            "readers do not see; `openmsmq queue release` lets them."
        )
    if info["delayed_messages"]:
        yield f"Delayed: {_some(info['delayed_messages'])}, which readers see when they are due."


def _readers(info: dict[str, Any]) -> Iterator[str]:
    if info["waiting_reads"]:
        wait = "waits" if info["waiting_reads"] == 1 else "wait"
        yield f"{_some(info['waiting_reads'], 'reader')} {wait} for its next message."
    elif info["readers"]:
        have = "has" if info["readers"] == 1 else "have"
        yield (
            f"{_some(info['readers'], 'program')} {have} it open to read, none waits for a message."
        )
    elif info["messages"]:
        yield "No program has it open to read: its messages stay until one does."


def _refused(info: dict[str, Any]) -> Iterator[str]:
    for name, count in info["refused"].items():
        yield f"It has refused {_some(count)} since the start: {refusal_words(name)} ({name})."


def _rights(info: dict[str, Any]) -> Iterator[str]:
    for permission in info["permissions"] or ():
        has = "has" if permission["allow"] else "is denied"
        names = permission["rights"]
        if names == ["full"]:
            does = "may do everything" if permission["allow"] else "may not do anything"
            yield f"{permission['principal']} {does}."
        elif names:
            rights = "right" if len(names) == 1 else "rights"
            yield f"{permission['principal']} {has} the {rights} {', '.join(names)}."


def _machine(manager: QueueManager) -> Iterator[str]:
    try:
        status = manager.status()
    except QueueError:
        return
    if status["throttled"]:
        yield "The queue manager takes no messages: the disk with its data is full."
    if status["quota_used_up"]:
        yield (
            "The queue manager takes no messages: its quota for all queues together, "
            "quota_kilobytes, is used up."
        )

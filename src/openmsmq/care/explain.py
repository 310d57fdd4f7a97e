"""What a queue is doing, and why messages stay in it or do not come, in sentences."""

from collections.abc import Iterator
from typing import Any, Final

from openmsmq.client import QueueManager
from openmsmq.core.model.message import HELD
from openmsmq.wire.codes.queue_error import QueueError

UNLIMITED: Final = 0xFFFFFFFF
_KB: Final = 1024


def explain_queue(manager: QueueManager, path: str) -> list[str]:
    """Sentences about a queue.

    Raises:
        QueueError: there is no such queue, or the caller may not see it.
    """
    info = manager.queue_info(path)
    with manager.open_queue(path, "peek") as queue:
        holders = queue.ranges.info().lock_holders
    return [
        *_what_it_takes(info),
        *_room(info),
        *_contents(info, holders),
        *_readers(info),
        *_rights(info),
        *_outgoing(manager),
    ]


def explain_access(manager: QueueManager, path: str, principal: str) -> list[str]:
    """What a principal may do with a queue, and why, a sentence for each right.

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


def _room(info: dict[str, Any]) -> Iterator[str]:
    quota = info["quota"]
    if quota == UNLIMITED:
        return
    left = quota * _KB - info["bytes"]
    if left <= 0:
        yield f"It is full: its quota of {quota} KB is used up, and new messages are refused."
    else:
        yield f"Its quota of {quota} KB has room for {left:,} bytes more."


def _contents(info: dict[str, Any], holders: dict[str, int]) -> Iterator[str]:
    if not info["messages"]:
        yield "It is empty."
    else:
        oldest = info["oldest_message_age_seconds"]
        age = "" if oldest is None else f"; the oldest is {oldest:,.0f} seconds old"
        yield f"It has {_some(info['messages'])} of {info['bytes']:,} bytes{age}."
    for holder, count in holders.items():
        if holder != HELD:
            yield f"Locked by {holder}: {_some(count)}, which other readers do not see."
    if info["held_messages"]:
        yield (
            f"Held for an operator after all retries: {_some(info['held_messages'])}, which "
            "readers do not see; `openmsmq queue release` lets them."
        )
    if info["delayed_messages"]:
        yield f"Delayed: {_some(info['delayed_messages'])}, which readers see when they are due."
    if info["journal"]:
        yield f"Received messages are kept in its journal, which has {info['journal_messages']:,}."
    for subqueue in info["subqueues"]:
        yield f"It has the subqueue {subqueue}."


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


def _outgoing(manager: QueueManager) -> Iterator[str]:
    try:
        throttled = manager.status()["throttled"]
    except QueueError:
        return
    if throttled:
        yield "The queue manager takes no messages: the disk with its data is full."

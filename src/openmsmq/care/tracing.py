"""The trace of one message: its places, and its events."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from openmsmq.client import BrowsedMessage, QueueManager
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.scalars import MessageIdentifier

from .places import Place, list_places
from .reasons import remedy

_ABSENT: Final = (
    Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
    Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE,
)
_WORDS: Final = {
    "arrived": "arrived in {place}",
    "received": "was received from {place}",
    "aborted": "went back into {place}: its reader gave it back, or its transaction was aborted",
    "moved": "was moved to {place}",
    "removed": "left {place}: {reason}",
    "sent": "was sent to {place}",
    "acknowledged": "was acknowledged by {place}",
    "dropped": "was dropped: {place}",
}


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """An event of the message, as text."""

    time: float
    event: str
    place: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The known facts about a message.

    Attributes:
        places: its current places, with the message there, even if readers do not see it.
        events: its events, the oldest first.
        why: why nothing is known, or the record is incomplete; empty if it is complete.
        not_searched: places that could not be searched, and why.
    """

    id: str
    places: list[tuple[Place, BrowsedMessage]]
    events: list[TraceEvent]
    why: str
    not_searched: list[tuple[str, str]]


def trace_message(manager: QueueManager, message_id: str) -> Trace:
    """Search a message in all places, and read its events from the queue manager.

    Raises:
        ValueError: it is not a message id.
        QueueError: the caller may not see dead letters.
    """
    identifier = str(MessageIdentifier.from_text(message_id))
    places: list[tuple[Place, BrowsedMessage]] = []
    not_searched: list[tuple[str, str]] = []
    for place in list_places(manager):
        try:
            with manager.open_queue(place.name, place.access) as queue:
                message = queue.ranges.find(identifier)
        except QueueError as exc:
            if exc.code not in _ABSENT:
                not_searched.append((place.name, str(exc)))
        else:
            if message is not None:
                places.append((place, message))
    history = manager.message_history(identifier)
    events = [in_words(each) for each in history["events"]]
    states = [message.state for _place, message in places]
    why = _why(manager, identifier, history, states)
    return Trace(identifier, places, events, why, not_searched)


def in_words(event: dict[str, Any]) -> TraceEvent:
    """An entry of `message_history`."""
    reason = remedy(event["reason"]).reason if event["reason"] else ""
    text = _WORDS.get(event["event"], "{place}").format(place=event["place"], reason=reason)
    return TraceEvent(event["time"], event["event"], event["place"], reason, text)


def _why(manager: QueueManager, identifier: str, history: dict[str, Any], states: list[str]) -> str:
    if not history["kept"]:
        return "The queue manager keeps no history: history_bytes is 0."
    # A delayed message arrives at its time.
    if any(event["event"] == "arrived" for event in history["events"]) or "delayed" in states:
        return ""
    if history["since"] is None:
        return "The history is empty: nothing has happened since it is kept."
    since = datetime.fromtimestamp(history["since"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if states or history["events"]:
        return f"Its arrival is not in the history, which begins at {since}."
    own = MessageIdentifier.from_text(identifier).source
    if str(own).lower() == manager.identity.guid.strip("{}").lower():
        return f"It was sent here before {since}, where the history begins, or never."
    return f"It has not come here since {since}, where the history begins."

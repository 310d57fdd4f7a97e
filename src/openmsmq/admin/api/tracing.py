"""The trace of one message, and the state of a queue in sentences."""

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem
from openmsmq.care.explain import explain_queue
from openmsmq.care.tracing import TraceEvent, in_words, trace_message
from openmsmq.terminal.quantities import duration_text, size_text

from .message_records import message_record
from .queues import full_name
from .searching import SearchHit, place_name


class TraceStep(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a message."""

    time: float
    event: str
    place: str
    reason: str
    text: str


class TraceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The places of a message, its events, and why no more is known."""

    id: str
    places: list[SearchHit]
    events: list[TraceStep]
    why: str


class Explanation(msgspec.Struct, frozen=True):
    """Sentences about a queue."""

    sentences: list[str]


async def trace(caller: Caller, message: str) -> TraceRecord:
    """Everything known of a message id: its places, and its events."""
    caller.need_every_queue()
    try:
        found = await caller.desk.care.call(
            caller.person, lambda manager: trace_message(manager, message)
        )
    except ValueError as exc:
        raise Problem(
            400,
            f"'{message}' is not a message id.",
            cause="A message id has a GUID in braces, a backslash and a number.",
            remedy="Copy it from a message: {01234567-89AB-CDEF-0123-456789ABCDEF}\\165537.",
            name="BAD_ID",
        ) from exc
    return TraceRecord(
        id=found.id,
        places=[
            SearchHit(
                queue=place_name(place.name), kind=str(place.kind), message=message_record(each)
            )
            for place, each in found.places
        ],
        events=[_step(step) for step in found.events],
        why=found.why,
    )


def _step(step: TraceEvent) -> TraceStep:
    return TraceStep(
        time=step.time, event=step.event, place=step.place, reason=step.reason, text=step.text
    )


async def history(caller: Caller, message: str) -> TraceRecord:
    """The records of the queue manager about a message, without a search for it."""
    found = await (await caller.manager()).message_history(message)
    return TraceRecord(
        id=message, places=[], events=[_step(in_words(each)) for each in found["events"]], why=""
    )


async def explain(caller: Caller, queue: str) -> Explanation:
    """The state of a queue, and why messages stay in it or do not arrive."""
    caller.need_queue(queue)
    sentences = await caller.desk.care.call(
        caller.person,
        lambda manager: explain_queue(manager, full_name(queue), size_text, duration_text),
    )
    return Explanation(sentences)

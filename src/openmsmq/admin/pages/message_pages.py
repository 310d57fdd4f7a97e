"""One message: on a page of its own, and in the pane beside its queue."""

import time
from typing import Any, Final

from markupsafe import Markup
from starlette.datastructures import QueryParams

from openmsmq.admin.api import messages as message_calls
from openmsmq.admin.api import tracing
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.admin.web import segment
from openmsmq.client import ReceivedMessage
from openmsmq.wire.errors import MsmqError

from .bodies import body_view
from .packets import packet_view
from .text import age, moment, short_name, shown, travel

LONGEST_PLACE: Final = 9
POLICIES: Final = {
    "move": "moves it to the subqueue poison",
    "reject": "sends it back as rejected",
    "drop": "removes it",
    "hold": "holds it until an operator decides",
}
# The views of the page of a message, and those of the pane, which include its route.
PAGE_VIEWS: Final = ("body", "properties", "packet")
PANE_VIEWS: Final = (*PAGE_VIEWS, "way")


async def pane_values(
    caller: Caller, queue: str, lookup_id: str, query: QueryParams
) -> dict[str, Any]:
    """The contents of the pane of a message, with its route as a view."""
    values = await message_values(caller, queue, lookup_id, query, PANE_VIEWS)
    message: ReceivedMessage | None = values["message"]
    if message is not None and values["view"] == "way":
        values["way"] = await _way(caller, message, queue)
    return values


async def message_values(
    caller: Caller,
    queue: str,
    lookup_id: str,
    query: QueryParams,
    views: tuple[str, ...] = PAGE_VIEWS,
) -> dict[str, Any]:
    """The contents of the views of a message."""
    view = query.get("view", "")
    if view not in views:
        view = "body"
    values: dict[str, Any] = {
        "message": None,
        "message_problem": None,
        "view": view,
        "body": None,
        "packet": None,
        "body_problem": None,
    }
    try:
        message = await message_calls.look_up(caller, queue, lookup_id)
    except MsmqError as exc:
        return {**values, "message_problem": problem_of(exc)}
    values["message"] = message
    values["body_bytes"] = caller.desk.settings.console_body_bytes
    values["facts"] = message_facts(message)
    values["copy_to"] = _copy_to(queue, message)
    values["reason"] = "" if message.class_ < 0x8000 else message.class_name
    values["properties"] = [
        (name, value)
        for name, value in message.to_dict().items()
        if name not in ("body", "body_base64")
    ]
    try:
        caller.need_bodies()
        if view == "packet":
            values["packet"] = packet_view(bytes(message.packet), _number(query.get("field"), -1))
        elif view == "body":
            values["body"] = body_view(
                message.view.body,
                message.body_type,
                query.get("as", ""),
                _number(query.get("part"), 0),
                size=caller.desk.settings.console_body_bytes,
            )
    except Problem as exc:
        values["body_problem"] = exc
    return values


def _number(text: str | None, otherwise: int) -> int:
    """A number in an address, or `otherwise` if the text is not a number."""
    if text is None or len(text) > LONGEST_PLACE or not (text.isascii() and text.isdecimal()):
        return otherwise
    return int(text)


def message_facts(message: ReceivedMessage) -> list[tuple[str, Markup]]:
    """The main facts about a message."""
    way = travel(message.sent_time, message.arrived_time)
    facts = [
        ("Sent", Markup("{} by {}").format(moment(message.sent_time, "date"), _sender(message))),
        ("Arrived", Markup("{}, {}").format(moment(message.arrived_time), way)),
        ("Must be received", _limit(message)),
        ("Priority", Markup("{}").format(message.priority)),
        ("Destination", _name(message.destination_queue)),
    ]
    for title, value in (
        ("Response queue", message.response_queue),
        ("Admin queue", message.admin_queue),
        ("Correlation id", message.correlation_id),
    ):
        if value:
            facts.append((title, _name(value)))
    if message.app_specific:
        facts.append(("App specific", Markup("{}").format(message.app_specific)))
    return facts


def _sender(message: ReceivedMessage) -> str:
    sender = message.sender_id
    if sender is None:
        return "somebody unknown"
    return f"uid:{sender[9:]}" if sender.startswith("S-1-22-1-") else sender


def _limit(message: ReceivedMessage) -> Markup:
    limit = message.time_to_be_received
    if limit is None:
        return Markup("at any time")
    end = message.sent_time.timestamp() + limit
    return Markup("within {}, by {}").format(age(limit), moment(end, "date"))


def _name(value: str | None) -> Markup:
    return Markup("<code><bdi>{}</bdi></code>").format(shown(value or ""))


async def message_page(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """One message on a page of its own."""
    queue, lookup_id = names["queue"], names["lookup_id"]
    caller.need_queue(queue)
    values = await message_values(caller, queue, lookup_id, query)
    message: ReceivedMessage | None = values["message"]
    title = "Message" if message is None else message.label or "No label"
    crumbs = [
        ("Queues", "/queues"),
        (short_name(queue), f"/queues/{segment(queue)}?message={lookup_id}"),
        (title, ""),
    ]
    beside = {"previous": "", "following": ""}
    if message is not None:
        beside = await _neighbours(caller, queue, message.lookup_id)
    return {
        **values,
        **beside,
        "crumbs": crumbs,
        "queue": queue,
        "way": [] if message is None else await _way(caller, message, queue),
        "policy": await _policy(caller, queue, message),
    }


def _copy_to(queue: str, message: ReceivedMessage) -> str:
    """The destination of copies of a message: its queue, or the original one of a dead letter."""
    if not queue.startswith("system$"):
        return queue.partition(";")[0]
    name = message.destination_queue or ""
    return name.partition("\\")[2] if name.upper().startswith("DIRECT=") else ""


async def _neighbours(caller: Caller, queue: str, lookup_id: int) -> dict[str, str]:
    """The messages before and after one as the list has them, locked ones included."""
    found = {}
    for key, backwards in (("previous", True), ("following", False)):
        others, _ = await message_calls.browse(
            caller, queue, after=lookup_id, count=1, head_bytes=0, backwards=backwards
        )
        found[key] = str(others[0].lookup_id) if others else ""
    return found


async def _way(caller: Caller, message: ReceivedMessage, queue: str) -> list[dict[str, Any]]:
    """The route of a message: from the records of the queue manager, else from the message."""
    sent = {
        "tone": "w-ok",
        "title": f"Sent by {_sender(message)}",
        "time": moment(message.sent_time, "second"),
        "detail": "in a transaction" if message.transactional else "",
    }
    now = {
        "tone": "",
        "title": f"Waits in {short_name(queue)}",
        "time": Markup("<time>now</time>"),
        "detail": "",
    }
    try:
        events = (await tracing.history(caller, message.id)).events
    except MsmqError:
        events = []
    steps = [
        {
            "tone": "w-bad" if event.reason else "w-ok",
            "title": event.text[:1].upper() + event.text[1:],
            "time": moment(event.time, "second"),
            "detail": "",
        }
        for event in events
    ]
    return [sent, *(steps or _own_steps(message)), now, *_next_steps(message, queue)]


def _next_steps(message: ReceivedMessage, queue: str) -> list[dict[str, Any]]:
    """The future of a message that stays unread."""
    limit = message.time_to_be_received
    if limit is None or ";" in queue:
        return []
    left = message.sent_time.timestamp() + limit - time.time()
    return [
        {
            "tone": "w-next",
            "title": "Expires if it stays unread",
            "time": Markup("<time>in {}</time>").format(age(left)),
            "detail": "it becomes a dead letter if its sender asked for that",
        }
    ]


async def _policy(caller: Caller, queue: str, message: ReceivedMessage | None) -> str:
    """The treatment, by the policy of the queue, of a message that was given back."""
    if message is None or not message.abort_count or ";" in queue:
        return ""
    name = queue.casefold()
    for info in await caller.seen():
        if info.name.casefold() != name:
            continue
        words = POLICIES.get(info.receive_error_handling, "")
        if not words:
            return "The queue has no policy: it comes back for ever."
        tries = (info.receive_retry_count + 1) * (info.max_retry_cycles + 1)
        return f"After {tries} tries in all the policy of the queue {words}."
    return ""


def _own_steps(message: ReceivedMessage) -> list[dict[str, Any]]:
    """The route as recorded in a message."""
    steps: list[dict[str, Any]] = [
        {
            "tone": "w-ok",
            "title": f"Arrived, {message.transport or 'by remote read'}",
            "time": moment(message.arrived_time, "second"),
            "detail": "",
        },
    ]
    if message.abort_count:
        steps.append(
            {
                "tone": "w-warn",
                "title": f"Received and given back, {message.abort_count} times",
                "time": Markup(""),
                "detail": "the transactions were aborted",
            }
        )
    if message.move_count:
        steps.append(
            {
                "tone": "",
                "title": f"Moved {message.move_count} times",
                "time": Markup(""),
                "detail": "",
            }
        )
    return steps

"""Outgoing queues as pages."""

from typing import Any, Final

from starlette.datastructures import QueryParams

from openmsmq.admin.api import outgoing as outgoing_calls
from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.wire.errors import MsmqError

from .rows import link_row

SHOWN: Final = 50
WORDS: Final = {
    "NONE": "Nothing happened yet",
    "ESTABLISH_PACKET_RECEIVED": "The other side answered",
    "READY": "Connected",
    "UNKNOWN_FAILURE": "Failed for an unknown reason",
    "PING_FAILURE": "No answer to the ping",
    "CREATE_SOCKET_FAILURE": "No socket could be made",
    "BIND_SOCKET_FAILURE": "The address to send from cannot be used",
    "CONNECT_SOCKET_FAILURE": "Nothing accepts connections there",
    "TCP_NOT_ENABLED": "TCP is not available",
    "SEND_FAILURE": "The connection broke while sending",
    "NOT_READY_FAILURE": "The other side was not ready",
    "NAME_RESOLUTION_FAILURE": "The name was not found",
    "CERTIFICATE_VALIDATION_FAILURE": "The certificate is not trusted",
    "LIMIT_REACHED": "The other side has too many connections",
    "REFUSED_BY_OTHER_SIDE": "The other side refused",
    "ROUTING_FAILURE": "There is no way there",
    "OUT_OF_MEMORY": "No memory was left",
}


async def outgoing_page(
    caller: Caller, query: QueryParams, names: dict[str, str]
) -> dict[str, Any]:
    """The list of outgoing queues."""
    del query, names
    rows = [link_row(info) for info in caller.desk.figures.outgoing]
    rows.sort(key=lambda row: (-row.messages, row.destination))
    return {
        "crumbs": [("Outgoing", "")],
        "rows": rows,
        "waiting": sum(row.messages for row in rows),
    }


async def outgoing_one(caller: Caller, query: QueryParams, names: dict[str, str]) -> dict[str, Any]:
    """One outgoing queue."""
    del query
    destination = names["destination"]
    infos = [i for i in caller.desk.figures.outgoing if i["destination"] == destination]
    if not infos:
        raise Problem(
            404,
            f"There is no outgoing queue to {destination}.",
            cause="It was idle and was forgotten, or the address is wrong.",
            remedy="Outgoing lists those that exist.",
        )
    messages, problem = [], None
    try:
        messages = await outgoing_calls.browse_outgoing(caller, destination, SHOWN)
    except MsmqError as exc:
        problem = problem_of(exc)
    return {
        "crumbs": [("Outgoing", "/outgoing"), (link_row(infos[0]).name, "")],
        "link": link_row(infos[0]),
        "messages": messages,
        "problem": problem,
        "words": _words,
    }


def _words(step: dict[str, Any]) -> str:
    """An attempt in words."""
    status = str(step["status"])
    return WORDS.get(status, status.replace("_", " ").lower().capitalize())

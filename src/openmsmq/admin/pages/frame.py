"""The frame of every page, and addresses with changed parts."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.person import Role

from .rows import is_down, next_hop
from .text import count


async def frame_values(caller: Caller, current: str) -> dict[str, Any]:
    """The values of the frame: names, counts of the navigation, the user."""
    figures = caller.desk.figures
    status = figures.status
    outgoing = [] if caller.person.queues else figures.outgoing
    down = len({next_hop(info) for info in outgoing if is_down(info)})
    dead = status.get("dead_letters", 0)
    queues = sum(1 for info in await caller.seen() if info.kind == "queue")
    jobs = caller.desk.care.job_counts()["running"]
    sessions = sum(status.get("sessions", {}).values())
    return {
        "manager_name": status.get("name", "openmsmq"),
        "manager_address": address_of(status),
        "manager_state": "not answering" if figures.stale_since else status.get("state", "unknown"),
        "stale_since": figures.stale_since,
        "current": current,
        "counts": {
            "overview": "",
            "queues": count(queues),
            "deadletters": count(dead) if dead else "",
            "outgoing": f"{down} down" if down else "",
            "journals": "",
            "transactions": count(status["transactions"]) if status.get("transactions") else "",
            "sessions": count(sessions) if sessions else "",
            "find": "",
            "jobs": f"{jobs} running" if jobs else "",
            "definitions": "",
            "audit": "",
            "settings": "",
        },
        "tones": {
            "deadletters": "bad",
            "outgoing": "warn",
        },
        "person": caller.person,
        "csrf": "" if caller.session is None else caller.session.csrf,
        "may": {
            "operate": caller.person.role >= Role.OPERATOR,
            "administer": caller.person.role >= Role.ADMINISTRATOR,
        },
    }


def address_of(status: dict[str, Any]) -> str:
    """The address of the queue manager."""
    endpoints = status.get("endpoints", {})
    return str(endpoints.get("binary", "")).rpartition(":")[0]


def url_maker(path: str, query: QueryParams) -> Callable[..., str]:
    """A function that makes the address of a page with some of its parameters changed."""

    def url(**changes: object) -> str:
        values = {**dict(query), **{name: str(value) for name, value in changes.items()}}
        kept = {name: value for name, value in values.items() if value}
        return f"{path}?{urlencode(kept)}" if kept else path

    return url

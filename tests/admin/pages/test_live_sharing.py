"""Many who look at one page cost the queue manager what one costs."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from openmsmq.admin.pages import live
from openmsmq.admin.pages.site import PAGES
from openmsmq.wire.errors import MsmqError

VIEWERS = 10
SECONDS = 30


class AwayQueueManager:
    """A site that counts how often a page is asked for; there is nothing to show."""

    def __init__(self) -> None:
        self.asked = 0

    async def values(self, *_: Any, **__: Any) -> dict[str, Any]:
        self.asked += 1
        raise MsmqError


@pytest.mark.parametrize("viewers", [1, VIEWERS])
def test_a_page_is_asked_for_once_in_a_step(viewers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    site = AwayQueueManager()
    desk: Any = SimpleNamespace(figures=SimpleNamespace(stale_since=None))
    pages = live.Live(desk, site)  # type: ignore[arg-type]
    caller: Any = SimpleNamespace(person="ada")
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: clock.now))
    # Each looks once in a step, the one after the other.
    for look in range(viewers * SECONDS):
        clock.now = 100 + look * live.STEP_SECONDS / viewers
        asyncio.run(pages._shared(caller, PAGES[0], QueryParams(), {}))
    assert SECONDS - 1 <= site.asked <= SECONDS + 1

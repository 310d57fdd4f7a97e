"""Tests that need an event loop: one of the kind that the service has, under a timeout."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop

TIMEOUT = 20.0


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test to its end."""

    async def limited() -> None:
        async with asyncio.timeout(TIMEOUT):
            await main()

    uvloop.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens soon."""
    while not condition():
        await asyncio.sleep(0.002)

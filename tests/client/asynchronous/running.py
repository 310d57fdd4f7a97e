"""Running coroutines with the asynchronous client, and filling and reading queues with it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from openmsmq import Message, aio

ORDERS = r".\private$\orders"
WAIT: Final = 20.0
CERTIFICATES: Final = Path(__file__).parent.parent / "certificates"
T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a test under a timeout."""

    async def bounded() -> T:
        async with asyncio.timeout(60.0):
            return await main

    return asyncio.run(bounded())


Run = Callable[[Callable[[aio.QueueManager], Awaitable[None]]], None]


async def bodies(queue: aio.Queue) -> list[str | bytes]:
    return [message.body async for message in queue.cursor()]


async def fill(queue: aio.Queue, count: int) -> list[str]:
    texts = [str(number) for number in range(count)]
    assert await queue.send_many(Message(text) for text in texts) == count
    return texts

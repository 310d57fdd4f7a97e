"""Waiting for the answer to a request, whatever carries it."""

import asyncio
from collections.abc import Awaitable, Callable

from openmsmq.client.backend import Channel
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait


async def wait_for_answer(
    channel: Channel, wait: Wait, arrival: Callable[[int, float | None], Awaitable[None]]
) -> object | None:
    """What an operation waits for; None when it did not come in time.

    Args:
        arrival: returns when something came that may be for a request, or after so many seconds.

    Raises:
        ConnectionLost: it will never come.
    """
    loop = asyncio.get_running_loop()
    deadline = None if wait.seconds is None else loop.time() + wait.seconds
    while not channel.is_over(wait):
        if channel.fault is not None:
            raise ConnectionLost(str(channel.fault))
        remaining = None if deadline is None else deadline - loop.time()
        if remaining is not None and remaining <= 0:
            return None
        await arrival(wait.request, remaining)
    return channel.take(wait.request)

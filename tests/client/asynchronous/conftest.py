"""A connection of the asynchronous client for each test."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from tests.client.asynchronous.running import run

from openmsmq import QueueManager, aio

T = TypeVar("T")


@pytest.fixture
def run_with(msmq: QueueManager) -> Callable[[Callable[[aio.QueueManager], Awaitable[T]]], T]:
    """Run a coroutine function with a connection."""

    def start(function: Callable[[aio.QueueManager], Awaitable[T]]) -> T:
        async def main() -> T:
            async with aio.connect(msmq.address) as manager:
                return await function(manager)

        return run(main())

    return start

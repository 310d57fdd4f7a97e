"""An aiohttp client that posts durable messages to a web server."""

import asyncio

import aiohttp  # type: ignore[import-not-found] # installed in the peers' environment only
import uvloop

from .board import now
from .srmp_requests import TARGET, content
from .worker import Task

TOGETHER = 16
PREBUILT = 1024


async def _post(session: aiohttp.ClientSession, url: str, end: float, first: int) -> int:
    """Post one request after the other until a time; how many there were."""
    requests = [content(first + number) for number in range(PREBUILT // TOGETHER)]
    count = 0
    while now() < end:
        content_type, data = requests[count % len(requests)]
        headers = {"Content-Type": content_type, "SOAPAction": '"MSMQMessage"'}
        async with session.post(url, data=data, headers=headers) as response:
            assert response.status == 200
        count += 1
    return count


async def _run(task: Task) -> tuple[int, float]:
    url = f"http://{task.address}{TARGET}"
    connector = aiohttp.TCPConnector(limit=TOGETHER)
    async with aiohttp.ClientSession(connector=connector) as session:
        start = now()
        end = start + task.seconds
        firsts = range(1, PREBUILT, PREBUILT // TOGETHER)
        counts = await asyncio.gather(*[_post(session, url, end, first) for first in firsts])
        return sum(counts), now() - start


def post(task: Task) -> tuple[int, float]:
    """Post with sixteen requests under way; how many in how many seconds."""
    return uvloop.run(_run(task))

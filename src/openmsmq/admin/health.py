"""`/healthz` and `/readyz`: whether the queue manager answers, and whether it takes messages."""

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from openmsmq.wire.errors import MsmqError

from .console import ANSWER_SECONDS, Console


def health_routes(console: Console) -> Sequence[BaseRoute]:
    async def healthz(request: Request) -> Response:  # noqa: ARG001 - every route takes one
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await (await console.manager()).status()
        except (MsmqError, TimeoutError):
            return PlainTextResponse("the queue manager does not answer\n", 503)
        return PlainTextResponse("ok\n")

    return [Route("/healthz", healthz)]

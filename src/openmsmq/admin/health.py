"""`/healthz` and `/readyz`: whether the queue manager answers, and whether it takes messages."""

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from openmsmq.wire.errors import MsmqError

from .console import ANSWER_SECONDS, Console
from .health_checks import Check, no_answer, ready_checks


def health_routes(console: Console) -> Sequence[BaseRoute]:
    async def checks() -> list[Check]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return ready_checks(await (await console.manager()).status())
        except TimeoutError:
            return no_answer(f"the queue manager has not answered within {ANSWER_SECONDS:g} s")
        except MsmqError as exc:
            return no_answer(str(exc))

    async def healthz(request: Request) -> Response:
        return answer(request, (await checks())[:1])

    async def readyz(request: Request) -> Response:
        return answer(request, await checks())

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def answer(request: Request, checks: list[Check]) -> Response:
    """`ok`, or the names of the failed checks; the reasons only after signing in."""
    failed = [check for check in checks if not check.passed]
    known = request.scope.get("state", {}).get("person") is not None
    lines = [f"{check.name}: {check.detail}" if known else check.name for check in failed]
    headers = {"Cache-Control": "no-store"}
    return PlainTextResponse("\n".join(lines or ["ok"]) + "\n", 503 if failed else 200, headers)

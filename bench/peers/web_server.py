"""A web server that reads requests and stores nothing: starlette; uvicorn runs `app`."""

from starlette.applications import Starlette  # type: ignore[import-not-found] # installed in the peers' environment only
from starlette.requests import Request  # type: ignore[import-not-found] # as above
from starlette.responses import Response  # type: ignore[import-not-found] # as above
from starlette.routing import Route  # type: ignore[import-not-found] # as above


async def take(request: Request) -> Response:
    await request.body()
    return Response()


app = Starlette(routes=[Route("/msmq/{queue:path}", take, methods=["POST"])])

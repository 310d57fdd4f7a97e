"""A web server that reads requests and stores nothing: starlette; uvicorn runs `app`."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def take(request: Request) -> Response:
    await request.body()
    return Response()


app = Starlette(routes=[Route("/msmq/{queue:path}", take, methods=["POST"])])

"""A bare web server beside messages over HTTP."""

from .brokers import HOST, Broker
from .install import PYTHON


class WebServer(Broker):
    """starlette on uvicorn, with the parser and the event loop that are fastest there."""

    name = "starlette"
    client = "aiohttp"

    def command(self) -> list[str]:
        program = str(PYTHON.with_name("uvicorn"))
        where = [f"--host={HOST}", f"--port={self.port}"]
        quiet = ["--log-level=warning", "--no-access-log"]
        return [
            *(program, "bench.peers.web_server:app", *where, *quiet),
            *("--http=httptools", "--loop=uvloop"),
        ]

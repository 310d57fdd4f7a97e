"""Programs that use the HTTP API of a console."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.admin.console_process import Watched
from tests.cli.running import Manager, run

PREFIX = "/api/v1"


def add_token(manager: Watched, name: str, role: str = "administrator", *options: str) -> str:
    """A new token."""
    words = ["console", "token", "add", name, "--role", role, "--data", str(manager.data)]
    if "--principal" not in options:
        options = (*options, "--principal", "user:root")
    done = run([*words, *options])
    assert done.code == 0, done.err
    return done.out.strip()


class Client:
    """Requests with a token to the console at an address."""

    def __init__(self, console: str, token: str) -> None:
        self.console = console
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """One request; what is no bytes is sent as JSON."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        host, _, port = self.console.rpartition(":")
        with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
            connection.request(method, path, content, {**self.headers, **headers})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()

    def get(self, path: str) -> Any:
        """The answer of an endpoint."""
        status, _, content = self.ask("GET", PREFIX + path)
        assert status == 200, content
        return json.loads(content)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        """The answer of an endpoint that changes something."""
        found, _, content = self.ask("POST", PREFIX + path, body)
        assert found == status, content
        return json.loads(content) if content else None


class Program(Client):
    """Somebody with a token."""

    def __init__(self, manager: Watched, token: str) -> None:
        super().__init__(manager.console, token)
        self.manager = manager


@contextmanager
def console_alone(manager: Manager, folder: Path) -> Iterator[Client]:
    """An administrator at a console that goes on when the queue manager dies."""
    words = ("console", "--port", "0", "--folder", str(folder), "--socket", manager.socket)
    with manager.start(*words, stdout=subprocess.PIPE) as console:
        try:
            assert console.stdout is not None
            address = console.stdout.readline().decode().split()[1].rstrip("/").rpartition("/")[2]
            add = ["console", "token", "add", "all", "--principal", "user:root"]
            add += ["--role", "administrator", "--tokens", str(folder / "tokens.json")]
            yield Client(address, run(add).out.strip())
        finally:
            console.terminate()


def queue_path(name: str) -> str:
    """The path of a private queue."""
    return f"/queues/{quote('private$' + chr(92) + name, safe='$;')}"

"""Queue managers with a console, each a process, and requests to their consoles."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

from tests.cli.running import SECONDS, Manager


class Answer(NamedTuple):
    """What the console answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()


class Watched(Manager):
    """A queue manager with its console."""

    def __init__(self, data: Path, *options: str) -> None:
        super().__init__(data, "--console-port", "0", *options)
        endpoints = json.loads(data.with_name(f"{data.name}.ready").read_text())
        self.console: str = endpoints["console"]

    @property
    def log(self) -> str:
        return self.data.with_name(f"{self.data.name}.log").read_text()

    def get(self, path: str, **headers: str) -> Answer:
        return get(f"http://{self.console}{path}", **headers)


@contextmanager
def watched(folder: Path, *options: str) -> Iterator[Watched]:
    manager = Watched(folder / "data", *options)
    try:
        yield manager
    finally:
        if manager.process.poll() is None:
            assert manager.stop() == 0


def get(url: str, **headers: str) -> Answer:
    """One request; headers are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, headers=named)  # noqa: S310 - of a test
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310
            return Answer(response.status, headers_of(response.headers), response.read())
    except urllib.error.HTTPError as exc:
        with exc:
            return Answer(exc.code, headers_of(exc.headers), exc.read())


def headers_of(message: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in message.items()}


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]

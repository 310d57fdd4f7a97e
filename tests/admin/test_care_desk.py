"""Jobs of the console go on when the console or the queue manager ends in between."""

import json
import os
import signal
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.admin.console_process import Watched, children, wait_until, watched
from tests.cli.running import SECONDS, run

import openmsmq

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"
COUNT = 60


class Desk:
    """The jobs of a console, over its API."""

    def __init__(self, manager: Watched) -> None:
        self._manager = manager
        words = ["console", "token", "add", "x", "--principal", f"uid:{os.getuid()}"]
        done = run([*words, "--role", "administrator", "--data", str(manager.data)])
        self._token = done.out.strip()

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://{self._manager.console}/api/v1{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return dict(json.loads(answer.read()))

    def move_to(self, manager: Watched) -> None:
        self._manager = manager


def kill_console(manager: Watched) -> None:
    (child,) = children(manager.process.pid)
    os.kill(child, signal.SIGKILL)


def end_console(manager: Watched) -> None:
    (child,) = children(manager.process.pid)
    os.kill(child, signal.SIGTERM)


def bodies(manager: Watched) -> list[str]:
    with (
        openmsmq.connect(manager.socket) as program,
        program.open_queue(BILLS, "peek") as queue,
    ):
        return [str(message.body) for message in queue.cursor()]


@pytest.mark.parametrize("interrupt", [kill_console, end_console])
def test_a_job_goes_on_with_the_next_console(
    tmp_path: Path, interrupt: Callable[[Watched], None]
) -> None:
    with watched(tmp_path) as manager:
        with openmsmq.connect(manager.socket) as program:
            program.create_queue(BILLS)
            orders = program.create_queue(ORDERS)
            orders.send_many(
                openmsmq.Message(f"{number}", delivery="recoverable") for number in range(COUNT)
            )
        desk = Desk(manager)
        job = desk.ask(
            "/jobs", {"kind": "retry", "sources": [ORDERS[2:]], "target": BILLS[2:], "rate": 20}
        )
        wait_until(lambda: bodies(manager))
        interrupt(manager)
        assert len(bodies(manager)) < COUNT

        def is_finished() -> bool:
            # The console that ends may drop a request.
            with suppress(OSError):
                return bool(desk.ask(f"/jobs/{job['id']}")["state"] == "finished")
            return False

        wait_until(is_finished)
        assert sorted(bodies(manager), key=int) == [f"{number}" for number in range(COUNT)]

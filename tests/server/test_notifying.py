"""What a service manager hears."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest
from tests.server.raw_client import Serve

from openmsmq.server.notifying import Notifier, watchdog_seconds

SECONDS = 30.0


@pytest.fixture
def manager(tmp_path: Path) -> "socket.socket":  # type: ignore[misc]
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(SECONDS)
        yield listener


def heard(manager: socket.socket) -> list[str]:
    return manager.recv(4096).decode().split("\n")


def test_a_process_says_when_it_is_ready_reloads_lives_and_stops(
    tmp_path: Path, manager: socket.socket
) -> None:
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
    serve = Serve(tmp_path, environ=environ)
    serve.start()
    assert heard(manager) == ["READY=1", "STATUS=ALPHA is ready"]
    assert heard(manager) == ["WATCHDOG=1"]
    assert heard(manager) == ["WATCHDOG=1"]
    serve.process.send_signal(signal.SIGHUP)
    while (lines := heard(manager)) == ["WATCHDOG=1"]:
        pass
    assert lines[0] == "RELOADING=1"
    assert lines[1].startswith("MONOTONIC_USEC=")
    assert serve.stop() == 0
    manager.setblocking(False)
    last = ""
    try:
        while True:
            last = heard(manager)[0]
    except BlockingIOError:
        assert last == "STOPPING=1"


def test_without_a_service_manager_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    Notifier().ready("fine")
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/at/all")
    monkeypatch.setenv("WATCHDOG_USEC", "60000000")

    async def tell() -> None:
        notifier = Notifier()
        notifier.ready("fine")
        notifier.stopping()

    asyncio.run(tell())


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [("2000000", "", 2.0), ("2000000", "1", 0.0), ("soon", "", 0.0), ("", "", 0.0)],
)
def test_the_watchdog_is_for_one_process(
    monkeypatch: pytest.MonkeyPatch, usec: str, pid: str, seconds: float
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", usec or "0")
    monkeypatch.setenv("WATCHDOG_PID", pid or str(os.getpid()))
    assert watchdog_seconds() == seconds

"""The console as a process: started, watched and ended by the queue manager, or alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from tests.admin.console_process import Watched, children, get, is_alive, wait_until, watched
from tests.cli.running import SECONDS, Manager

from openmsmq.admin.settings import ConsoleSettings, decode_settings
from openmsmq.server.config import Config
from openmsmq.server.parts.console import HANDED_OVER, KEPT_HERE
from openmsmq.wire.errors import ConfigError


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> "Watched":  # type: ignore[misc]
    with watched(tmp_path_factory.mktemp("watched")) as running:
        yield running


def child_of(manager: Watched) -> int:
    (child,) = children(manager.process.pid)
    return child


def test_it_answers_and_runs_at_a_lower_priority(manager: Watched) -> None:
    assert manager.get("/healthz").status == 200
    child = child_of(manager)
    own = os.getpriority(os.PRIO_PROCESS, manager.process.pid)
    assert os.getpriority(os.PRIO_PROCESS, child) == min(own + 10, 19)


def test_the_queue_manager_does_not_load_the_web_framework(manager: Watched) -> None:
    code = (
        "import sys, openmsmq.server.serving, openmsmq.server.parts; "
        "print({'starlette', 'uvicorn', 'jinja2'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "set()"


def test_a_console_that_dies_is_started_again(manager: Watched) -> None:
    assert manager.get("/healthz").status == 200
    first = child_of(manager)
    os.kill(first, signal.SIGKILL)
    # The socket is the queue manager's: a request waits for the next console.
    assert manager.get("/healthz").status == 200
    assert child_of(manager) != first
    assert "M0091" in manager.log
    assert "signal 9" in manager.log


def test_a_console_that_is_asked_to_end_does_so_quietly(manager: Watched) -> None:
    assert manager.get("/healthz").status == 200
    first = child_of(manager)
    os.kill(first, signal.SIGTERM)
    wait_until(lambda: not is_alive(first))
    assert manager.get("/healthz").status == 200
    assert "Fatal Python error" not in manager.log
    assert "signal 6" not in manager.log


def test_it_ends_with_the_queue_manager(tmp_path: Path) -> None:
    with watched(tmp_path) as manager:
        assert manager.get("/healthz").status == 200
        child = child_of(manager)
    assert not is_alive(child)


def test_it_ends_when_the_queue_manager_is_killed(tmp_path: Path) -> None:
    with watched(tmp_path) as manager:
        assert manager.get("/healthz").status == 200
        child = child_of(manager)
        manager.process.kill()
        manager.process.wait(SECONDS)
        wait_until(lambda: not is_alive(child))


def test_a_console_whose_loop_hangs_ends_nevertheless(tmp_path: Path) -> None:
    with watched(tmp_path) as manager:
        assert manager.get("/healthz").status == 200
        child = child_of(manager)
        os.kill(child, signal.SIGSTOP)
        started = time.monotonic()
        assert manager.stop() == 0
        assert time.monotonic() - started < SECONDS
    assert not is_alive(child)


def test_alone_it_serves_a_queue_manager_elsewhere(tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data")
    try:
        command = ("console", "--port", "0", "--socket", manager.socket)
        with manager.start(*command, stdout=subprocess.PIPE) as console:
            try:
                assert console.stdout is not None
                address = console.stdout.readline().decode().split()[1]
                assert get(f"{address}healthz").status == 200
                assert manager.stop() == 0
                assert get(f"{address}healthz").status == 503
            finally:
                console.terminate()
            assert console.wait(SECONDS) == 0
    finally:
        manager.process.kill()
        manager.process.wait()


def test_serve_and_the_console_have_the_same_names_for_settings() -> None:
    handed_over = {key for key in Config.fields if key.startswith(HANDED_OVER)} - KEPT_HERE
    known = {each.name: each for each in msgspec.structs.fields(ConsoleSettings)}
    assert handed_over <= known.keys()
    assert {name for name in known if name.startswith(HANDED_OVER)} == handed_over
    for name in handed_over:
        assert known[name].default == Config.fields[name].default


def test_settings_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="the settings of the console"):
        decode_settings(b"{}")
    with pytest.raises(ConfigError, match="unknown"):
        decode_settings(b'{"address": "x", "unknown": 1}')

"""`openmsmq console link`: an address for a console that may be there in a moment."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.runner import run

from openmsmq.cli.manager import console_access


@contextmanager
def answering(folder: Path, wait: float) -> Iterator[None]:
    """A console that listens at its socket after a while."""
    listener = socket.socket(socket.AF_UNIX)

    def serve() -> None:
        time.sleep(wait)
        listener.bind(str(folder / "link.sock"))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b'{"path": "/sign-in/x", "tls": false}\n')

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()


def test_it_waits_for_a_console_that_is_being_started(tmp_path: Path) -> None:
    with answering(tmp_path, 0.5):
        linked = run(
            "console", "link", "--folder", str(tmp_path), "--address", "http://127.0.0.1:1"
        )
    assert (linked.code, linked.out) == (0, "http://127.0.0.1:1/sign-in/x\n"), linked.err


def test_a_console_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_access, "START_SECONDS", 0.2)
    linked = run("console", "link", "--folder", str(tmp_path), "--address", "http://127.0.0.1:1")
    assert linked.code == 1
    assert "no console answers" in linked.err
    assert "No such file" in linked.err

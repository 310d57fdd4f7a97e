"""The console of the demonstration, left running with its messages."""

import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from openmsmq import Message
from openmsmq.wire.errors import ConfigError

from .transfer import Pair

START_SECONDS: Final = 30.0
COUNT: Final = 40


@contextmanager
def console_of(pair: Pair) -> Iterator[str]:
    """A console for the receiver, with messages to look at; an address that signs in to it."""
    _leave_messages(pair)
    with tempfile.TemporaryDirectory(prefix="openmsmq-demo-console-") as name:
        command = ("console", "--port", "0", "--folder", name, "--socket", pair.receiver.address)
        program = "import sys; from openmsmq.cli import main; main(sys.argv[1:])"
        console = subprocess.Popen(  # noqa: S603 - this program
            [sys.executable, "-c", program, *command],
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for the demonstration, which ends the console.
            start_new_session=True,
        )
        try:
            if console.stdout is None:
                raise ConfigError("the console has no output")
            words = console.stdout.readline().split()
            if len(words) < 2:
                raise ConfigError("the console does not start")
            yield words[1].rstrip("/") + _link(Path(name) / "link.sock")
        finally:
            console.terminate()
            console.wait()
            if console.stdout is not None:
                console.stdout.close()


def wait_for_interrupt() -> None:
    """Wait until somebody presses Ctrl-C or ends the process."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _leave_messages(pair: Pair) -> None:
    """Messages that wait, and some that died."""
    target = rf"DIRECT=TCP:{pair.receiver_address}\private$"
    for number in range(COUNT):
        order = json.dumps({"order": 4700 + number, "amount": {"value": 19.9, "currency": "EUR"}})
        pair.sender.send(rf"{target}\plain", Message(order.encode(), f"Order {4700 + number}"))
        payment = Message(f"<payment><id>{number}</id></payment>".encode(), f"Payment {number}")
        pair.sender.send(rf"{target}\exact", payment, transaction="single")
    late = Message(b"too late", "Reminder", time_to_be_received=1, dead_letter=True)
    for _ in range(5):
        pair.receiver.send(r".\private$\plain", late)
    pair.sender.flush()
    pair.receiver.flush()


def _link(path: Path) -> str:
    """The path of an address that works once."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                with connection.makefile("rb") as lines:
                    answer: dict[str, str] = json.loads(lines.readline())
                    return answer["path"]
        except OSError as exc:
            if time.monotonic() > deadline:
                raise ConfigError(f"no console answers at {path}: {exc}") from exc
            time.sleep(0.05)

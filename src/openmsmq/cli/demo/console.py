"""The part of the demonstration that starts a web console, signs in and looks at its pages."""

import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote

from openmsmq import Message
from openmsmq.wire.errors import ConfigError

from .transfer import Pair

START_SECONDS: Final = 30.0
SHOW_SECONDS: Final = 10.0
COUNT: Final = 40


# What a newcomer opens first, and a word that its page has.
PAGES: Final = {
    "/": "beta",
    "/queues": "exact",
    r"/queues/private$\exact": "Payment 0",
    "/dead-letters": "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT",
    "/metrics": "msmq_queue_messages",
}


class Console(NamedTuple):
    """A console that runs.

    Attributes:
        address: where it listens.
        folder: its files.
    """

    address: str
    folder: Path

    def link(self) -> str:
        """An address that signs in to it, once."""
        return self.address + _link(self.folder / "link.sock")

    def look(self) -> dict[str, bool]:
        """Sign in and open its pages; whether each shows what it has to."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(self.link(), timeout=START_SECONDS):
            pass
        return {page: self._shows(browser, page, word) for page, word in PAGES.items()}

    def _shows(self, browser: urllib.request.OpenerDirector, page: str, word: str) -> bool:
        # The first sample of the queue manager may still be on its way.
        deadline = time.monotonic() + SHOW_SECONDS
        while True:
            with (
                suppress(HTTPError),
                browser.open(self.address + quote(page), timeout=30) as answer,
            ):
                if word in answer.read().decode():
                    return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)


@contextmanager
def console_of(pair: Pair) -> Iterator[Console]:
    """A console for the receiver, with messages to look at."""
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
            yield Console(words[1].rstrip("/"), Path(name))
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

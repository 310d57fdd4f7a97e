"""Programs that keep a queue manager busy or look at it, again and again, each a process.

Arguments: what to do, the socket of the queue manager, the address of its console, a queue. They
have a low priority, those who look the lowest.
"""

import os
import sys
import urllib.request
from collections.abc import Callable
from typing import Final

import openmsmq

BODY: Final = bytes(1024)
CHUNK: Final = 1_000
PAGE: Final = 1000


def produce(manager: openmsmq.QueueManager, _console: str, queue: str) -> None:
    """Send."""
    sender = manager.open_queue(queue, "send")
    while True:
        sender.send_many(openmsmq.Message(BODY) for _ in range(CHUNK))


def consume(manager: openmsmq.QueueManager, _console: str, queue: str) -> None:
    """Receive."""
    for _ in manager.open_queue(queue, "receive").messages():
        pass


def scrape(_manager: openmsmq.QueueManager, console: str, _queue: str) -> None:
    """Ask for all metrics."""
    while True:
        with urllib.request.urlopen(f"http://{console}/metrics") as answer:
            answer.read()


def browse(manager: openmsmq.QueueManager, _console: str, queue: str) -> None:
    """Look at all messages of a queue, page by page."""
    deep = manager.open_queue(queue, "peek")
    while True:
        lookup_id: int | None = None
        more = True
        while more:
            page = deep.ranges.browse(lookup_id, count=PAGE, head_bytes=0)
            more, lookup_id = page.more, page.messages[-1].lookup_id


def list_queues(manager: openmsmq.QueueManager, _console: str, _queue: str) -> None:
    """List all queues."""
    while True:
        manager.queues()


ACTIONS: Final[dict[str, Callable[[openmsmq.QueueManager, str, str], None]]] = {
    "produce": produce,
    "consume": consume,
    "scrape": scrape,
    "browse": browse,
    "list": list_queues,
}


if __name__ == "__main__":
    os.nice(5 if sys.argv[1] in {"produce", "consume"} else 15)
    with openmsmq.connect(sys.argv[2]) as own:
        ACTIONS[sys.argv[1]](own, sys.argv[3], sys.argv[4])

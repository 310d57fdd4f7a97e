"""Programs that keep a queue manager busy or look at it, again and again, each a process.

Arguments: what to do, the socket of the queue manager, the address of its console, a queue. They
have a low priority, those who look the lowest: so a pause is one of the queue manager, which
always has a processor when it needs one, and not one of the machine.
"""

import os
import sys
import urllib.request
from collections.abc import Callable
from typing import Final

import openmsmq

BODY: Final = bytes(1024)
CHUNK: Final = 100
PAGE: Final = 1000


def busy(manager: openmsmq.QueueManager, _console: str, queue: str) -> None:
    """Send and receive."""
    receiver, sender = manager.open_queue(queue, "receive"), manager.open_queue(queue, "send")
    while True:
        sender.send_many(openmsmq.Message(BODY) for _ in range(CHUNK))
        receiver.receive_many(CHUNK, timeout=5)


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
    "busy": busy,
    "scrape": scrape,
    "browse": browse,
    "list": list_queues,
}


if __name__ == "__main__":
    os.nice(5 if sys.argv[1] == "busy" else 15)
    with openmsmq.connect(sys.argv[2]) as own:
        ACTIONS[sys.argv[1]](own, sys.argv[3], sys.argv[4])

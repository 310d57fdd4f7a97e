"""A queue for orders that tests of the console work with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.admin.console_process import Watched

import openmsmq

ORDERS: Final = ".\\private$\\orders"


@contextmanager
def empty_orders(manager: Watched) -> Iterator[openmsmq.QueueManager]:
    """A connection to a queue manager whose queue is there and empty."""
    with openmsmq.connect(manager.socket) as client:
        if not client.queue_exists(ORDERS):
            client.create_queue(ORDERS)
        with client.open_queue(ORDERS, "receive") as queue:
            queue.purge()
        yield client


def send(client: openmsmq.QueueManager, *labels: str) -> None:
    """Send a message for each label."""
    queue = client.open_queue(ORDERS, "send")
    queue.send_many(openmsmq.Message(f"body of {label}".encode(), label) for label in labels)
    client.flush()

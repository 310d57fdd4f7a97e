"""A program that works through a queue and is killed by one of its messages."""

import os
import signal

from openmsmq import connect

ORDERS = r".\private$\orders"
DONE = r".\private$\done"
BAD = b"bad"


def work(address: str) -> None:
    """Send each message on in its transaction; the bad one ends the process at once."""
    with connect(address) as manager:
        done = manager.open_queue(DONE, "send")
        with manager.open_queue(ORDERS).process(retries=2, cycles=0, timeout=1) as messages:
            for message in messages:
                done.send(message.body_bytes, messages.transaction)
                if message.body_bytes == BAD:
                    os.kill(os.getpid(), signal.SIGKILL)

"""A program that takes messages until it is killed, and says which ones it has."""

import os
from multiprocessing.connection import Connection

from openmsmq import connect


def take_until_killed(address: str, path: str, report: Connection) -> None:
    """Write the body of each message before the next one is asked for."""
    with connect(address) as manager, manager.open_queue(path) as queue:
        for message in queue.messages(prefetch=16):
            os.write(report.fileno(), message.body_bytes + b"\n")

"""A program that reads a queue of another machine until it is killed, and says what it has."""

import os
import random
import time
from multiprocessing.connection import Connection

import openmsmq

# Loaded once for all victims.
import openmsmq.client.remote.backend
import openmsmq.client.remote.blocking_transport

TAKEN, ASKED_ON, ACKNOWLEDGED = b"taken", b"asked on", b"acknowledged"


def read_until_killed(address: str, path: str, seed: int, report: Connection) -> None:
    """Loop over messages, again and again; every step is one line, whole or not at all.

    A message is `taken` when the loop brings it; `asked on` before the loop may acknowledge it; and
    `acknowledged` when the loop has ended without an error, which waits for the server.
    """
    chance = random.Random(seed)

    def tell(what: bytes, body: bytes) -> None:
        os.write(report.fileno(), what + b" " + body + b"\n")

    with (
        openmsmq.connect(address, timeout=20) as manager,
        manager.open_queue(path, "receive") as queue,
    ):
        while True:
            taken = []
            with queue.messages(timeout=20, prefetch=16) as messages:
                for _ in range(chance.randint(1, 40)):
                    taken.append(next(messages).body_bytes)
                    tell(TAKEN, taken[-1])
                    time.sleep(chance.choice((0, 0.001)))
                    tell(ASKED_ON, taken[-1])
            for body in taken:
                tell(ACKNOWLEDGED, body)

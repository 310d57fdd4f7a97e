"""Programs and queue managers that are killed in transactions across machines."""

import sys
import time

import openmsmq


def move_until_killed(address: str, orders: str, done: str) -> None:
    """Receive from a queue of another machine and send to one of this machine, for ever."""
    while True:
        try:
            with (
                openmsmq.connect(address, wait=10.0) as manager,
                manager.open_queue(orders) as source,
                manager.open_queue(done, "send") as target,
            ):
                while True:
                    with manager.transaction() as transaction:
                        for message in source.receive_many(3, 1.0, transaction):
                            target.send(message.body_bytes, transaction)
        except (openmsmq.QueueError, openmsmq.ConnectionLost):
            time.sleep(0.05)


if __name__ == "__main__":
    move_until_killed(*sys.argv[1:])

"""The part of the demonstration that reads a queue of another machine over RPC."""

import secrets
import time
from itertools import islice
from typing import Final, NamedTuple

import openmsmq
from openmsmq import Message, QueueError
from openmsmq.service.account_file import AccountFile

from .transfer import COUNT, WAIT_SECONDS, Pair

USER: Final = "ada"
_QUEUE: Final = r".\private$\readings"


class RemoteReading(NamedTuple):
    """How a client without a queue manager fared.

    Attributes:
        seen: messages that a cursor showed.
        received: messages that were taken, and whether they came in order.
        left: messages in the queue afterwards.
        refusal: what a client with a wrong password was told.
    """

    address: str
    seen: int
    received: int
    in_order: bool
    left: int
    refusal: str
    seconds: float

    @property
    def good(self) -> bool:
        counts = (self.seen, self.received, self.left)
        return counts == (COUNT, COUNT, 0) and self.in_order and "ACCESS_DENIED" in self.refusal


def read_remotely(pair: Pair) -> RemoteReading:
    """Send messages to the second queue manager, and read them there over RPC as a user."""
    password = secrets.token_urlsafe()
    AccountFile(pair.receiver_data).add(USER, password, None)
    pair.receiver.create_queue(_QUEUE)
    pair.receiver.grant(_QUEUE, USER, ["receive", "peek"])
    target = rf"DIRECT=TCP:{pair.receiver_address}\private$\readings"
    with pair.sender.open_queue(target, "send") as opened:
        opened.send_many(Message(b"%d" % number) for number in range(COUNT))
    address = f"msmq://{pair.receiver.status()['endpoints']['rpc']}"
    started = time.monotonic()
    with (
        openmsmq.connect(address, user=USER, password=password) as remote,
        remote.open_queue(_QUEUE) as queue,
    ):
        # A cursor waits for messages that are still on their way to beta.
        seen_count = sum(1 for _ in islice(queue.cursor(WAIT_SECONDS), COUNT))
        numbers = [int(str(message.body)) for message in queue.receive_many(COUNT, timeout=1.0)]
    seconds = time.monotonic() - started
    remaining: int = pair.receiver.queue_info(_QUEUE)["messages"]
    in_order = numbers == list(range(COUNT))
    refusal = _refusal(address)
    return RemoteReading(address, seen_count, len(numbers), in_order, remaining, refusal, seconds)


def _refusal(address: str) -> str:
    """What a client with a wrong password is told."""
    try:
        with openmsmq.connect(address, user=USER, password="wrong") as remote:  # noqa: S106
            remote.open_queue(_QUEUE, "peek").close()
    except QueueError as exc:
        return exc.name
    return ""

"""The part of the demonstration that sends an encrypted message."""

from typing import Final, NamedTuple

from openmsmq import Message, QueueError

from .transfer import Pair

QUEUE: Final = r".\private$\secrets"
TEXT: Final = "the safe opens at 07:00"
WAIT_SECONDS: Final = 60.0


class Encrypted(NamedTuple):
    """How an encrypted message fared; `refusal` is what became of one to a direct name."""

    name: str
    body: str | bytes
    encrypted: bool
    refusal: str

    @property
    def good(self) -> bool:
        return self.body == TEXT and self.encrypted and self.refusal != ""


def send_encrypted(pair: Pair) -> Encrypted:
    """Send a secret to a queue that takes encrypted messages only."""
    pair.receiver.create_queue(QUEUE, privacy="body")
    name = pair.receiver.queue_info(QUEUE)["routed_format_name"]
    message = Message(TEXT, encrypt=True)
    pair.sender.send(name, message)
    refusal = ""
    try:
        direct = rf"DIRECT=TCP:{pair.receiver_address}\private$\secrets"
        with pair.sender.open_queue(direct, "send") as opened:
            opened.send_and_wait(message)
    except QueueError as exc:
        refusal = exc.name
    with pair.receiver.open_queue(QUEUE, "receive") as queue:
        arrived = queue.receive(timeout=WAIT_SECONDS)
    return Encrypted(name, arrived.body, arrived.encrypted, refusal)

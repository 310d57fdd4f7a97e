"""The part of the demonstration that sends a signed and encrypted message."""

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from openmsmq import Message, QueueError
from openmsmq.client.certificates import CertificateStore

from .transfer import Pair

QUEUE: Final = r".\private$\secrets"
TEXT: Final = "the safe opens at 07:00"
SIGNER: Final = "Demo User"
KEY_BITS: Final = 2048
WAIT_SECONDS: Final = 60.0


class Encrypted(NamedTuple):
    """How a signed and encrypted message fared.

    Attributes:
        level: which signature the receiver has verified.
        refusal: what became of a message to a direct name.
    """

    name: str
    body: str | bytes
    encrypted: bool
    level: str
    refusal: str

    @property
    def good(self) -> bool:
        signed = self.level != "none"
        return self.body == TEXT and self.encrypted and signed and self.refusal != ""


def send_encrypted(pair: Pair) -> Encrypted:
    """Send a secret to a queue that takes signed and encrypted messages only."""
    pair.receiver.create_queue(QUEUE, authenticate=True, privacy="body")
    name = pair.receiver.queue_info(QUEUE)["routed_format_name"]
    with tempfile.TemporaryDirectory(prefix="openmsmq-demo-") as folder:
        store = CertificateStore(Path(folder))
        store.create(SIGNER, days=1, bits=KEY_BITS)
        key = store.signing_key(SIGNER)
    pair.sender.register_certificate(key.certificate)
    message = Message(TEXT, sign=True, certificate=key, encrypt=True)
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
    return Encrypted(name, arrived.body, arrived.encrypted, arrived.authentication_level, refusal)

"""Signed and encrypted messages in a simulation: keys, certificates, and what must be true of them.

The directory has the machines with their public keys and the one user with its certificate. Bodies
that are to be encrypted have marks by which they are recognised on the wire.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final
from uuid import UUID

from tests.directory.memory_file import MemoryFile, directory_of
from tests.security.encryption.keys import AES, Owner, Randomness
from tests.security.signatures.signer import signing_key

from openmsmq.client.certificates import SigningKey
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.directory.certificates import add_certificate
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import Enterprise, QueueManagerObject, Site, User
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.encryption.settings import EncryptionSettings
from openmsmq.wire.message.user_message import UserMessage

from .ledger import EXPRESS, TRANSACTIONAL, Entry, Violation

if TYPE_CHECKING:
    from openmsmq.security.caller import Caller

    from .node import Node

_SITE: Final = UUID(int=0xA0)
_SECRET: Final = re.compile(rb"!(\d{6})!")
_KEY_BITS: Final = 1024
# The clocks of the machines are set now and then.
POLICY: Final = SenderPolicy(check_dates=False, accept_unknown_certificates=True)


def user_key() -> SigningKey:
    """The key with which the user signs."""
    return signing_key("simulation", bits=_KEY_BITS)


class SecuredMachines:
    """A directory of machines that can be sent encrypted messages, with their keys."""

    def __init__(self, guids: dict[str, UUID], user: Caller) -> None:
        self._guids = guids
        self._owners = {
            name: Owner(AES, number=number, bits=_KEY_BITS) for number, name in enumerate(guids)
        }
        # The one user with its certificate.
        self.user = add_certificate(User(UUID(int=1), user.sid), user_key().certificate)
        self._file: MemoryFile | None = None

    def key_list(self, name: str) -> bytes:
        """The public keys of a machine."""
        return self._owners[name].key_list

    def open(self) -> LocalDirectory:
        """The directory as one machine sees it, if there is no other: all are in one site."""
        if self._file is None:
            machines = [
                QueueManagerObject(
                    identifier=guid,
                    computer_name=name,
                    qualified_computer_name=name,
                    site_identifier_list=(_SITE,),
                    public_encryption_key_list=self.key_list(name),
                )
                for name, guid in self._guids.items()
            ]
            _, self._file = directory_of(
                Enterprise(UUID(int=0xE), "corp"), Site(_SITE, "site"), *machines, self.user
            )
        return LocalDirectory(self._file.open())

    def decryption(self, name: str) -> BodyDecryption:
        return BodyDecryption(self._owners[name], EncryptionSettings())

    @staticmethod
    def encryption() -> BodyEncryption:
        return BodyEncryption(Randomness(), EncryptionSettings())


class SecurityDice:
    """Decides which messages are signed and encrypted; dice of their own, so that a seed means the
    same with and without."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"security {seed}")

    def decorate(self, entries: list[Entry], number: int, *, web: bool) -> None:
        """Decide about messages that are sent together.

        Args:
            number: that of the destination in private names; 0 if it has none just now.
        """
        random = self._random
        private = not web and number != 0 and random.random() < 0.6
        for entry in entries:
            entry.number = number if private else 0
            entry.signed = "" if random.random() < 0.4 else "xml"
            if entry.signed and not web:
                entry.signed = random.choice(("1.0", "2.0", "2.0", "3.0"))
            entry.encrypted = private and random.random() < 0.6


def secured_packet(entry: Entry, name: str, admin: str, user: Caller) -> bytes:
    """The packet of a signed or encrypted message, as the client library makes it."""
    sender = Sender(
        computer_name=entry.source.name,
        sid=user.sid_bytes,
        queue_manager=entry.source.guid,
        directory=True,
    )
    builder = PacketBuilder(sender, transactional=entry.kind == TRANSACTIONAL)
    body = f"!{entry.tag}!" if entry.encrypted else f"#{entry.tag}#"
    message = Message(
        body.encode(),
        entry.tag,
        # By this it is recognised on its way.
        extension=f"#{entry.tag}#".encode(),
        delivery="express" if entry.kind == EXPRESS else "recoverable",
        time_to_reach_queue=entry.time_to_reach_queue,
        time_to_be_received=entry.time_to_be_received,
        dead_letter=entry.negative_journaling,
        journal=entry.positive_journaling,
        acknowledge=entry.acknowledgments,
        admin_queue=admin if entry.acknowledgments else None,
        sign=entry.signed or False,
        certificate=user_key(),
        encrypt=entry.encrypted,
    )
    return builder.build_signed(message, name) if entry.signed else builder.build(message)


def check_sent(entries: dict[str, Entry], data: bytes) -> None:
    """No body that is to be encrypted leaves a machine in the clear.

    Raises:
        Violation: one does.
    """
    for tag in _SECRET.findall(data):
        raise Violation(f"a secret body left in the clear: {entries[tag.decode()]}")


LEVELS: Final = {"": 0, "1.0": 1, "2.0": 3, "3.0": 5, "xml": 9}


def check_received(entry: Entry, message: UserMessage, node: Node) -> None:
    """A received message is as its sender made it, and says what was checked.

    Raises:
        Violation: it does not.
    """
    if not node.ways.secure:
        return
    expected = f"!{entry.tag}!" if entry.encrypted else f"#{entry.tag}#"
    if message.body != expected.encode() or message.encrypted:
        raise Violation(f"the body is {message.body!r}: {entry}")
    if message.authentication_level != LEVELS[entry.signed]:
        raise Violation(f"authenticated at level {message.authentication_level}: {entry}")
    if message.private_body != entry.encrypted:
        raise Violation(f"encrypted is {message.private_body}: {entry}")

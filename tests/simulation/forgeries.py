"""Honest and forged messages of two peers, mixed by a seed: only the honest ones are believed.

One peer is honest, the other one also forges. Both have sessions with the same queue manager, which
has the certificates of two users and a key pair that is changed halfway.
"""

from __future__ import annotations

from random import Random
from typing import Final
from uuid import UUID

from tests.directory.memory_file import directory_of
from tests.protocol.binary.pair import Network
from tests.protocol.binary.raw_peer import RawPeer
from tests.security.encryption.keys import AES, Owner, Randomness
from tests.security.signatures.signer import ALICE, MALLORY, message, signed, signing_key

from openmsmq.core.settings import Settings
from openmsmq.directory.certificates import add_certificate
from openmsmq.directory.objects import Enterprise, QueueManagerObject, User
from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.signatures.hash_forms import SignatureVersion
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.security.security_header import SecurityHeader

STEPS: Final = 40
_BITS: Final = 1024
_B: Final = "10.0.0.2"
_ORDERS: Final = direct_address(r"TCP:10.0.0.2\private$\orders")
_USERS: Final = ((ALICE, "alice"), (MALLORY, "mallory"))
_LEVELS: Final = (0, *SignatureVersion)

# Source and MessageID, with body and authentication level.
Messages = dict[tuple[UUID, int], tuple[bytes, int]]


class ForgeryStorm:
    """One run; `run` says what the queue has and what it must have."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"forgeries {seed}")
        self._network = Network()
        users = [
            add_certificate(User(UUID(int=number), sid), signing_key(name, bits=_BITS).certificate)
            for number, (sid, name) in enumerate(_USERS, start=1)
        ]
        machine = QueueManagerObject(UUID(int=2 << 96 | 0x5155), "B")
        directory, _ = directory_of(Enterprise(UUID(int=0xE), "corp"), machine, *users)
        self._owner = Owner(AES, bits=_BITS)
        self._b = self._network.add(
            "B",
            _B,
            core_settings=Settings(names=frozenset((_B,)), max_failed_checks=1_000_000),
            directory=directory,
            decryptor=lambda: BodyDecryption(self._owner),
        )
        self._b.create()
        self._peers = [
            RawPeer(self._network, self._b, address=f"10.0.0.{number}", number=number)
            for number in (8, 9)
        ]
        self._encryptions = [BodyEncryption(Randomness()) for _ in self._peers]
        self._ordinal = 0
        # What the honest peer has sent encrypted so far, with the old key pair.
        self._seen: list[bytes] = []
        self._changed = False
        self.expected: Messages = {}
        for peer in self._peers:
            peer.connect()

    def run(self) -> Messages:
        """What the queue has in the end."""
        forgeries = (self._other_sid, self._stolen_key, self._cut, self._claim)
        for step in range(STEPS):
            if step == STEPS // 2:
                self._change_keys()
            if self._random.random() < 0.5:
                self._honest(self._random.randrange(2))
            else:
                self._random.choice(forgeries)()
        # Whatever was forged, both sessions go on.
        for number in range(len(self._peers)):
            self._honest(number)
        self._network.advance(1)
        return {
            (view.source_queue_manager, view.message_id): (view.body, view.authentication_level)
            for view in self._b.take()
        }

    def _change_keys(self) -> None:
        """The queue manager has another key pair, and gives up the old private half."""
        self._owner.private = Owner(AES, number=1, bits=_BITS).private
        self._owner.pairs = Owner(AES, number=1, bits=_BITS).pairs
        self._changed = True

    # Honest messages

    def _honest(self, number: int) -> None:
        level = self._random.choice(_LEVELS)
        encrypted = self._random.random() < 0.5
        packet = self._packet(number, level, encrypted=encrypted)
        view = UserMessage(packet)
        self.expected[view.source_queue_manager, view.message_id] = (view.body, level)
        if encrypted:
            packet = self._encrypt(packet, number)
            if number == 0 and not self._changed:
                self._seen.append(packet)
        self._peers[number].send(packet)

    def _packet(self, number: int, level: int, *, encrypted: bool = False) -> bytes:
        self._ordinal += 1
        packet = message(
            b"body %d" % self._ordinal,
            destination_queue=_ORDERS,
            admin_queue=_ORDERS,
            acknowledgments=0,
            source_queue_manager=self._peers[number].guid,
            delivery_mode=1,
            message_id=self._ordinal,
            **({"privacy_level": int(AES), "private_body": True} if encrypted else {}),
        )
        if not level:
            return packet
        key = signing_key("alice", bits=_BITS)
        return signed(packet, key, version=SignatureVersion(level))

    def _encrypt(self, packet: bytes, number: int) -> bytes:
        return self._encryptions[number].encrypt(
            UserMessage(packet), self._b.guid, self._owner.published, now=self._network.now
        )

    # Forgeries of the second peer

    def _other_sid(self) -> None:
        """Mallory signs in her own name, so that her certificate is known, then as Alice."""
        key = signing_key("mallory", bits=_BITS)
        honest = signed(self._packet(1, 0), key, sid=MALLORY)
        view = UserMessage(honest)
        self.expected[view.source_queue_manager, view.message_id] = (view.body, 3)
        self._peers[1].send(honest)
        self._peers[1].send(signed(self._packet(1, 0), key, sid=ALICE))

    def _stolen_key(self) -> None:
        """A session key that another peer used, for a key pair that is gone."""
        if self._changed and self._seen:
            self._ordinal += 1
            view = UserMessage(self._random.choice(self._seen))
            self._peers[1].send(
                rebuild(view, source_queue_manager=self._peers[1].guid, message_id=self._ordinal)
            )

    def _cut(self) -> None:
        """Cipher text that is not whole blocks."""
        packet = self._encrypt(self._packet(1, 0, encrypted=True), 1)
        view = UserMessage(packet)
        left = self._random.randrange(len(view.body)) // 16 * 16 + self._random.randrange(1, 16)
        at = view.body_offset
        short = packet[:at] + packet[at : at + left]
        short += bytes(-len(short) & 3)
        sizes = view.properties_offset + 32
        size = left.to_bytes(4, "little")
        short = short[:sizes] + size + size + short[sizes + 8 :]
        self._peers[1].send(short[:8] + len(short).to_bytes(4, "little") + short[12:])

    def _claim(self) -> None:
        """A message that says itself that its signature is good."""
        level = self._random.choice(_LEVELS[1:])
        sender = SecurityHeader(SenderIdType.SID, security_id=ALICE.serialize())
        packet = rebuild(UserMessage(self._packet(1, 0)), security_header=sender)
        packet = patch_authentication(UserMessage(packet), authenticated=True, level=level)
        view = UserMessage(packet)
        assert view.authentication_level == level
        self.expected[view.source_queue_manager, view.message_id] = (view.body, 0)
        self._peers[1].send(packet)

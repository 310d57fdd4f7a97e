"""Bodies of 1 KiB encrypted and decrypted, beside bare calls of the library on the same bytes.

Reproduce with `python -m bench encryption`. Ours takes the packet of a message apart, encrypts or
decrypts its body and puts the packet together again, with the session key known; the library only
encrypts and pads, or decrypts and unpads. Every round runs all in turn; medians over the rounds.
"""

import statistics
from collections.abc import Callable, Sequence
from time import process_time
from typing import Final
from uuid import UUID

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

from bench.report import Result
from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.encryption.key_wrap import PrivateKey, RsaPrivateKey
from openmsmq.security.encryption.published_keys import PublishedKeys
from openmsmq.service.keys import make_key
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import private_address
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX
from openmsmq.wire.security.security_header import SecurityHeader

ROUNDS: Final = 21
CALLS: Final = 2000
BODY: Final = bytes(range(256)) * 4
KEY: Final = bytes(range(32))
LIMIT: Final = 2.0
DESTINATION: Final = UUID(int=5)
SID: Final = bytes.fromhex("010500000000000515000000a065cf7e784b9b5fe77c8770e8030000")


class Keys:
    """The private key of the destination."""

    def __init__(self) -> None:
        pair = make_key(2048)
        self._private = RsaPrivateKey(*pair)
        self.published = PublishedKeys({PrivacyLevel.BODY_AES: pair.public_blob(CALG_RSA_KEYX)})

    def exchange_keys(self, level: PrivacyLevel) -> Sequence[PrivateKey]:  # noqa: ARG002
        return (self._private,)


def bare_encrypt() -> bytes:
    padder = PKCS7(128).padder()
    encryptor = Cipher(AES(KEY), CBC(bytes(16))).encryptor()
    padded = padder.update(BODY) + padder.finalize()
    return encryptor.update(padded) + encryptor.finalize()


def bare_decrypt(cipher_text: bytes) -> bytes:
    decryptor = Cipher(AES(KEY), CBC(bytes(16))).decryptor()
    unpadder = PKCS7(128).unpadder()
    padded = decryptor.update(cipher_text) + decryptor.finalize()
    return unpadder.update(padded) + unpadder.finalize()


def microseconds(action: Callable[[], object]) -> float:
    """Processor time of one call."""
    begin = process_time()
    for _ in range(CALLS):
        action()
    return (process_time() - begin) / CALLS * 1e6


def run() -> list[Result]:
    keys = Keys()
    encryption = BodyEncryption(lambda count: KEY[:count])
    decryption = BodyDecryption(keys)
    clear = build_user_message(
        body=BODY,
        label="benchmark",
        destination_queue=private_address(DESTINATION, 5),
        security_header=SecurityHeader(1, security_id=SID),
        privacy_level=PrivacyLevel.BODY_AES,
        private_body=True,
    )

    def encrypt() -> bytes:
        return encryption.encrypt(UserMessage(clear), DESTINATION, keys.published, now=0.0)

    wire = encrypt()
    cipher_text = bare_encrypt()
    assert UserMessage(wire).body == cipher_text

    def decrypt() -> UserMessage:
        packet = decryption.begin(UserMessage(wire), now=0.0).make()
        assert packet is not None
        return UserMessage(packet)

    assert decrypt().body == bare_decrypt(cipher_text) == BODY
    actions = {
        "encryptor and padder": bare_encrypt,
        "a message encrypted": encrypt,
        "decryptor and unpadder": lambda: bare_decrypt(cipher_text),
        "a message decrypted": decrypt,
    }
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(ROUNDS):
        for name, action in actions.items():
            times[name].append(microseconds(action))
    medians = {name: statistics.median(values) for name, values in times.items()}
    results = []
    for theirs, ours in (
        ("encryptor and padder", "a message encrypted"),
        ("decryptor and unpadder", "a message decrypted"),
    ):
        results.append(Result(theirs, 1e6 / medians[theirs]))
        ratio = medians[ours] / medians[theirs]
        results.append(Result(ours, 1e6 / medians[ours], ratio, LIMIT))
    return results

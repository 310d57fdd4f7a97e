"""Keys as they stand in packets and in the directory ([MS-MQQB] 2.4; [MS-MQMQ] 2.2.1, 2.2.2).

Plain data: nothing here computes with keys.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import parse_text, serialize_text

PUBLICKEYBLOB: Final = Struct("<II4sII")
PUBLICKEYBLOB_SIZE: Final = 20
PUBLICKEYBLOB_HEADER: Final = 0x00000206
RSA1: Final = b"RSA1"
SIMPLEBLOB: Final = Struct("<III")
SIMPLEBLOB_SIZE: Final = 12
SIMPLEBLOB_HEADER: Final = 0x00000201
CALG_RSA_SIGN: Final = 0x00002400
CALG_RSA_KEYX: Final = 0x0000A400
MQDSPUBLICKEY: Final = Struct("<III")
MQDSPUBLICKEY_SIZE: Final = 12
MQDSPUBLICKEYS: Final = Struct("<II")
MQDSPUBLICKEYS_SIZE: Final = 8
# Choice: a limit of our own; a machine has one key for each of a handful of providers.
MAX_KEY_COUNT: Final = 256


@dataclass(frozen=True, slots=True)
class PublicKeyBlob:
    """PUBLICKEYBLOB: an RSA public key; `modulus` is little-endian, as on the wire."""

    pub_exp: int
    modulus: bytes
    key_algorithm: int = CALG_RSA_KEYX

    @property
    def bit_len(self) -> int:
        return 8 * len(self.modulus)

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        start = require(buf, offset, PUBLICKEYBLOB_SIZE, "PUBLICKEYBLOB")
        header, key_algorithm, magic, bit_len, pub_exp = PUBLICKEYBLOB.unpack_from(buf, offset)
        if header != PUBLICKEYBLOB_HEADER:
            raise MalformedPacket("PUBLICKEYBLOB", offset, "does not start with 06 02 00 00")
        # [MS-MQMQ] 2.2.20.6: a certificate has a key for signing in the same layout.
        if key_algorithm not in (CALG_RSA_KEYX, CALG_RSA_SIGN):
            raise MalformedPacket(
                "PUBLICKEYBLOB.KeyType", offset + 4, f"0x{key_algorithm:08X} is not an RSA key"
            )
        if magic != RSA1:
            raise MalformedPacket("PUBLICKEYBLOB", offset + 8, "has no RSA1")
        if bit_len % 8:
            raise MalformedPacket("PUBLICKEYBLOB.bitLen", offset + 12, f"{bit_len} is not in bytes")
        end = require(buf, start, bit_len // 8, "PUBLICKEYBLOB.modulus")
        return cls(pub_exp, bytes(buf[start:end]), key_algorithm), end

    def serialize(self) -> bytes:
        return (
            PUBLICKEYBLOB.pack(
                PUBLICKEYBLOB_HEADER, self.key_algorithm, RSA1, self.bit_len, self.pub_exp
            )
            + self.modulus
        )


@dataclass(frozen=True, slots=True)
class SimpleBlob:
    """SIMPLEBLOB: a session key under RSA; `encrypted_key` is little-endian, as on the wire."""

    session_key_algorithm: int
    encrypted_key: bytes

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read to the end of `buf`: the blob does not say its own size."""
        start = require(buf, offset, SIMPLEBLOB_SIZE, "SIMPLEBLOB")
        header, session_key_algorithm, key_algorithm = SIMPLEBLOB.unpack_from(buf, offset)
        if header != SIMPLEBLOB_HEADER:
            raise MalformedPacket("SIMPLEBLOB", offset, "does not start with 01 02 00 00")
        if key_algorithm != CALG_RSA_KEYX:
            raise MalformedPacket("SIMPLEBLOB", offset + 8, f"0x{key_algorithm:08X} is not 0xA400")
        return cls(session_key_algorithm, bytes(buf[start:])), len(buf)

    def serialize(self) -> bytes:
        header = SIMPLEBLOB.pack(SIMPLEBLOB_HEADER, self.session_key_algorithm, CALG_RSA_KEYX)
        return header + self.encrypted_key


@dataclass(frozen=True, slots=True)
class MQDSPublicKey:
    """MQDSPUBLICKEY: a key, usually a PUBLICKEYBLOB, and the provider that made it."""

    provider_type: int
    provider_name: str
    key: bytes

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        start = require(buf, offset, MQDSPUBLICKEY_SIZE, "MQDSPUBLICKEY")
        key_size, name_size, provider_type = MQDSPUBLICKEY.unpack_from(buf, offset)
        name_end = require(buf, start, name_size, "MQDSPUBLICKEY.sProviderName")
        name = parse_text(buf, start, name_size, "MQDSPUBLICKEY.sProviderName")
        end = require(buf, name_end, key_size, "MQDSPUBLICKEY.aBuf")
        return cls(provider_type, name, bytes(buf[name_end:end])), end

    def serialize(self) -> bytes:
        name = serialize_text(self.provider_name)
        return MQDSPUBLICKEY.pack(len(self.key), len(name), self.provider_type) + name + self.key


@dataclass(frozen=True, slots=True)
class MQDSPublicKeys:
    """MQDSPUBLICKEYS: all public keys of a machine, one for each provider."""

    public_keys: tuple[MQDSPublicKey, ...]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        position = require(buf, offset, MQDSPUBLICKEYS_SIZE, "MQDSPUBLICKEYS")
        size, count = MQDSPUBLICKEYS.unpack_from(buf, offset)
        if size < MQDSPUBLICKEYS_SIZE:
            raise MalformedPacket("MQDSPUBLICKEYS.ulLen", offset, f"{size} is less than 8")
        end = require(buf, offset, size, "MQDSPUBLICKEYS.ulLen")
        if count > min(MAX_KEY_COUNT, (size - MQDSPUBLICKEYS_SIZE) // MQDSPUBLICKEY_SIZE):
            raise MalformedPacket(
                "MQDSPUBLICKEYS.cNumofKeys",
                offset + 4,
                f"{count} is more than {MAX_KEY_COUNT} or than {size} bytes hold",
            )
        window = memoryview(buf)[:end]
        keys = []
        for _ in range(count):
            key, position = MQDSPublicKey.parse(window, position)
            keys.append(key)
        if position != end:
            raise MalformedPacket(
                "MQDSPUBLICKEYS.ulLen", offset, f"{end - position} bytes after the last key"
            )
        return cls(tuple(keys)), end

    def serialize(self) -> bytes:
        keys = b"".join(key.serialize() for key in self.public_keys)
        return MQDSPUBLICKEYS.pack(MQDSPUBLICKEYS_SIZE + len(keys), len(self.public_keys)) + keys

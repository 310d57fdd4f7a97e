"""Encrypted messages from the byte layouts alone: `struct` and the command line of OpenSSL."""

import struct
import subprocess
import uuid
from pathlib import Path

from tests.interop.naive_peer import GUID, base

PROVIDER = "Microsoft Enhanced RSA and AES Cryptographic Provider"
AES_256 = 0x6610
ZERO_IV = "00" * 16


def openssl(*arguments: object, data: bytes = b"") -> bytes:
    return subprocess.run(
        ["openssl", *map(str, arguments)], input=data, capture_output=True, check=True, timeout=20
    ).stdout


def published_key(raw: bytes) -> bytes:
    """The PUBLICKEYBLOB of the AES provider in an MQDSPUBLICKEYS."""
    size, count = struct.unpack_from("<II", raw)
    assert size == len(raw)
    at = 8
    for _ in range(count):
        key_size, name_size, _kind = struct.unpack_from("<III", raw, at)
        name = raw[at + 12 : at + 12 + name_size].decode("utf-16-le").rstrip("\0")
        key = raw[at + 12 + name_size : at + 12 + name_size + key_size]
        if name == PROVIDER:
            return key
        at += 12 + name_size + key_size
    raise AssertionError("no key of the AES provider")


def key_list(public_key: bytes) -> bytes:
    """An MQDSPUBLICKEYS with one key."""
    name = PROVIDER.encode("utf-16-le") + b"\0\0"
    entry = struct.pack("<III", len(public_key), len(name), 0x18) + name + public_key
    return struct.pack("<II", 8 + len(entry), 1) + entry


def wrap(public_key: bytes, session_key: bytes, folder: Path) -> bytes:
    """A SIMPLEBLOB: RSAES-PKCS1-v1_5, little-endian."""
    blob, pem = folder / "public.blob", folder / "public.pem"
    blob.write_bytes(public_key)
    openssl("rsa", "-pubin", "-inform", "MSBLOB", "-in", blob, "-out", pem)
    block = openssl(
        "pkeyutl", "-encrypt", "-pubin", "-inkey", pem,
        "-pkeyopt", "rsa_padding_mode:pkcs1", data=session_key,
    )  # fmt: skip
    return struct.pack("<III", 0x0201, AES_256, 0xA400) + block[::-1]


def aes(body: bytes, key: bytes, *, decrypt: bool = False) -> bytes:
    way = ("-d",) if decrypt else ()
    return openssl("enc", *way, "-aes-256-cbc", "-K", key.hex(), "-iv", ZERO_IV, data=body)


def encrypted_message(
    queue_manager: uuid.UUID,
    queue: int,
    cipher_text: bytes,
    encrypted_key: bytes,
    number: int,
    clear_size: int | None = None,
) -> bytes:
    """A message to `PRIVATE=queue_manager\\queue`; MessageSize may be that of the clear body."""
    flags = 3 << 10 | 0x00200000 | 0x00080000
    user = (
        GUID.bytes_le
        + queue_manager.bytes_le
        + struct.pack("<IIII", 0xFFFFFFFF, 1_700_000_000, number, flags)
        + struct.pack("<I", queue)
    )
    provider = struct.pack("<I", 0x18) + PROVIDER.encode("utf-16-le") + b"\0\0"
    security = struct.pack("<HHHHII", 0x20, 0, len(encrypted_key), 0, 0, len(provider))
    for item in (encrypted_key, provider):
        security += item + bytes(-len(item) % 4)
    size = len(cipher_text) if clear_size is None else clear_size
    properties = (
        bytes(24)
        + struct.pack("<IIIIIIII", 0, 7, size, len(cipher_text), 5, 0, AES_256, 0)
        + cipher_text
    )
    properties += bytes(-len(properties) % 4)
    rest = user + security + properties
    return base(16 + len(rest), 0x0003) + rest


def open_message(packet: bytes, private_key: Path) -> bytes:
    """The clear body of a message to a private queue of the naive peer."""
    flags = struct.unpack_from("<I", packet, 60)[0]
    assert flags >> 10 & 7 == 3
    assert flags & 0x00080000
    assert not flags & 0xE0000000
    at = 16 + 48 + 4
    bits, *sizes = struct.unpack_from("<HHHHII", packet, at)
    assert bits & 0x20
    at += 16
    items = []
    for size in sizes:
        items.append(packet[at : at + size])
        at += size + -size % 4
    key, provider = items[1], items[4]
    assert provider == struct.pack("<I", 0x18) + PROVIDER.encode("utf-16-le") + b"\0\0"
    assert struct.unpack_from("<III", key) == (0x0201, AES_256, 0xA400)
    session_key = openssl(
        "pkeyutl", "-decrypt", "-inkey", private_key,
        "-pkeyopt", "rsa_padding_mode:pkcs1", data=key[12:][::-1],
    )  # fmt: skip
    label, message_size, allocated, privacy, _, algorithm, extension = struct.unpack_from(
        "<xB30xIIIIII", packet, at
    )
    assert (privacy, algorithm) == (5, AES_256)
    assert message_size == allocated
    start = at + 56 + 2 * label + extension
    return aes(packet[start : start + allocated], session_key, decrypt=True)

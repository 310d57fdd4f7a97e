"""The packet of a message with its body encrypted, or clear again ([MS-MQQB] 3.1.7.1.5, 3.1.5.8.3).

Nothing here encrypts: the cipher text and the clear body are arguments.
"""

from struct import Struct
from typing import Final

from openmsmq.wire.checks import pad4
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE
from openmsmq.wire.security.security_header import (
    SECURITY_HEADER,
    SECURITY_HEADER_SIZE,
    SecurityHeaderFlags,
)

from .message_properties_header import MESSAGE_PROPERTIES_SIZE
from .user_header import PRIVATE_BODY, UserHeaderFlags
from .user_message import UserMessage

_U32: Final = Struct("<I")
# MessageSize, AllocationBodySize, PrivacyLevel, HashAlgorithm, EncryptionAlgorithm.
_SIZES: Final = Struct("<IIIII")
_SIZES_OFFSET: Final = 32
_SIZES_END: Final = 52
_PACKET_SIZE: Final = 8
_BEHIND_SIZE: Final = 12
_FLAGS: Final = 60
_BEHIND_FLAGS: Final = 64
_EB: Final = int(SecurityHeaderFlags.EB)
_SH: Final = int(UserHeaderFlags.SH)
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")


def with_encrypted_body(
    message: UserMessage,
    cipher_text: bytes,
    *,
    encryption_key: bytes,
    provider_info: bytes,
    encryption_algorithm: int,
    privacy_level: int,
) -> bytes:
    """The packet as it travels: the body is cipher text, and the key for it goes with it.

    Args:
        encryption_key: a SIMPLEBLOB.
        provider_info: the ProviderInfo item, which names the provider of the key.
        privacy_level: of the provider, because the receiver finds its private key by it.

    Raises:
        ValueError: the packet would be larger than a packet may be.
    """
    packet = message.packet
    at = message.security_offset
    if at:
        flags, sender, key, signature, certificate, _ = SECURITY_HEADER.unpack_from(packet, at)
        start = at + SECURITY_HEADER_SIZE
        middle = start + pad4(sender)
        after = middle + pad4(key)
        end = after + pad4(signature) + pad4(certificate)
        before, between = packet[start:middle], packet[after:end]
    else:
        flags = sender = signature = certificate = 0
        before = between = b""
    security = (
        SECURITY_HEADER.pack(
            flags | _EB, sender, len(encryption_key), signature, certificate, len(provider_info)
        ),
        before,
        encryption_key,
        _PADDING[-len(encryption_key) & 3],
        between,
        provider_info,
        _PADDING[-len(provider_info) & 3],
    )
    return _rebuild(
        message, b"".join(security), cipher_text, privacy_level, encryption_algorithm, private=False
    )


def with_clear_body(message: UserMessage, body: bytes) -> bytes:
    """The packet of an encrypted message as it is kept: the body is clear, and the key is gone.

    Raises:
        ValueError: the packet would be larger than a packet may be.
    """
    packet = message.packet
    at = message.security_offset
    flags, sender, key, *others = SECURITY_HEADER.unpack_from(packet, at)
    start = at + SECURITY_HEADER_SIZE
    middle = start + pad4(sender)
    security = (
        SECURITY_HEADER.pack(flags & ~_EB, sender, 0, *others),
        packet[start:middle],
        packet[middle + pad4(key) : message.properties_offset],
    )
    return _rebuild(
        message,
        b"".join(security),
        body,
        message.privacy_level,
        message.encryption_algorithm,
        private=True,
    )


def _rebuild(
    message: UserMessage,
    header: bytes,
    body: bytes,
    privacy_level: int,
    encryption_algorithm: int,
    *,
    private: bool,
) -> bytes:
    """The packet with another SecurityHeader, `header`, and body; every other byte is copied."""
    packet = message.packet
    at = message.properties_offset
    flags = message.flags & ~PRIVATE_BODY | _SH
    start = message.security_offset or at
    hash_algorithm = _U32.unpack_from(packet, at + 44)[0]
    properties = packet[at + MESSAGE_PROPERTIES_SIZE : message.body_offset]
    trailing = packet[_trailing_offset(message) :]
    size = start + len(header) + MESSAGE_PROPERTIES_SIZE + len(properties) + len(body)
    padding = _PADDING[-size & 3]
    size += len(padding) + len(trailing)
    if size > MAX_PACKET_SIZE:
        raise ValueError(f"a packet of {size} bytes is larger than {MAX_PACKET_SIZE}")
    return b"".join(
        (
            packet[:_PACKET_SIZE],
            _U32.pack(size),
            packet[_BEHIND_SIZE:_FLAGS],
            _U32.pack(flags | PRIVATE_BODY if private else flags),
            packet[_BEHIND_FLAGS:start],
            header,
            packet[at : at + _SIZES_OFFSET],
            _SIZES.pack(len(body), len(body), privacy_level, hash_algorithm, encryption_algorithm),
            packet[at + _SIZES_END : at + MESSAGE_PROPERTIES_SIZE],
            properties,
            body,
            padding,
            trailing,
        )
    )


def _trailing_offset(message: UserMessage) -> int:
    """Where the headers after the body begin; the end of the packet if there are none."""
    trailing = message.trailing
    if trailing is None:
        return len(message.packet)
    return (
        trailing.debug
        or trailing.srmp_envelope
        or trailing.soap
        or trailing.multi_queue_format
        or trailing.end
    )


def encryption_key_of(message: UserMessage) -> bytes:
    """The EncryptionKey item of a message with a SecurityHeader."""
    packet, at = message.packet, message.security_offset
    _, sender, key, *_ = SECURITY_HEADER.unpack_from(packet, at)
    start = at + SECURITY_HEADER_SIZE + pad4(sender)
    return packet[start : start + key]

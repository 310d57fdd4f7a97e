"""Packets that claim what only a queue manager may say."""

from typing import Any

from tests.core.harness import packet

from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.security.security_header import SecurityHeader

# A SecurityHeader that names no sender and has no signature.
UNSIGNED = SecurityHeader(0, sender_cert=b"certificate")
SRMP = (SRMPEnvelopeHeader("<Envelope/>"), CompoundMessageHeader(b"POST inner", 5, 5))


def forge(message: bytes) -> bytes:
    """The packet with AU and AS set, as if a queue manager had checked its signature."""
    return patch_authentication(UserMessage(message), authenticated=True, level=3)


def forged(body: bytes = b"forged", **properties: Any) -> bytes:
    """A packet without a signature that says it was checked."""
    properties.setdefault("security_header", UNSIGNED)
    return forge(packet(body, **properties))

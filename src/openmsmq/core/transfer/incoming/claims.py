"""Claims that a packet from elsewhere may not make.

Some fields record what a queue manager found out: whether a signature is good, how a message came,
how many routers it passed. A sender can set them, too. So every entrance of the queue manager
clears them before the message is used.
"""

from collections.abc import Iterable
from typing import Final

from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.message.user_header import PRIVATE_BODY, ROUTING_COUNT_MASK, UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import (
    BASE_FLAGS,
    SESSION_HEADER_BIT,
    patch,
    patch_authentication,
    patch_private_body,
    without_session_header,
    without_srmp_headers,
)
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.scalars import GUID_SIZE
from openmsmq.wire.security.security_header import AUTHENTICATION_MASK, SecurityHeaderFlags

# Members of enumerations take long to look up, so often used ones are constants.
_BINARY: Final = Transport.BINARY
_LOCAL: Final = Transport.LOCAL

_AU_AND_AS: Final = AUTHENTICATION_MASK | int(SecurityHeaderFlags.AU)
_AH: Final = int(UserHeaderFlags.AH)
_SECURED: Final = int(UserHeaderFlags.SH)
_RC: Final = ROUTING_COUNT_MASK
# QueueManagerAddress of a message for any queue manager.
NOBODY: Final = bytes(GUID_SIZE)

# [MS-MQRR] 2.2.5.1.1: only a message that came over HTTP has AH, and the transport sets it there.
# [MS-MQQB] 3.1.5.8.2: routers increment RC, so that it starts at 0 where a message is sent.
_USER_FLAGS: Final = {
    Transport.LOCAL: _AH | _RC,
    Transport.BINARY: _AH | PRIVATE_BODY,
    Transport.HTTP: PRIVATE_BODY,
    Transport.HTTPS: PRIVATE_BODY,
    Transport.MULTICAST: PRIVATE_BODY,
}


def drop_claims(
    runs: Iterable[UserMessageRun], transport: Transport, identity: bytes = NOBODY
) -> None:
    """Clear claims reserved to this queue manager in packets that come from elsewhere.

    Args:
        identity: of this queue manager, as in packets: messages for another one are forwarded
            unchanged, and their destination checks the claims.
    """
    user_flags = _USER_FLAGS[transport]
    routed = transport is _BINARY and identity is not NOBODY
    for run in runs:
        head = run.head
        if routed and head.target not in (NOBODY, identity):
            if head.packet[BASE_FLAGS] & SESSION_HEADER_BIT:
                run.replace([without_session_header(packet) for packet in run.packets])
            if head.private_body:
                # Only the queue manager of the sender encrypts.
                run.replace([patch_private_body(packet, private=False) for packet in run.packets])
            continue
        flags = head.flags
        if (
            flags & user_flags
            or head.packet[BASE_FLAGS] & SESSION_HEADER_BIT
            or (flags & _SECURED and head.security_flags & _AU_AND_AS)
        ):
            run.replace([_without_claims(packet, user_flags) for packet in run.packets])
        if transport is _LOCAL:
            _mark_private(run)


def _mark_private(run: UserMessageRun) -> None:
    """Mark the bodies of local clients that are clear and must not travel so.

    [MS-MQQB] 3.1.7.1.5: those with a PrivacyLevel, unless the application has encrypted them.
    """
    head = run.head
    private = head.privacy_level != 0 and not head.encrypted
    if private != head.private_body:
        run.replace([patch_private_body(packet, private=private) for packet in run.packets])


def clear_authentication(packet: bytes) -> bytes:
    """The packet with AU and AS clear: its signature is not checked yet.

    [MS-MQDMPR] 3.1.7.1.32: a sender sets both to zero. [MS-MQQB] 3.1.5.8.3: the receiver sets AS.
    """
    message = UserMessage(packet)
    if not message.security_flags & _AU_AND_AS:
        return packet
    return patch_authentication(message, authenticated=False, level=0)


def _without_claims(packet: bytes, user_flags: int) -> bytes:
    packet = clear_authentication(packet)
    message = UserMessage(packet)
    if message.flags & _AH:
        message = UserMessage(without_srmp_headers(message))
    if message.flags & user_flags & _RC:
        message = UserMessage(patch(message, routing_count=0))
    if message.flags & user_flags & PRIVATE_BODY:
        message = UserMessage(patch_private_body(message.packet, private=False))
    # The SessionHeader belongs to a session, not to the message, and is dropped.
    return without_session_header(message.packet)

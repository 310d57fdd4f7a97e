"""Whether messages of applications can be encrypted ([MS-MQQB] 3.1.7.1.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.sites.directory_events import connected
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import (
    PrivateFormatName,
    PublicFormatName,
    parse_format_name,
)

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage

_LEVELS: Final = frozenset(map(int, PROVIDERS))


def check_encryption(state: State, queue: Queue, message: UserMessage) -> None:
    """Refuse a message to an outgoing queue that must be encrypted and cannot be.

    Raises:
        QueueError: with reason and remedy.
    """
    if message.encrypted:
        header = message.security_header
        if header is None or not header.encryption_key:
            raise QueueError(
                Hresult.MQ_ERROR_INSUFFICIENT_PROPERTIES,
                f"a message to {queue.path} says that it is encrypted, but has no key",
            )
        return
    what = f"a message to {queue.path} cannot be encrypted"
    if message.privacy_level not in _LEVELS:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
            f"{what}: PrivacyLevel {message.privacy_level} must be 0, 1, 3 or 5",
        )
    name = parse_format_name(queue.path)
    # [MS-MQQB] 5.1: encryption is not possible with direct format names.
    if not isinstance(name, (PrivateFormatName, PublicFormatName)):
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
            what,
            cause="The key of the destination is found by its identifier, which this name lacks.",
            remedy=r"Send to PUBLIC=guid or PRIVATE=guid\number of the queue: "
            "`openmsmq queue show` there prints it.",
        )
    if connected(state) is None:
        raise QueueError(
            Hresult.MQ_ERROR_NO_DS,
            what,
            cause="This queue manager has no directory, where others publish their keys.",
            remedy="Start it with `directory = FILE`, and let the destination join that file or "
            "import its keys with `openmsmq key import --machine`.",
        )

"""Limits of messages to a multicast address ([MC-MQSRM] 1.5, 2.1.3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.limits import MAX_APDU_BYTES
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.srmp.multicast import multicast_request

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.wire.message.user_message_run import UserMessageRun

# A packet up to this size always fits: escaping makes at most six bytes of two.
_SURELY_FITS: Final = MAX_APDU_BYTES // 4
# The number of the message is assigned when it is sent: it may have nine more digits than 0, in
# <id> and in each of five boundaries, and Content-Length one more.
_DIGITS: Final = 7 * 9


def check_multicast(queue: Queue, runs: Iterable[UserMessageRun], *, transactional: bool) -> None:
    """Refuse messages to a multicast address that SRMP over PGM cannot carry.

    Raises:
        QueueError: with the reason.
    """
    if transactional:
        raise QueueError(
            Hresult.MQ_ERROR_TRANSACTION_USAGE,
            f"a message to {queue.path} cannot be sent in a transaction",
            cause="Receivers of a multicast message acknowledge nothing.",
            remedy="Send it without a transaction, or to each queue by its own name.",
        )
    for run in runs:
        if run.head.encrypted or run.head.privacy_level:
            raise QueueError(
                Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
                f"a message to {queue.path} cannot be encrypted",
                cause="There is no key that all receivers of a multicast message share.",
                remedy="Send it to each queue by its own name.",
            )
        for packet in run.packets:
            if len(packet) > _SURELY_FITS:
                _check_size(queue, UserMessage(packet))


def _check_size(queue: Queue, message: UserMessage) -> None:
    try:
        size = len(multicast_request(message, queue.path)) + _DIGITS
    except ValueError as exc:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{queue.path}: {exc}") from exc
    if size > MAX_APDU_BYTES:
        raise QueueError(
            Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
            f"a message to {queue.path} takes {size} bytes, more than {MAX_APDU_BYTES}",
            cause="PGM, which carries multicast messages, allows 64 kilobytes for each.",
            remedy="Send a smaller body, or send to each queue by its own name.",
        )

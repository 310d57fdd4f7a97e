"""Limits of messages to a name of HTTP or HTTPS ([MC-MQSRM] 2.2.5.2, 1.7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from openmsmq.core.queues.names import find_queue, is_web
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.queue_address_names import format_name_of

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.message.user_message_run import UserMessageRun


def check_web(state: State, queue: Queue, runs: Iterable[UserMessageRun]) -> None:
    """Refuse messages to another machine over HTTP that SRMP cannot carry.

    Raises:
        QueueError: with the reason.
    """
    for run in runs:
        _check(state, queue, run.head)


def _check(state: State, queue: Queue, message: UserMessage) -> None:
    if message.encrypted or message.privacy_level:
        raise QueueError(
            Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
            f"a message to {queue.path} cannot be encrypted",
            cause="SRMP, the protocol of messages over HTTP, has no encryption of its own.",
            remedy="Send to an https:// address: then everything is encrypted on its way.",
        )
    admin_queue = message.admin_queue
    if admin_queue is None or not message.acknowledgments:
        return
    name = format_name_of(admin_queue)
    if not is_web(name) and find_queue(state, name) is None:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_FORMATNAME,
            f"{name} cannot be the administration queue of a message to {queue.path}",
            cause="The receiver sends its receipts over HTTP: it needs the URL of the queue.",
            remedy="Name a queue of this machine, or a URL such as http://host/msmq/private$/acks.",
        )

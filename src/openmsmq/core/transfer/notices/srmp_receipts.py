"""Receipts for messages that came by SRMP: their contents and their destinations.

They are acknowledgments, final acknowledgments and order acknowledgments like those of the binary
protocol, but addressed to the URLs in the envelope; when they leave, they become receipts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from openmsmq.core.management.drops import HOST_NOT_ALLOWED, NO_QUEUE_URL
from openmsmq.core.messages.system_messages import NO_MESSAGE, send_system_message
from openmsmq.core.transfer.incoming.addressing import Local, locate
from openmsmq.core.transfer.incoming.streams import (
    NO_QUEUE_NUMBER,
    IncomingTransactionalTransferInfo,
    find_known,
)
from openmsmq.core.transfer.transports import transport_of
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import QueueAddress, direct_address
from openmsmq.wire.srmp import Envelope, StreamEntry, StreamId, read_envelope
from openmsmq.wire.srmp.kinds import COMMITMENT_CLASSES
from openmsmq.wire.srmp.receipts import build_final_stream_receipt, build_stream_receipt

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.model.message import Message
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage

_AH: Final = int(UserHeaderFlags.AH)


def came_by_srmp(message: UserMessage) -> bool:
    """Whether a message has the envelope with which it was received."""
    return bool(message.flags & _AH)


def envelope_of(message: UserMessage) -> Envelope | None:
    """The envelope with which a message was received; None for other transports."""
    header = message.srmp_envelope_header
    return read_envelope(header.data.encode()) if header is not None else None


def receipt_queue(state: State, message: UserMessage, message_class: int) -> QueueAddress | None:
    """The destination of the receipt of this class for a message; None if it asks for none."""
    envelope = envelope_of(message)
    if envelope is None:
        return message.admin_queue
    services = envelope.services
    if message_class == MessageClass.ACK_REACH_QUEUE:
        return receipt_address(state, services.delivery_receipt_to, "acknowledgment", message)
    request = services.commitment_receipt_request
    if request is None or message_class not in COMMITMENT_CLASSES:
        return None
    return receipt_address(state, request.send_to, "acknowledgment", message)


def receipt_address(
    state: State, url: str, what: str, about: UserMessage | None
) -> QueueAddress | None:
    """The address of a queue that a stranger names for receipts; None if it may not be used.

    Args:
        what: the kind of receipt, for the log if it is dropped.
        about: the message that caused it, if any.
    """
    reason = _refusal(state, url)
    if not reason:
        return direct_address(url)
    if url:
        packet = about.packet if about is not None else NO_MESSAGE
        state.outbox.drop(what, url, packet, reason)
    return None


def _refusal(state: State, url: str) -> str:
    """Why receipts may not go to a URL; empty if they may."""
    try:
        name = parse_format_name(f"DIRECT={url}")
    except QueueError:
        return NO_QUEUE_URL
    if not isinstance(name, DirectFormatName) or not name.is_web:
        return NO_QUEUE_URL
    allowed = state.settings.receipt_hosts
    if allowed and name.address.strip("[]").lower() not in allowed:
        return HOST_NOT_ALLOWED
    return ""


def send_final_receipt(state: State, message: UserMessage, message_class: int) -> None:
    """Report the fate of a stream message to its source, if it asks for a dead letter."""
    envelope = envelope_of(message)
    if (
        envelope is None
        or envelope.stream is None
        or not message.negative_journaling
        or message_class not in COMMITMENT_CLASSES
    ):
        return
    entry = envelope.stream
    what = "final stream receipt"
    address = receipt_address(state, _receipts_to(state, message, entry), what, message)
    if address is None:
        return
    build = partial(_build_final, state, entry, message, message_class, address.direct or "")
    send_system_message(state, address, build, what=what, about=message)


def _build_final(
    state: State,
    entry: StreamEntry,
    about: UserMessage,
    message_class: int,
    url: str,
    ordinal: int,
) -> bytes:
    return build_final_stream_receipt(
        entry.stream_id,
        entry.current,
        about.identifier,
        message_class,
        url,
        source_queue_manager=state.manager.identifier,
        message_id=ordinal,
        sent_time=int(state.utc),
    )


def _receipts_to(state: State, message: UserMessage, entry: StreamEntry) -> str:
    """The destination of the receipts of a stream, named by its first message."""
    if entry.send_receipts_to:
        return entry.send_receipts_to
    destination = message.destination_queue
    name = destination.direct if destination is not None else None
    if not name:
        return ""
    place = locate(state, message)
    queue = place.queue if isinstance(place, Local) else None
    stream = IncomingTransactionalTransferInfo(
        queue.number if queue is not None else NO_QUEUE_NUMBER,
        name,
        entry.stream_id.guid,
        transport_of(parse_format_name(f"DIRECT={name}")),
    )
    known = find_known(state, queue, stream)
    return known.receipts_of(entry.stream_id.number.to_bytes(8)) if known is not None else ""


def send_stream_receipt(
    state: State, url: str, sender: UUID, sequence: bytes, number: int
) -> Message | None:
    """Report the progress of a stream to its sender; return the receipt that is sent, if any.

    Args:
        url: the destination of receipts of the stream.
        sender: the queue manager that numbers the stream.
    """
    what = "stream receipt"
    address = receipt_address(state, url, what, None)
    if address is None:
        return None
    stream_id = StreamId(sender, int.from_bytes(sequence))
    build = partial(_build_stream, state, stream_id, number, url)
    return send_system_message(state, address, build, what=what, about=None)


def _build_stream(state: State, stream_id: StreamId, number: int, url: str, ordinal: int) -> bytes:
    return build_stream_receipt(
        stream_id,
        number,
        url,
        source_queue_manager=state.manager.identifier,
        message_id=ordinal,
        sent_time=int(state.utc),
    )

"""Receipts that other queue managers send about streams of this one ([MC-MQSRM] 3.1.5.1.8-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.wire.packets.order_ack import ORDER_QUEUE_NAME

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing.streams import OutgoingStreams
    from openmsmq.wire.srmp import Envelope

ORDER_QUEUE_KEY: Final = ORDER_QUEUE_NAME.removeprefix("\\").lower()
_ORDER_QUEUE_PATH: Final = "/MSMQ" + ORDER_QUEUE_NAME.replace("\\", "/")
_PARAMETER: Final = "s="


def receipts_url(scheme: str, host: str, token: str) -> str:
    """The URL for stream receipts: the order queue, with a token that a stranger cannot guess."""
    return f"{scheme}://{host}{_ORDER_QUEUE_PATH}?{_PARAMETER}{token}"


def token_of(url: str) -> str:
    """The token in the query of a URL; empty if there is none."""
    query = url.partition("?")[2]
    return query[len(_PARAMETER) :] if query.lower().startswith(_PARAMETER) else ""


class Receipts:
    """Takes stream receipts and final stream receipts."""

    __slots__ = ("_manager", "_streams")

    def __init__(self, manager: QueueManager, streams: OutgoingStreams) -> None:
        self._manager = manager
        self._streams = streams

    def take(self, envelope: Envelope) -> bool:
        """A receipt of a stream arrived; return whether it is about a message that was sent."""
        receipt = envelope.stream_receipt
        if receipt is None or receipt.stream_id.guid != self._manager.identifier:
            return False
        token = token_of(envelope.path.to)
        sequence, number = receipt.stream_id.number, receipt.last_ordinal
        commitment, msmq = envelope.commitment_receipt, envelope.msmq
        if commitment is None or msmq is None:
            return self._streams.acknowledged(sequence, number, token)
        if commitment.id.source != self._manager.identifier:
            return False
        ordinal = commitment.id.ordinal
        return self._streams.final(sequence, number, ordinal, msmq.message_class, token)

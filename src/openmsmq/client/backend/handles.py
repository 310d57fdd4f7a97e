"""Handles: queues that are open in one channel."""

from collections.abc import Callable
from typing import Final

from openmsmq.client.logic.packets import PacketBuilder, Sender
from openmsmq.client.message import Message
from openmsmq.wire.names.queue_address import QueueAddress

from .channel import Channel, SendChannel


class Handle:
    """A queue that is open, in one channel.

    Args:
        number: what stands for it in requests, in this channel only.
        format_name: the name that the other side knows the queue by.
    """

    __slots__ = ("channel", "format_name", "number")

    def __init__(self, channel: Channel, number: int, format_name: str) -> None:
        self.channel: Final = channel
        self.number: Final = number
        self.format_name: Final = format_name

    def holds(self, lookup_id: int) -> bool:  # noqa: ARG002 - a handle of another backend may not
        """Whether a message that was received is still locked."""
        return True


class SendHandle:
    """A queue that is open to send to, in one channel.

    Args:
        transactional: whether it takes transactional messages; None when only the machine that it
            is on knows.
    """

    __slots__ = (
        "_destination",
        "_sender",
        "build",
        "build_transactional",
        "channel",
        "format_name",
        "number",
        "transactional",
    )

    def __init__(
        self,
        channel: SendChannel,
        number: int,
        format_name: str,
        *,
        sender: Sender,
        destination: QueueAddress,
        transactional: bool | None,
    ) -> None:
        self.channel: Final = channel
        self.number: Final = number
        self.format_name: Final = format_name
        self._destination = destination
        self.transactional: Final = transactional
        # From a message to its packet, outside and in a transaction.
        self._sender = sender
        self.build: Final = self.packet_builder(transactional=False).build
        self.build_transactional: Final = self.packet_builder(transactional=True).build

    def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        """A new builder of packets for this queue."""
        return PacketBuilder(self._sender, self._destination, transactional=transactional)

    def builder(self, transaction: int) -> Callable[[Message], bytes]:
        """What builds packets for this queue."""
        return self.build_transactional if transaction else self.build

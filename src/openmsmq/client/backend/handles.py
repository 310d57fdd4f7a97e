"""Handles: queues that are open in one channel."""

from collections.abc import Callable
from typing import Final, NamedTuple

from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message

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


class SendDetails(NamedTuple):
    """What the queue manager says of a queue that is open to send to.

    Attributes:
        format_name: the name that it knows the queue by.
        transactional: whether the queue takes transactional messages; None when only the machine
            that it is on knows.
    """

    format_name: str
    transactional: bool | None


class SendHandle:
    """A queue that is open to send to, in one channel.

    Args:
        number: what stands for it in requests, in this channel only.
        builder: builds packets outside of transactions.
        transactional_builder: builds packets in transactions.
        details: what the queue manager says of the queue; None until it was asked.
    """

    __slots__ = (
        "_builder",
        "_transactional_builder",
        "build",
        "build_transactional",
        "channel",
        "details",
        "number",
    )

    def __init__(
        self,
        channel: SendChannel,
        number: int,
        builder: PacketBuilder,
        transactional_builder: PacketBuilder,
        details: SendDetails | None = None,
    ) -> None:
        self.channel: Final = channel
        self.number: Final = number
        self._builder: Final = builder
        self._transactional_builder: Final = transactional_builder
        # From a message to its packet, outside and in a transaction.
        self.build: Final = builder.build
        self.build_transactional: Final = transactional_builder.build
        self.details = details

    def build_signed(self, message: Message, transaction: int) -> bytes:
        """The packet of a message that is to be signed; `details` must be known."""
        assert self.details is not None  # noqa: S101 - the caller has asked for them
        builder = self._transactional_builder if transaction else self._builder
        return builder.build_signed(message, self.details.format_name)

    def builder(self, transaction: int) -> Callable[[Message], bytes]:
        """What builds packets for this queue."""
        return self.build_transactional if transaction else self.build

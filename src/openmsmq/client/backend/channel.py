"""Channels: one connection as bytes in and bytes out."""

from typing import Protocol

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Operation, Wait


class Channel(Protocol):
    """One connection as bytes in and bytes out, without a socket.

    Attributes:
        fault: why the connection is gone; None while it is there.
        fate_unknown: whether messages were under way when it was lost.
        told: whether the caller knows of that.
    """

    fault: ConnectionLost | None
    fate_unknown: bool
    told: bool

    @property
    def description(self) -> str:
        """Where the queue manager is, for error texts."""

    @property
    def held_bytes(self) -> int:
        """What came and was not taken; above a limit the driver reads no more for a while."""

    @property
    def has_data(self) -> bool:
        """Whether something was posted since the last `data_to_send`."""

    def data_to_send(self) -> bytearray:
        """Everything that was posted since the last call."""

    def space(self) -> memoryview:
        """Where to read the next bytes to."""

    def filled(self, count: int) -> list[int]:
        """So many bytes were read to `space`; else like `receive_data`."""

    def receive_data(self, data: bytes) -> list[int]:
        """Bytes came; return the requests that they answer.

        Raises:
            ConnectionLost: the other side does not speak the protocol; the channel is over.
        """

    def is_over(self, wait: Wait) -> bool:
        """Whether what an operation waits for has come."""

    def take(self, request: int) -> object | None:
        """The next reply to a request, if it is here."""

    def lose(self, text: str) -> ConnectionLost:
        """The connection is gone; the first reason counts, and is returned."""

    def close_sends(self) -> None:
        """Post the messages that wait for others to leave with, if there are any."""


class ChainBroken(Exception):
    """A message of a chain was refused; the others are not sent."""


class SendChannel(Channel, Protocol):
    """A channel that also sends messages, many to a request, without waiting for each.

    Drivers use it directly, without an operation for each message: this is the way of every message
    that is sent, and a step more costs as much as all the rest.
    """

    @property
    def refused(self) -> set[int]:
        """Handles for which a send was refused: the queue may be gone, another open tells."""

    def new_chain(self) -> int:
        """A number for the messages of one call, of which none is accepted after a refused one."""

    def add_packet(self, handle: int, transaction: int, packet: bytes, chain: int = 0) -> bool:
        """Send a packet with others; say whether enough came together for a request.

        Raises:
            QueueError: one that was sent before was refused; this one is not sent.
            ChainBroken: the same for a chain of its own; `settle` tells more.
        """

    def check(self, transaction: int = 0) -> None:
        """Raise what was refused in the background in a transaction; 0 is outside of all."""

    def make_room(self) -> Operation[None]:
        """Wait until what is on its way is within bounds."""

    def settle(self, chain: int, count: int) -> Operation[int]:
        """Wait until the `count` messages of a chain are accepted; return how many.

        Raises:
            QueueError: one was refused; it says how many were accepted.
        """

    def disown(self, chain: int) -> None:
        """The call of a chain has ended too early: any other may tell what was refused."""


def not_answered(channel: Channel) -> ConnectionLost:
    """The other side takes longer than one that works: the channel is over."""
    return channel.lose(f"the queue manager at {channel.description} has not answered in time.")

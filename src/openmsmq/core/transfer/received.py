"""What a transport learns about messages that it handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from openmsmq.core.outbox import Result
from openmsmq.wire.names.queue_address import QueueAddress

# Compiled, a NamedTuple needs the classes of its fields when the module is loaded.
from .streams import IncomingTransactionalTransferInfo

if TYPE_CHECKING:
    from openmsmq.wire.codes.message_class import MessageClass
    from openmsmq.wire.message.user_message import UserMessage


class Acknowledgments(Protocol):
    """Takes what others say about transactional messages that were sent to them."""

    def take(self, message: UserMessage) -> bool:
        """A message to the order queue; whether it concerns something that was sent."""


class StreamProgress(NamedTuple):
    """How far a transactional stream got of which messages came; its sender is to be told.

    The stream itself may be further when that happens, with messages of a later batch.
    """

    stream: IncomingTransactionalTransferInfo
    order_queue: QueueAddress
    sequence: bytes
    number: int


class Received(Result):
    """What became of messages that came together.

    `complete` is False when not all were dealt with: the rest must come again, over another
    connection. `fault` says what broke, if it was not for lack of room. `progress` names the
    streams that ask for an acknowledgment once batch `progress_depends` is on disk.

    A transport that answers for each message looks at `refused` and `left`, too: which messages no
    queue takes, and which were not dealt with, by their place among those that came together.
    """

    __slots__ = ("complete", "fault", "left", "progress", "progress_depends", "refused")

    def __init__(
        self,
        depends: int,
        progress: list[StreamProgress],
        progress_depends: int,
        *,
        complete: bool,
        fault: str = "",
        refused: dict[int, MessageClass] | None = None,
        left: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(depends)
        self.complete = complete
        self.fault = fault
        self.progress = progress
        self.progress_depends = progress_depends
        self.refused = refused or {}
        self.left = left


def not_received(fault: str = "") -> Received:
    """None of the messages was dealt with."""
    return Received(0, [], 0, complete=False, fault=fault)

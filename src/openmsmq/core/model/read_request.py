"""What a reader asks for; it may have to wait for a message ([MS-MQDMPR] 3.1.1.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from openmsmq.core.events import ReadEnded, ReadSatisfied
    from openmsmq.core.transactions.transactions import Transaction

    from .cursor import Cursor
    from .open_queue import OpenQueueDescriptor


class ReadOwner(Protocol):
    """Whoever asked for a read that waits; one for each read, which is cancelled by it."""

    def satisfied(self, event: ReadSatisfied) -> None:
        """The read got messages."""

    def ended(self, event: ReadEnded) -> None:
        """The read ended without a message."""


class ReadRequest:
    """A read; while it waits its turn it is a WaitingMessageReadOperation.

    A wait ends once: `ReadSatisfied` or `ReadEnded` among the events names it, and the engine
    tells its owner.
    """

    __slots__ = (
        "cursor",
        "descriptor",
        "destructive",
        "max_bytes",
        "max_count",
        "paused",
        "tag",
        "transaction",
        "two_phase",
        "waiting",
    )

    def __init__(
        self,
        descriptor: OpenQueueDescriptor,
        *,
        destructive: bool,
        tag: ReadOwner | None,
        cursor: Cursor | None,
        max_count: int,
        max_bytes: int,
        transaction: Transaction | None,
        two_phase: bool,
    ) -> None:
        self.descriptor = descriptor
        self.destructive = destructive
        # Notified of its end; also identifies it when it is cancelled.
        self.tag = tag
        self.cursor = cursor
        self.max_count = max_count
        self.max_bytes = max_bytes
        self.transaction = transaction
        self.two_phase = two_phase
        self.waiting = False
        # Passed over for now: its client cannot take more at the moment.
        self.paused = False

"""The request of a reader; it may have to wait for a message ([MS-MQDMPR] 3.1.1.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from openmsmq.core.events import ReadEnded, ReadSatisfied
    from openmsmq.core.transactions.transactions import Transaction

    from .cursor import Cursor
    from .open_queue import OpenQueueDescriptor


class ReadOwner(Protocol):
    """The owner of a waiting read; one for each read, by which it is cancelled."""

    def satisfied(self, event: ReadSatisfied) -> None:
        """The read got messages."""

    def ended(self, event: ReadEnded) -> None:
        """The read ended without a message."""


class ReadRequest:
    """A read; while it waits it is a WaitingMessageReadOperation.

    A wait ends once: the event `ReadSatisfied` or `ReadEnded` names it, and the engine
    notifies its owner.
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
        # Notified of its end; also identifies the read when it is cancelled.
        self.tag = tag
        self.cursor = cursor
        self.max_count = max_count
        self.max_bytes = max_bytes
        self.transaction = transaction
        self.two_phase = two_phase
        self.waiting = False
        # Passed over for now: its client cannot take messages at the moment.
        self.paused = False

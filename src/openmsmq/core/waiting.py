"""Reads that wait for a message ([MS-MQDMPR] 3.1.1.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cursor import Cursor
    from .open_queue import OpenQueueDescriptor
    from .transactions import Transaction


class WaitingRead:
    """WaitingMessageReadOperation: a read that found nothing and waits its turn.

    It ends once: `ReadSatisfied` or `ReadEnded` among the events names it.
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
        tag: object | None,
        cursor: Cursor | None,
        max_count: int,
        max_bytes: int,
        transaction: Transaction | None,
        two_phase: bool,
    ) -> None:
        self.descriptor = descriptor
        self.destructive = destructive
        # Chosen by the caller, to cancel the read by.
        self.tag = tag
        self.cursor = cursor
        self.max_count = max_count
        self.max_bytes = max_bytes
        self.transaction = transaction
        self.two_phase = two_phase
        self.waiting = True
        # Passed over for now: whoever asked cannot take more at the moment.
        self.paused = False

"""The arguments of reads by lookup id, and the results of reads."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from openmsmq.core.outbox import Result

if TYPE_CHECKING:
    from .message import Message


class MessageSeekAction(StrEnum):
    """MessageSeekAction."""

    FIRST = "first"
    PREVIOUS = "previous"
    CURRENT = "current"
    NEXT = "next"
    LAST = "last"


class Read(Result):
    """Messages that a read returned; they may be shown once batch `depends` is durable."""

    __slots__ = ("messages", "packets")

    def __init__(self, messages: list[Message], packets: list[bytes], depends: int) -> None:
        self.messages = messages
        self.packets = packets
        super().__init__(depends)


class Browsed(Read):
    """Messages for administrators.

    Attributes:
        states: of hidden messages: index, state in a word, holder.
        more: whether others follow.
    """

    __slots__ = ("more", "states")

    def __init__(self, read: Read, states: list[tuple[int, str, str]], *, more: bool) -> None:
        super().__init__(read.messages, read.packets, read.depends)
        self.states = states
        self.more = more

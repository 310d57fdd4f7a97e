"""What a read by lookup id looks for, and what reads return."""

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
    """Messages that a read returned; show them once batch `depends` is durable."""

    __slots__ = ("messages", "packets")

    def __init__(self, messages: list[Message], packets: list[bytes], depends: int) -> None:
        self.messages = messages
        self.packets = packets
        super().__init__(depends)


class Browsed(Read):
    """Messages for people who look.

    Attributes:
        states: those that readers do not see: index, state in a word, who holds it.
        more: others follow.
    """

    __slots__ = ("more", "states")

    def __init__(self, read: Read, states: list[tuple[int, str, str]], *, more: bool) -> None:
        super().__init__(read.messages, read.packets, read.depends)
        self.states = states
        self.more = more

"""`BrowsedMessage`: a message as people look at it in its queue."""

from dataclasses import dataclass
from datetime import datetime

from .received_message import ReceivedMessage


class BrowsedMessage(ReceivedMessage, eq=False, gc=False):
    """A message in its queue, perhaps with only the beginning of its body.

    Attributes:
        state: `available`, or what keeps it from readers.
        holder: who has it locked, in words; empty if it is not locked.
    """

    state: str = "available"
    holder: str = ""
    _body_size: int = 0

    @property
    def body_size(self) -> int:
        """How many bytes the body has, even if only its beginning is here."""
        return self._body_size

    @property
    def deliver_at(self) -> datetime | None:
        """When it appears, if it waits for its time."""
        return self.arrived_time if self.state == "delayed" else None

    @property
    def is_cut(self) -> bool:
        """Whether only the beginning of the body is here."""
        return len(self.view.body) < self._body_size


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of a queue in queue order; `more`: others follow in the direction of the look."""

    messages: list[BrowsedMessage]
    more: bool

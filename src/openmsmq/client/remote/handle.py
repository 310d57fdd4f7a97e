"""RemoteHandle: a queue that is open on a server, and what is under way there."""

from typing import Final, Protocol

from openmsmq.client.backend import READ_BYTES, Handle
from openmsmq.protocol.remote_read.client import RemoteMessage, RemoteQueue

from .channel import RemoteChannel
from .snapshot import Snapshot

# Calls of one request on their way at a time: several reads of a socket, so that client and server
# work at the same time.
MAX_WINDOW: Final = 256


class Job(Protocol):
    """A request with calls on their way."""

    # Whether messages go back in place, because nothing waits for them any more.
    withdrawn: bool

    def cancel(self) -> None:
        """Make no more calls, and end those that wait."""


class RemoteHandle(Handle):
    """A queue that is open on a server.

    Attributes:
        locked: messages that were received and not ended, by lookup id, and since when.
        jobs: requests whose calls are not all answered.
        window: how many calls the next read has on their way: more when there were many messages.
        ending: ends that are not answered yet.
        unread_cursors: cursors whose next read is for the message where they stand: new ones, and
            those after the last message.
        snapshot: what the queue held when it was last looked at.
    """

    __slots__ = ("ending", "jobs", "locked", "queue", "snapshot", "unread_cursors", "window")

    def __init__(
        self, channel: RemoteChannel, number: int, format_name: str, queue: RemoteQueue
    ) -> None:
        super().__init__(channel, number, format_name)
        self.queue: Final = queue
        self.locked: Final[dict[int, tuple[RemoteMessage, float]]] = {}
        self.jobs: Final[set[Job]] = set()
        self.window = 1
        self.ending = 0
        self.unread_cursors: Final[set[int]] = set()
        self.snapshot: Snapshot | None = None

    def holds(self, lookup_id: int) -> bool:
        return lookup_id in self.locked

    def widen(self, size: int, *, ordered: bool) -> None:
        """A message of so many bytes came: have one more call on its way, as far as is wise.

        Args:
            ordered: whether the order of answers that overlap can be told.
        """
        most = MAX_WINDOW if ordered else 1
        self.window = min(self.window + 1, most, max(2 * READ_BYTES // max(size, 1), 1))

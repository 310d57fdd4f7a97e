"""LocalBackend: what the queues and transactions of one connection share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from openmsmq.client.arguments import checked
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.operations import Operation, Wait, done
from openmsmq.client.logic.packets import Sender
from openmsmq.protocol.local import messages as local
from openmsmq.wire.security.sid import SID

from .channel import RequestChannel

# How long a queue manager that works may take to answer.
GRACE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Identity:
    """What a queue manager tells at the start of a connection.

    Attributes:
        name: its computer name.
        guid: its GUID, as messages that it sent have it in their ids.
        sid: who it takes the client for, such as S-1-22-1-1000 for user 1000.
        version: of its program.
    """

    name: str
    guid: str
    sid: str
    version: str


class LocalBackend:
    """The way to a queue manager; after a loss another channel takes over.

    Args:
        clock: monotonic time in seconds.
        reconnects: whether a driver makes a new channel when one is lost.
    """

    def __init__(self, clock: Callable[[], float], *, reconnects: bool) -> None:
        self.clock: Final = clock
        self.reconnects: Final = reconnects
        self.channel: RequestChannel
        self._last: RequestChannel | None = None
        self._untold: RequestChannel | None = None
        self.identity: Identity
        self.sender: Sender

    def greet(self, channel: RequestChannel, token: str) -> Operation[None]:
        """Begin a channel; from now on it is the current one.

        Raises:
            ConnectionLost: whoever is there does not let this client in.
        """
        hello = local.Hello(channel.next_id(), local.VERSION, token)
        channel.post(hello)
        try:
            reply = yield Wait(hello.id, GRACE_SECONDS)
        except ConnectionLost as exc:
            raise channel.refuse() from exc
        if reply is None:
            raise channel.lose(f"{channel.description} has not answered in time.")
        told = done(reply)
        sid: bytes = told["sid"]
        self.identity = Identity(
            told["name"], told["guid"], str(SID.parse(sid)[0]), told["version"]
        )
        self.sender = Sender(computer_name=self.identity.name, sid=sid)
        if self._last is not None and self._last.fate_unknown:
            self._untold = self._last
        self.channel = self._last = channel

    def tell_loss(self) -> None:
        """Say once that messages may have been lost with a connection, also with an earlier one.

        Raises:
            ConnectionLost: they may, and no call has said so yet.
        """
        for channel in (self._untold, self._last):
            if channel is not None and channel.fate_unknown and not channel.told:
                channel.told = True
                raise ConnectionLost(str(channel.fault))

    def message_id(self, ordinal: int) -> str:
        """The id of a message that was sent over this backend."""
        return f"{{{str(UUID(self.identity.guid)).upper()}}}\\{ordinal}"

    def call(self, kind: Callable[..., local.Request], *fields: Any) -> Operation[Any]:
        """Make a request of this kind and return the value of its answer.

        Raises:
            QueueError: it was refused, or a message sent before was.
            TypeError: an argument has another type than the request takes.
        """
        channel = self.channel
        channel.check()
        request = checked(kind(channel.next_id(), *fields))
        channel.post(request)
        return done((yield Wait(request.id)))

    def check(self) -> Operation[None]:
        """Raise what was refused of the messages sent before, without asking anything.

        Raises:
            QueueError: one was.
        """
        self.channel.check()
        yield from ()

    def flush(self) -> Operation[None]:
        """Wait until everything sent so far is accepted.

        Raises:
            QueueError: something was refused.
        """
        return self.channel.flush()

"""Link: what the queues and transactions of one connection share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from openmsmq.client.arguments import checked
from openmsmq.client.errors import ConnectionLost
from openmsmq.protocol.local import messages as local
from openmsmq.wire.security.sid import SID

from .operations import Operation, Wait, done
from .packets import Sender
from .session import Session

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


class Link:
    """The way to a queue manager; after a loss another session takes over.

    Args:
        clock: monotonic time in seconds.
        reconnects: whether a driver makes a new session when one is lost.
    """

    def __init__(self, clock: Callable[[], float], *, reconnects: bool) -> None:
        self.clock: Final = clock
        self.reconnects: Final = reconnects
        self.session: Session
        self._last: Session | None = None
        self._untold: Session | None = None
        self.identity: Identity
        self.sender: Sender

    def greet(self, session: Session, token: str) -> Operation[None]:
        """Begin a session; from now on it is the current one.

        Raises:
            ConnectionLost: whoever is there does not let this client in.
        """
        hello = local.Hello(session.next_id(), local.VERSION, token)
        session.post(hello)
        try:
            reply = yield Wait(hello.id, GRACE_SECONDS)
        except ConnectionLost as exc:
            raise session.refuse() from exc
        if reply is None:
            raise session.lose(f"{session.description} has not answered in time.")
        told = done(reply)
        sid: bytes = told["sid"]
        self.identity = Identity(
            told["name"], told["guid"], str(SID.parse(sid)[0]), told["version"]
        )
        self.sender = Sender(computer_name=self.identity.name, sid=sid)
        if self._last is not None and self._last.fate_unknown:
            self._untold = self._last
        self.session = self._last = session

    def tell_loss(self) -> None:
        """Say once that messages may have been lost with a connection, also with an earlier one.

        Raises:
            ConnectionLost: they may, and no call has said so yet.
        """
        for session in (self._untold, self._last):
            if session is not None and session.fate_unknown and not session.told:
                session.told = True
                raise ConnectionLost(str(session.fault))

    def message_id(self, ordinal: int) -> str:
        """The id of a message that was sent over this link."""
        return f"{{{str(UUID(self.identity.guid)).upper()}}}\\{ordinal}"

    def call(self, kind: Callable[..., local.Request], *fields: Any) -> Operation[Any]:
        """Make a request of this kind and return the value of its answer.

        Raises:
            QueueError: it was refused, or a message sent before was.
            TypeError: an argument has another type than the request takes.
        """
        session = self.session
        session.check()
        request = checked(kind(session.next_id(), *fields))
        session.post(request)
        return done((yield Wait(request.id)))

    def check(self) -> Operation[None]:
        """Raise what was refused of the messages sent before, without asking anything.

        Raises:
            QueueError: one was.
        """
        self.session.check()
        yield from ()

    def flush(self) -> Operation[None]:
        """Wait until everything sent so far is accepted.

        Raises:
            QueueError: something was refused.
        """
        return self.session.flush()

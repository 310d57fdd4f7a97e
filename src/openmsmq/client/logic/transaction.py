"""Transactions as a client uses them: begun without a round trip, ended with one."""

from typing import Final, Protocol, Self

from openmsmq.client.errors import ConnectionLost
from openmsmq.protocol.local import messages as local
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_error import QueueError

from .link import Link
from .operations import Operation, Wait, done
from .session import SINGLE, Session


class TransactionLogic:
    """One transaction; it belongs to the session in which it was begun."""

    def __init__(self, link: Link) -> None:
        self._link: Final = link
        self._session: Final[Session] = link.session
        self.open = True
        begin = local.BeginTransaction(self._session.next_id())
        self._number: Final = begin.id
        self._session.post_in_background(begin, transaction=begin.id)

    @classmethod
    def begin(cls, link: Link) -> Operation[Self]:
        """Begin a transaction, unless a message sent before was refused."""
        yield from link.check()
        return cls(link)

    @property
    def alive(self) -> bool:
        """Whether it can still be committed."""
        session = self._session
        return self.open and session is self._link.session and session.fault is None

    @property
    def number(self) -> int:
        """What stands for it in requests.

        Raises:
            QueueError: it is over.
            ConnectionLost: it was lost with its connection, which aborted it.
        """
        if not self.open:
            raise QueueError(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "the transaction is over")
        if not self.alive:
            raise ConnectionLost(
                "the transaction was aborted because its connection was lost; "
                "what it received is back in place. Begin another one."
            )
        return self._number

    def end(self, *, commit: bool) -> Operation[None]:
        """Let everything take effect, or nothing.

        Raises:
            QueueError: something in it was refused; then all of it is undone.
            ConnectionLost: whether it was committed is not known.
        """
        number = self.number
        self.open = False
        session = self._session
        request = local.EndTransaction(session.next_id(), number, commit)
        session.post(request)
        try:
            reply = yield Wait(request.id)
        except ConnectionLost as exc:
            if commit:
                raise ConnectionLost(
                    f"{exc} Whether the transaction was committed is not known."
                ) from exc
            raise
        try:
            if commit:
                session.check(number)
                done(reply)
        finally:
            session.forget_failures(number)


class Numbered(Protocol):
    """A transaction of either client."""

    @property
    def number(self) -> int:
        """What stands for it in requests."""


def transaction_number(transaction: Numbered | str | None) -> int:
    """The number that stands for a transaction in requests.

    Raises:
        ValueError: neither a transaction nor "single".
    """
    if transaction is None:
        return 0
    if not isinstance(transaction, str):
        return transaction.number
    if transaction == "single":
        return SINGLE
    raise ValueError(f"transaction: {transaction!r} is neither a transaction nor 'single'")

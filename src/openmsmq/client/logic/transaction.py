"""Transactions as a client uses them: begun without a round trip, ended with one."""

from typing import Final, Protocol, Self

from openmsmq.client.errors import ConnectionLost
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

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
        self._session.post_in_background(begin, owner=begin.id)

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

    def number_on(self, link: Link) -> int:
        """What stands for it in requests on this link.

        Raises:
            ValueError: it belongs to another one.
        """
        if link is not self._link:
            raise ValueError("transaction: it belongs to another connection")
        return self.number

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


class OwnTransaction(Protocol):
    """A transaction of either client."""

    def _number_on(self, link: Link) -> int:
        """What stands for it in requests on this link."""


def open_transaction_number(transaction: OwnTransaction | None, link: Link) -> int:
    """The number that stands for a transaction in requests; 0 for none.

    Raises:
        TypeError: not a transaction.
        ValueError: a transaction of another connection.
    """
    if transaction is None:
        return 0
    number_on = getattr(type(transaction), "_number_on", None)
    if number_on is None:
        raise TypeError(_refusal(transaction, "a Transaction is taken"))
    number: int = number_on(transaction, link)
    return number


def transaction_number(transaction: OwnTransaction | str | None, link: Link) -> int:
    """The number that stands for a transaction in requests; "single" is one for a send alone.

    Raises:
        TypeError: neither a transaction nor "single".
        ValueError: another word, or a transaction of another connection.
    """
    if not isinstance(transaction, str):
        if transaction is None or hasattr(type(transaction), "_number_on"):
            return open_transaction_number(transaction, link)
        raise TypeError(_refusal(transaction, 'a Transaction or "single" is taken'))
    if transaction == "single":
        return SINGLE
    raise ValueError(f'transaction: {transaction!r} is neither a Transaction nor "single"')


def _refusal(given: object, taken: str) -> str:
    shown = repr(given) if isinstance(given, bool | int | str) else type(given).__name__
    hint = "; await it first" if hasattr(type(given), "__await__") else ""
    return f"transaction: {taken}, from QueueManager.transaction(), not {shown}{hint}"

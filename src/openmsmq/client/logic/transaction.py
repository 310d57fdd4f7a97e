"""Transactions as a client uses them: begun without a round trip, ended with one."""

from typing import Final, Protocol, Self

from openmsmq.client.backend import SINGLE, Backend, Channel
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Operation
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class TransactionLogic:
    """One transaction; it belongs to the channel in which it was begun."""

    def __init__(self, backend: Backend) -> None:
        self._backend: Final = backend
        self._channel: Final[Channel] = backend.channel
        self.open = True
        self._number: Final = backend.begin_transaction()
        # Its numbers on other machines that take part.
        self._enlisted: dict[Backend, int] = {}

    @classmethod
    def begin(cls, backend: Backend) -> Operation[Self]:
        """Begin a transaction, unless a message sent before was refused."""
        backend.check()
        yield from ()
        return cls(backend)

    @property
    def alive(self) -> bool:
        """Whether it can still be committed."""
        channel = self._channel
        return self.open and channel is self._backend.channel and channel.fault is None

    @property
    def number(self) -> int:
        """Its number in requests.

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

    def number_on(self, backend: Backend) -> int:
        """Its number in requests on this backend.

        Raises:
            ValueError: it belongs to another backend.
        """
        number = self.number
        if backend is self._backend:
            return number
        enlisted = self._enlisted.get(backend)
        if enlisted is None:
            raise ValueError("transaction: it belongs to another connection")
        return enlisted

    def spans(self, backend: Backend) -> bool:
        """Whether requests of this backend can be part of it."""
        return backend is self._backend or backend in self._enlisted

    def token(self) -> Operation[tuple[bytes, bytes]]:
        """Its identifier, and the propagation token for other machines."""
        return self._backend.propagation_token(self.number)

    def enlist(
        self, backend: Backend, identifier: bytes, token: bytes, name: str
    ) -> Operation[None]:
        """Enlist another machine; `name` is of a queue there."""
        self._enlisted[backend] = yield from backend.enlist(identifier, token, name)

    def end(self, *, commit: bool) -> Operation[None]:
        """Let everything take effect, or nothing.

        Raises:
            QueueError: something in it was refused; then all of it is undone.
            ConnectionLost: whether it was committed is unknown.
        """
        number = self.number
        self.open = False
        if commit and any(queue.is_broken(at) for queue, at in self._enlisted.items()):
            yield from self._backend.end_transaction(number, commit=False)
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                "the transaction was aborted: a message that it received did not arrive here",
                remedy="Everything is as it was before; begin another transaction.",
            )
        try:
            yield from self._backend.end_transaction(number, commit=commit)
        except ConnectionLost as exc:
            if commit:
                raise ConnectionLost(
                    f"{exc} Whether the transaction was committed is not known."
                ) from exc
            raise


class OwnTransaction(Protocol):
    """A transaction of either client."""

    def _number_on(self, backend: Backend) -> int:
        """Its number in requests on this backend."""


def spans(transaction: OwnTransaction | None, backend: Backend) -> bool:
    """Whether requests of a backend can be part of a transaction, or there is none to span."""
    spans_backend = getattr(type(transaction), "_spans", None)
    return spans_backend is None or bool(spans_backend(transaction, backend))


def open_transaction_number(transaction: OwnTransaction | None, backend: Backend) -> int:
    """The number of a transaction in requests; 0 for none.

    Raises:
        TypeError: not a transaction.
        ValueError: a transaction of another connection.
    """
    if transaction is None:
        return 0
    number_on = getattr(type(transaction), "_number_on", None)
    if number_on is None:
        raise TypeError(_refusal(transaction, "a Transaction is taken"))
    number: int = number_on(transaction, backend)
    return number


def transaction_number(transaction: OwnTransaction | str | None, backend: Backend) -> int:
    """The number of a transaction in requests; "single" is one for a send alone.

    Raises:
        TypeError: neither a transaction nor "single".
        ValueError: another word, or a transaction of another connection.
    """
    if not isinstance(transaction, str):
        if transaction is None or hasattr(type(transaction), "_number_on"):
            return open_transaction_number(transaction, backend)
        raise TypeError(_refusal(transaction, 'a Transaction or "single" is taken'))
    if transaction == "single":
        return SINGLE
    raise ValueError(f'transaction: {transaction!r} is neither a Transaction nor "single"')


def _refusal(value: object, expected: str) -> str:
    value_text = repr(value) if isinstance(value, bool | int | str) else type(value).__name__
    hint = "; await it first" if hasattr(type(value), "__await__") else ""
    return f"transaction: {expected}, from QueueManager.transaction(), not {value_text}{hint}"

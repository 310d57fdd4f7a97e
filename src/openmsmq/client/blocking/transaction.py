# Written by `python -m tools.facade` from asynchronous/transaction.py; change that, not this.
"""Transactions of the blocking client."""

from types import TracebackType
from typing import Self

from openmsmq.client.backend import Backend
from openmsmq.client.logic.transaction import TransactionLogic

from .driver import Driver


class Transaction:
    """Operations that take effect together; commits on exit, aborts on an exception."""

    def __init__(self, driver: Driver, logic: TransactionLogic) -> None:
        self._driver = driver
        self._logic = logic

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            if self._logic.open:
                self.commit()
        elif self._logic.alive:
            self.abort()

    @property
    def number(self) -> int:
        """The number of the transaction in requests.

        Raises:
            QueueError: it has ended.
            ConnectionLost: it was lost with its connection, which aborted it.
        """
        return self._logic.number

    def _number_on(self, backend: Backend) -> int:
        """The number of the transaction in requests for a queue of the same connection.

        Raises:
            ValueError: it belongs to another connection.
        """
        return self._logic.number_on(backend)

    def _spans(self, backend: Backend) -> bool:
        """Whether requests of this backend can be part of it."""
        return self._logic.spans(backend)

    def _enlist(self, driver: Driver, name: str) -> None:
        """Let the machine of a queue take part.

        Raises:
            QueueError: that machine, or the queue manager at home, refuses.
        """
        identifier, token = self._driver.call(self._logic.token)
        driver.call(self._logic.enlist, driver.backend, identifier, token, name)

    def commit(self) -> None:
        """Commit the transaction; returns when it is on disk.

        Raises:
            QueueError: an operation in it was refused; then the whole transaction is undone.
            ConnectionLost: the outcome is unknown.
        """
        self._driver.call(self._logic.end, commit=True)

    def abort(self) -> None:
        """Abort the transaction: sends are undone, received messages go back in place."""
        self._driver.call(self._logic.end, commit=False)

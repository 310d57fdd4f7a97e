"""Processing a queue with retries: the asynchronous client."""

import contextlib
import time
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from openmsmq.client.errors import ConnectionLost, ReceiveTimeout
from openmsmq.client.logic.transaction import TransactionLogic
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.queue_error import QueueError

from .driver import Driver
from .transaction import Transaction

if TYPE_CHECKING:
    from .queue import Queue

RETRY: Final = ";retry"
# How often the subqueue `retry` is looked at.
LOOK_SECONDS: Final = 1.0


class Retries(NamedTuple):
    """The policy for messages that fail, if the queue itself has none.

    Attributes:
        retries: number of immediate retries of a message.
        delay: seconds that it then stays in the subqueue `retry`.
        cycles: number of returns from there.
        poison: the subqueue to which it is moved finally.
    """

    retries: int
    delay: float
    cycles: int
    poison: str


class Processing:
    """The messages of a queue, each in its own transaction; returned by `Queue.process`.

    The transaction commits when the loop asks for the next message. If the loop ends otherwise it
    is aborted, and the message is tried again; in an `async with` statement it commits unless an
    exception ends the statement.
    """

    def __init__(
        self, driver: Driver, queue: "Queue", retries: Retries, timeout: float | None
    ) -> None:
        # The work does not know this object: a loop that is left ends with its last reference.
        self._work = _Work(driver, queue, retries, timeout)
        self._messages = self._work.messages()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ReceivedMessage:
        return await anext(self._messages)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            await self._work.commit()
        with contextlib.suppress(*((ConnectionLost,) if kind is not None else ())):
            await self.close()

    async def close(self) -> None:
        """End the loop: the current message goes back in place and is tried again."""
        await self._messages.aclose()

    @property
    def transaction(self) -> Transaction:
        """The transaction of the current message, for further operations in it.

        Raises:
            ValueError: there is no current message.
        """
        if self._work.transaction is None:
            raise ValueError("no message is being worked on")
        return self._work.transaction


class _Work:
    """Receives the messages of a loop, and sets those aside that fail."""

    def __init__(
        self, driver: Driver, queue: "Queue", retries: Retries, timeout: float | None
    ) -> None:
        self._driver = driver
        self._queue = queue
        self._retries = retries
        self._timeout = timeout
        # When the subqueue `retry` is looked at next.
        self._look_at = 0.0
        # Of the message that is being worked on.
        self.transaction: Transaction | None = None

    async def commit(self) -> None:
        """The message that is being worked on, if there is one, is done with."""
        transaction, self.transaction = self.transaction, None
        if transaction is not None:
            await transaction.commit()

    async def messages(self) -> AsyncGenerator[ReceivedMessage, None]:
        """The messages, one after the other."""
        info = await self._queue.info()
        own = info["receive_error_handling"] == "none"
        try:
            while True:
                message = await self._next(own=own)
                if message is None:
                    return
                if own and message.abort_count > self._retries.retries:
                    await self._set_aside(message)
                    await self.commit()
                    continue
                yield message
                await self.commit()
        finally:
            transaction, self.transaction = self.transaction, None
            if transaction is not None and self._driver.usable:
                await transaction.abort()

    async def _next(self, *, own: bool) -> ReceivedMessage | None:
        """The next message, received in a transaction; None when none came in time."""
        ends = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            if own and time.monotonic() >= self._look_at:
                await self._bring_back()
                self._look_at = time.monotonic() + LOOK_SECONDS
            now = time.monotonic()
            remaining = None if ends is None else max(ends - now, 0.0)
            wait = remaining
            if own:
                wait = max(self._look_at - now, 0.0)
                wait = wait if remaining is None else min(remaining, wait)
            logic = await self._driver.call(TransactionLogic.begin, self._queue._logic.backend)
            transaction = Transaction(self._driver, logic)
            try:
                message = await self._queue.receive(wait, transaction)
            except ReceiveTimeout:
                await transaction.abort()
                if remaining is not None and remaining <= (wait or 0.0):
                    return None
            except BaseException:
                if self._driver.usable:
                    await transaction.abort()
                raise
            else:
                self.transaction = transaction
                return message

    async def _set_aside(self, message: ReceivedMessage) -> None:
        """A message has failed too often in a row: it rests for a while, or for good."""
        # Each cycle moved it twice: into the subqueue and back.
        rests = message.move_count // 2 < self._retries.cycles
        target = RETRY if rests else self._retries.poison
        await self._queue.move(target, [message.lookup_id], transaction=self.transaction)

    async def _bring_back(self) -> None:
        """Move messages back that have rested long enough."""
        due = time.time() - self._retries.delay
        name = self._queue.name.partition(";")[0]
        if RETRY[1:] not in (await self._queue.info())["subqueues"]:
            return
        resting = self._queue._beside(name + RETRY)
        try:
            rested: list[int] = []
            async for message in resting.cursor():
                # They are in the order in which they came.
                if message.arrived_time.timestamp() > due:
                    break
                rested.append(message.lookup_id)
            if rested:
                # Another program may have been faster.
                with contextlib.suppress(QueueError):
                    await resting.move(name, rested)
        finally:
            if self._driver.usable:
                await resting.close()

"""Queues of the asynchronous client."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from openmsmq.client.arguments import delivery_time, message_of, seconds
from openmsmq.client.backend import SINGLE
from openmsmq.client.logic.cursor import CursorLogic
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.logic.prefetch import DEFAULT_PREFETCH, Prefetch
from openmsmq.client.logic.queue import HeldMessages, Progress, QueueLogic
from openmsmq.client.logic.ranges import RangesLogic
from openmsmq.client.logic.transaction import (
    TransactionLogic,
    open_transaction_number,
    spans,
    transaction_number,
)
from openmsmq.client.message import Message, correlation_bytes
from openmsmq.client.properties import Info, Relation
from openmsmq.client.received_message import ReceivedMessage

from .driver import Driver
from .message_stream import MessageStream
from .processing import Processing, Retries
from .ranges import Ranges
from .transaction import Transaction


class Queue:
    """A queue; opened on its first use.

    Outside transactions a received message is removed at once: the removal is sent when `receive`
    returns and final after `QueueManager.flush()`. Until then a lost connection puts the message
    back, so it may be received twice but is never lost.
    """

    def __init__(self, driver: Driver, logic: QueueLogic) -> None:
        self._driver = driver
        self._logic = logic

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._driver.usable:
            await self.close()

    def __repr__(self) -> str:
        return f"Queue({self.name!r})"

    @property
    def name(self) -> str:
        """The name with which it was opened."""
        return self._logic.name

    # blocking: @property
    async def format_name(self) -> str:
        """The format name of the queue in the queue manager."""
        return await self._driver.call(self._logic.format_name)

    async def info(self) -> Info:
        """Return properties, counts and permissions of the queue."""
        return await self._driver.call(self._logic.info)

    async def count(self) -> int:
        """Return the number of messages in the queue, including locked ones."""
        return await self._driver.call(self._logic.count)

    # blocking: def __len__(self) -> int:
    # blocking:     return self.count()

    # A queue is true even while it is empty.
    # blocking: def __bool__(self) -> bool:
    # blocking:     return True

    async def close(self) -> None:
        """Close the queue; messages that were read and not removed go back in place."""
        await self._driver.call(self._logic.close)

    # Sending

    async def send(
        self,
        message: Message | str | bytes,
        transaction: Transaction | str | None = None,
        *,
        delay: float | timedelta | None = None,
        deliver_at: float | datetime | None = None,
    ) -> None:
        """Send one message; text or bytes are sent as its body.

        In a transaction and for express messages this returns at once: messages are sent together
        within milliseconds, and a later call raises a refusal, at the latest `commit`, `flush` or
        `close`. Until then the following messages are refused as well; `refused` of the error
        counts the express messages that were sent last and refused. Other sends return when the
        message is on disk.

        Args:
            transaction: from `QueueManager.transaction()`, or "single" for a separate one.
            delay: seconds or a timedelta after which the message is delivered, up to 366 days.
            deliver_at: time of its delivery instead: a datetime with time zone, or seconds since
                1970.

        Raises:
            ValueError: a property of the message is invalid; the text names it.
            TypeError: an argument or a property has the wrong type; the text names it.
        """
        if type(message) is not Message:
            message = message_of(message)
        number = 0
        if transaction is not None:
            number = transaction_number(transaction, self._logic.backend)
        if delay is not None or deliver_at is not None:
            at = delivery_time(delay, deliver_at)
            await self._driver.call(self._logic.send_and_wait, message, number, at)
        elif number > 0 or (number == 0 and message.delivery == "express"):
            await self._driver.send(self._logic, message, number)
        else:
            await self._driver.call(self._logic.send_and_wait, message, number)

    async def send_and_wait(
        self,
        message: Message | str | bytes,
        transaction: Transaction | str | None = None,
        *,
        delay: float | timedelta | None = None,
        deliver_at: float | datetime | None = None,
    ) -> str:
        """Send one message and return its id once the queue manager has accepted it.

        Args:
            delay, deliver_at: as for `send`.
        """
        number = transaction_number(transaction, self._logic.backend)
        at = delivery_time(delay, deliver_at)
        return await self._driver.call(self._logic.send_and_wait, message_of(message), number, at)

    async def send_many(
        self,
        messages: Iterable[Message | str | bytes] | AsyncIterable[Message | str | bytes],
        transaction: Transaction | str | None = None,
    ) -> int:
        """Send many messages, pipelined; return their count when all are accepted.

        Messages are accepted in order up to the first that is refused, for example because a quota
        is exhausted. In a transaction all of them are accepted, or none; in one of
        `QueueManager.transaction()` the commit reports a refusal.

        Args:
            transaction: with "single" all of them form one transaction.

        Raises:
            QueueError: one was refused; `accepted` messages before it are in the queue.
        """
        number = transaction_number(transaction, self._logic.backend)
        if number != SINGLE:
            return await self._driver.send_many(self._logic, messages, number)
        logic = await self._driver.call(TransactionLogic.begin, self._logic.backend)
        async with Transaction(self._driver, logic) as own:
            return await self.send_many(messages, own)

    async def send_packets(
        self, packets: Iterable[bytes], transaction: Transaction | None = None
    ) -> int:
        """Send packets that the caller has built; return their count when all are accepted.

        In a transaction the commit reports a refusal.

        Raises:
            QueueError: as for `send_many`.
        """
        number = await self._number_in(transaction)
        return await self._driver.call(self._logic.send_packets, packets, number)

    async def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        """Return a builder of packets, for `send_packets` and `Producer.stage_packets`."""
        return await self._driver.call(self._logic.packet_builder, transactional=transactional)

    async def is_transactional(self) -> bool | None:
        """Whether the queue is transactional; None if only another machine knows."""
        return await self._driver.call(self._logic.is_transactional)

    # Reading

    async def _number_in(self, transaction: Transaction | None) -> int:
        """What stands for a transaction in requests for this queue; 0 for none.

        A queue of another machine becomes part of the transaction with the first request in it.
        """
        backend = self._logic.backend
        if transaction is not None and not spans(transaction, backend) and not backend.can_send:
            await transaction._enlist(self._driver, self.name)
        return open_transaction_number(transaction, backend)

    async def receive(
        self, timeout: float | timedelta | None = None, transaction: Transaction | None = None
    ) -> ReceivedMessage:
        """Receive the first message, and wait for it if there is none.

        Args:
            timeout: seconds or a timedelta to wait; None for ever.

        Raises:
            ReceiveTimeout: none came in time.
        """
        limit = seconds("timeout", timeout)
        if transaction is not None:
            number = await self._number_in(transaction)
            return await self._driver.call(self._logic.receive, limit, number)
        return await self._driver.call_waiting(limit, self._logic.receive, 0)

    async def receive_many(
        self,
        count: int,
        timeout: float | timedelta | None = None,
        transaction: Transaction | None = None,
    ) -> list[ReceivedMessage]:
        """Receive up to `count` messages; wait for the first one only. The list may be empty."""
        limit = seconds("timeout", timeout)
        if transaction is not None:
            number = await self._number_in(transaction)
            return await self._driver.call(self._logic.receive_many, limit, count, number)
        return await self._driver.call_waiting(limit, self._logic.receive_many, count, 0)

    async def peek(self, timeout: float | timedelta | None = None) -> ReceivedMessage:
        """Read the first message without removing it.

        Raises:
            ReceiveTimeout: none came in that time.
        """
        return await self._driver.call_waiting(seconds("timeout", timeout), self._logic.peek)

    async def peek_by_lookup_id(
        self, lookup_id: int, relation: Relation = "current"
    ) -> ReceivedMessage:
        """Read a message by its lookup id, or the one before or after it.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
        """
        return await self._driver.call(self._logic.look_up, lookup_id, relation, 0, receive=False)

    async def receive_by_lookup_id(
        self,
        lookup_id: int,
        relation: Relation = "current",
        transaction: Transaction | None = None,
    ) -> ReceivedMessage:
        """Receive a message by its lookup id, or the one before or after it.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
        """
        number = await self._number_in(transaction)
        return await self._driver.call(
            self._logic.look_up, lookup_id, relation, number, receive=True
        )

    async def peek_by_id(self, message_id: str) -> ReceivedMessage:
        """Read the message with an id (`{guid}\\ordinal`).

        The queue manager searches the queue in steps, without blocking others.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
            ValueError: the id is invalid.
        """
        identifier = correlation_bytes(message_id)
        return await self._driver.call(
            self._logic.find, identifier, 0, correlation=False, receive=False
        )

    async def receive_by_id(
        self, message_id: str, transaction: Transaction | None = None
    ) -> ReceivedMessage:
        """Receive the message with an id (`{guid}\\ordinal`).

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
            ValueError: the id is invalid.
        """
        identifier = correlation_bytes(message_id)
        number = await self._number_in(transaction)
        return await self._driver.call(
            self._logic.find, identifier, number, correlation=False, receive=True
        )

    async def peek_by_correlation_id(self, correlation_id: str) -> ReceivedMessage:
        """Read the first message with a correlation id, such as an answer to a request.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
            ValueError: the id is invalid.
        """
        identifier = correlation_bytes(correlation_id)
        return await self._driver.call(
            self._logic.find, identifier, 0, correlation=True, receive=False
        )

    async def receive_by_correlation_id(
        self, correlation_id: str, transaction: Transaction | None = None
    ) -> ReceivedMessage:
        """Receive the first message with a correlation id, such as the answer to a request.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
            ValueError: the id is invalid.
        """
        identifier = correlation_bytes(correlation_id)
        number = await self._number_in(transaction)
        return await self._driver.call(
            self._logic.find, identifier, number, correlation=True, receive=True
        )

    @asynccontextmanager
    async def hold_by_lookup_id(
        self, lookup_id: int, relation: Relation = "current"
    ) -> AsyncIterator[ReceivedMessage]:
        """Lock a message by its lookup id, or the one before or after it, for `async with`.

        It is removed at the end; an exception puts it back in place.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND.
        """
        held = await self._driver.call(self._logic.hold, lookup_id, relation)
        taken = False
        try:
            yield held.message
            taken = True
        finally:
            if taken or self._driver.usable:
                await self._driver.call(self._logic.release, held, taken=taken)

    async def cursor(
        self, timeout: float | timedelta | None = 0.0
    ) -> AsyncIterator[ReceivedMessage]:
        """Read every message in the order of the queue without removing any.

        Args:
            timeout: seconds or a timedelta to wait for a further message at the end; None for ever.
        """
        limit = seconds("timeout", timeout)
        cursor = CursorLogic(self._logic)
        call = self._driver.call
        try:
            while (batch := await call(cursor.next_batch, limit)) is not None:
                for message in batch:
                    yield message
        finally:
            self._driver.step(cursor.close)

    def __aiter__(self) -> AsyncIterator[ReceivedMessage]:
        """Receive every message, for ever; see `messages`."""
        return aiter(self.messages())

    def messages(
        self,
        timeout: float | timedelta | None = None,
        prefetch: int = DEFAULT_PREFETCH,
        *,
        manual: bool = False,
    ) -> MessageStream:
        """Receive messages one after the other, prefetched in blocks.

        Prefetched messages stay locked in the queue. A message is removed when the caller requests
        the next one or ends the loop, and goes back in place if the caller dies before.
        In an `async with` statement an exception puts the current message back as well.

        Args:
            timeout: end when no message came for so long; None waits for ever.
            prefetch: approximate maximum number of messages that are locked for this loop.
            manual: remove a message only when `MessageStream.ack` is called for it; the others go
                back in place when the loop ends.
        """
        limit = seconds("timeout", timeout)
        return MessageStream(self._driver, Prefetch(self._logic, prefetch, manual=manual), limit)

    def process(
        self,
        retries: int = 5,
        delay: float | timedelta = 30.0,
        poison: str = ";poison",
        *,
        cycles: int = 2,
        timeout: float | timedelta | None = None,
    ) -> Processing:
        """Process a transactional queue; messages that fail are tried again, then set aside.

        Each message is received in its own transaction, which commits when the loop requests the
        next one. If the loop ends otherwise, or the program dies, the message goes back in place
        and counts as failed. After more than `retries` failures in a row it waits in the subqueue
        `retry`; after `cycles` such waits it is moved to `poison`. A policy of the queue itself
        (`receive_error_handling`) applies instead of these arguments.

        Args:
            delay: seconds or a timedelta of each wait.
            poison: a subqueue of this queue, or its full name.
            timeout: end when no message came for so long; None waits for ever.

        Raises:
            ValueError: a number is less than 0, or `poison` is not a subqueue.
        """
        rest = seconds("delay", delay) or 0.0
        for name, number in (("retries", retries), ("delay", rest), ("cycles", cycles)):
            if number < 0:
                raise ValueError(f"{name}: {number:g} is less than 0")
        if not poison.partition(";")[2]:
            raise ValueError(f"poison: {poison!r} is not a subqueue such as ';poison'")
        rules = Retries(retries, rest, cycles, poison)
        return Processing(self._driver, self, rules, seconds("timeout", timeout))

    def _beside(self, name: str) -> "Queue":
        """Another queue of the same connection."""
        return Queue(self._driver, QueueLogic(self._logic.backend, name))

    # Managing

    async def purge(self, progress: Progress | None = None, *, upto: int | None = None) -> int:
        """Delete all present messages; return their count.

        Args:
            progress: called with the count so far after each step.
            upto: the arrival sequence of the last one to delete.
        """
        return await self._driver.call(self._logic.purge, progress, upto)

    async def purge_messages(self, lookup_ids: Sequence[int]) -> list[int]:
        """Purge messages by lookup id; return the lookup ids of those that existed."""
        return await self._driver.call(self._logic.purge_messages, lookup_ids)

    async def hold_many(self, lookup_ids: Sequence[int]) -> HeldMessages:
        """Lock messages by lookup id, if they exist and are free; 10,000 at most.

        They stay locked until `release_many`, or until `Producer.commit` removes them.
        """
        return await self._driver.call(self._logic.hold_many, lookup_ids)

    async def release_many(self, held: HeldMessages, *, remove: bool = False) -> None:
        """Put held messages back in place, or remove them."""
        await self._driver.call(self._logic.release_many, held, taken=remove)

    async def reject(self, lookup_ids: Sequence[int], transaction: Transaction) -> None:
        """Reject messages that a transaction received, when it commits.

        Their senders get the acknowledgment MQMSG_CLASS_NACK_RECEIVE_REJECTED, and the messages go
        to the dead-letter queue, if their properties request it. An abort puts them back in place.

        Args:
            lookup_ids: which messages.
            transaction: the one that received them, on this connection.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND or MQ_ERROR_TRANSACTION_USAGE, the transaction
                did not receive one of them.
        """
        number = await self._number_in(transaction)
        await self._driver.call(self._logic.reject, lookup_ids, number)

    async def move(
        self,
        target: str,
        lookup_ids: Sequence[int] | None = None,
        *,
        count: int | None = None,
        transaction: Transaction | None = None,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> int:
        """Move messages to or from a subqueue, or out of a dead-letter queue; return their count.

        Args:
            target: the queue or subqueue to move to; `;name` is a subqueue of this queue.
            lookup_ids: which messages; without them the first `count`, or all.
            transaction: the move takes effect with it. For a message that it has received, the move
                replaces the receive.
            progress: called with the count so far after each step.
            dry_run: make the checks and move none; without lookup ids up to 1,000 are checked.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, or MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION
                when another transaction or reader has it; then none is moved.
        """
        to = self._logic.move_target(target)
        number = await self._number_in(transaction)
        call = self._driver.call
        try:
            step = await call(
                self._logic.move,
                to,
                lookup_ids,
                number,
                count=count,
                progress=progress,
                dry_run=dry_run,
            )
        finally:
            if self._driver.usable:
                await call(to.close)
        return step.moved

    async def move_by_lookup_id(
        self, target: str, lookup_ids: Sequence[int], *, message_class: int = 0
    ) -> list[int]:
        """Move messages as `move` does; return their new lookup ids.

        Args:
            target: as for `move`. With `message_class` it may be a dead-letter queue.
            lookup_ids: which messages, 1,000 at most.
            message_class: their class as dead letters, to undo a retry.

        Raises:
            QueueError: as for `move`.
        """
        to = self._logic.move_target(target)
        call = self._driver.call
        try:
            step = await call(
                self._logic.move,
                to,
                lookup_ids,
                0,
                count=None,
                progress=None,
                message_class=message_class,
            )
        finally:
            if self._driver.usable:
                await call(to.close)
        return step.lookup_ids

    @property
    def ranges(self) -> Ranges:
        """Operations by arrival sequence, for pipelines that read first and remove later."""
        return Ranges(self._driver, self._logic, RangesLogic(self._logic))

"""Traffic: messages that programs send and read through open queues, and their transactions."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.messages import holding, lookup, moving, reading, sending, sending_each, taking
from openmsmq.core.messages.moving import Moved
from openmsmq.core.messages.reading import DEFAULT_MAX_BYTES
from openmsmq.core.messages.sending import Sent
from openmsmq.core.messages.sending_each import SentEach
from openmsmq.core.model.open_queue import OpenQueueDescriptor
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import MessageSeekAction, Read
from openmsmq.core.model.read_request import ReadOwner, ReadRequest
from openmsmq.core.queues import purging
from openmsmq.core.queues.acceptance import count_refused
from openmsmq.core.queues.names import parse_local_path
from openmsmq.core.queues.purging import PURGE_STEP, Purged
from openmsmq.core.transactions import transactions
from openmsmq.core.transactions.coordination import Coordination
from openmsmq.core.transactions.transactions import Transaction
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import hresult_name

from .outbox import Result, ResultOf
from .state import State

if TYPE_CHECKING:
    from openmsmq.core.model.cursor import Cursor
    from openmsmq.wire.codes.queue_error import QueueError


class Traffic:
    """Sends, reads, moves and deletes messages; every operation takes effect in memory at once."""

    __slots__ = ("_coordination", "_state")

    def __init__(self, state: State, coordination: Coordination) -> None:
        self._state = state
        self._coordination = coordination

    # Messages

    def enqueue_many(
        self,
        descriptor: OpenQueueDescriptor,
        packets: Sequence[bytes],
        transaction: Transaction | None = None,
        *,
        deadletter_queue: str = "",
        deliver_at: float | None = None,
    ) -> Sent:
        """Send packets that a client built: in a transaction all of them, or none and an error.

        Without one, those before the first refused one are sent; `Sent.refusal` says why.

        The queue manager writes its GUID, an ordinal and the time into each. `deadletter_queue` is
        the path name of a local queue for those that cannot be delivered; they appear at
        `deliver_at`, in seconds since 1970.
        """
        if deadletter_queue:
            deadletter_queue = parse_local_path(self._state, deadletter_queue).queue_name.key
        return sending.enqueue_many(
            self._state, descriptor, packets, transaction, deadletter_queue, deliver_at
        )

    def enqueue_each(
        self,
        descriptors: Sequence[OpenQueueDescriptor],
        packets: Sequence[bytes],
        *,
        caller: Caller,
    ) -> SentEach:
        """Send packets that a client built, each to the open queue in the same place.

        Raises:
            QueueError: a packet is not a message of this caller; then none is sent.
        """
        return sending_each.enqueue_each(self._state, descriptors, packets, caller)

    def count_refused(
        self, descriptor: OpenQueueDescriptor, messages: int, error: QueueError
    ) -> None:
        """Count messages of a client for an open queue that were refused for the same reason."""
        if descriptor.queue is not None:
            count_refused(self._state, descriptor.queue, hresult_name(error.code), messages)

    def dequeue_many(
        self,
        descriptor: OpenQueueDescriptor,
        *,
        max_count: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
        timeout: float | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
        two_phase: bool = False,
        tag: ReadOwner | None = None,
    ) -> Read | ReadRequest:
        """Receive messages in queue order; with a cursor the one message at its position.

        Args:
            timeout: how long to wait for the first one; None is for ever. While it waits, its
                `ReadRequest` stands for the result, which comes in an event.
            transaction: they are locked until it is decided.
            two_phase: they are locked until `end_many`.
            tag: notified of the end of the wait; also identifies the read when it is cancelled.
        """
        request = ReadRequest(
            descriptor,
            destructive=True,
            tag=tag,
            cursor=cursor,
            max_count=max_count,
            max_bytes=max_bytes,
            transaction=transaction,
            two_phase=two_phase,
        )
        return reading.dequeue_many(self._state, request, timeout)

    def peek_many(
        self,
        descriptor: OpenQueueDescriptor,
        *,
        max_count: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
        timeout: float | None = None,
        cursor: Cursor | None = None,
        next_message: bool = False,
        tag: ReadOwner | None = None,
    ) -> Read | ReadRequest:
        """Look at the first messages, or through a cursor at its current or next one."""
        request = ReadRequest(
            descriptor,
            destructive=False,
            tag=tag,
            cursor=cursor,
            max_count=max_count,
            max_bytes=max_bytes,
            transaction=None,
            two_phase=False,
        )
        return reading.peek_many(self._state, request, timeout, next_message=next_message)

    def read_by_lookup_id(
        self,
        descriptor: OpenQueueDescriptor,
        lookup_id: int,
        action: MessageSeekAction = MessageSeekAction.CURRENT,
        *,
        receive: bool = False,
        transaction: Transaction | None = None,
        two_phase: bool = False,
        allow_peek: bool = False,
    ) -> Read:
        """Peek or receive the message in this relation to a lookup id; never waits."""
        return lookup.read_by_lookup_id(
            self._state,
            descriptor,
            lookup_id,
            action,
            receive=receive,
            transaction=transaction,
            two_phase=two_phase,
            allow_peek=allow_peek,
        )

    def end_many(
        self,
        descriptor: OpenQueueDescriptor,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        reason: int = taking.ACK_RECEIVE,
        transactional: bool = False,
        handed: Collection[int] = (),
    ) -> Result:
        """End two-phase reads: delete the messages, or give them back in place.

        `reason` may be NACK_RECEIVE_REJECTED. Messages of a transaction are left to it. Those of
        `handed` that go back were seen by a program, whose read has failed.
        """
        return taking.end_many(
            self._state,
            descriptor,
            lookup_ids,
            reason if delete else 0,
            transactional=transactional,
            handed=handed,
        )

    def reject_many(
        self, transaction: Transaction, queue: Queue, lookup_ids: Sequence[int]
    ) -> None:
        """Mark messages that a transaction received as rejected, for when it commits."""
        taking.reject_many(self._state, transaction, queue, lookup_ids)

    def take_out_many(
        self, transaction: Transaction, queue: Queue, lookup_ids: Sequence[int]
    ) -> None:
        """Put messages that a transaction received back in place, without ending it."""
        taking.take_out_many(self._state, transaction, queue, lookup_ids)

    def move_many(
        self,
        source: OpenQueueDescriptor,
        target: OpenQueueDescriptor,
        *,
        lookup_ids: Sequence[int] | None = None,
        max_count: int = 1000,
        transaction: Transaction | None = None,
        dry_run: bool = False,
        message_class: int = 0,
    ) -> Moved:
        """Move messages by lookup id, or the first ones, to another open queue."""
        return moving.move_many(
            self._state,
            source,
            target,
            lookup_ids,
            max_count,
            transaction,
            dry_run=dry_run,
            message_class=message_class,
        )

    def hold_many(self, descriptor: OpenQueueDescriptor, lookup_ids: Sequence[int]) -> Read:
        """Lock the free messages with these lookup ids; `end_many` must follow."""
        return holding.hold_many(self._state, descriptor, lookup_ids)

    def purge_many(
        self, descriptor: OpenQueueDescriptor, lookup_ids: Sequence[int]
    ) -> ResultOf[list[int]]:
        """Purge the free messages with these lookup ids; the value is their ids."""
        purged, depends = holding.purge_many(self._state, descriptor, lookup_ids)
        return ResultOf(purged, depends)

    def find_message(
        self,
        descriptor: OpenQueueDescriptor,
        identifier: bytes,
        *,
        correlation: bool,
        hidden: bool = False,
    ) -> Generator[None, None, int | None]:
        """The lookup id of the first message with an identifier, in steps."""
        return holding.find_message(
            self._state, descriptor, identifier, correlation=correlation, hidden=hidden
        )

    def purge(
        self, descriptor: OpenQueueDescriptor, *, upto: int | None = None, limit: int = PURGE_STEP
    ) -> Purged:
        """Delete the messages in the queue, in steps: call again with `upto` until it is done."""
        return purging.purge(self._state, descriptor, upto=upto, limit=limit)

    def cancel(self, queue: Queue, tag: ReadOwner | None, code: int) -> int:
        """End the waiting read with this tag; return MQ_OK or STATUS_NOT_FOUND."""
        return reading.cancel(self._state, queue, tag, code)

    def pause_reads(self, reads: Iterable[ReadRequest]) -> None:
        """Pass waiting reads over, because their client cannot take messages at the moment."""
        reading.pause_reads(reads)

    def resume_reads(self, reads: Iterable[ReadRequest]) -> None:
        """Serve paused reads again."""
        reading.resume_reads(self._state, reads)

    # Transactions

    def new_guid(self) -> UUID:
        """A GUID that was never used before, such as for a transaction."""
        return self._state.guids()

    def begin(self, identifier: UUID) -> Transaction:
        """Create a transaction."""
        self._state.local.require_service()
        return transactions.create_transaction(self._state, identifier)

    def find_transaction(self, identifier: UUID) -> Transaction:
        """The transaction with this identifier; MQ_ERROR_TRANSACTION_SEQUENCE if unknown."""
        return transactions.find_transaction(self._state, identifier)

    def prepare(self, identifier: UUID, *, single_phase: bool = True) -> Result:
        """Promise to be able to commit; `single_phase` is False for a coordinator."""
        transaction = self.find_transaction(identifier)
        return transactions.prepare(self._state, transaction, single_phase=single_phase)

    def commit(self, identifier: UUID) -> Result:
        """Make a transaction take effect."""
        return transactions.commit(self._state, self.find_transaction(identifier))

    def abort(self, identifier: UUID) -> Result:
        """Undo a transaction."""
        if identifier in self._coordination:
            return self._coordination.abort(identifier)
        return transactions.abort(self._state, self.find_transaction(identifier))

"""Moves for remote clients: their targets, and the allowed pairs of queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.queue import QueueRole
from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_PARAMETER
from openmsmq.wire.codes.queue_error import QueueError

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.protocol.rpc.server import ServerCall

    from .remote_queue import RemoteQueue

_RELATED: Final = frozenset((QueueRole.USER, QueueRole.SUBQUEUE))


class MoveTargets:
    """The context handles of R_OpenQueueForMove, by the numbers in R_MoveMessage.

    A number is as restricted as its handle: valid for the same association and the same caller.

    Args:
        random_bytes: creates unguessable numbers.
    """

    __slots__ = ("_handles", "_random_bytes")

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self._handles: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._handles)

    def new_number(self) -> int:
        """An unused number; 0 means no target."""
        number = 0
        while number == 0 or number in self._handles:
            number = int.from_bytes(self._random_bytes(8), "little")
        return number

    def add(self, number: int, handle: bytes) -> None:
        """A queue was opened for moves."""
        self._handles[number] = handle

    def remove(self, number: int) -> None:
        """The queue was closed."""
        self._handles.pop(number, None)

    def find(self, number: int, call: ServerCall) -> RemoteQueue:
        """The queue with the number in a call.

        Raises:
            QueueError: MQ_ERROR_INVALID_HANDLE, this client has no such target.
        """
        association = call.connection.association
        assert association is not None  # noqa: S101 - the connection is bound
        try:
            handle = association.handles.find(
                self._handles.get(number, b""), call.context.served, call.caller
            )
        except RpcFault as exc:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_HANDLE, "no queue is open for this move"
            ) from exc
        queue: RemoteQueue = handle.value
        return queue


def check_related(source: Queue, target: Queue) -> None:
    """Refuse a move between queues that are not a queue and its subqueues ([MS-MQRR] 3.1.4.10).

    Raises:
        QueueError: STATUS_INVALID_PARAMETER.
    """
    if (
        source is target
        or source.family is not target.family
        or source.role not in _RELATED
        or target.role not in _RELATED
    ):
        raise QueueError(
            STATUS_INVALID_PARAMETER, f"messages of {source.path} cannot be moved to {target.path}"
        )


def check_transactional_move(source: Queue, target: Queue, lookup_id: int) -> None:
    """Refuse a move in a transaction, in the order of the checks ([MS-MQRR] 3.1.4.10).

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_USAGE, the target takes no part in transactions;
            MQ_ERROR_MESSAGE_NOT_FOUND.
    """
    if not target.properties.transactional:
        raise QueueError(Hresult.MQ_ERROR_TRANSACTION_USAGE, f"{target.path}: not transactional")
    if source.lanes.get(lookup_id) is None and lookup_id not in source.locked:
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{source.path}: no message {lookup_id}"
        )


def check_not_locked(source: Queue, lookup_id: int, transaction: Transaction | None) -> None:
    """Refuse to move a message that another transaction or reader holds.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION.
    """
    message = source.locked.get(lookup_id)
    if message is not None and message.holder is not transaction:
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
            f"{source.path}: message {lookup_id} is locked by another reader",
        )

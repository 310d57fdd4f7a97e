"""Messages hidden from readers: delayed ones, and held poison messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from openmsmq.core.messages import delayed
from openmsmq.core.messages.poison import release_held
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.queues.access import check_open
from openmsmq.core.queues.names import find_queue, parse_name
from openmsmq.core.rows.packets import packet_of
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import DistributionListFormatName, MultipleElementFormatName

from .records import DelayedInfo

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.outbox import ResultOf
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

# Messages per step of a list.
LIST_STEP: Final = 200


class SetAside:
    """Lists such messages and decides about them; every function checks its caller."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def delayed(self, name: str, *, caller: Caller) -> Iterator[list[DelayedInfo]]:
        """The delayed messages of one queue, or of all that the caller may peek.

        Raises:
            QueueError: no such queue, or the caller may not peek there.
        """
        if name:
            queues = [self._find(name)]
            check_open(self._state, queues[0], caller, _peeking(queues[0]))
        else:
            queues = [
                queue
                for queue in self._state.queues.values()
                if queue.delayed and self._may_peek(queue, caller)
            ]
        return self._parts(queues)

    def _may_peek(self, queue: Queue, caller: Caller) -> bool:
        try:
            check_open(self._state, queue, caller, _peeking(queue))
        except AccessDenied:
            return False
        return True

    def _parts(self, queues: list[Queue]) -> Iterator[list[DelayedInfo]]:
        for queue in queues:
            waiting = iter(sorted(queue.delayed.values(), key=lambda message: message.arrived))
            while part := list(islice(waiting, LIST_STEP)):
                yield [
                    self._info(queue, message)
                    for message in part
                    # It may have appeared since the last step.
                    if queue.delayed.get(message.lookup_id) is message
                ]

    def _info(self, queue: Queue, message: Message) -> DelayedInfo:
        view = UserMessage(packet_of(self._state, message))
        return DelayedInfo(
            queue=_shown(self._state, queue),
            lookup_id=message.lookup_id,
            id=str(view.identifier),
            label=view.label,
            deliver_at=datetime.fromtimestamp(message.arrived, UTC).isoformat(),
            body_size=len(view.body),
            priority=message.priority,
            delivery="recoverable" if message.recoverable else "express",
            transactional=message.transactional,
        )

    def deliver(
        self, name: str, lookup_ids: Sequence[int] | None, *, caller: Caller
    ) -> ResultOf[int]:
        """Deliver delayed messages of a queue now; all of them without lookup ids.

        Raises:
            QueueError: no such queue or message, or the caller may not receive there.
        """
        queue = self._to_change(name, caller)
        return delayed.deliver_now(self._state, queue, lookup_ids)

    def cancel(
        self, name: str, lookup_ids: Sequence[int] | None, *, caller: Caller
    ) -> ResultOf[int]:
        """Never deliver delayed messages of a queue; all of them without lookup ids.

        Raises:
            QueueError: as for `deliver`.
        """
        queue = self._to_change(name, caller)
        return delayed.cancel(self._state, queue, lookup_ids, str(caller.sid))

    def release(
        self, name: str, lookup_ids: Sequence[int] | None, *, caller: Caller
    ) -> ResultOf[int]:
        """Release held poison messages to readers; all of them without lookup ids.

        Raises:
            QueueError: as for `deliver`.
        """
        return release_held(self._state, self._to_change(name, caller), lookup_ids)

    def _to_change(self, name: str, caller: Caller) -> Queue:
        queue = self._find(name)
        admin = queue.outgoing is not None
        access = QueueAccessType.RECEIVE_ADMIN if admin else QueueAccessType.RECEIVE
        check_open(self._state, queue, caller, access)
        return queue

    def _find(self, name: str) -> Queue:
        parsed = parse_name(self._state, name)
        queue: Queue | None = None
        if not isinstance(parsed, DistributionListFormatName | MultipleElementFormatName):
            queue = find_queue(self._state, parsed) or self._state.outgoing.get(parsed.key)
        if queue is None:
            raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, name)
        return queue


def _peeking(queue: Queue) -> QueueAccessType:
    return QueueAccessType.PEEK if queue.outgoing is None else QueueAccessType.PEEK_ADMIN


def _shown(state: State, queue: Queue) -> str:
    if queue.outgoing is not None:
        return queue.outgoing.destination_format_name
    return f"{state.manager.computer_name}\\{queue.path}"

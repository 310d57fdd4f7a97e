"""Messages received by multicast: a copy for each queue that listens to their address.

There are no answers, and no sender waits: a message that a queue refuses is dropped and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.drops import OVER_QUOTA
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_header import DELIVERY_MODE_SHIFT
from openmsmq.wire.names.format_name import MulticastFormatName
from openmsmq.wire.names.queue_address_names import format_name_of

from .answered_reception import NO_IDENTIFIER
from .delivery import deliver
from .received import Received

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.message.user_message_run import UserMessageRun

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_DM: Final = 1 << DELIVERY_MODE_SHIFT


class MulticastReception:
    """Messages of one source that arrived together, on their way into queues."""

    __slots__ = ("_origin", "_state", "_verdicts")

    def __init__(self, state: State, origin: Origin) -> None:
        self._state = state
        self._origin = origin
        # The messages that a check refused, and how.
        self._verdicts: dict[UserMessageRun, MessageClass] = {}

    def receive(
        self,
        runs: list[UserMessageRun],
        verdicts: dict[UserMessageRun, MessageClass] | None = None,
    ) -> Received:
        """Process all messages, one in each run.

        Args:
            verdicts: the messages that a check refused, and how.
        """
        if verdicts is not None:
            self._verdicts = verdicts
        for run in runs:
            queues = self._queues(run.head)
            if not queues:
                # [MC-MQSRM] 3.1.5.1.3: disregarded.
                self._count_ignored("no queue listens to the address")
            elif self._is_new(run):
                self._deliver(run, queues)
        return Received(0, [], 0, complete=True)

    def _queues(self, message: UserMessage) -> list[Queue]:
        destination = message.destination_queue
        try:
            name = None if destination is None else format_name_of(destination)
        except QueueError:
            return []
        if not isinstance(name, MulticastFormatName):
            return []
        return self._state.groups.queues(name)

    def _is_new(self, run: UserMessageRun) -> bool:
        (identifier,) = run.identifiers()
        if identifier == NO_IDENTIFIER or identifier not in self._state.srmp_history:
            return True
        self._count_ignored("duplicate message")
        return False

    def _deliver(self, run: UserMessageRun, queues: list[Queue]) -> None:
        state = self._state
        accepted = False
        for queue in queues:
            classes = deliver(
                state, queue, [run], refused=self._verdicts, transport=self._origin.transport
            ).classes
            if not classes:
                state.outbox.drop("message", queue.path, run.head.packet, OVER_QUOTA)
            elif classes[0] is _ACCEPTED:
                accepted = True
            else:
                labels = (str(self._origin.transport), classes[0].name)
                state.counters.rejected_messages.add(labels)
        (identifier,) = run.identifiers()
        if accepted and identifier != NO_IDENTIFIER:
            stored = bool(run.head.flags & _DM)
            state.srmp_history.add(state, [identifier], stored=stored)

    def _count_ignored(self, reason: str) -> None:
        self._state.counters.ignored_messages.add((str(self._origin.transport), reason))

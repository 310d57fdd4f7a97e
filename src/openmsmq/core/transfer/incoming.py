"""What transports call for messages that other machines bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.wire.message.user_message_run import UserMessageRun

from .claims import drop_claims
from .delivery import enqueue
from .reception import Received, Reception
from .reports import send_report
from .streams import forget_old_streams
from .transports import Origin, Transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queues.quota import EnqueueStatus
    from openmsmq.core.state import State
    from openmsmq.core.transactions.transactions import Transaction
    from openmsmq.wire.message.user_message import UserMessage

    from .reception import Acknowledgments


class Incoming:
    """What a transport does with messages that it received."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def receive(
        self,
        runs: list[UserMessageRun],
        origin: Origin,
        *,
        acknowledgments: Acknowledgments,
        count: Callable[[str], None],
    ) -> Received:
        """Deal with messages that came together; the one way in for every transport."""
        reception = Reception(self._state, origin, acknowledgments=acknowledgments, count=count)
        return reception.receive(runs)

    def forget_old_streams(self) -> None:
        """Forget the transactional streams that nothing needs any more."""
        forget_old_streams(self._state)

    def report(self, message: UserMessage, next_hop: str | None = None) -> bool:
        """Send the report that a traced message asks for at this place of its way."""
        return send_report(self._state, message, next_hop)

    def enqueue_message(
        self, queue: Queue, message: UserMessage, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        """Enqueue Message ([MS-MQDMPR] 3.1.7.1.9) without the checks of a reception."""
        run = UserMessageRun(message)
        drop_claims([run], Transport.BINARY)
        status, _ = enqueue(self._state, queue, run.head, transaction)
        return status

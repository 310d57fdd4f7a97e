"""Purges for remote clients, in steps between which other clients are served."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

if TYPE_CHECKING:
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.rpc.server import ServerCall

# The number of messages removed before other clients have their turn.
STEP: Final = 10_000


class _Purge:
    """A purge in progress: messages that arrived up to `upto` are removed."""

    __slots__ = ("call", "depends", "descriptor", "response", "upto")

    def __init__(
        self, descriptor: OpenQueueDescriptor, call: ServerCall, response: Callable[[int], Any]
    ) -> None:
        self.descriptor = descriptor
        self.call = call
        self.response = response
        self.upto: int | None = None
        self.depends = 0


class LongWork:
    """Purges in progress; each gets a step in turn.

    Args:
        step: the number of messages that a step removes.
    """

    __slots__ = ("_manager", "_purges", "_step_size")

    def __init__(self, manager: QueueManager, step: int = STEP) -> None:
        self._manager = manager
        self._step_size = step
        self._purges: deque[_Purge] = deque()

    def purge(
        self, descriptor: OpenQueueDescriptor, call: ServerCall, response: Callable[[int], Any]
    ) -> None:
        """Empty a queue, then answer the call with the response for MQ_OK.

        Raises:
            QueueError: the queue cannot be purged.
        """
        self._step(_Purge(descriptor, call, response))

    def next_timer(self) -> float | None:
        """At once while there is work."""
        return self._manager.now if self._purges else None

    def step(self) -> None:
        """Continue one purge."""
        if not self._purges:
            return
        purge = self._purges.popleft()
        if purge.call.abandoned:
            return
        try:
            self._step(purge)
        except QueueError as exc:
            # The queue was closed or deleted meanwhile.
            purge.call.fail(exc.code, depends=purge.depends)

    def _step(self, purge: _Purge) -> None:
        purged = self._manager.traffic.purge(
            purge.descriptor, upto=purge.upto, limit=self._step_size
        )
        purge.upto = purged.upto
        purge.depends = max(purge.depends, purged.depends)
        if purged.done:
            purge.call.reply(purge.response(int(Hresult.MQ_OK)), depends=purge.depends)
        else:
            self._purges.append(purge)

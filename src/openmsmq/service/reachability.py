"""Destinations that cannot be reached: one line when it begins and one when it is over."""

from typing import Final, NamedTuple

from openmsmq.core.events import ConnectionNoted
from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.outgoing.states import STATUS_WORDS
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .host import Host
from .logs import REACHED_AGAIN, UNREACHABLE, log_event

# Peers can make up hosts that acknowledgments go to, so not every one gets a line.
MAX_KNOWN: Final = 1_000
# While messages wait there is an attempt at least this often; after a longer silence they begin
# to wait anew.
EPISODE_SECONDS: Final = 300


class Failure(NamedTuple):
    """Why a destination could not be reached, and when that was tried last."""

    status: ConnectionStatus
    utc: int


class Reachability:
    """Logs when messages begin to wait for a host, and when it takes them again."""

    def __init__(self, host: Host) -> None:
        self._outgoing = host.manager.outgoing
        self._unreachable: dict[str, Failure] = {}
        host.engine.listen(ConnectionNoted, self._noted)

    def _noted(self, event: ConnectionNoted) -> None:
        status = event.entry.status
        destination = host_part(event.queue)
        if status is ConnectionStatus.READY:
            if self._unreachable.pop(destination, None) is not None:
                log_event(REACHED_AGAIN, destination=destination)
        # Sessions that end for another reason have lines of their own.
        elif status > ConnectionStatus.UNKNOWN_FAILURE and event.queue.count:
            self._failed(destination, Failure(status, event.entry.connection_history_time))

    def _failed(self, destination: str, failure: Failure) -> None:
        before = self._unreachable.get(destination)
        if before is None and len(self._unreachable) >= MAX_KNOWN:
            self._forget_unused()
            if len(self._unreachable) >= MAX_KNOWN:
                return
        self._unreachable[destination] = failure
        if (
            before is None
            or before.status is not failure.status
            or failure.utc - before.utc > EPISODE_SECONDS
        ):
            log_event(UNREACHABLE, destination=destination, reason=STATUS_WORDS[failure.status])

    def _forget_unused(self) -> None:
        used = {host_part(queue) for queue in self._outgoing.queues}
        for destination in self._unreachable.keys() - used:
            del self._unreachable[destination]


def host_part(queue: Queue) -> str:
    r"""What leads to the other machine: `DIRECT=OS:beta` of `DIRECT=OS:beta\private$\orders`."""
    outgoing = queue.outgoing
    return outgoing.destination_format_name.partition("\\")[0] if outgoing is not None else ""

"""Unreachable destinations: one log line at the beginning and one at the end."""

from typing import Final, NamedTuple

from openmsmq.core.events import ConnectionNoted
from openmsmq.core.model.message import is_awaiting_final_ack
from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.outgoing.states import STATUS_WORDS
from openmsmq.core.transfer.transports import WEB
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .host import Host
from .logs import REACHED_AGAIN, UNREACHABLE, log_event

# Peers can make up hosts that acknowledgments go to, so the number of lines is limited.
MAX_KNOWN: Final = 1_000
# While messages wait there is an attempt at least this often; after a longer silence the wait
# counts as a new one.
EPISODE_SECONDS: Final = 300


class Failure(NamedTuple):
    """Why a destination could not be reached, and the time of the last attempt."""

    status: ConnectionStatus
    utc: int


def _has_waiting(queue: Queue) -> bool:
    """Whether messages wait to be sent: those that await a FinalAck have arrived."""
    return bool(queue.lanes.count) or not all(map(is_awaiting_final_ack, queue.locked.values()))


class Reachability:
    """Logs when messages begin to wait for a host, and when it accepts them again."""

    def __init__(self, host: Host) -> None:
        self._outgoing = host.manager.outgoing
        self._unreachable: dict[str, Failure] = {}
        # Hosts that accept connections again, with a queue and its messages at that time.
        self._connected: dict[str, tuple[Queue, int]] = {}
        host.engine.listen(ConnectionNoted, self._noted)
        host.every_second(self.look)

    def _noted(self, event: ConnectionNoted) -> None:
        status = event.entry.status
        destination = host_part(event.queue)
        if status is ConnectionStatus.READY:
            if destination in self._unreachable:
                self._connected[destination] = (event.queue, event.queue.count)
                if not is_web(event.queue) or not event.queue.count:
                    self._reached(destination)
        # Sessions that end for another reason have lines of their own.
        elif status > ConnectionStatus.UNKNOWN_FAILURE and _has_waiting(event.queue):
            words = event.entry.reason or STATUS_WORDS[status]
            self._failed(destination, Failure(status, event.entry.connection_history_time), words)

    def look(self) -> None:
        """A web server that accepts connections is reached when a message has left for it."""
        for destination, (queue, count) in list(self._connected.items()):
            if queue.count < count:
                self._reached(destination)

    def _reached(self, destination: str) -> None:
        del self._connected[destination]
        if self._unreachable.pop(destination, None) is not None:
            log_event(REACHED_AGAIN, destination=destination)

    def _failed(self, destination: str, failure: Failure, words: str) -> None:
        self._connected.pop(destination, None)
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
            log_event(UNREACHABLE, destination=destination, reason=words)

    def _forget_unused(self) -> None:
        used = {host_part(queue) for queue in self._outgoing.queues}
        for destination in self._unreachable.keys() - used:
            del self._unreachable[destination]


def host_part(queue: Queue) -> str:
    r"""The address of the other machine: `DIRECT=OS:beta` of `DIRECT=OS:beta\private$\orders`.

    The rest of a URL may contain a token for receipts, which must not be logged.
    """
    outgoing = queue.outgoing
    if outgoing is None:
        return ""
    name = outgoing.destination_format_name
    return "/".join(name.split("/")[:3]) if is_web(queue) else name.partition("\\")[0]


def is_web(queue: Queue) -> bool:
    """Whether its messages leave over HTTP, where a connection alone proves little."""
    return queue.outgoing is not None and queue.outgoing.transport in WEB

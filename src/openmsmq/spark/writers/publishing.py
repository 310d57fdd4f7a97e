"""Publishing the packets of a task: staged for a batch, in a transaction, or at once."""

import contextlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from pyspark.sql.datasource import WriterCommitMessage

from openmsmq.client.blocking.queue import Queue
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError

from .row_encoder import Place, WrongQueue

BATCH: Final = "batch"
PARTITION: Final = "partition"
NONE: Final = "none"
# Queues that a task keeps open.
MAX_TARGETS: Final = 1000
_ATTEMPT_BITS: Final = 62
# The name in a row is at fault, not the queue manager or the right to send.
_WRONG_NAMES: Final = frozenset(
    (
        Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
        Hresult.MQ_ERROR_ILLEGAL_FORMATNAME,
        Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
        Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
    )
)


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """What a task did, for the driver.

    Attributes:
        stage: partition and attempt of what is staged; None when nothing is.
    """

    producer: str
    batch: int
    stage: tuple[int, int] | None
    messages: int
    dead_lettered: int
    skipped: int


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """A queue that is open to send."""

    place: Place
    queue: Queue
    builder: PacketBuilder


class Targets:
    """The queues that a task sends to, opened when a row first names them.

    Args:
        transaction: "batch", "partition" or "none".
        transactional: what messages for other machines are where their rows do not say.
    """

    def __init__(
        self, manager: QueueManager, transaction: str, *, transactional: bool | None
    ) -> None:
        self._manager = manager
        self._transaction = transaction
        self._elsewhere = transaction != NONE if transactional is None else transactional
        self._open: dict[tuple[str, bool | None], OpenTarget | WrongQueue] = {}

    def __call__(
        self,
        name: str,
        transactional: bool | None = None,  # noqa: FBT001 - as a `Place` has it
    ) -> OpenTarget:
        """The queue of this name.

        Args:
            transactional: what the messages are if the queue is on another machine; None if
                nobody has said so.

        Raises:
            WrongQueue: there is none.
            ConfigError: it does not take messages in or outside transactions.
        """
        key = (name, transactional)
        target = self._open.get(key)
        if target is None:
            if len(self._open) >= MAX_TARGETS:
                self._close()
            target = self._open[key] = self._target(*key)
        if isinstance(target, WrongQueue):
            raise target.with_traceback(None)
        return target

    def _target(
        self,
        name: str,
        wanted: bool | None,  # noqa: FBT001 - as above
    ) -> OpenTarget | WrongQueue:
        if "," in name and self._transaction == BATCH:
            code = Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
            return WrongQueue(code, "transaction=batch needs one queue for each row")
        try:
            queue = self._manager.open_queue(name, "send")
        except QueueError as exc:
            if exc.code in _WRONG_NAMES:
                return WrongQueue(exc.code, exc.detail)
            raise
        takes = queue.is_transactional()
        elsewhere = self._elsewhere if wanted is None else wanted
        transactional = elsewhere if takes is None else takes
        if transactional and self._transaction == NONE:
            raise ConfigError(
                f"option transaction: none is not for the transactional queue {name}; "
                "allowed is batch or partition"
            )
        if not transactional and self._transaction == PARTITION:
            raise ConfigError(
                f"option transaction: partition needs a transactional queue, which {name} is not; "
                "allowed is batch or none"
            )
        # Rows for a local queue stay together, and in their order, whatever they say.
        place = Place(name, elsewhere if takes is None else None)
        return OpenTarget(place, queue, queue.packet_builder(transactional=transactional))

    def _close(self) -> None:
        for target in self._open.values():
            if isinstance(target, OpenTarget):
                target.queue.close()
        self._open.clear()


class Publishing(Protocol):
    """How packets of one task get into queues."""

    def send(self, target: OpenTarget, packets: list[bytes]) -> None:
        """Take packets for a queue."""

    def finish(self) -> tuple[int, int] | None:
        """All rows are sent; return what the driver must publish."""

    def give_up(self) -> None:
        """The task has failed."""


class Staging:
    """Keeps packets at the queue manager until the driver publishes the whole batch."""

    def __init__(self, manager: QueueManager, producer: str, batch: int, partition: int) -> None:
        self._producer = manager.producer(producer)
        self._batch = batch
        # Spark counts attempts from 0 again when the driver is started again, and what an attempt
        # left behind must not be taken for that of another.
        self._stage = (partition, secrets.randbits(_ATTEMPT_BITS))
        self._used = False

    def send(self, target: OpenTarget, packets: Iterable[bytes]) -> None:
        """Stage packets in parts of bounded size."""
        self._used = True
        self._producer.stage_packets(self._batch, *self._stage, target.place.name, packets)

    def finish(self) -> tuple[int, int] | None:
        """What is staged."""
        return self._stage if self._used else None

    def give_up(self) -> None:
        """Forget what is staged; if this fails, the queue manager forgets it after a day."""
        with contextlib.suppress(MsmqError):
            self._producer.abort(self._batch, [self._stage])


class OneTransaction:
    """Sends everything of a task in one transaction."""

    def __init__(self, manager: QueueManager) -> None:
        self._transaction = manager.transaction()

    def send(self, target: OpenTarget, packets: Iterable[bytes]) -> None:
        """Send in the transaction."""
        target.queue.send_packets(packets, self._transaction)

    def finish(self) -> None:
        """Commit."""
        self._transaction.commit()

    def give_up(self) -> None:
        """Abort; the end of the connection would, too."""
        with contextlib.suppress(MsmqError):
            self._transaction.abort()


class AtOnce:
    """Sends without any transaction."""

    def send(self, target: OpenTarget, packets: Iterable[bytes]) -> None:
        """Send and wait until all is accepted."""
        target.queue.send_packets(packets)

    def finish(self) -> None:
        """Nothing is left to do."""

    def give_up(self) -> None:
        """What was sent stays sent."""

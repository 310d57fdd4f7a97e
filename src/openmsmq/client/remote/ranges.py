"""Ranges by arrival sequence over remote read: for pipelines that look and take nothing.

A server of remote read knows no ranges. What a queue holds is found by a cursor, without bodies;
the messages of a range are then read by lookup id.
"""

from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol

from openmsmq.client.backend import Block, Handle, Read, not_available
from openmsmq.client.operations import Operation, Wait
from openmsmq.client.properties import Info
from openmsmq.protocol.remote_read.client import Reading, ReadProtocol, RemoteMessage
from openmsmq.protocol.remote_read.client.steps import CALL_SECONDS
from openmsmq.wire.codes.queue_error import QueueError

from .address import RpcAddress
from .channel import Outcome, RemoteChannel
from .failures import Failures
from .handle import RemoteHandle
from .messages import header
from .range_read import RangeRead
from .readings import first_reading
from .reads import AFTER_THE_LAST, F, ReadJob
from .snapshot import Header, Snapshot

# How long what a queue holds is taken for known, unless it took longer to look at it.
SNAPSHOT_SECONDS: Final = 1.0
# Messages that one request looks at; calls pause between two requests.
HEADERS_AT_A_TIME: Final = 10_000


class Reader(Protocol):
    """What ranges need of their backend."""

    channel: RemoteChannel
    # The calls of the server.
    protocol: ReadProtocol

    @property
    def clock(self) -> Callable[[], float]:
        """Monotonic time in seconds."""

    @property
    def failures(self) -> Failures:
        """Makes errors readable."""

    def open_cursor(self, handle: Handle) -> Operation[int]:
        """A cursor before the first message."""

    def close_cursor(self, handle: Handle, cursor: int) -> None:
        """Forget a cursor."""

    def start(
        self,
        handle: RemoteHandle,
        reading: Reading,
        convert: Callable[[RemoteMessage], F],
        limit: int,
    ) -> ReadJob[F]:
        """Begin to read up to `limit` messages."""


class RemoteRanges:
    """`client.backend.RangeRequests` over remote read."""

    def __init__(self, reader: Reader, address: RpcAddress) -> None:
        self._reader: Final = reader
        self._address: Final = address
        # By their request.
        self._peeks: Final[dict[int, _Peek]] = {}

    def forget(self) -> None:
        """The channel is lost, and all reads with it."""
        self._peeks.clear()

    # What a queue holds

    def _look(self, handle: RemoteHandle) -> Operation[Snapshot]:
        """What the queue holds now."""
        reader = self._reader
        begin = reader.clock()
        headers = yield from self.headers(handle, None)
        end = reader.clock()
        snapshot = Snapshot(headers, end + max(end - begin, SNAPSHOT_SECONDS))
        handle.snapshot = snapshot
        return snapshot

    def headers(self, handle: RemoteHandle, count: int | None) -> Operation[list[Header]]:
        """The first messages of the queue, or all, without their bodies."""
        reader = self._reader
        headers: list[Header] = []
        cursor = yield from reader.open_cursor(handle)
        try:
            while count is None or len(headers) < count:
                limit = HEADERS_AT_A_TIME if count is None else count - len(headers)
                headers += yield from self._next_headers(handle, cursor, limit)
        except QueueError as exc:
            if exc.code not in AFTER_THE_LAST:
                raise
        finally:
            reader.close_cursor(handle, cursor)
        return headers

    def _next_headers(
        self, handle: RemoteHandle, cursor: int, limit: int
    ) -> Operation[list[Header]]:
        """The next messages of a cursor.

        Raises:
            QueueError: there are no more.
        """
        channel = self._reader.channel
        reading = first_reading(handle, Read("peek_next", cursor=cursor))
        job = self._reader.start(handle, reading._replace(max_body_size=0), header, limit)
        outcome: Outcome | None = yield Wait(job.number, CALL_SECONDS)
        if outcome is None:
            channel.drop(job.number)
            raise channel.lose(f"{channel.description} has not answered in five minutes.")
        headers: list[Header] = outcome.result()
        return headers

    def _known(self, handle: Handle) -> Operation[Snapshot]:
        """What the queue holds now, or held a moment ago."""
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        snapshot = handle.snapshot
        if snapshot is None or snapshot.valid_until < self._reader.clock():
            snapshot = yield from self._look(handle)
        return snapshot

    def info(self, handle: Handle) -> Operation[Info]:
        # Choice: a server does not tell incarnations. The host stands for one, so that the offset
        # of another server is not taken for one of this.
        snapshot = yield from self._known(handle)
        return snapshot.info(f"msmq://{self._address.host.lower()}")

    def plan(
        self,
        handle: Handle,
        after: int,
        upto: int | None,
        max_rows: int | None,
        max_bytes: int | None,
    ) -> Operation[Info]:
        snapshot = yield from self._known(handle)
        return snapshot.plan(after, upto, max_rows, max_bytes)

    def split(self, handle: Handle, after: int, upto: int, parts: int) -> Operation[list[int]]:
        snapshot = yield from self._known(handle)
        return snapshot.split(after, upto, parts)

    # Messages

    def peek(
        self,
        handle: Handle,
        after: int,
        upto: int,
        rows: int,
        size: int,
        lookup_ids: Sequence[int],
        head_bytes: int | None,
    ) -> int:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        if head_bytes is not None:
            self._refuse("bodies cannot be cut")
        channel = self._reader.channel
        channel.check()
        request = channel.next_id()
        self._peeks[request] = _Peek(handle, after, upto, rows, size, lookup_ids)
        return request

    def next_block(self, request: int) -> Operation[Block | None]:
        peek = self._peeks[request]
        if peek.read is None:
            lookup_ids = peek.lookup_ids
            if not lookup_ids:
                snapshot = yield from self._known(peek.handle)
                lookup_ids = snapshot.lookup_ids(peek.after, peek.upto)
            peek.read = RangeRead(
                self._reader.channel,
                self._reader.protocol,
                peek.handle,
                lookup_ids,
                rows=peek.rows,
                size=peek.size,
                explain=self._reader.failures.explained,
            )
        block = yield from peek.read.next_block(request)
        if block is None:
            self.drop(request)
        return block

    def drop(self, request: int) -> None:
        peek = self._peeks.pop(request)
        if peek.read is not None:
            peek.read.cancel()

    # What only a queue manager does

    def browse(
        self,
        handle: Handle,  # noqa: ARG002 - the interface
        lookup_id: int | None,  # noqa: ARG002
        count: int,  # noqa: ARG002
        head_bytes: int | None,  # noqa: ARG002
        *,
        backwards: bool,  # noqa: ARG002
        hidden: bool,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("locked messages cannot be seen")

    def find(self, handle: Handle, identifier: bytes) -> NoReturn:  # noqa: ARG002
        self._refuse("locked messages cannot be seen")

    def _refuse(self, what: str) -> NoReturn:
        raise not_available(what, str(self._address))

    def acknowledge(self, handle: Handle, base: int, upto: int) -> NoReturn:  # noqa: ARG002
        self._refuse("ranges cannot be received")

    def lease(
        self,
        handle: Handle,  # noqa: ARG002
        consumer: str,  # noqa: ARG002
        token: int,  # noqa: ARG002
        max_rows: int,  # noqa: ARG002
        max_bytes: int,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("messages cannot be leased")

    def release(self, handle: Handle, consumer: str, token: int) -> NoReturn:  # noqa: ARG002
        self._refuse("messages cannot be leased")

    def pin(self, handle: Handle, base: int, upto: int, seconds: float) -> NoReturn:  # noqa: ARG002
        self._refuse("messages cannot be kept from expiring")

    def stage(
        self,
        producer: str,  # noqa: ARG002
        batch: int,  # noqa: ARG002
        partition: int,  # noqa: ARG002
        attempt: int,  # noqa: ARG002
        destination: str,  # noqa: ARG002
        packets: list[bytes],  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("messages cannot be sent")

    def commit(
        self,
        producer: str,  # noqa: ARG002
        batch: int,  # noqa: ARG002
        stages: list[tuple[int, int]],  # noqa: ARG002
        source: Handle | None,  # noqa: ARG002
        received: list[int],  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("messages cannot be sent")

    def check_batch(
        self,
        destination: str,  # noqa: ARG002
        packets: list[bytes],  # noqa: ARG002
        queue_bytes: int,  # noqa: ARG002
        manager_bytes: int,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("messages cannot be sent")

    def last_batch(self, producer: str) -> NoReturn:  # noqa: ARG002
        self._refuse("messages cannot be sent")

    def abort(
        self,
        producer: str,  # noqa: ARG002
        batch: int,  # noqa: ARG002
        stages: list[tuple[int, int]] | None,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("messages cannot be sent")


class _Peek:
    """A range that is being read."""

    __slots__ = ("after", "handle", "lookup_ids", "read", "rows", "size", "upto")

    def __init__(
        self,
        handle: RemoteHandle,
        after: int,
        upto: int,
        rows: int,
        size: int,
        lookup_ids: Sequence[int],
    ) -> None:
        self.handle: Final = handle
        self.after: Final = after
        self.upto: Final = upto
        self.rows: Final = rows
        self.size: Final = size
        self.lookup_ids: Final = lookup_ids
        # Begun when the first block is asked for.
        self.read: RangeRead | None = None

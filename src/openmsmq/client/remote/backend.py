"""RemoteBackend: the way to the queues of any MSMQ server, over remote read."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn
from uuid import uuid4

from openmsmq.client.backend import (
    Channel,
    Handle,
    HoldMany,
    Identity,
    LookUp,
    MoveStep,
    PurgeStep,
    Read,
    SendHandle,
    not_available,
)
from openmsmq.client.machines import format_name_at
from openmsmq.client.operations import Operation, Wait
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.remote_read.client import (
    Access,
    Ack,
    BindingSettings,
    ClientIdentity,
    Invoke,
    Reading,
    ReadProtocol,
    RemoteMessage,
    ShareMode,
    Steps,
    check,
    find_server,
)
from openmsmq.protocol.remote_read.client.steps import CALL_SECONDS
from openmsmq.protocol.rpc.errors import ConnectionClosed
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.remote_read.queue_format import QueueFormat

from .address import RpcAddress
from .channel import Outcome, RemoteChannel
from .failures import Failures, may_come_again
from .handle import RemoteHandle
from .messages import received
from .range_read import ABSENT
from .ranges import RemoteRanges
from .readings import first_reading, limit_of
from .reads import F, ReadJob, ignore
from .transactions import RemoteTransactions
from .unavailable import UnavailableManagement

# What is held so long goes back before the server's clean-up timer of five minutes fires.
HOLD_SECONDS: Final = 270.0
# How long a server may take to be found.
FIND_SECONDS: Final = 120.0
LARGEST_READ: Final = 1000
_ACCESS: Final = {"receive": Access.RECEIVE, "peek": Access.PEEK, "move": Access.MOVE}


class RemoteBackend:
    """A `client.backend.Backend` over [MS-MQRR], or [MS-MQQP] where a server has only that.

    Args:
        address: where the server is, and who reads.
        clock: monotonic time in seconds.
        reconnects: whether a driver makes a new channel when one is lost.
    """

    can_send: Final = False
    largest_read: Final = LARGEST_READ
    window: Final = LARGEST_READ
    cursor_read: Final = LARGEST_READ

    def __init__(
        self,
        address: RpcAddress,
        clock: Callable[[], float] = time.monotonic,
        *,
        reconnects: bool,
        settings: BindingSettings | None = None,
    ) -> None:
        self.clock: Final = clock
        self.reconnects: Final = reconnects
        self._address = address
        self._settings = settings or BindingSettings(
            port=address.port,
            rebinds=address.rebinds,
            identity=ClientIdentity(uuid4(), process_id=os.getpid()),
        )
        self.channel: RemoteChannel
        self.protocol: ReadProtocol
        self._handles: set[RemoteHandle] = set()
        self._jobs: dict[int, ReadJob[ReceivedMessage]] = {}
        self.identity: Identity
        self.failures: Final = Failures(address)
        self.management: Final = UnavailableManagement(str(address))
        self.ranges: Final = RemoteRanges(self, address)
        self.transactions: Final = RemoteTransactions(self)

    # Connecting

    def new_channel(self) -> RemoteChannel:
        return RemoteChannel(str(self._address), self._address.security())

    def greet(self, channel: Channel) -> Operation[None]:
        assert isinstance(channel, RemoteChannel)  # noqa: S101 - from `new_channel`
        request = channel.run(find_server(self._settings))
        outcome: Outcome | None = yield Wait(request, FIND_SECONDS)
        if outcome is None:
            raise channel.lose(f"{channel.description} has not answered in time.")
        try:
            self.protocol = outcome.result()
        except ConnectionClosed as closed:
            raise self.failures.no_server(closed) from closed.__cause__ or closed
        except MsmqError as exc:
            raise self.failures.explained(exc) from exc
        self.identity = Identity(self._address.host, "", "", self.protocol.name)
        self._handles.clear()
        self._jobs.clear()
        self.ranges.forget()
        self.channel = channel
        channel.on_timer = self._give_back_old

    def tell_loss(self) -> None:
        """Nothing is sent, so nothing is lost."""

    def check(self, transaction: int = 0) -> None:  # noqa: ARG002 - there are none
        self.channel.check()

    def flush(self) -> Operation[None]:
        channel = self.channel
        while channel.background:
            yield Wait(0, arrivals=channel.arrivals)
        channel.check()

    def _run(self, steps: Steps[Any], what: str = "") -> Operation[Any]:
        """Go through steps, for at most the five minutes that calls may take."""
        channel = self.channel
        channel.check()
        request = channel.run(steps)
        outcome: Outcome | None = yield Wait(request, CALL_SECONDS)
        if outcome is None:
            channel.drop(request)
            raise channel.lose(f"{channel.description} has not answered in five minutes.")
        try:
            return outcome.result()
        except MsmqError as exc:
            raise self.failures.explained(exc, what) from exc

    def call(self, invoke: Invoke, what: str) -> Operation[None]:
        """Make a call that answers with nothing but success."""

        def steps() -> Steps[None]:
            check((yield invoke))

        return self._run(steps(), what)

    # Queues

    def open(self, name: str, access: str, share: str) -> Operation[Handle]:
        format_name = format_name_at(self._address.host, name)
        kind = _ACCESS.get(access)
        if kind is None:
            raise not_available("outgoing queues cannot be opened", str(self._address))
        share_mode = ShareMode.DENY_NONE if share == "deny_none" else ShareMode.DENY_SHARE
        queue = yield from self._run(
            self.protocol.open(QueueFormat.from_format_name(format_name), kind, share_mode), name
        )
        handle = RemoteHandle(self.channel, self.channel.next_id(), str(format_name), queue)
        self._handles.add(handle)
        return handle

    def close(self, handles: Iterable[Handle | SendHandle]) -> Operation[None]:
        channel = self.channel
        for handle in handles:
            assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
            self._handles.discard(handle)
            for job in list(handle.jobs):
                job.withdrawn = True
                job.cancel()
            # A server may run calls that overlap in any order.
            while handle.ending or handle.jobs:
                yield Wait(0, arrivals=channel.arrivals)
            yield from self._run(self.protocol.close(handle.queue))

    def close_later(self, handle: Handle | SendHandle) -> None:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        self._handles.discard(handle)
        self.channel.drop(self.channel.run(self.protocol.close(handle.queue)))

    # Reading

    def ask(self, handle: Handle, read: Read | LookUp | HoldMany) -> int:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        if isinstance(read, HoldMany):
            raise not_available("several messages cannot be locked at once", str(self._address))
        reading = first_reading(handle, read)
        if read.transaction:
            joined = self.transactions.read(
                read.transaction, handle, reading, received, limit_of(read)
            )
            self._jobs[joined.number] = joined
            return joined.number
        if reading.receives and not read.two_phase:
            raise not_available("messages cannot be received in one step", str(self._address))
        job = self.start(handle, reading, received, limit_of(read))
        self._jobs[job.number] = job
        return job.number

    def start(
        self,
        handle: RemoteHandle,
        reading: Reading,
        convert: Callable[[RemoteMessage], F],
        limit: int,
    ) -> ReadJob[F]:
        """Begin to read up to `limit` messages."""
        job = ReadJob(
            self.channel.next_id(),
            self.channel,
            self.protocol,
            handle,
            reading,
            convert=convert,
            limit=limit,
            clock=self.clock,
            explain=self.failures.explained,
        )
        job.start()
        return job

    def answer(
        self, request: int, seconds: float | None = None
    ) -> Operation[list[ReceivedMessage] | None]:
        outcome: Outcome | None = yield Wait(request, seconds)
        if outcome is None:
            return None
        job = self._jobs.pop(request)
        messages: list[ReceivedMessage] = outcome.result()
        if not job.receives:
            return messages
        # What was held for too long before the caller asked is back in its queue.
        return [message for message in messages if job.handle.holds(message.lookup_id)]

    def cancel(self, request: int) -> None:
        self._jobs[request].cancel()

    def withdraw(self, request: int, handle: Handle | None) -> None:  # noqa: ARG002 - the job knows
        job = self._jobs.pop(request)
        outcome = self.channel.take(request)
        if outcome is None:
            job.withdrawn = True
            self.channel.drop(request)
            job.cancel()
        elif outcome.error is None:
            job.give_back(outcome.value)

    def end(
        self,
        handle: Handle,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        handed: Sequence[int] = (),  # noqa: ARG002 - the protocol has no word for it
        answered: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        for lookup_id in lookup_ids:
            locked = handle.locked.pop(lookup_id, None)
            if locked is not None:
                self._end(handle, locked[0], Ack.RR_ACK if delete else Ack.RR_NACK, answered)
            elif delete:
                number = self.channel.next_id()
                self.channel.background.add(number)
                error = may_come_again(handle, lookup_id, "it was held for too long")
                self.channel.finish(number, None, error)
                if answered is not None:
                    answered([lookup_id])

    def _end(
        self,
        handle: RemoteHandle,
        message: RemoteMessage,
        ack: Ack,
        answered: Callable[[Sequence[int]], None] | None,
    ) -> None:
        channel = self.channel
        number = channel.next_id()
        channel.background.add(number)
        handle.ending += 1

        # Any: the response differs by protocol.
        def ended(response: Any, error: MsmqError | None) -> None:
            handle.ending -= 1
            try:
                if error is not None:
                    raise error
                check(response)
            except ConnectionClosed as closed:
                channel.finish(number, None, self.failures.explained(closed))
                return
            except MsmqError as exc:
                again = ack is Ack.RR_ACK
                channel.finish(
                    number,
                    None,
                    may_come_again(handle, message.lookup_id, str(exc)) if again else None,
                )
            else:
                channel.finish(number, None, None)
            if answered is not None:
                answered([message.lookup_id])

        channel.post(self.protocol.end(handle.queue, message, ack), ended)

    def _give_back_old(self, now: float) -> None:
        """Give back what was held for so long that the server would do it."""
        for handle in self._handles:
            old = [
                lookup_id
                for lookup_id, (_, since) in handle.locked.items()
                if now - since >= HOLD_SECONDS
            ]
            self.end(handle, old, delete=False)

    def open_cursor(self, handle: Handle) -> Operation[int]:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        cursor: int = yield from self._run(self.protocol.create_cursor(handle.queue))
        handle.unread_cursors.add(cursor)
        return cursor

    def close_cursor(self, handle: Handle, cursor: int) -> None:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        # [MS-MQRR] 3.2.4.12: reads that wait at the cursor are cancelled first.
        for job in self._jobs.values():
            if job.handle is handle and job.cursor == cursor:
                job.cancel()
        handle.unread_cursors.discard(cursor)
        self.channel.post(self.protocol.close_cursor(handle.queue, cursor), ignore)

    # Managing messages

    def purge(self, handle: Handle, upto: int | None) -> Operation[PurgeStep]:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        if upto is not None:
            raise not_available("a part of a queue cannot be purged", str(self._address))
        yield from self.call(self.protocol.purge(handle.queue), handle.format_name)
        # The server does not say how many.
        return PurgeStep(0, None, done=True)

    def move_messages(
        self,
        source: Handle,
        target: Handle,
        lookup_ids: list[int] | None,
        count: int,
        transaction: int,
        *,
        dry_run: bool,
        message_class: int,
    ) -> Operation[MoveStep]:
        assert isinstance(source, RemoteHandle)  # noqa: S101 - from `open`
        assert isinstance(target, RemoteHandle)  # noqa: S101 - from `open`
        if dry_run or message_class:
            raise not_available("a move cannot be tried or undone", str(self._address))
        if lookup_ids is not None:
            for lookup_id in lookup_ids:
                yield from self._move(source, target, lookup_id, transaction)
            return MoveStep(len(lookup_ids), [])
        moved = 0
        while moved < count:
            headers = yield from self.ranges.headers(source, count - moved)
            if not headers:
                break
            for header in headers:
                moved += yield from self._move_if_there(
                    source, target, header.lookup_id, transaction
                )
        return MoveStep(moved, [])

    def _move(
        self, source: RemoteHandle, target: RemoteHandle, lookup_id: int, transaction: int
    ) -> Operation[None]:
        # One after the other: a server may run calls that overlap in any order.
        move = self.transactions.move(transaction, source.queue, target.queue, lookup_id)
        return self.call(move, source.format_name)

    def _move_if_there(
        self, source: RemoteHandle, target: RemoteHandle, lookup_id: int, transaction: int
    ) -> Operation[bool]:
        """Move a message, unless another reader was faster; say whether it was moved."""
        try:
            yield from self._move(source, target, lookup_id, transaction)
        except QueueError as exc:
            if exc.code not in ABSENT:
                raise
            return False
        return True

    def reject_messages(
        self, handle: Handle, lookup_ids: list[int], transaction: int
    ) -> Operation[None]:
        assert isinstance(handle, RemoteHandle)  # noqa: S101 - from `open`
        for lookup_id in lookup_ids:
            rejection = self.transactions.reject(transaction, handle.queue, lookup_id)
            yield from self.call(rejection, handle.format_name)

    # What only a queue manager does

    def purge_messages(self, handle: Handle, lookup_ids: list[int]) -> NoReturn:  # noqa: ARG002
        raise not_available("messages cannot be purged by lookup id", str(self._address))

    def find_message(self, handle: Handle, identifier: bytes, *, correlation: bool) -> NoReturn:  # noqa: ARG002
        raise not_available("messages cannot be found by their identifier", str(self._address))

    def open_to_send(self, name: str, share: str) -> NoReturn:  # noqa: ARG002 - the interface
        raise not_available("messages cannot be sent", str(self._address))

    def open_later(self, name: str) -> NoReturn:  # noqa: ARG002 - the interface
        raise not_available("messages cannot be sent", str(self._address))

    def packet_builder(self, *, transactional: bool) -> NoReturn:  # noqa: ARG002
        raise not_available("messages cannot be sent", str(self._address))

    def send_and_wait(
        self,
        handle: SendHandle,  # noqa: ARG002
        packet: bytes,  # noqa: ARG002
        transaction: int,  # noqa: ARG002
        deliver_at: float | None = None,  # noqa: ARG002
    ) -> NoReturn:
        raise not_available("messages cannot be sent", str(self._address))

    def begin_transaction(self) -> NoReturn:
        raise not_available("transactions cannot begin", str(self._address))

    def propagation_token(self, number: int) -> NoReturn:  # noqa: ARG002
        raise not_available("transactions cannot begin", str(self._address))

    def enlist(self, identifier: bytes, token: bytes, name: str) -> Operation[int]:
        return self.transactions.enlist(identifier, token, name)

    def is_broken(self, number: int) -> bool:
        return self.transactions.is_broken(number)

    def end_transaction(self, number: int, *, commit: bool) -> NoReturn:  # noqa: ARG002
        raise not_available("transactions cannot end", str(self._address))

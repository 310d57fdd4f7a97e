# ruff: noqa: ARG002 - the methods have the arguments of the interface
"""The seam of the client: its logic works over a backend that is not the local protocol.

`ReadingBackend` has what a server of remote read has: queues to read, one message at a time, and
neither sends nor transactions. It answers at once, so no operation ever waits.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, TypeVar

import pytest
from tests.client.local.peer import packet

from openmsmq.client.backend import (
    Backend,
    Channel,
    Handle,
    HoldMany,
    Identity,
    LookUp,
    Management,
    MoveStep,
    PurgeStep,
    RangeRequests,
    Read,
    SendHandle,
    not_available,
)
from openmsmq.client.errors import ReceiveTimeout
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.logic.cursor import CursorLogic
from openmsmq.client.logic.manager import ManagerLogic
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.logic.prefetch import Prefetch
from openmsmq.client.logic.queue import QueueLogic
from openmsmq.client.logic.ranges import RangesLogic
from openmsmq.client.logic.transaction import TransactionLogic
from openmsmq.client.operations import Operation
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

T = TypeVar("T")
NAME = r"DIRECT=TCP:192.0.2.9\private$\orders"


def result(operation: Operation[T]) -> T:
    """Run an operation that never waits."""
    try:
        next(operation)
    except StopIteration as end:
        value: T = end.value
        return value
    raise AssertionError("it waits")


def at_once(value: T) -> Operation[T]:
    yield from ()
    return value


class ReadingBackend:
    """Messages by lookup id, in queues by name."""

    reconnects = False
    can_send = False
    largest_read = 1
    window = 1
    cursor_read = 1
    identity = Identity("server", "", "", "")

    def __init__(self, **queues: Iterable[int]) -> None:
        self.queues = {name: dict.fromkeys(ids, 0) for name, ids in queues.items()}
        self.channel: Channel = RequestChannel("msmq://server")
        self.opened: list[str] = []
        self.closed: list[int] = []
        self._answers: list[Callable[[], list[ReceivedMessage]]] = []
        self._cursors: list[int] = []

    @property
    def clock(self) -> Callable[[], float]:
        return lambda: 0.0

    def new_channel(self) -> Channel:
        return self.channel

    def greet(self, channel: Channel) -> Operation[None]:
        self.channel = channel
        return at_once(None)

    def tell_loss(self) -> None:
        pass

    def check(self, transaction: int = 0) -> None:
        pass

    def flush(self) -> Operation[None]:
        return at_once(None)

    def open(self, name: str, access: str, share: str) -> Operation[Handle]:
        self.opened.append(name)
        return at_once(Handle(self.channel, len(self.opened), NAME))

    def close(self, handles: Iterable[Handle | SendHandle]) -> Operation[None]:
        self.closed += [handle.number for handle in handles]
        return at_once(None)

    def close_later(self, handle: Handle | SendHandle) -> None:
        self.closed.append(handle.number)

    def _queue(self, handle: Handle) -> dict[int, int]:
        return self.queues[self.opened[handle.number - 1]]

    def ask(self, handle: Handle, read: Read | LookUp | HoldMany) -> int:
        queue = self._queue(handle)
        assert not isinstance(read, HoldMany)
        at: int | None
        if isinstance(read, LookUp):
            at = read.lookup_id if read.lookup_id in queue else None
        elif read.cursor:
            self._cursors[read.cursor - 1] += read.action == "peek_next"
            at = next(iter(list(queue)[self._cursors[read.cursor - 1] :]), None)
        else:
            at = next((each for each, locked in queue.items() if not locked), None)

        def answer() -> list[ReceivedMessage]:
            if at is None:
                if isinstance(read, LookUp):
                    raise QueueError(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, "none")
                raise ReceiveTimeout
            if read.two_phase:
                queue[at] = 1
            return [ReceivedMessage(packet(at), at, 1.0)]

        self._answers.append(answer)
        return len(self._answers)

    def answer(
        self, request: int, seconds: float | None = None
    ) -> Operation[list[ReceivedMessage] | None]:
        yield from ()
        return self._answers[request - 1]()

    def cancel(self, request: int) -> None:
        pass

    def withdraw(self, request: int, handle: Handle | None) -> None:
        raise AssertionError("every read was answered")

    def end(
        self,
        handle: Handle,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        handed: Sequence[int] = (),
        answered: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        queue = self._queue(handle)
        for each in lookup_ids:
            assert queue[each] == 1, "only a message that is locked can be ended"
            if delete:
                del queue[each]
            else:
                queue[each] = 0

    def open_cursor(self, handle: Handle) -> Operation[int]:
        self._cursors.append(0)
        return at_once(len(self._cursors))

    def close_cursor(self, handle: Handle, cursor: int) -> None:
        self._cursors[cursor - 1] = -1

    def purge(self, handle: Handle, upto: int | None) -> Operation[PurgeStep]:
        count = len(self._queue(handle))
        self._queue(handle).clear()
        return at_once(PurgeStep(count, upto, done=True))

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
        ids = list(self._queue(source))[:count] if lookup_ids is None else lookup_ids
        for each in ids:
            self._queue(target)[each] = self._queue(source).pop(each)
        return at_once(MoveStep(len(ids), []))

    def reject_messages(
        self, handle: Handle, lookup_ids: list[int], transaction: int
    ) -> Operation[None]:
        raise NotImplementedError

    def purge_messages(self, handle: Handle, lookup_ids: list[int]) -> NoReturn:
        self._refuse("messages cannot be purged")

    def find_message(self, handle: Handle, identifier: bytes, *, correlation: bool) -> NoReturn:
        self._refuse("messages cannot be found")

    def _refuse(self, what: str) -> NoReturn:
        raise not_available(what, self.channel.description)

    def open_to_send(self, name: str, share: str) -> Operation[SendHandle]:
        self._refuse("messages cannot be sent")

    def open_later(self, name: str) -> SendHandle:
        self._refuse("messages cannot be sent")

    def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        self._refuse("messages cannot be sent")

    def send_and_wait(
        self,
        handle: SendHandle,
        packet: bytes,
        transaction: int,
        deliver_at: float | None = None,
    ) -> Operation[str]:
        self._refuse("messages cannot be sent")

    def begin_transaction(self) -> int:
        self._refuse("transactions cannot be begun")

    def end_transaction(self, number: int, *, commit: bool) -> Operation[None]:
        self._refuse("transactions cannot be ended")

    def propagation_token(self, number: int) -> Operation[tuple[bytes, bytes]]:
        self._refuse("transactions cannot be propagated")

    def enlist(self, identifier: bytes, token: bytes, name: str) -> Operation[int]:
        self._refuse("transactions cannot be joined")

    def is_broken(self, number: int) -> bool:
        return False

    @property
    def management(self) -> Management:
        self._refuse("queues cannot be managed")

    @property
    def ranges(self) -> RangeRequests:
        self._refuse("ranges cannot be read")


@pytest.fixture
def backend() -> ReadingBackend:
    return ReadingBackend(orders=[1, 2, 3], **{"orders;retry": []})


@pytest.fixture
def queue(backend: ReadingBackend) -> QueueLogic:
    whole: Backend = backend
    return QueueLogic(whole, "orders")


def numbers(messages: Iterable[ReceivedMessage] | None) -> list[int]:
    return [message.lookup_id for message in messages or ()]


def test_messages_are_looked_at_and_taken(backend: ReadingBackend, queue: QueueLogic) -> None:
    assert result(queue.peek(0.0)).lookup_id == 1
    assert result(queue.receive(0.0, 0)).lookup_id == 1
    assert list(backend.queues["orders"]) == [2, 3]
    assert backend.opened == ["orders"]


def test_many_are_taken_though_each_read_brings_one(
    backend: ReadingBackend, queue: QueueLogic
) -> None:
    assert numbers(result(queue.receive_many(0.0, 10, 0))) == [1, 2, 3]
    assert numbers(result(queue.receive_many(0.0, 10, 0))) == []
    assert backend.queues["orders"] == {}


def test_messages_are_found_by_lookup_id(backend: ReadingBackend, queue: QueueLogic) -> None:
    assert result(queue.look_up(2, "current", 0, receive=False)).lookup_id == 2
    held = result(queue.hold(2, "current"))
    result(queue.release(held, taken=False))
    assert result(queue.look_up(2, "current", 0, receive=True)).lookup_id == 2
    with pytest.raises(QueueError, match="MQ_ERROR_MESSAGE_NOT_FOUND"):
        result(queue.look_up(2, "current", 0, receive=False))


def test_a_cursor_sees_every_message_one_at_a_time(queue: QueueLogic) -> None:
    cursor = CursorLogic(queue)
    batches = [numbers(result(cursor.next_batch(0.0))) for _ in range(4)]
    assert batches == [[1], [2], [3], []]
    cursor.close()


def test_a_loop_takes_what_the_caller_has_seen(backend: ReadingBackend, queue: QueueLogic) -> None:
    ahead = Prefetch(queue, 100)
    assert numbers(result(ahead.next_batch(None))) == [1]
    ahead.given = 1
    assert numbers(result(ahead.next_batch(None))) == [2]
    result(ahead.close())
    assert backend.queues["orders"] == {2: 0, 3: 0}


def test_messages_are_moved_and_purged(backend: ReadingBackend, queue: QueueLogic) -> None:
    target = queue.move_target(";retry")
    assert result(queue.move(target, [2], 0, count=None, progress=None)).moved == 1
    assert list(backend.queues["orders;retry"]) == [2]
    counts: list[int] = []
    assert result(queue.purge(counts.append)) == 2
    assert counts == [2]
    result(queue.close())
    target.close_unused()
    assert sorted(backend.closed) == [1, 2]


def test_the_format_name_is_known_without_sending(queue: QueueLogic) -> None:
    assert result(queue.format_name()) == NAME


def test_what_only_a_queue_manager_does_is_refused_with_a_remedy(
    backend: ReadingBackend, queue: QueueLogic
) -> None:
    manager = ManagerLogic(backend)
    refused: list[Callable[[], object]] = [
        lambda: result(queue.opened_to_send()),
        lambda: result(manager.create_queue("orders", {})),
        lambda: result(manager.open_queue("orders", "send", "deny_none")),
        lambda: result(TransactionLogic.begin(backend)),
        lambda: result(queue.info()),
        lambda: RangesLogic(queue),
    ]
    for call in refused:
        with pytest.raises(QueueError, match=r"msmq://server: .* over remote read") as caught:
            call()
        assert caught.value.code == Hresult.MQ_ERROR_UNSUPPORTED_OPERATION
        assert "queue manager" in caught.value.remedy

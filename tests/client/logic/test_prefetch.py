"""Messages fetched ahead: what is locked, what is removed, what goes back."""

import pytest
from tests.client.local.peer import Peer, Running, found

from openmsmq.client.backend import GRACE_SECONDS
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.prefetch import Prefetch
from openmsmq.client.operations import Wait
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

Batch = list[ReceivedMessage] | None


def cancelled(request: int) -> local.Failed:
    return local.Failed(request, int(Hresult.MQ_ERROR_OPERATION_CANCELLED), "")


class Loop:
    """A loop over a queue, with the queue manager played by the test."""

    def __init__(self, prefetch: int = 4, *, reconnects: bool = False) -> None:
        self.peer = Peer(reconnects=reconnects)
        self.queue = self.peer.queue()
        self.ahead = Prefetch(self.queue, prefetch)
        self.read = 0

    def first(self, *numbers: int, timeout: float | None = None) -> list[int]:
        """The first batch has these messages."""
        running = self.peer.start(self.ahead.next_batch(timeout))
        self.read = self.peer.request(local.Receive).id
        return self._answer(running, numbers)

    def next(self, *numbers: int, timeout: float | None = None) -> list[int]:
        """The next batch has these messages; they answer the read that is under way."""
        running = Running(self.ahead.next_batch(timeout))
        return self._answer(running, numbers)

    def _answer(self, running: Running[Batch], numbers: tuple[int, ...]) -> list[int]:
        assert running.wait.request == self.read
        self.peer.go_on(running, found(self.read, *numbers))
        assert running.result is not None
        reads = [each for each in self.ends_and_reads() if isinstance(each, local.Receive)]
        self.read = reads[0].id if reads else 0
        return [message.lookup_id for message in running.result]

    def ends_and_reads(self) -> list[local.AnyRequest]:
        self.seen = self.peer.requests()
        return self.seen

    @property
    def ends(self) -> list[tuple[list[int], bool]]:
        """What was removed or given back by the requests seen last."""
        return [
            (each.lookup_ids, each.delete)
            for each in self.seen
            if isinstance(each, local.EndReceive)
        ]

    def close(self, *, current_taken: bool = True) -> Running[None]:
        self.ahead.current_taken = current_taken
        return Running(self.ahead.close())


def test_half_of_the_prefetch_is_read_at_a_time_and_locked() -> None:
    loop = Loop(prefetch=10)
    loop.peer.start(loop.ahead.next_batch(None))
    read = loop.peer.request(local.Receive)
    assert (read.count, read.two_phase, read.timeout) == (5, True, None)


def test_the_next_messages_are_on_their_way_while_the_caller_has_a_batch() -> None:
    loop = Loop()
    assert loop.first(1, 2) == [1, 2]
    assert loop.read
    assert loop.next(3) == [3]


def test_one_message_at_a_time_locks_nothing_else() -> None:
    loop = Loop(prefetch=1)
    loop.first(1)
    assert not loop.read


def test_a_batch_is_removed_when_the_caller_asks_for_the_next() -> None:
    loop = Loop()
    loop.first(1, 2)
    assert loop.ends == []
    loop.ahead.given = 2
    loop.next(3)
    assert loop.ends == [([1, 2], True)]


def test_a_slow_caller_removes_what_it_has_taken_before_the_batch_ends() -> None:
    loop = Loop(prefetch=8)
    loop.first(1, 2, 3)
    loop.ahead.given = 2
    assert loop.ahead.remove_taken()
    loop.ends_and_reads()
    assert loop.ends == [([1, 2], True)]
    assert not loop.ahead.remove_taken()
    loop.ahead.given = 3
    loop.next(4)
    assert loop.ends == [([3], True)]


def test_a_loop_with_a_timeout_ends_only_when_its_read_was_cancelled() -> None:
    loop = Loop()
    loop.first(1)
    running = Running(loop.ahead.next_batch(0.0))
    assert running.wait == Wait(loop.read, 0.0)
    running.go_on(None)
    (cancel,) = [each for each in loop.peer.requests() if isinstance(each, local.Cancel)]
    assert cancel.request == loop.read
    assert running.wait == Wait(loop.read, GRACE_SECONDS)
    loop.peer.go_on(running, cancelled(loop.read))
    assert running.ended
    assert running.result is None


def test_what_the_caller_was_not_given_goes_back_before_the_next_batch() -> None:
    loop = Loop()
    loop.first(1, 2)
    loop.ahead.given = 1
    loop.next(3)
    assert loop.ends == [([1], True), ([2], False)]


def test_messages_that_are_faster_than_the_cancellation_do_not_end_the_loop() -> None:
    loop = Loop()
    loop.first(1)
    running = Running(loop.ahead.next_batch(0.0))
    running.go_on(None)
    loop.peer.go_on(running, found(loop.read, 2, 3))
    assert running.result is not None
    assert [message.lookup_id for message in running.result] == [2, 3]


def test_a_refused_read_is_raised() -> None:
    loop = Loop()
    loop.first(1)
    running = Running(loop.ahead.next_batch(None))
    gone = local.Failed(loop.read, int(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE), "orders")
    with pytest.raises(QueueError, match="orders"):
        loop.peer.go_on(running, gone)


def test_a_queue_manager_that_does_not_end_a_read_is_lost() -> None:
    loop = Loop()
    loop.first(1)
    running = Running(loop.ahead.next_batch(0.0))
    running.go_on(None)
    with pytest.raises(ConnectionLost, match="has not answered"):
        running.go_on(None)


def test_leaving_a_loop_removes_the_taken_and_gives_back_the_rest() -> None:
    loop = Loop(prefetch=8)
    loop.first(1, 2, 3)
    loop.ahead.given = 2
    closing = loop.close()
    assert closing.wait.request == loop.read
    loop.peer.go_on(closing, found(loop.read, 4))
    loop.ends_and_reads()
    assert loop.ends == [([1, 2], True), ([3, 4], False)]
    assert not closing.ended


def test_the_end_of_a_loop_waits_until_the_removal_is_final() -> None:
    loop = Loop(prefetch=8)
    loop.first(1, 2)
    loop.ahead.given = 2
    closing = loop.close()
    loop.peer.go_on(closing, cancelled(loop.read))
    (end,) = [each for each in loop.peer.requests() if isinstance(each, local.EndReceive)]
    assert not closing.ended
    loop.peer.go_on(closing, local.Done(end.id, 2))
    assert closing.ended


def test_an_exception_gives_the_current_message_back_too() -> None:
    loop = Loop(prefetch=8)
    loop.first(1, 2, 3)
    loop.ahead.given = 2
    closing = loop.close(current_taken=False)
    loop.peer.go_on(closing, cancelled(loop.read))
    loop.ends_and_reads()
    # The second was seen, the third was not.
    assert loop.ends == [([1], True), ([2], False), ([3], False)]


def test_an_exception_does_not_give_back_what_is_removed_already() -> None:
    loop = Loop(prefetch=8)
    loop.first(1, 2)
    loop.ahead.given = 1
    loop.ahead.remove_taken()
    closing = loop.close(current_taken=False)
    loop.peer.go_on(closing, cancelled(loop.read))
    loop.ends_and_reads()
    assert loop.ends == [([1], True), ([2], False)]


def test_closing_twice_or_before_the_start_does_nothing() -> None:
    loop = Loop()
    assert loop.close().ended
    assert not loop.peer.requests()


def test_closing_after_a_loss_does_nothing() -> None:
    loop = Loop()
    loop.first(1)
    loop.peer.channel.lose("gone")
    assert loop.close().ended


def test_after_a_loss_what_was_taken_is_removed_and_not_given_again() -> None:
    loop = Loop(prefetch=8, reconnects=True)
    loop.first(1, 2, 3)
    loop.ahead.given = 2
    loop.peer.channel.lose("gone")
    loop.peer.connect()
    running = Running(loop.ahead.next_batch(None))
    loop.peer.open(running)
    read = loop.peer.request(local.Receive)
    loop.peer.go_on(running, found(read.id, 1, 2, 3, 4))
    assert running.result is not None
    assert [message.lookup_id for message in running.result] == [3, 4]
    loop.ends_and_reads()
    assert loop.ends == [([1, 2], True)]


def test_after_a_loss_a_removal_without_an_answer_is_made_again() -> None:
    loop = Loop(prefetch=8, reconnects=True)
    loop.first(1, 2)
    loop.ahead.given = 2
    loop.ahead.remove_taken()
    loop.peer.channel.lose("gone")
    loop.peer.connect()
    running = Running(loop.ahead.next_batch(None))
    loop.peer.open(running)
    read = loop.peer.request(local.Receive)
    loop.peer.go_on(running, found(read.id, 1, 2))
    assert not running.ended
    again, more = loop.peer.requests()
    assert isinstance(again, local.EndReceive)
    assert again.lookup_ids == [1, 2]
    assert running.wait.request == more.id


def test_a_removal_that_was_answered_is_not_remembered() -> None:
    loop = Loop(prefetch=8, reconnects=True)
    loop.first(1, 2)
    loop.ahead.given = 2
    loop.ahead.remove_taken()
    end = loop.peer.request(local.EndReceive)
    loop.peer.answer(local.Done(end.id, 2))
    loop.peer.connect()
    running = Running(loop.ahead.next_batch(None))
    loop.peer.open(running)
    read = loop.peer.request(local.Receive)
    # Lookup ids never repeat, so this cannot be; it shows that nothing is filtered.
    loop.peer.go_on(running, found(read.id, 1))
    assert running.result is not None
    assert len(running.result) == 1


def test_a_prefetch_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="prefetch"):
        Prefetch(Peer().queue(), 0)


def test_a_loop_that_outlives_its_queue_ends_nothing_twice() -> None:
    loop = Loop()
    loop.first(1, 2)
    loop.ahead.given = 1
    Running(loop.queue.close())
    loop.peer.request(local.CloseQueue)
    # The event loop ends a loop that was left early when it gets to it.
    assert Running(loop.ahead.close()).ended
    assert [type(each) for each in loop.peer.requests()] == [local.Cancel]

"""Looking at every message without taking any."""

import pytest
from tests.client.local.peer import Peer, Running, found

from openmsmq.client.backend import GRACE_SECONDS
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.local.backend import WINDOW
from openmsmq.client.logic.cursor import FIRST_WINDOW, CursorLogic
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

TIMED_OUT = int(Hresult.MQ_ERROR_IO_TIMEOUT)
ILLEGAL = int(Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION)
CURSOR = 3
Batch = list[ReceivedMessage] | None


@pytest.fixture
def peer() -> Peer:
    return Peer()


def begin(peer: Peer, cursor: CursorLogic, timeout: float | None = 0.0) -> Running[Batch]:
    """The first batch, up to its reads."""
    running = peer.start(cursor.next_batch(timeout))
    peer.go_on(running, local.Done(peer.request(local.OpenCursor).id, CURSOR))
    return running


def reads(peer: Peer) -> list[local.Receive]:
    requests = peer.requests()
    assert all(isinstance(each, local.Receive) for each in requests)
    return [each for each in requests if isinstance(each, local.Receive)]


def answer(peer: Peer, running: Running[Batch], asked: list[local.Receive], *numbers: int) -> None:
    """Messages for the first reads, and for the others the end of the queue."""
    for read, number in zip(asked, numbers, strict=False):
        peer.go_on(running, found(read.id, number))
    code = TIMED_OUT
    for read in asked[len(numbers) :]:
        peer.go_on(running, local.Failed(read.id, code, ""))
        code = ILLEGAL


def ids(batch: Batch) -> list[int]:
    assert batch is not None
    return [message.lookup_id for message in batch]


def test_many_messages_are_asked_for_at_a_time(peer: Peer) -> None:
    running = begin(peer, CursorLogic(peer.queue()))
    asked = reads(peer)
    assert [read.action for read in asked] == ["peek"] + ["peek_next"] * (FIRST_WINDOW - 1)
    assert {read.cursor for read in asked} == {CURSOR}
    answer(peer, running, asked, *range(FIRST_WINDOW))
    assert ids(running.result) == list(range(FIRST_WINDOW))


def test_the_window_grows_up_to_a_limit(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    running = begin(peer, cursor)
    window = FIRST_WINDOW
    for _ in range(8):
        asked = reads(peer)
        assert len(asked) == window
        answer(peer, running, asked, *range(window))
        window = min(2 * window, WINDOW)
        running = Running(cursor.next_batch(0.0))


def test_refusals_behind_the_last_message_end_the_batch_only(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    running = begin(peer, cursor)
    answer(peer, running, reads(peer), 1, 2)
    assert ids(running.result) == [1, 2]
    again = Running(cursor.next_batch(0.0))
    asked = reads(peer)
    # A cursor that ran into the end goes on behind its place with a plain peek.
    assert asked[0].action == "peek"
    answer(peer, again, asked)
    assert again.result is None


def test_a_read_waits_alone_when_there_is_nothing(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    running = begin(peer, cursor, 5.0)
    asked = reads(peer)
    assert {read.timeout for read in asked} == {0.0}
    answer(peer, running, asked)
    (waiting,) = reads(peer)
    assert (waiting.action, waiting.timeout) == ("peek", 5.0)
    assert running.wait.seconds == 5.0 + GRACE_SECONDS
    answer(peer, running, [waiting], 1)
    assert ids(running.result) == [1]
    # Nothing was asked for behind it, so the cursor is still at this message.
    again = Running(cursor.next_batch(5.0))
    assert reads(peer)[0].action == "peek_next"
    assert not again.ended


def test_another_refusal_is_raised_and_the_rest_is_withdrawn(peer: Peer) -> None:
    running = begin(peer, CursorLogic(peer.queue()))
    asked = reads(peer)
    with pytest.raises(QueueError, match="gone"):
        peer.go_on(
            running,
            local.Failed(asked[0].id, int(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE), "gone"),
        )
    cancels = [each for each in peer.requests() if isinstance(each, local.Cancel)]
    assert [cancel.request for cancel in cancels] == [read.id for read in asked[1:]]


def test_a_queue_manager_that_does_not_answer_is_lost(peer: Peer) -> None:
    running = begin(peer, CursorLogic(peer.queue()))
    with pytest.raises(ConnectionLost, match="not answered in time"):
        running.go_on(None)


def test_a_cursor_does_not_outlive_its_session(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    running = begin(peer, cursor)
    answer(peer, running, reads(peer), 1)
    peer.connect()
    with pytest.raises(ConnectionLost, match="open another"):
        Running(cursor.next_batch(0.0))
    cursor.close()
    assert not peer.requests()


def test_a_cursor_is_closed_once(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    cursor.close()
    running = begin(peer, cursor)
    answer(peer, running, reads(peer), 1)
    cursor.close()
    assert peer.request(local.CloseCursor).cursor == CURSOR
    cursor.close()
    assert not peer.requests()


def test_a_cursor_of_a_lost_connection_is_not_closed(peer: Peer) -> None:
    cursor = CursorLogic(peer.queue())
    running = begin(peer, cursor)
    answer(peer, running, reads(peer), 1)
    peer.channel.lose("gone")
    cursor.close()
    assert not peer.requests()


def test_a_cursor_of_a_closed_queue_is_not_closed_again(peer: Peer) -> None:
    queue = peer.queue()
    cursor = CursorLogic(queue)
    running = begin(peer, cursor)
    answer(peer, running, reads(peer), 1)
    Running(queue.close())
    peer.request(local.CloseQueue)
    # A loop that was left early drops its cursor when the garbage collector gets to it.
    cursor.close()
    assert not peer.requests()

"""One queue as a client uses it, step by step."""

import pytest
from tests.client.local.peer import GUID, ORDERS, Peer, Running, found, opened
from tests.security.signatures.signer import signing_key

from openmsmq.client.backend import GRACE_SECONDS, READ_BYTES, MoveStep
from openmsmq.client.errors import ConnectionLost, ReceiveTimeout
from openmsmq.client.logic.queue import MOVE_MESSAGES, QueueLogic
from openmsmq.client.message import Message
from openmsmq.client.operations import Wait
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import MAX_MESSAGES
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.message.user_message import UserMessage

TIMED_OUT = int(Hresult.MQ_ERROR_IO_TIMEOUT)


@pytest.fixture
def peer() -> Peer:
    return Peer()


def test_a_queue_is_opened_once_for_each_kind_of_access(peer: Peer) -> None:
    queue = peer.queue()
    first = peer.start(queue.opened("receive"))
    assert Running(queue.opened("receive")).result == first.result
    other = Running(queue.opened("send"))
    assert peer.request(local.OpenQueue).access == "send"
    assert not other.ended


def test_a_queue_is_opened_again_in_a_new_session(peer: Peer) -> None:
    queue = peer.queue()
    peer.start(queue.opened("receive"))
    sender = queue.open_sender()
    assert queue.open_sender() is sender
    peer.connect()
    Running(queue.opened("receive"))
    assert peer.request(local.OpenQueue).access == "receive"
    again = queue.open_sender()
    assert again is not None
    assert again.channel is peer.channel


def test_a_queue_opened_to_peek_is_read_with_that(peer: Peer) -> None:
    queue = peer.queue()
    peer.start(queue.opened("peek"))
    peeking = Running(queue.peek(0.0))
    assert peer.request(local.Receive).id == peeking.wait.request


def test_a_refused_send_opens_the_queue_again(peer: Peer) -> None:
    queue = peer.queue()
    first = Running(queue.opened_to_send()).result
    peer.channel.close_sends()
    assert peer.request(local.OpenToSend).handles == [first.number]
    peer.channel.refused.add(first.number)
    second = Running(queue.opened_to_send()).result
    peer.channel.close_sends()
    close, reopen = peer.requests()
    assert isinstance(close, local.CloseQueue)
    assert close.handle == first.number
    assert isinstance(reopen, local.OpenToSend)
    assert reopen.handles == [second.number]
    # It may not be open: the refusal of its messages has said so.
    peer.answer(local.Failed(close.id, int(Hresult.MQ_ERROR_INVALID_HANDLE), ""))
    peer.backend.check()


def test_a_queue_that_keeps_readers_out_is_open_before_something_is_sent(peer: Peer) -> None:
    queue = QueueLogic(peer.backend, ORDERS, "deny_receive")
    assert queue.open_sender() is None
    opening = Running(queue.opened_to_send())
    request = peer.request(local.OpenQueue)
    assert (request.access, request.share) == ("send", "deny_receive")
    peer.go_on(opening, opened(request.id, 8))
    assert opening.result.number == 8
    assert queue.open_sender() is opening.result


def test_what_is_asked_of_a_queue_does_not_change_the_handle_for_sending(peer: Peer) -> None:
    queue = peer.queue()
    handle = queue.open_sender()
    asking = Running(queue.is_transactional())
    peer.go_on(asking, opened(peer.opened_and(local.OpenQueue).id, 8))
    assert asking.result is False
    assert peer.request(local.CloseQueue).handle == 8
    assert queue.open_sender() is handle
    assert Running(queue.format_name()).result == ORDERS
    assert not peer.requests()


def test_a_message_goes_out_as_a_packet_and_its_id_comes_back(peer: Peer) -> None:
    sending = Running(peer.queue().send_and_wait(Message(b"body", "label"), 0))
    send = peer.opened_and(local.Send)
    view = UserMessage(send.packets[0])
    assert (view.label, view.body, view.transactional) == ("label", b"body", False)
    peer.go_on(sending, local.Done(send.id, 12))
    assert sending.result == rf"{GUID}\12"


def test_a_message_is_signed_for_the_queue_that_was_opened(peer: Peer) -> None:
    message = Message(b"body", sign=True, certificate=signing_key())
    sending = Running(peer.queue().send_and_wait(message, 0))
    peer.go_on(sending, opened(peer.opened_and(local.OpenQueue).id))
    *_, send = peer.requests()
    assert isinstance(send, local.Send)
    header = UserMessage(send.packets[0]).security_header
    assert header is not None
    assert header.sender_cert == signing_key().certificate
    assert len(header.signature) == 256
    peer.go_on(sending, local.Done(send.id, 12))
    assert sending.ended


def test_a_refused_message_raises_and_marks_the_handle(peer: Peer) -> None:
    sending = Running(peer.queue().send_and_wait(Message(b"body"), 0))
    send = peer.opened_and(local.Send)
    with pytest.raises(AccessDenied):
        peer.go_on(sending, local.Failed(send.id, int(Hresult.MQ_ERROR_ACCESS_DENIED), "no"))
    assert peer.channel.refused == {send.handle}


def test_receive_locks_first_and_removes_when_the_message_is_here(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(5.0, 0))
    read = peer.request(local.Receive)
    assert (read.count, read.timeout, read.two_phase) == (1, 5.0, True)
    assert receiving.wait == Wait(read.id, 5.0 + GRACE_SECONDS)
    peer.go_on(receiving, found(read.id, 3))
    assert receiving.result.lookup_id == 3
    end = peer.request(local.EndReceive)
    assert (end.lookup_ids, end.delete) == ([3], True)


def test_receive_in_a_transaction_leaves_the_second_step_to_the_commit(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(None, 9))
    read = peer.request(local.Receive)
    assert (read.transaction, read.two_phase) == (9, False)
    peer.go_on(receiving, found(read.id, 3))
    assert receiving.ended
    assert not peer.requests()


def test_receive_raises_when_nothing_came(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(5.0, 0))
    read = peer.request(local.Receive)
    with pytest.raises(ReceiveTimeout):
        peer.go_on(receiving, local.Failed(read.id, TIMED_OUT, ""))


def test_a_receive_that_is_interrupted_leaves_nothing_locked(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(None, 0))
    read = peer.request(local.Receive)
    with pytest.raises(KeyboardInterrupt):
        receiving.throw(KeyboardInterrupt())
    assert peer.request(local.Cancel).request == read.id
    peer.answer(found(read.id, 3))
    end = peer.request(local.EndReceive)
    assert (end.lookup_ids, end.delete) == ([3], False)


def test_a_receive_that_loses_its_connection_posts_nothing(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(None, 0))
    peer.requests()
    with pytest.raises(ConnectionLost):
        receiving.throw(peer.channel.lose("gone"))
    assert not peer.requests()


def test_a_queue_manager_that_does_not_answer_a_read_is_lost(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive(5.0, 0))
    with pytest.raises(ConnectionLost, match="not answered in time"):
        receiving.go_on(None)


def big(request: int, *numbers: int) -> local.Messages:
    reply = found(request, *numbers)
    filler = bytes(READ_BYTES // 2)
    return local.Messages(request, [filler] * len(numbers), list(numbers), reply.arrived_times, [])


def test_receive_many_asks_again_when_a_reply_was_cut_by_size(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive_many(5.0, 10, 0))
    first = peer.request(local.Receive)
    peer.go_on(receiving, big(first.id, 1, 2))
    second = peer.request(local.Receive)
    assert (second.count, second.timeout) == (8, 0.0)
    peer.go_on(receiving, local.Failed(second.id, TIMED_OUT, ""))
    assert [message.lookup_id for message in receiving.result] == [1, 2]
    assert peer.request(local.EndReceive).lookup_ids == [1, 2]


def test_receive_many_is_content_with_a_reply_that_was_not_cut(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive_many(5.0, 10, 0))
    read = peer.request(local.Receive)
    peer.go_on(receiving, found(read.id, 1, 2))
    assert receiving.ended


def test_receive_many_returns_nothing_when_nothing_came(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive_many(5.0, 10, 0))
    peer.go_on(receiving, local.Failed(peer.request(local.Receive).id, TIMED_OUT, ""))
    assert receiving.result == []


def test_receive_many_that_fails_halfway_gives_back_what_it_has(peer: Peer) -> None:
    receiving = peer.start(peer.queue().receive_many(5.0, 10, 0))
    peer.go_on(receiving, big(peer.request(local.Receive).id, 1, 2))
    second = peer.request(local.Receive)
    gone = int(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
    with pytest.raises(QueueError, match="gone"):
        peer.go_on(receiving, local.Failed(second.id, gone, "gone"))
    end = peer.request(local.EndReceive)
    assert (end.lookup_ids, end.delete) == ([1, 2], False)


def test_receive_many_in_a_transaction_that_fails_halfway_leaves_it_to_the_abort(
    peer: Peer,
) -> None:
    receiving = peer.start(peer.queue().receive_many(5.0, 10, 9))
    peer.go_on(receiving, big(peer.request(local.Receive).id, 1, 2))
    second = peer.request(local.Receive)
    gone = int(Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
    with pytest.raises(QueueError, match="gone"):
        peer.go_on(receiving, local.Failed(second.id, gone, "gone"))
    assert not peer.requests()


def test_more_messages_than_a_request_takes_are_removed_in_several(peer: Peer) -> None:
    count = MAX_MESSAGES + 1
    receiving = peer.start(peer.queue().receive_many(0.0, count, 0))
    first = peer.request(local.Receive)
    assert first.count == MAX_MESSAGES
    ids = list(range(MAX_MESSAGES))
    packets = found(first.id, 1).packets * MAX_MESSAGES
    times = [1.0] * MAX_MESSAGES
    peer.go_on(receiving, local.Messages(first.id, packets, ids, times, []))
    second = peer.request(local.Receive)
    assert second.count == 1
    peer.go_on(receiving, found(second.id, MAX_MESSAGES))
    ends = [end for end in peer.requests() if isinstance(end, local.EndReceive)]
    assert [len(end.lookup_ids) for end in ends] == [MAX_MESSAGES, 1]


@pytest.mark.parametrize("count", [0, -1])
def test_receive_many_of_none_is_refused(peer: Peer, count: int) -> None:
    with pytest.raises(ValueError, match="count"):
        Running(peer.queue().receive_many(0.0, count, 0))


def test_peek_locks_nothing(peer: Peer) -> None:
    peeking = peer.start(peer.queue().peek(1.0))
    read = peer.request(local.Receive)
    assert (read.action, read.two_phase) == ("peek", False)
    peer.go_on(peeking, found(read.id, 4))
    assert peeking.result.lookup_id == 4
    assert not peer.requests()


def test_a_look_by_lookup_id_says_relation_and_leaves_the_message(peer: Peer) -> None:
    looking = peer.start(peer.queue().look_up(5, "next", 0, receive=False))
    lookup = peer.request(local.Lookup)
    assert (lookup.lookup_id, lookup.relation, lookup.receive) == (5, "next", False)
    peer.go_on(looking, found(lookup.id, 6))
    assert looking.result.lookup_id == 6
    assert not peer.requests()


def test_a_receive_by_lookup_id_has_two_steps_outside_transactions(peer: Peer) -> None:
    taking = peer.start(peer.queue().look_up(5, "current", 0, receive=True))
    lookup = peer.request(local.Lookup)
    assert lookup.two_phase
    peer.go_on(taking, found(lookup.id, 5))
    assert peer.request(local.EndReceive).lookup_ids == [5]


@pytest.mark.parametrize("taken", [True, False])
def test_a_message_that_is_held_is_removed_or_put_back(peer: Peer, *, taken: bool) -> None:
    queue = peer.queue()
    holding = peer.start(queue.hold(5, "current"))
    lookup = peer.request(local.Lookup)
    assert lookup.two_phase
    peer.go_on(holding, found(lookup.id, 5))
    assert not peer.requests()
    releasing = Running(queue.release(holding.result, taken=taken))
    end = peer.request(local.EndReceive)
    assert (end.lookup_ids, end.delete) == ([5], taken)
    assert not releasing.ended
    peer.go_on(releasing, local.Done(end.id))
    assert releasing.ended


def test_what_was_held_and_taken_before_a_loss_is_not_received_again() -> None:
    peer = Peer(reconnects=True)
    queue = peer.queue()
    holding = peer.start(queue.hold(5, "current"))
    peer.go_on(holding, found(peer.request(local.Lookup).id, 5))
    peer.connect()
    assert Running(queue.release(holding.result, taken=True)).ended
    taking = peer.start(queue.receive_many(0.0, 10, 0))
    peer.go_on(taking, found(peer.request(local.Receive).id, 5, 6))
    assert [message.lookup_id for message in taking.result] == [6]


def test_a_receive_by_lookup_id_has_one_step_in_a_transaction(peer: Peer) -> None:
    taking = peer.start(peer.queue().look_up(5, "current", 9, receive=True))
    lookup = peer.request(local.Lookup)
    assert (lookup.two_phase, lookup.transaction) == (False, 9)
    peer.go_on(taking, found(lookup.id, 5))
    assert not peer.requests()


def test_purge_goes_on_until_it_is_done_and_tells_how_far_it_is(peer: Peer) -> None:
    told: list[int] = []
    purging = peer.start(peer.queue().purge(told.append))
    first = peer.request(local.Purge)
    assert first.upto is None
    peer.go_on(purging, local.Done(first.id, {"count": 10, "upto": 99, "done": False}))
    second = peer.request(local.Purge)
    assert second.upto == 99
    peer.go_on(purging, local.Done(second.id, {"count": 5, "upto": 99, "done": True}))
    assert purging.result == 15
    assert told == [10, 15]


def moved(request: local.Move, count: int) -> local.Done:
    """The answer to a move."""
    return local.Done(request.id, {"count": count, "lookup_ids": list(range(count))})


def test_a_move_of_all_goes_on_until_none_is_left(peer: Peer) -> None:
    told: list[int] = []
    moving = peer.start(peer.queue().move(peer.queue(), None, 0, count=None, progress=told.append))
    peer.open(moving)
    first = peer.request(local.Move)
    assert (first.lookup_ids, first.count) == (None, MOVE_MESSAGES)
    peer.go_on(moving, moved(first, MOVE_MESSAGES))
    peer.go_on(moving, moved(peer.request(local.Move), 0))
    assert moving.result == MoveStep(MOVE_MESSAGES, list(range(MOVE_MESSAGES)))
    assert told == [MOVE_MESSAGES]


def test_a_move_by_lookup_id_goes_in_parts(peer: Peer) -> None:
    ids = list(range(MOVE_MESSAGES + 2))
    moving = peer.start(peer.queue().move(peer.queue(), ids, 0, count=None, progress=None))
    peer.open(moving)
    first = peer.request(local.Move)
    assert first.lookup_ids == ids[:MOVE_MESSAGES]
    peer.go_on(moving, moved(first, MOVE_MESSAGES))
    second = peer.request(local.Move)
    assert second.lookup_ids == ids[MOVE_MESSAGES:]
    peer.go_on(moving, moved(second, 2))
    assert moving.result.moved == len(ids)


def test_a_move_of_some_stops_at_the_count(peer: Peer) -> None:
    moving = peer.start(peer.queue().move(peer.queue(), None, 0, count=3, progress=None))
    peer.open(moving)
    move = peer.request(local.Move)
    assert move.count == 3
    peer.go_on(moving, moved(move, 3))
    assert moving.result == MoveStep(3, [0, 1, 2])


def test_closing_waits_for_every_handle(peer: Peer) -> None:
    queue = peer.queue()
    peer.start(queue.opened("send"))
    peer.start(queue.opened("receive"))
    closing = Running(queue.close())
    first, second = peer.requests()
    peer.answer(local.Done(second.id))
    peer.go_on(closing, local.Done(first.id))
    assert not closing.ended
    closing.go_on(peer.channel.take(closing.wait.request))
    assert closing.ended


def test_closing_what_is_unused_waits_for_nothing(peer: Peer) -> None:
    queue = peer.queue()
    peer.start(queue.opened("receive"))
    handle = queue.open_sender()
    assert handle is not None
    queue.close_unused()
    opening, *closing = peer.requests()
    assert isinstance(opening, local.OpenToSend)
    assert [each.handle for each in closing if isinstance(each, local.CloseQueue)] == [
        7,
        handle.number,
    ]
    assert queue.open_sender() is not handle
    assert not Running(queue.opened("receive")).ended
    # Nobody will fetch what answers this, not even that a queue was never open.
    for close in closing:
        peer.answer(local.Failed(close.id, int(Hresult.MQ_ERROR_INVALID_HANDLE), "no"))
        assert peer.channel.take(close.id) is None


def test_the_format_name_is_that_of_any_open_handle(peer: Peer) -> None:
    queue = peer.queue()
    peer.start(queue.opened("peek"))
    assert Running(queue.format_name()).result == ORDERS
    assert not peer.requests()


def test_the_format_name_of_a_queue_that_is_not_open_takes_an_open(peer: Peer) -> None:
    assert peer.start(peer.queue().format_name()).result == ORDERS

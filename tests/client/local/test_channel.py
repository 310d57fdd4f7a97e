"""Requests out, replies in: what a channel does with both."""

import pytest
from tests.client.local.peer import Peer, Running, found

from openmsmq.client.backend import ChainBroken
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.local.channel import MAX_IN_FLIGHT, RequestChannel
from openmsmq.client.local.send_batch import REQUEST_BYTES, REQUEST_MESSAGES
from openmsmq.client.operations import Wait
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import frame
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

REFUSED = int(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES)


@pytest.fixture
def peer() -> Peer:
    return Peer()


def test_packets_for_one_queue_leave_in_one_request(peer: Peer) -> None:
    assert not peer.channel.add_packet(7, 0, b"a")
    assert not peer.channel.add_packet(7, 0, b"b")
    assert not peer.channel.has_data
    peer.channel.close_sends()
    assert peer.request(local.Send) == local.Send(1, 7, [b"a", b"b"], 0, 7)


def test_packets_of_a_transaction_leave_apart(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.add_packet(7, 3, b"b")
    peer.channel.close_sends()
    sends = [request for request in peer.requests() if isinstance(request, local.Send)]
    assert [(send.handle, send.transaction, send.packets) for send in sends] == [
        (7, 0, [b"a"]),
        (7, 3, [b"b"]),
    ]


def test_packets_for_several_queues_leave_in_one_request(peer: Peer) -> None:
    for handle, packet in ((7, b"a"), (7, b"b"), (8, b"c"), (8, b"d"), (7, b"e")):
        peer.channel.add_packet(handle, 0, packet)
    peer.channel.close_sends()
    packets = [b"a", b"b", b"c", b"d", b"e"]
    assert peer.request(local.SendEach) == local.SendEach(1, [7, 7, 8, 8, 7], packets)
    assert peer.channel.in_flight == 5
    peer.answer(local.Done(1))
    assert peer.channel.in_flight == 0
    # The next are for one queue again.
    peer.channel.add_packet(7, 0, b"f")
    peer.channel.close_sends()
    assert peer.request(local.Send).packets == [b"f"]


def test_queues_are_opened_before_their_messages_leave(peer: Peer) -> None:
    handles = [peer.channel.open_later(name) for name in ("a", "b")]
    assert all(handle < 0 for handle in handles)
    for handle in handles:
        peer.channel.add_packet(handle, 0, b"x")
    peer.channel.close_sends()
    opening, sending = peer.requests()
    assert isinstance(opening, local.OpenToSend)
    assert (opening.handles, opening.names) == (handles, ["a", "b"])
    assert isinstance(sending, local.SendEach)
    assert sending.handles == handles
    # What does not open is told by its messages.
    peer.answer(local.Failed(opening.id, REFUSED, ""), local.Done(sending.id))
    peer.channel.check()
    peer.channel.close_sends()
    assert not peer.requests()


def test_a_request_opens_no_more_queues_than_it_may(peer: Peer) -> None:
    for number in range(REQUEST_MESSAGES + 1):
        peer.channel.open_later(str(number))
    assert len(peer.request(local.OpenToSend).names) == REQUEST_MESSAGES
    peer.channel.close_sends()
    assert peer.request(local.OpenToSend).names == [str(REQUEST_MESSAGES)]


def test_a_request_is_full_by_size(peer: Peer) -> None:
    assert not peer.channel.add_packet(7, 0, bytes(REQUEST_BYTES - 1))
    assert peer.channel.add_packet(7, 0, b"a")


def test_a_request_is_full_by_count(peer: Peer) -> None:
    for _ in range(REQUEST_MESSAGES - 1):
        assert not peer.channel.add_packet(7, 0, b"a")
    assert peer.channel.add_packet(7, 0, b"a")


def test_a_request_leaves_behind_the_packets_sent_before(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.post(local.GetStatus(peer.channel.next_id()))
    assert [type(request) for request in peer.requests()] == [local.Send, local.GetStatus]


def test_replies_are_found_by_request_in_any_order_and_in_any_pieces(peer: Peer) -> None:
    data = frame(local.encode(local.Done(2, "b"))) + frame(local.encode(local.Done(1, "a")))
    for byte in data:
        peer.channel.receive_data(bytes([byte]))
    assert peer.channel.take(1) == local.Done(1, "a")
    assert peer.channel.take(2) == local.Done(2, "b")
    assert peer.channel.take(2) is None


def test_several_replies_to_one_request_come_in_order(peer: Peer) -> None:
    peer.answer(local.Done(1, "a"), local.Done(1, "b"))
    assert [peer.channel.take(1), peer.channel.take(1)] == [local.Done(1, "a"), local.Done(1, "b")]


def test_a_refusal_in_the_background_is_raised_by_the_next_send_and_check_once(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    peer.answer(local.Failed(1, REFUSED, "full"))
    with pytest.raises(QueueError, match="full"):
        peer.channel.add_packet(7, 0, b"b")
    peer.channel.check()
    assert not peer.channel.has_packets


def test_a_refusal_in_a_transaction_is_raised_in_that_transaction_only(peer: Peer) -> None:
    peer.channel.add_packet(7, 3, b"a")
    peer.channel.close_sends()
    peer.answer(local.Failed(1, REFUSED, "full"))
    peer.channel.check()
    peer.channel.check(4)
    with pytest.raises(QueueError, match="full"):
        peer.channel.check(3)
    peer.channel.check(3)


def test_refusals_of_a_transaction_that_is_over_are_forgotten(peer: Peer) -> None:
    peer.channel.add_packet(7, 3, b"a")
    peer.channel.close_sends()
    peer.answer(local.Failed(1, REFUSED, "full"))
    peer.channel.forget_failures(3)
    peer.channel.check(3)


def test_a_refused_send_marks_the_handle(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    peer.channel.add_packet(8, 0, b"a")
    peer.channel.close_sends()
    peer.answer(local.Failed(1, REFUSED, "full"), local.Done(2))
    assert peer.channel.refused == {7}


def test_flush_waits_for_everything_sent_before_it(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    flush = Running(peer.channel.flush())
    assert not peer.channel.is_over(flush.wait)
    peer.channel.add_packet(7, 0, b"later")
    peer.channel.close_sends()
    peer.go_on(flush, local.Done(1))
    assert flush.ended


def test_flush_goes_on_waiting_when_something_else_came(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    flush = Running(peer.channel.flush())
    peer.go_on(flush, local.Done(99))
    assert not flush.ended
    assert not peer.channel.is_over(flush.wait)


def test_flush_raises_a_refusal(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    flush = Running(peer.channel.flush())
    with pytest.raises(QueueError, match="full"):
        peer.go_on(flush, local.Failed(1, REFUSED, "full"))


def test_what_is_in_flight_is_bounded(peer: Peer) -> None:
    for _ in range(2):
        peer.channel.add_packet(7, 0, bytes(MAX_IN_FLIGHT // 2 + 1))
        peer.channel.close_sends()
    room = Running(peer.channel.make_room())
    assert not room.ended
    peer.go_on(room, local.Done(1))
    assert room.ended


def test_an_arrival_between_asking_and_waiting_is_not_missed(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, bytes(MAX_IN_FLIGHT + 1))
    peer.channel.close_sends()
    room = Running(peer.channel.make_room())
    peer.answer(local.Done(1))
    assert peer.channel.is_over(room.wait)


def test_a_reply_that_is_ignored_is_dropped(peer: Peer) -> None:
    peer.channel.ignore(1)
    peer.answer(local.Failed(1, REFUSED, ""), local.Done(1, "again"))
    assert peer.channel.take(1) == local.Done(1, "again")


def test_the_parts_of_a_range_that_is_ignored_are_dropped_up_to_the_last(peer: Peer) -> None:
    part = local.pack_block(1, b"x", [1], [1], [1.0], [])
    peer.answer(part)
    assert peer.channel.held_bytes == 1
    peer.channel.ignore(1)
    peer.answer(part, local.last_block(1), part)
    assert peer.channel.take(1) == part
    assert peer.channel.take(1) is None
    assert peer.channel.held_bytes == 0


def test_messages_of_a_withdrawn_read_go_back(peer: Peer) -> None:
    read = peer.channel.next_id()
    peer.channel.withdraw(read, 7)
    cancel = peer.request(local.Cancel)
    assert cancel.request == read
    peer.answer(local.Done(cancel.id, False), found(read, 5, 6))
    end = peer.request(local.EndReceive)
    assert end == local.EndReceive(end.id, 7, [5, 6], delete=False)


def test_messages_that_were_faster_than_the_withdrawal_go_back(peer: Peer) -> None:
    read = peer.channel.next_id()
    peer.answer(found(read, 5))
    peer.channel.withdraw(read, 7)
    cancel, end = peer.requests()
    assert isinstance(cancel, local.Cancel)
    assert end == local.EndReceive(end.id, 7, [5], delete=False)


@pytest.mark.parametrize(
    "reply", [local.Failed(1, int(Hresult.MQ_ERROR_OPERATION_CANCELLED), ""), found(1, 5)]
)
def test_a_withdrawn_peek_gives_nothing_back(peer: Peer, reply: local.AnyReply) -> None:
    peer.channel.withdraw(peer.channel.next_id(), 0)
    peer.requests()
    peer.answer(reply)
    assert not peer.requests()
    assert peer.channel.take(1) is None


@pytest.mark.parametrize(
    "data", [frame(b"\xc1"), b"\xff\xff\xff\xff", frame(b"\x92\x00\xa1\xff"), frame(b"")]
)
def test_bytes_that_are_no_reply_end_the_session(data: bytes) -> None:
    channel = RequestChannel("somewhere")
    with pytest.raises(ConnectionLost, match="somewhere is no queue manager"):
        channel.receive_data(data)
    assert channel.fault is not None


def test_the_first_reason_of_a_loss_counts() -> None:
    channel = RequestChannel("test")
    channel.lose("first")
    assert str(channel.lose("second")) == "first"


@pytest.mark.parametrize("posted", ["posted", ""])
def test_a_loss_tells_when_the_fate_of_messages_is_unknown(peer: Peer, posted: str) -> None:
    peer.channel.add_packet(7, 0, b"a")
    if posted:
        peer.channel.close_sends()
    assert "is not known" in str(peer.channel.lose("gone."))


def test_a_loss_with_nothing_under_way_says_nothing_of_messages(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    peer.answer(local.Done(1))
    assert str(peer.channel.lose("gone.")) == "gone."


def test_a_wait_for_a_request_is_over_with_its_reply_only(peer: Peer) -> None:
    wait = Wait(5)
    peer.answer(local.Done(4))
    assert not peer.channel.is_over(wait)
    peer.answer(local.Done(5))
    assert peer.channel.is_over(wait)


def test_the_limits_fit_the_protocol() -> None:
    assert REQUEST_MESSAGES <= local.MAX_MESSAGES


# Chains: nothing behind a refused message


def sends(peer: Peer) -> list[local.Send]:
    return [request for request in peer.requests() if isinstance(request, local.Send)]


def test_everything_behind_a_refused_message_is_refused_with_it(peer: Peer) -> None:
    for packets in ("abc", "de", "f"):
        for packet in packets:
            peer.channel.add_packet(7, 0, packet.encode())
        if packets != "f":
            peer.channel.close_sends()
    first, second = sends(peer)
    assert (first.chain, second.chain) == (7, 7)
    peer.answer(local.Failed(first.id, REFUSED, "full", accepted=1))
    assert not peer.channel.has_packets
    peer.answer(local.Failed(second.id, REFUSED, "full"))
    with pytest.raises(QueueError, match=r"full; .* the last 5 are not in it$") as caught:
        peer.channel.check()
    assert (caught.value.refused, caught.value.accepted) == (5, 0)
    peer.channel.check()
    assert peer.channel.in_flight == 0


def test_other_queues_and_transactions_are_not_refused_with_it(peer: Peer) -> None:
    for handle, transaction in ((7, 0), (8, 0), (7, 3)):
        peer.channel.add_packet(handle, transaction, b"a")
        peer.channel.close_sends()
    peer.channel.add_packet(7, 3, b"b")
    refused, *others = sends(peer)
    assert [each.chain for each in others] == [8, 0]
    peer.answer(local.Failed(refused.id, REFUSED, "full"))
    assert peer.channel.has_packets
    peer.answer(*(local.Failed(each.id, REFUSED, "full") for each in others))
    for transaction in (0, 0, 3):
        with pytest.raises(QueueError):
            peer.channel.check(transaction)


def test_a_call_tells_how_many_of_its_messages_were_accepted(peer: Peer) -> None:
    channel = peer.channel
    chain = channel.new_chain()
    for number in range(5):
        channel.add_packet(7, 0, b"%d" % number, chain)
        if number in (1, 3):
            channel.close_sends()
    settling = Running(channel.settle(chain, 5))
    first, second, third = sends(peer)
    assert len({first.chain, second.chain, third.chain, 7, 0}) == 3
    # The refusal may come before the others are on disk; they are waited for.
    peer.go_on(settling, local.Failed(second.id, REFUSED, "full", accepted=1))
    peer.go_on(settling, local.Failed(third.id, REFUSED, "full"))
    with pytest.raises(QueueError, match=r"full; 3 of 5 messages were accepted$") as caught:
        peer.go_on(settling, local.Done(first.id))
    assert (caught.value.accepted, caught.value.refused) == (3, 2)
    channel.check()


def test_a_chain_ends_at_a_refusal_and_others_do_not(peer: Peer) -> None:
    channel = peer.channel
    chain, other = channel.new_chain(), channel.new_chain()
    channel.add_packet(7, 0, b"a", chain)
    channel.close_sends()
    peer.answer(local.Failed(sends(peer)[0].id, REFUSED, "full"))
    with pytest.raises(ChainBroken):
        channel.add_packet(7, 0, b"b", chain)
    channel.add_packet(7, 0, b"b", other)
    channel.add_packet(7, 0, b"c")
    channel.close_sends()
    assert [request.packets for request in sends(peer)] == [[b"b"], [b"c"]]


def test_a_call_that_ends_early_leaves_its_refusals_to_others(peer: Peer) -> None:
    channel = peer.channel
    chain = channel.new_chain()
    for _ in range(2):
        channel.add_packet(7, 0, b"a", chain)
        channel.close_sends()
    settling = Running(channel.settle(chain, 2))
    first, second = sends(peer)
    peer.answer(local.Done(first.id))
    with pytest.raises(KeyboardInterrupt):
        settling.throw(KeyboardInterrupt())
    peer.answer(local.Failed(second.id, REFUSED, "full"))
    with pytest.raises(QueueError, match="full"):
        channel.check()


def test_a_refusal_that_nobody_has_taken_is_left_to_others(peer: Peer) -> None:
    channel = peer.channel
    chain = channel.new_chain()
    channel.add_packet(7, 0, b"a", chain)
    channel.close_sends()
    peer.answer(local.Failed(sends(peer)[0].id, REFUSED, "full"))
    channel.check()
    channel.disown(chain)
    with pytest.raises(QueueError, match="full"):
        channel.check()


# Requests for several handles


def refused_handle(handle: int, messages: int) -> local.Refused:
    return local.Refused(handle, messages, REFUSED, "full", "why", "what to do")


def send_to(peer: Peer, *handles: int) -> local.SendEach:
    for handle in handles:
        peer.channel.add_packet(handle, 0, b"a")
    peer.channel.close_sends()
    return peer.request(local.SendEach)


def test_a_refusal_concerns_the_messages_of_its_handle(peer: Peer) -> None:
    first = send_to(peer, 7, 8, 7, 9)
    second = send_to(peer, 8, 7, 7)
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    third = peer.request(local.Send)
    for handle in (7, 9, 7):
        peer.channel.add_packet(handle, 0, b"left")
    peer.answer(local.Done(first.id, [refused_handle(7, 1)]))
    assert peer.channel.refused == {7}
    with pytest.raises(QueueError, match="the last 6 are not in it") as caught:
        peer.channel.check()
    # One there, two and one under way, two that were to leave.
    assert caught.value.refused == 6
    assert caught.value.known_cause == "why"
    # What was refused with it is not told again.
    peer.answer(local.Done(second.id, [refused_handle(7, 2)]))
    peer.answer(local.Failed(third.id, REFUSED, "full"))
    peer.channel.check()
    peer.channel.close_sends()
    assert peer.request(local.SendEach).handles == [9]
    assert peer.channel.in_flight == len(b"left")


def test_a_refused_send_voids_what_follows_for_its_handle_among_others(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    first = peer.request(local.Send)
    second = send_to(peer, 8, 7)
    peer.answer(local.Failed(first.id, REFUSED, "full"))
    with pytest.raises(QueueError) as caught:
        peer.channel.check()
    assert caught.value.refused == 2
    peer.answer(local.Done(second.id, [refused_handle(7, 1)]))
    peer.channel.check()


def test_a_request_for_several_handles_can_be_refused_whole(peer: Peer) -> None:
    request = send_to(peer, 7, 8, 7)
    peer.answer(local.Failed(request.id, REFUSED, "why not"))
    assert peer.channel.refused == {7, 8}
    with pytest.raises(QueueError, match="why not") as caught:
        peer.channel.check()
    assert caught.value.refused == 3


def test_a_request_that_is_refused_whole_voids_what_follows_for_its_handles(peer: Peer) -> None:
    first = send_to(peer, 7, 8)
    second = send_to(peer, 8, 9)
    peer.answer(local.Failed(first.id, REFUSED, "why not"))
    with pytest.raises(QueueError) as caught:
        peer.channel.check()
    assert caught.value.refused == 3
    peer.answer(local.Done(second.id, [refused_handle(8, 1)]))
    peer.channel.check()


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (local.DeleteQueue(1, ".\\private$\\half\ud800"), "half of a surrogate pair is not text"),
        (local.Hold(1, 7, [1 << 70]), "a number is too large"),
    ],
)
def test_nothing_of_a_request_that_cannot_be_sent_leaves(
    peer: Peer, request_: local.Request, reason: str
) -> None:
    with pytest.raises(QueueError, match=f"MQ_ERROR_INVALID_PARAMETER: {reason}"):
        peer.channel.post(request_)
    peer.channel.post(local.GetStatus(2))
    assert peer.requests() == [local.GetStatus(2)]

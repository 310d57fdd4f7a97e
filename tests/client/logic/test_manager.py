"""What a client asks of a queue manager; request and reply."""

import pytest
from tests.client.local.peer import GUID, ORDERS, Peer, Running, opened

from openmsmq.client.errors import ConnectionLost, ReceiveTimeout
from openmsmq.client.local.backend import LocalBackend
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.logic.manager import MAX_TARGETS, ManagerLogic, reply_to
from openmsmq.client.message import Message
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import address_of, format_name_of
from openmsmq.wire.scalars import MessageIdentifier

EVERYONE = bytes.fromhex("010100000000000100000000")
EXISTS = int(Hresult.MQ_ERROR_QUEUE_EXISTS)
TIMED_OUT = int(Hresult.MQ_ERROR_IO_TIMEOUT)


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.fixture
def manager(peer: Peer) -> ManagerLogic:
    return ManagerLogic(peer.backend)


def test_the_greeting_tells_who_is_who() -> None:
    backend = LocalBackend("test", lambda: 0.0, token="secret", timeout=None, reconnects=False)
    channel = backend.new_channel()
    greeting = Running(backend.greet(channel))
    assert b"secret" in channel.data_to_send()
    told = {"name": "alpha", "guid": GUID, "sid": EVERYONE, "version": "1"}
    greeting.go_on(local.Done(1, told))
    assert backend.channel is channel
    assert (backend.identity.name, backend.identity.sid) == ("alpha", "S-1-1-0")


def test_a_queue_manager_that_hangs_up_does_not_let_us_in() -> None:
    channel = RequestChannel("test")
    greeting = Running(
        LocalBackend("test", lambda: 0.0, timeout=5.0, reconnects=False).greet(channel)
    )
    with pytest.raises(ConnectionLost, match="does not let this client in"):
        greeting.throw(channel.lose("closed"))


def test_a_queue_manager_that_does_not_greet_is_none() -> None:
    greeting = Running(
        LocalBackend("test", lambda: 0.0, timeout=5.0, reconnects=False).greet(
            RequestChannel("test")
        )
    )
    with pytest.raises(ConnectionLost, match="test has not answered within 5 seconds"):
        greeting.go_on(None)


def test_a_call_is_not_made_over_a_refused_message(peer: Peer, manager: ManagerLogic) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    peer.requests()
    peer.answer(local.Failed(1, EXISTS, "refused before"))
    with pytest.raises(QueueError, match="refused before"):
        Running(manager.backend.management.status())
    assert not peer.requests()


def test_an_answer_of_another_kind_is_an_error(peer: Peer, manager: ManagerLogic) -> None:
    asking = Running(manager.backend.management.status())
    request = peer.request(local.GetStatus)
    with pytest.raises(Exception, match="answered with Messages"):
        peer.go_on(asking, local.Messages(request.id, [], [], [], []))


def test_a_queue_that_exists_is_taken_as_it_is_if_that_is_wanted(
    peer: Peer, manager: ManagerLogic
) -> None:
    creating = Running(manager.create_queue(r".\private$\orders", {}, exist_ok=True))
    request = peer.request(local.CreateQueue)
    peer.go_on(creating, local.Failed(request.id, EXISTS, ""))
    assert creating.result.name == r".\private$\orders"


@pytest.mark.parametrize("code", [EXISTS, int(Hresult.MQ_ERROR_ACCESS_DENIED)])
def test_other_refusals_to_create_a_queue_are_raised(
    peer: Peer, manager: ManagerLogic, code: int
) -> None:
    exist_ok = code != EXISTS
    creating = Running(manager.create_queue(r".\private$\orders", {}, exist_ok=exist_ok))
    request = peer.request(local.CreateQueue)
    with pytest.raises(QueueError):
        peer.go_on(creating, local.Failed(request.id, code, ""))


def test_queues_to_send_to_stay_open_up_to_a_limit(peer: Peer, manager: ManagerLogic) -> None:
    first = manager.target("0")
    opening = Running(first.opened("send"))
    peer.go_on(opening, opened(peer.request(local.OpenQueue).id))
    for number in range(1, MAX_TARGETS):
        manager.target(str(number))
    assert manager.target("0") is first
    assert not peer.requests()
    # It was used last, so others are closed before it.
    second = manager.target("2")
    manager.target("one more")
    assert manager.target("0") is first
    assert manager.target("2") is second
    for number in range(MAX_TARGETS):
        manager.target(f"other {number}")
    assert peer.request(local.CloseQueue).handle == 7
    assert manager.target("0") is not first


def answer_with(identifier: str) -> bytes:
    """The packet of an answer to a message."""
    return build_user_message(
        destination_queue=address_of(parse_format_name(ORDERS)),
        body=b"answer",
        correlation_id=MessageIdentifier.from_text(identifier).serialize(),
    )


def asked(peer: Peer, running: Running[ReceivedMessage]) -> UserMessage:
    """The request that was sent."""
    opening, send = peer.requests()
    assert isinstance(opening, local.OpenToSend)
    assert isinstance(send, local.Send)
    assert (opening.names, opening.handles) == (["destination"], [send.handle])
    peer.go_on(running, local.Done(send.id, 42))
    return UserMessage(send.packets[0])


def look(peer: Peer, running: Running[ReceivedMessage]) -> list[local.Receive]:
    """The reads of the cursor on the response queue."""
    return [each for each in peer.requests() if isinstance(each, local.Receive)]


def test_the_answer_is_the_message_that_names_the_request(
    peer: Peer, manager: ManagerLogic
) -> None:
    running = Running(manager.request(10.0, "destination", Message(b"?"), r".\private$\a", 0))
    view = asked(peer, running)
    assert view.response_queue is not None
    assert str(format_name_of(view.response_queue)) == r"DIRECT=OS:alpha\private$\a"
    peer.go_on(running, opened(peer.request(local.OpenQueue).id, 9))
    peer.go_on(running, local.Done(peer.request(local.OpenCursor).id, 3))
    first, second, *rest = look(peer, running)
    packets = {first.id: rf"{GUID}\41", second.id: rf"{GUID}\42"}
    for index, (request, identifier) in enumerate(packets.items()):
        found = local.Messages(request, [answer_with(identifier)], [100 + index], [1.0], [])
        peer.go_on(running, found)
    for read in rest:
        peer.go_on(running, local.Failed(read.id, TIMED_OUT, ""))
    lookup = peer.request(local.Lookup)
    assert (lookup.lookup_id, lookup.receive) == (101, True)
    found = local.Messages(lookup.id, [answer_with(rf"{GUID}\42")], [101], [1.0], [])
    peer.go_on(running, found)
    kinds = [type(each) for each in peer.requests()]
    assert kinds == [local.EndReceive, local.CloseCursor, local.CloseQueue]
    assert running.result.body == "answer"


def test_the_time_for_an_answer_counts_from_the_request(peer: Peer, manager: ManagerLogic) -> None:
    running = Running(manager.request(10.0, "destination", Message(b"?"), r".\private$\a", 0))
    peer.now += 4.0
    asked(peer, running)
    peer.go_on(running, opened(peer.request(local.OpenQueue).id, 9))
    peer.go_on(running, local.Done(peer.request(local.OpenCursor).id, 3))
    for read in look(peer, running):
        peer.go_on(running, local.Failed(read.id, TIMED_OUT, ""))
    (waiting,) = look(peer, running)
    assert waiting.timeout == 6.0
    with pytest.raises(ReceiveTimeout, match="no answer"):
        peer.go_on(running, local.Failed(waiting.id, TIMED_OUT, ""))


def test_a_connection_makes_one_queue_for_answers_and_deletes_it(
    peer: Peer, manager: ManagerLogic
) -> None:
    running = Running(manager.request(None, "destination", Message(b"?"), None, 0))
    create = peer.request(local.CreateQueue)
    peer.go_on(running, local.Done(create.id))
    asked(peer, running)
    closing = Running(manager.close())
    delete = [each for each in peer.requests() if isinstance(each, local.DeleteQueue)]
    assert [each.path for each in delete] == [create.path]
    peer.go_on(closing, local.Done(delete[0].id))
    assert closing.ended
    assert Running(manager.close()).ended


def test_a_queue_for_answers_that_cannot_be_made_is_tried_again(
    peer: Peer, manager: ManagerLogic
) -> None:
    for _ in range(2):
        running = Running(manager.request(None, "destination", Message(b"?"), None, 0))
        create = peer.request(local.CreateQueue)
        with pytest.raises(QueueError):
            peer.go_on(running, local.Failed(create.id, EXISTS, ""))


def received(**properties: object) -> ReceivedMessage:
    destination = address_of(parse_format_name(ORDERS))
    packet = build_user_message(destination_queue=destination, **properties)  # type: ignore[arg-type] # the builder checks them
    return ReceivedMessage(packet, 1, 1.0)


def test_a_reply_goes_to_the_response_queue_with_the_id_of_the_request() -> None:
    request = received(response_queue=address_of(parse_format_name(ORDERS)), message_id=5)
    destination, message = reply_to(request, Message("fine", label="answer"))
    assert destination == ORDERS
    assert message.correlation_id == request.id
    assert (message.body, message.label) == ("fine", "answer")


def test_a_message_that_wants_no_reply_gets_none() -> None:
    with pytest.raises(ValueError, match="names no response queue"):
        reply_to(received(), Message())


# Lists in parts


def test_a_list_is_put_together_from_its_parts(peer: Peer, manager: ManagerLogic) -> None:
    asking = Running(manager.backend.management.queue_infos(include_system=False).whole())
    request = peer.request(local.ListQueues)
    peer.go_on(asking, local.Part(request.id, last=False, values=[{"path": "a"}]))
    peer.go_on(asking, local.Part(request.id, last=False, values=[{"path": "b"}]))
    peer.go_on(asking, local.Part(request.id, last=True, values=[]))
    assert asking.result == [{"path": "a"}, {"path": "b"}]


def test_a_list_that_is_refused_says_why(peer: Peer, manager: ManagerLogic) -> None:
    asking = Running(manager.backend.management.session_infos().whole())
    request = peer.request(local.ListSessions)
    with pytest.raises(QueueError, match="not for you"):
        peer.go_on(asking, local.Failed(request.id, EXISTS, "not for you"))


def test_the_rest_of_a_list_is_dropped_when_it_comes(peer: Peer, manager: ManagerLogic) -> None:
    parts = manager.backend.management.queue_infos(include_system=False)
    asking = Running(parts.next_part())
    request = peer.request(local.ListQueues)
    peer.go_on(asking, local.Part(request.id, last=False, values=[{"path": "a"}]))
    assert asking.result == [{"path": "a"}]
    parts.close()
    peer.answer(local.Part(request.id, last=False, values=[{"path": "b"}]))
    peer.answer(local.Part(request.id, last=True, values=[]))
    assert peer.channel.take(request.id) is None
    assert Running(parts.next_part()).result is None

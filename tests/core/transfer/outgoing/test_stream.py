"""The messages of an outgoing queue on their way, without any protocol."""

from typing import Any

import pytest
from tests.core.harness import OTHER_GUID, Harness

from openmsmq.core.model.message import Message
from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.outgoing.departures import Departure, OutgoingMessagePosition
from openmsmq.core.transfer.outgoing.stream import OutgoingStream
from openmsmq.core.transfer.outgoing.streams import OutgoingStreams
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage

REMOTE = r"DIRECT=HTTP://elsewhere/msmq/private$/q"
RESEND_TABLE = 5.0, 50.0, 500.0
EVERYTHING = 1000


class Way:
    """One outgoing queue, and what a carrier does with it."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.send(b"0")
        self.streams: OutgoingStreams = harness.qm.outgoing.open_streams(
            frozenset((Transport.HTTP,)), RESEND_TABLE
        )
        self.queue: Queue = harness.qm.outgoing.find(REMOTE)
        found = self.streams.find(self.queue)
        assert found is not None
        self.stream: OutgoingStream = found
        self.streams.delivered(self.take().tokens)

    def send(self, *contents: bytes, tx: bool = False, **properties: Any) -> None:
        qm = self.harness.qm
        transaction = qm.traffic.begin(self.harness.guid()) if tx else None
        self.harness.send(*contents, name=REMOTE, transaction=transaction, **properties)
        if transaction is not None:
            qm.traffic.commit(transaction.identifier)
        self.harness.flush()

    def take(self, count: int = EVERYTHING) -> Departure:
        return self.stream.take(count, 1 << 20)

    @property
    def stream_rests(self) -> bool:
        return self.stream.resend_at is None

    def places(self, departure: Departure) -> list[tuple[bytes, int, int]]:
        """Bodies, numbers and previous numbers of what leaves."""
        views = map(UserMessage, departure.packets)
        return [
            (view.body, view.tx_sequence_number, view.previous_tx_sequence_number) for view in views
        ]


@pytest.fixture
def way(harness: Harness) -> Way:
    return Way(harness)


def test_nothing_leaves_before_it_is_on_disk(way: Way) -> None:
    way.harness.send(b"1", name=REMOTE)
    departure = way.take()
    assert departure.packets == []
    assert departure.depends == way.harness.qm.seen > 0
    way.harness.flush()
    departure = way.take()
    assert (len(departure.packets), departure.depends, departure.express) == (1, 0, False)


def test_who_takes_transactional_messages_is_on_disk_before_they_leave(way: Way) -> None:
    way.send(b"1", tx=True)
    way.harness.qm.outgoing.set_destination(way.queue, OTHER_GUID)
    departure = way.take()
    assert departure.packets == []
    assert departure.depends == way.harness.qm.seen
    way.send(b"plain", delivery_mode=0, priority=7)
    assert way.places(way.take())[0][0] == b"plain"


def test_express_messages_leave_together(way: Way) -> None:
    way.send(b"1", b"2", b"3", delivery_mode=0)
    departure = way.take(2)
    assert departure.express
    assert [UserMessage(packet).body for packet in departure.packets] == [b"1", b"2"]
    assert list(departure.tokens) == list(way.stream.plain)
    way.streams.delivered(departure.tokens)
    assert way.stream.plain == {}
    assert way.queue.count == 1


def test_what_is_too_late_does_not_leave(way: Way) -> None:
    way.send(b"late", time_to_reach_queue=5)
    way.send(b"in time")
    way.harness.utc += 5
    way.harness.qm.set_time(now=way.harness.now, utc=way.harness.utc)
    assert [UserMessage(packet).body for packet in way.take().packets] == [b"in time"]
    assert way.take().packets == []


def test_transactional_messages_name_the_one_before_them(way: Way) -> None:
    way.send(b"1", b"2", tx=True)
    assert way.places(way.take(1)) == [(b"1", 1, 0)]
    assert way.places(way.take(1)) == [(b"2", 2, 1)]


def test_a_transactional_message_is_done_when_it_arrived_and_its_stream_got_that_far(
    way: Way,
) -> None:
    way.send(b"1", b"2", b"3", tx=True)
    first, second, third = way.take().tokens
    way.stream.acknowledged(2)
    assert way.queue.count == 3
    way.streams.arrived((first,))
    way.streams.delivered((first,))
    assert way.queue.count == 2
    way.streams.arrived((second, third))
    way.streams.delivered((second, third))
    assert list(way.stream.ordered) == [3]
    assert way.stream.unacknowledged == 0
    way.stream.acknowledged(3)
    assert way.queue.count == 0
    assert way.stream.outgoing.sequence is None


def test_what_follows_a_message_that_must_leave_again_leaves_again(way: Way) -> None:
    way.send(b"1", b"2", b"3", tx=True)
    way.send(b"plain", delivery_mode=0)
    plain, first, second, third = way.take().tokens
    way.streams.arrived((third,))
    way.stream.release((second, plain))
    assert list(way.stream.ordered) == [1]
    assert way.stream.plain == {}
    assert way.places(way.take())[1:] == [(b"2", 2, 1), (b"3", 3, 2)]
    # The first copies mean nothing any more.
    way.stream.acknowledged(3)
    way.streams.delivered((second, third))
    way.stream.release((third, plain))
    assert list(way.stream.ordered) == [1, 2, 3]
    way.streams.arrived((first,))
    way.streams.delivered((first,))
    assert list(way.stream.ordered) == [2, 3]


def test_the_resend_table_is_that_of_the_transport(way: Way) -> None:
    way.send(b"1", b"2", tx=True)
    for seconds in (*RESEND_TABLE, RESEND_TABLE[-1]):
        assert way.places(way.take()) == [(b"1", 1, 0), (b"2", 2, 1)]
        assert way.stream.resend_at == way.harness.now + seconds
        way.harness.advance(seconds)
        way.stream.resend_due()
        assert way.stream_rests
        assert way.stream.ordered == {}
    way.take()
    way.stream.acknowledged(1)
    assert way.stream.resend_at == way.harness.now + RESEND_TABLE[-1]
    way.stream.acknowledged(2)
    assert way.stream_rests
    way.stream.release(way.stream.in_flight)
    way.take()
    assert way.stream.resend_at == way.harness.now + RESEND_TABLE[0]


def test_a_copy_stays_until_it_is_known_what_became_of_the_message(way: Way) -> None:
    way.send(b"1", tx=True, positive_journaling=True)
    (token,) = way.take().tokens
    assert isinstance(token, OutgoingMessagePosition)
    way.streams.arrived((token,))
    way.stream.acknowledged(1)
    assert (way.queue.count, way.stream.awaiting) == (1, 1)
    assert way.stream.outgoing.sequence is None
    key = token.tx_sequence_id, token.tx_sequence_number
    # The next sequence has another message with this number.
    way.send(b"2", tx=True)
    (other,) = way.take().tokens
    assert isinstance(other, OutgoingMessagePosition)
    message: Message = way.streams.awaiting[key]
    way.stream.final(message, MessageClass.ACK_RECEIVE)
    assert way.streams.awaiting == {}
    assert list(way.stream.ordered.values()) == [other]
    assert way.stream.awaiting == 0
    assert not way.stream_rests
    way.stream.final(other.message, MessageClass.NACK_Q_PURGED)
    assert way.queue.count == 0
    assert way.stream_rests


def test_another_transport_has_its_own_streams(way: Way) -> None:
    binary = way.harness.qm.outgoing.open_streams(frozenset((Transport.BINARY,)), RESEND_TABLE)
    assert binary.find(way.queue) is None
    binary.removed(way.queue)
    binary.forget(way.queue)
    assert way.streams.find(way.queue) is way.stream
    way.streams.forget(way.queue)
    assert way.streams.find(way.queue) is not way.stream

"""Messages of a stream that come one right after the other and go into their queue together."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.srmp.naive import STREAM, NaiveHost, as_windows_writes, envelope, post, stream
from tests.protocol.srmp.web import ORDERS, Node, Web, pair, url

RECEIPTS = "http://peer/MSMQ/private$/order_queue$?s=token"


@dataclass(frozen=True)
class Sent:
    """A message of a stream; without a previous number the one before it."""

    number: int
    previous: int = 0

    @property
    def body(self) -> bytes:
        return b"%d" % self.number


class Beta:
    """A machine that has received the first six messages of a stream."""

    def __init__(self) -> None:
        self.web = Web()
        self.node: Node = self.web.node("beta")
        self.node.create(transactional=True)
        self.peer = self.web.hosts["peer"] = NaiveHost()
        self.web.run()
        self.last = 0
        for number in range(1, 7):
            assert self.post(Sent(number, number - 1)) == [200]
        self.last = 6

    def post(
        self, *messages: Sent, utc: float | None = None, stream_number: int = STREAM
    ) -> list[int]:
        """Post messages in one read."""
        requests = []
        for message in messages:
            entries = stream(
                message.number,
                previous=message.previous,
                number=stream_number,
                receipts=RECEIPTS if message.number == 1 else "",
            )
            text = envelope(
                url(self.node),
                utc=self.web.utc if utc is None else utc,
                number=100 + message.number,
                entries=entries,
            )
            requests.append(post(as_windows_writes(text), message.body))
        return self.web.post(self.node, *requests)

    @property
    def bodies(self) -> list[int]:
        return [int(body) for body in self.node.bodies()]


def chain(first: int, last: int) -> list[Sent]:
    return [Sent(number, number - 1) for number in range(first, last + 1)]


@pytest.mark.parametrize("explicit", [True, False])
def test_messages_right_after_each_other_go_into_the_queue_in_order(*, explicit: bool) -> None:
    beta = Beta()
    messages = [Sent(each.number, each.previous * explicit) for each in chain(7, 40)]
    assert beta.post(*messages) == [200] * 34
    assert beta.bodies == list(range(1, 41))
    numbers = [message.tx_sequence_number for message in beta.node.messages()]
    assert numbers == list(range(1, 41))
    beta.web.pass_time(1.0)
    assert beta.peer.values("lastOrdinal")[-1] == "40"


def test_what_went_into_the_queue_together_is_there_after_a_crash_and_not_taken_again() -> None:
    beta = Beta()
    beta.post(*chain(7, 20))
    beta.node.restart()
    assert beta.bodies == list(range(1, 21))
    for _ in range(3):
        assert beta.post(*chain(15, 24)) == [200] * 10
    assert beta.bodies == list(range(1, 25))


def test_a_run_behind_a_gap_is_bridged_by_its_first_message_only() -> None:
    beta = Beta()
    assert beta.post(Sent(10, 6), *chain(11, 15), Sent(18, 16), *chain(19, 20)) == [200] * 9
    assert beta.bodies == [1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15]


class Recorder(NaiveHost):
    """A host that keeps requests as they came."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[bytes] = []

    def _keep(self, head: bytes, content: bytes) -> None:
        super()._keep(head, content)
        self.requests.append(head + b"\r\n\r\n" + content)


def test_a_run_ends_at_a_gap_and_what_follows_is_not_taken() -> None:
    """The requests are those of a sender of ours, which are alike."""
    recorded = Web()
    alpha = recorded.node("alpha")
    host = recorded.hosts["beta"] = Recorder()
    bodies = [b"%02d" % number for number in range(10, 40)]
    alpha.send("http://beta/msmq/private$/orders", *bodies, tx=True)
    recorded.run()
    assert len(host.requests) == len(bodies)
    web = Web()
    beta = web.node("beta")
    beta.create(transactional=True)
    web.run()
    assert web.post(beta, *host.requests[:10]) == [200] * 10
    assert web.post(beta, *host.requests[10:14], *host.requests[17:20]) == [200] * 7
    assert beta.bodies() == bodies[:14]
    assert web.post(beta, *host.requests[14:]) == [200] * 16
    assert beta.bodies() == bodies


def test_a_run_of_an_older_stream_is_not_taken() -> None:
    beta = Beta()
    later = STREAM + 1
    for number in range(1, 5):
        beta.post(Sent(number, number - 1), stream_number=later)
    before = beta.bodies
    assert beta.post(*chain(7, 12)) == [200] * 6
    assert beta.bodies == before
    assert beta.post(*chain(5, 9), stream_number=later) == [200] * 5
    assert beta.bodies == [*before, 5, 6, 7, 8, 9]


def test_messages_for_which_the_queue_has_no_room_are_refused_and_nothing_follows_them() -> None:
    beta = Beta()
    queue = beta.node.qm.find_queue(ORDERS)
    size = queue.total_bytes // 6
    queue.properties.quota = (queue.total_bytes + 3 * size) // 1024 + 1
    answers = beta.post(*chain(7, 12))
    taken = answers.index(400)
    assert answers == [200] * taken + [400] + [200] * (5 - taken)
    assert beta.bodies == list(range(1, 7 + taken))
    queue.properties.quota = 400
    assert beta.post(*chain(7, 12)) == [200] * 6
    assert beta.bodies == list(range(1, 13))


def test_late_messages_do_not_take_the_stream_further() -> None:
    beta = Beta()
    assert beta.post(*chain(7, 9), utc=beta.web.utc - 100_000) == [200] * 3
    assert beta.bodies == list(range(1, 7))
    assert beta.post(*chain(7, 9)) == [200] * 3
    assert beta.bodies == list(range(1, 10))


@pytest.mark.parametrize("first", [5, 7])
def test_a_queue_that_is_not_transactional_takes_none_of_a_run(first: int) -> None:
    beta = Beta()
    beta.node.qm.find_queue(ORDERS).properties.transactional = False
    assert beta.post(*chain(first, 9)) == [400] * (10 - first)
    assert beta.bodies == list(range(1, 7))


def test_a_run_to_a_queue_that_is_gone_is_refused() -> None:
    beta = Beta()
    text = r"http://beta/msmq/private$/missing"
    requests = [
        post(
            envelope(text, utc=beta.web.utc, number=number, entries=stream(number, previous=1)),
            b"x",
        )
        for number in (2, 3, 4, 5)
    ]
    assert beta.web.post(beta.node, *requests * 2) == [400] * 8


numbers = st.lists(
    st.one_of(
        st.builds(chain, st.integers(1, 30), st.integers(1, 34)),
        st.builds(lambda *each: [Sent(*each)], st.integers(1, 30), st.integers(0, 30)),
    ),
    max_size=6,
)


@given(numbers)
def test_any_messages_in_one_read_are_accepted_by_the_rules(parts: list[list[Sent]]) -> None:
    """[MC-MQSRM] 3.1.5.1.6.3: the next number, or one whose previous number has come."""
    beta = Beta()
    messages = [message for part in parts for message in part if message.previous < message.number]
    last, accepted = 6, []
    for message in messages:
        previous = message.previous or message.number - 1
        if message.number == last + 1 or message.number > last >= previous:
            last = message.number
            accepted.append(last)
    assert beta.post(*messages) == [200] * len(messages)
    assert beta.bodies[6:] == accepted


def test_many_transactional_messages_travel_between_two_of_ours() -> None:
    web, alpha, beta = pair()
    beta.create(transactional=True)
    bodies = [b"%04d" % number for number in range(500)]
    for at in range(0, 500, 50):
        alpha.send(url(beta), *bodies[at : at + 50], tx=True)
    web.run()
    assert beta.bodies() == bodies
    web.pass_time(1.0)
    assert alpha.outgoing(url(beta)).count == 0


def test_a_thousand_messages_are_acknowledged_without_waiting_for_more() -> None:
    beta = Beta()
    for first in range(7, 1007, 100):
        assert beta.peer.envelopes == []
        beta.post(*chain(first, first + 99))
    beta.web.pass_time(0.0)
    assert beta.peer.values("lastOrdinal") == ["1006"]
    beta.post(*chain(1007, 1050))
    beta.web.pass_time(0.4)
    assert beta.peer.values("lastOrdinal") == ["1006"]
    beta.web.pass_time(0.2)
    assert beta.peer.values("lastOrdinal") == ["1006", "1050"]
    # A stream that begins is counted from its first message.
    later = STREAM + 1
    beta.post(Sent(1), stream_number=later)
    for first in range(2, 1000, 100):
        beta.post(*chain(first, first + 99), stream_number=later)
    beta.web.pass_time(0.0)
    assert beta.peer.values("lastOrdinal")[2:] == ["1001"]


def test_many_messages_wait_for_the_receipt_before_theirs() -> None:
    beta = Beta()
    beta.web.down.add("peer")
    beta.web.pass_time(1.0)
    for first in range(7, 3007, 100):
        beta.post(*chain(first, first + 99))
        beta.web.pass_time(0.0)
    (queue,) = beta.node.qm.outgoing.queues
    assert queue.count == 1
    beta.web.down.clear()
    beta.web.pass_time(60.0)
    assert beta.peer.values("lastOrdinal") == ["6", "3006"]

"""Messages to a naive receiver: what is posted, and what its answers do."""

from typing import Any

import pytest
from tests.core.harness import ADMINISTRATOR, USER, refused
from tests.protocol.srmp.naive import SILENT, NaiveHost
from tests.protocol.srmp.web import Node, Web, url

from openmsmq.protocol.http.destination import Proxy
from openmsmq.protocol.http.settings import HttpSettings
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState

PEER = "http://peer/msmq/private$/Orders"
JOURNAL = r".\system$;JOURNAL"
DEADLETTER = r".\system$;DEADLETTER"
DEADXACT = r".\system$;DEADXACT"
NEGATIVE_JOURNALING: dict[str, Any] = {"negative_journaling": True}


def machine(http: HttpSettings | None = None, **srmp: Any) -> tuple[Web, Node, NaiveHost]:
    web = Web()
    alpha = web.node("alpha", srmp=srmp, http=http)
    peer = web.hosts["peer"] = NaiveHost()
    web.run()
    return web, alpha, peer


def state(node: Node) -> QueueState:
    outgoing = node.outgoing(PEER).outgoing
    assert outgoing is not None
    return outgoing.state


def reason(node: Node) -> str:
    status = node.srmp.outgoing_status(node.outgoing(PEER), now=node.web.now)
    assert status is not None
    return status.reason


@pytest.mark.spec("MQSRM-3.1.7.7-01", "MQSRM-3.1.7.2.4-05", "MQSRM-3.1.7.9-03")
def test_a_message_is_posted_to_the_path_of_its_url_in_lower_case() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one", label="greeting")
    web.run()
    assert peer.targets == ["/msmq/private$/orders"]
    assert peer.values("to") == [PEER]
    assert peer.values("action") == ["MSMQ:greeting"]
    assert b"one" in peer.contents[0]


@pytest.mark.spec("MQSRM-3.1.7.2.5-02", "MQSRM-3.1.7.9-01", "MQSRM-3.1.7.7-03")
def test_a_message_is_done_when_it_is_answered_200() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one", b"two", delivery_mode=1)
    web.run()
    assert len(peer.envelopes) == 2
    assert alpha.outgoing(PEER).count == 0
    assert state(alpha) is QueueState.CONNECTED
    outgoing = alpha.outgoing(PEER).outgoing
    assert outgoing is not None
    assert [entry.status for entry in outgoing.connection_history] == [ConnectionStatus.READY]


@pytest.mark.spec("MQSRM-2.2.5.2.1-03")
def test_a_recoverable_message_leaves_when_it_is_on_disk() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one", delivery_mode=1)
    alpha.work(flush=False)
    assert peer.envelopes == []
    web.run()
    assert len(peer.envelopes) == 1


@pytest.mark.spec("MQSRM-3.1.7.2.5-04", "MQSRM-3.1.5.2.2-01")
def test_a_message_that_asks_for_it_is_journaled_at_its_200() -> None:
    web, alpha, _ = machine()
    alpha.send(PEER, b"one", positive_journaling=True)
    web.run()
    assert alpha.bodies(JOURNAL) == [b"one"]


@pytest.mark.parametrize("status", [400, 413, 414, 415, 431])
@pytest.mark.spec("MQSRM-3.1.7.2.5-06", "MQSRM-3.1.7.2.5-07", "MQSRM-3.1.1.1.2.1-01")
def test_a_message_is_given_up_when_it_is_never_taken(status: int) -> None:
    web, alpha, peer = machine()
    peer.script = [status]
    alpha.send(PEER, b"bad", b"good", **NEGATIVE_JOURNALING)
    web.run()
    assert len(peer.envelopes) == 2
    assert alpha.outgoing(PEER).count == 0
    queue = alpha.qm.find_queue(DEADLETTER)
    (dead,) = queue.lanes
    assert dead.history is not None
    assert dead.history.message_class == 0xA000 + status
    assert alpha.bodies(DEADLETTER) == [b"bad"]
    assert alpha.bodies(JOURNAL) == []


def test_the_outgoing_queue_says_that_its_last_message_was_refused() -> None:
    web, alpha, peer = machine()

    def last_error() -> str:
        status = alpha.srmp.outgoing_status(alpha.outgoing(PEER), now=web.now)
        assert status is not None
        return status.last_error

    peer.script = [400]
    alpha.send(PEER, b"bad")
    web.run()
    assert last_error() == "peer refused the last message with HTTP status 400"
    alpha.send(PEER, b"good")
    web.run()
    assert last_error() == ""


@pytest.mark.parametrize(
    ("status", "who"),
    [
        (407, "the proxy gate:3128"),
        (502, "the proxy gate:3128"),
        (504, "the proxy gate:3128"),
        (500, "peer"),
    ],
)
def test_what_only_a_proxy_says_is_not_put_down_to_the_host(status: int, who: str) -> None:
    web, alpha, peer = machine(HttpSettings(proxy=Proxy("gate", 3128)))
    peer.script = [status]
    alpha.send(PEER, b"one")
    web.run()
    assert reason(alpha) == f"{who} answered with HTTP status {status}"
    outgoing = alpha.outgoing(PEER).outgoing
    assert outgoing is not None
    assert outgoing.connection_history[-1].address_list == (who.removeprefix("the proxy "),)
    web.pass_time(20.0)
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.parametrize("status", [500, 503, 302, 404, 202])
@pytest.mark.spec("MQSRM-3.1.7.2.5-08", "MQSRM-3.1.2.1-01", "MQSRM-3.1.2.1-03")
def test_a_message_is_sent_again_after_twenty_seconds(status: int) -> None:
    web, alpha, peer = machine()
    peer.script = [status, status]
    alpha.send(PEER, b"one", delivery_mode=1)
    web.run()
    assert state(alpha) is QueueState.INACTIVE
    assert reason(alpha) == f"peer answered with HTTP status {status}"
    web.pass_time(19.0)
    assert len(peer.envelopes) == 1
    web.pass_time(1.0)
    assert len(peer.envelopes) == 2
    web.pass_time(20.0)
    assert len(peer.envelopes) == 3
    assert len(set(peer.envelopes)) == 1
    assert alpha.outgoing(PEER).count == 0
    assert state(alpha) is QueueState.CONNECTED


@pytest.mark.spec("MQSRM-3.1.7.2.2-01", "MQSRM-2.2.5.1.2-03", "MQSRM-3.1.1.1.2.1-02")
def test_a_message_without_an_answer_is_sent_again_as_it_was() -> None:
    web, alpha, peer = machine()
    peer.script = [500, None]
    alpha.send(PEER, b"one", delivery_mode=1)
    web.run()
    web.pass_time(20.0)
    assert state(alpha) is QueueState.INACTIVE
    assert "closed the connection" in reason(alpha)
    web.pass_time(20.0)
    assert len(peer.envelopes) == 2
    assert peer.envelopes[0] == peer.envelopes[1]
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.7.7-02")
def test_new_messages_wait_while_the_retransmission_timer_runs() -> None:
    web, alpha, peer = machine()
    peer.script = [500]
    alpha.send(PEER, b"one")
    web.run()
    alpha.send(PEER, b"two")
    web.run()
    assert len(peer.envelopes) == 1
    web.pass_time(20.0)
    assert len(peer.envelopes) == 3
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.6.1-01", "MQSRM-3.1.6.1-02")
def test_a_host_that_cannot_be_reached_is_tried_again_and_again() -> None:
    web, alpha, peer = machine()
    web.down.add("peer")
    alpha.send(PEER, b"one")
    web.run()
    assert state(alpha) is QueueState.DISCONNECTED
    assert reason(alpha) == "peer accepts no connections"
    status = alpha.srmp.outgoing_status(alpha.outgoing(PEER), now=web.now)
    assert status is not None
    assert status.retry_in_seconds == 20.0
    assert status.last_error == "peer accepts no connections"
    web.pass_time(45.0)
    web.down.clear()
    web.pass_time(20.0)
    assert len(peer.envelopes) == 1
    status = alpha.srmp.outgoing_status(alpha.outgoing(PEER), now=web.now)
    assert status is not None
    assert (status.last_error, status.reason, status.next_hop) == ("", "", "peer")


@pytest.mark.spec("MQSRM-3.1.7.2.1-01", "MQSRM-3.1.7.2.1-02", "MQSRM-3.1.5.2.1-01")
def test_a_message_whose_time_is_over_is_not_sent() -> None:
    web, alpha, peer = machine()
    peer.script = [500]
    alpha.send(PEER, b"one", time_to_reach_queue=10, **NEGATIVE_JOURNALING)
    alpha.send(PEER, b"two", time_to_reach_queue=10)
    web.run()
    sent = len(peer.envelopes)
    web.pass_time(30.0)
    assert len(peer.envelopes) == sent
    assert alpha.outgoing(PEER).count == 0
    assert alpha.bodies(DEADLETTER) == [b"one"]
    # Nothing waits any more: the next message leaves at once.
    assert state(alpha) is QueueState.INACTIVE
    alpha.send(PEER, b"three")
    web.run()
    assert len(peer.envelopes) == sent + 1


@pytest.mark.spec("MQSRM-3.1.6.4-01", "MQSRM-3.1.2.4-01", "MQSRM-3.1.7.2.5-05")
def test_an_idle_connection_is_closed_after_five_minutes() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    web.run()
    web.pass_time(200.0)
    alpha.send(PEER, b"two")
    web.run()
    web.pass_time(299.0)
    assert state(alpha) is QueueState.CONNECTED
    web.pass_time(1.0)
    assert state(alpha) is QueueState.DISCONNECTED
    alpha.send(PEER, b"three")
    web.run()
    assert len(peer.envelopes) == 3


@pytest.mark.spec("MQSRM-3.1.7.4-01", "MQSRM-3.1.7.5-01")
def test_a_paused_queue_sends_nothing_until_it_is_resumed() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"1", tx=True)
    web.run()
    queue = alpha.outgoing(PEER)
    alpha.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    alpha.send(PEER, b"2", tx=True)
    web.run()
    assert state(alpha) is QueueState.ONHOLD
    assert not [end for end in web.links if end[0] == "alpha"]
    web.pass_time(100.0)
    assert len(peer.envelopes) == 1
    alpha.qm.outgoing.resume(queue, caller=ADMINISTRATOR)
    web.run()
    assert peer.values("current") == ["1", "1", "2"]
    assert state(alpha) is QueueState.CONNECTED


def test_a_queue_manager_that_goes_offline_is_connected_to_nothing() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    web.run()
    assert state(alpha) is QueueState.CONNECTED
    alpha.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    web.run()
    assert state(alpha) is QueueState.INACTIVE
    alpha.qm.outgoing.set_online(active=True, caller=ADMINISTRATOR)
    alpha.send(PEER, b"two")
    web.run()
    assert state(alpha) is QueueState.CONNECTED
    assert len(peer.envelopes) == 2


def test_a_failure_is_shown_while_offline() -> None:
    web, alpha, _ = machine()
    web.down.add("peer")
    alpha.send(PEER, b"one")
    web.run()
    alpha.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    web.run()
    status = alpha.srmp.outgoing_status(alpha.outgoing(PEER), now=web.now)
    assert status is not None
    assert status.last_error == "peer accepts no connections"
    assert status.reason == "the queue manager is offline"


def test_nothing_leaves_while_the_queue_manager_is_offline() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    alpha.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    web.run()
    assert peer.envelopes == []
    assert reason(alpha) == "the queue manager is offline"
    alpha.qm.outgoing.set_online(active=True, caller=ADMINISTRATOR)
    web.run()
    assert len(peer.envelopes) == 1


@pytest.mark.spec("MQSRM-1.3.5.2-01", "MQSRM-3.1.4.1-01")
def test_stored_messages_leave_after_a_restart() -> None:
    web, alpha, peer = machine()
    web.down.add("peer")
    alpha.send(PEER, b"stored", delivery_mode=1)
    alpha.send(PEER, b"express")
    web.run()
    alpha.restart()
    web.down.clear()
    web.run()
    assert [b"stored" in content for content in peer.contents] == [True]


def test_an_outgoing_queue_that_never_had_a_message_can_be_deleted() -> None:
    web, alpha, _ = machine()
    alpha.send(PEER)
    alpha.qm.outgoing.delete(alpha.outgoing(PEER), caller=ADMINISTRATOR)
    web.run()
    assert alpha.qm.outgoing.queues == []


def test_everything_stops_with_the_queue_manager() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    web.run()
    alpha.qm.stop()
    alpha.qm.stopped()
    web.run()
    assert not web.links
    assert len(peer.envelopes) == 1


def test_messages_that_are_moved_away_leave_nothing_behind() -> None:
    web, alpha, peer = machine()
    web.down.add("peer")
    alpha.send(PEER, b"1", tx=True)
    web.run()
    alpha.create(transactional=True)
    queue = alpha.outgoing(PEER)
    alpha.move_away(PEER)
    web.run()
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is None
    web.down.clear()
    web.pass_time(60.0)
    assert peer.envelopes == []


def test_a_deleted_outgoing_queue_is_forgotten() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    web.run()
    alpha.qm.outgoing.delete(alpha.outgoing(PEER), caller=ADMINISTRATOR)
    web.run()
    assert not web.links
    alpha.send(PEER, b"two")
    web.run()
    assert len(peer.envelopes) == 2


def test_more_messages_than_a_connection_takes_follow_its_answers() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, *[b"%d" % number for number in range(200)])
    web.run()
    assert len(peer.envelopes) == 200
    assert alpha.outgoing(PEER).count == 0


def test_a_host_that_does_not_answer_is_given_up() -> None:
    web, alpha, peer = machine(cleanup_seconds=10.0)
    peer.script = [SILENT]
    alpha.send(PEER, b"one")
    web.run()
    assert reason(alpha) == "sent, but not answered yet"
    web.pass_time(20.0)
    assert state(alpha) is QueueState.CONNECTED
    web.pass_time(50.0)
    assert state(alpha) is QueueState.INACTIVE
    assert reason(alpha) == "no response from http://peer within 60 seconds"
    web.pass_time(20.0)
    assert len(peer.envelopes) == 1
    assert alpha.outgoing(PEER).count == 0


def test_a_limited_number_of_messages_awaits_answers() -> None:
    web, alpha, peer = machine()
    peer.script = [SILENT]
    limit = HttpSettings().max_pipelined
    bodies = [b"<%d>" % number for number in range(limit + 10)]
    alpha.send(PEER, *bodies)
    web.run()
    queue = alpha.outgoing(PEER)
    assert (len(queue.locked), queue.lanes.count) == (limit, 10)
    web.pass_time(100.0)
    assert len(peer.contents) == len(bodies)
    for body, content in zip(bodies, peer.contents, strict=True):
        assert body in content
    assert queue.count == 0


def test_messages_that_are_purged_before_they_may_leave_are_not_sent() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    web.run()
    alpha.send(PEER, b"two", delivery_mode=1)
    alpha.work(flush=False)
    alpha.purge_outgoing(PEER)
    web.run()
    assert len(peer.envelopes) == 1


def test_a_host_that_is_reached_after_a_pause_is_left_alone() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one")
    alpha.work()
    web.connect(alpha)
    alpha.enter()
    alpha.qm.outgoing.pause(alpha.outgoing(PEER), caller=ADMINISTRATOR)
    alpha.engine.work()
    web.run()
    assert state(alpha) is QueueState.ONHOLD
    assert peer.envelopes == []


def test_messages_of_an_older_version_leave_when_the_secret_is_on_disk() -> None:
    web = Web()
    alpha = web.node("alpha", start=False)
    peer = web.hosts["peer"] = NaiveHost()
    alpha.start_core()
    alpha.send(PEER, b"1", b"2", tx=True)
    alpha.engine.flush()
    alpha.start()
    for _ in range(3):
        alpha.work(flush=False)
        web.connect(alpha)
        web.move(alpha)
    assert peer.envelopes == []
    web.run()
    assert peer.values("current") == ["1", "2"]


def test_a_local_queue_that_is_deleted_is_no_concern_of_this_protocol() -> None:
    web, alpha, _ = machine()
    queue = alpha.create()
    alpha.qm.delete_queue(queue, caller=USER)
    alpha.qm.outgoing.set_throttled(throttled=True)
    web.run()
    assert alpha.srmp.outgoing_status(queue, now=web.now) is None


def test_a_queue_of_another_transport_is_no_concern_of_this_one() -> None:
    web, alpha, _ = machine()
    name = r"DIRECT=OS:other\private$\orders"
    alpha.send_to(name, b"one", delivery_mode=1)
    web.run()
    alpha.restart()
    assert alpha.srmp.outgoing_status(alpha.qm.outgoing.find(name), now=web.now) is None


def test_an_acknowledgment_that_srmp_does_not_have_is_given_up() -> None:
    web, alpha, peer = machine()
    alpha.send(PEER, b"one", message_class=0x8004)
    alpha.send(PEER, b"two")
    web.run()
    assert len(peer.envelopes) == 1
    assert alpha.outgoing(PEER).count == 0


@pytest.mark.spec("MQSRM-3.1.7.2.4-08")
def test_an_administration_queue_of_this_machine_is_written_as_its_url() -> None:
    web, alpha, peer = machine(http_host="alpha.example:8080")
    alpha.create(r".\private$\acks")
    for admin in (r"OS:alpha\private$\acks", "http://alpha/msmq/private$/acks"):
        alpha.send(PEER, b"one", admin_queue=admin, acknowledgments=1)
    web.run()
    assert peer.values("sendTo") == [
        "http://alpha.example:8080/msmq/private$/acks",
        "http://alpha/msmq/private$/acks",
    ]


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"privacy_level": 1}, "MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED"),
        (
            {"admin_queue": r"OS:other\private$\acks", "acknowledgments": 1},
            "MQ_ERROR_ILLEGAL_FORMATNAME",
        ),
    ],
)
def test_a_message_that_srmp_cannot_carry_is_refused_when_it_is_sent(
    properties: dict[str, Any], code: str
) -> None:
    web, alpha, peer = machine()
    with refused(code):
        alpha.send(PEER, b"one", **properties)
    alpha.send(PEER, b"two", admin_queue=r"OS:other\private$\acks")
    web.run()
    assert len(peer.envelopes) == 1
    assert peer.values("sendTo") == [""]


def test_a_traced_message_is_reported_when_it_leaves() -> None:
    web, alpha, _ = machine()
    alpha.send(PEER, b"one", tracing_requested=True)
    web.run()
    assert alpha.outgoing(PEER).count == 0


def test_a_message_to_several_urls_names_all_of_them() -> None:
    web, alpha, peer = machine()
    other = web.hosts["other"] = NaiveHost()
    far = "http://other/msmq/q"
    alpha.send_to_several([PEER, far], b"one")
    web.run()
    for host in (peer, other):
        (names,) = host.values("DestinationMqf")
        assert {name.lower() for name in names.split()} == {PEER.lower(), far}
    assert peer.values("to") == [PEER]
    assert other.values("to") == [far]


def test_copies_of_a_message_for_several_queues_name_all_of_them_where_they_arrive() -> None:
    web, alpha, _ = machine()
    beta = web.node("beta")
    beta.create()
    urls = [PEER, url(beta)]
    alpha.send_to_several(urls, b"one")
    web.run()
    (message,) = beta.messages()
    header = message.multi_queue_format_header
    assert header is not None
    names = {element.format_name.lower() for element in header.destination}
    assert names == {f"direct={each}".lower() for each in urls}


@pytest.mark.spec("MQDMPR-3.1.7.3.9-03")
def test_only_messages_to_a_url_are_sent_by_srmp() -> None:
    web, alpha, peer = machine()
    alpha.send_to(r"DIRECT=OS:peer\private$\orders", b"binary")
    alpha.send(PEER, b"web")
    web.run()
    assert len(peer.envelopes) == 1
    assert b"web" in peer.contents[0]
    binary = alpha.qm.outgoing.find(r"DIRECT=OS:peer\private$\orders")
    assert alpha.srmp.outgoing_status(binary, now=web.now) is None
    assert binary.count == 1


@pytest.mark.spec("MQDMPR-3.1.7.3.9-02")
def test_what_waited_for_the_disk_leaves_by_priority() -> None:
    web, alpha, peer = machine()
    other = "http://peer/msmq/private$/other"
    for name in (PEER, other):
        alpha.send(name, b"first")
    web.run()
    peer.targets.clear()
    for name, priority in ((PEER, 1), (other, 6)):
        alpha.send(name, b"%d" % priority, priority=priority, delivery_mode=1)
    alpha.work(flush=False)
    assert peer.targets == []
    web.run()
    assert peer.targets == ["/msmq/private$/other", "/msmq/private$/orders"]

"""One line when a destination cannot be reached, one when it is reached again."""

import logging
from collections.abc import Callable

import pytest
from tests.core.harness import SEND, USER, packet
from tests.service.hosted import Hosted
from tests.service.loops import run
from tests.service.test_message_log import lines

from openmsmq.core.model.queue import Queue
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.service import reachability
from openmsmq.service.reachability import Reachability
from openmsmq.wire.codes.queue_enums import ConnectionStatus

ORDERS = r"DIRECT=OS:beta\private$\orders"
OTHER = r"DIRECT=OS:beta\private$\other"
ORDER_QUEUE = "DIRECT=HTTPS://beta:8443/msmq/private$/order_queue$?s=0123"
ELSEWHERE = r"DIRECT=TCP:10.0.0.7\private$\orders"
REFUSED = ConnectionStatus.CONNECT_SOCKET_FAILURE
UNKNOWN_HOST = ConnectionStatus.NAME_RESOLUTION_FAILURE
READY = ConnectionStatus.READY


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "openmsmq")


class Case:
    """Outgoing queues whose connections do what the test says."""

    def __init__(self) -> None:
        self.hosted = Hosted()
        self.reachability = Reachability(self.hosted.host)

    def outgoing(self, name: str) -> Queue:
        manager = self.hosted.manager
        sender = manager.open_queue(name, SEND, caller=USER)
        manager.traffic.enqueue_many(sender, [packet()])
        return manager.outgoing.find(name)

    async def note(self, name: str, *statuses: ConnectionStatus, utc: int = 0) -> None:
        outgoing = self.hosted.manager.outgoing
        for status in statuses:
            self.hosted.manager.set_time(now=self.hosted.manager.state.now, utc=utc)
            outgoing.change(outgoing.find(name), OutgoingInput.FAILED, status=status)
            await self.hosted.host.drain()


def drive(test: Callable[[Case], object]) -> None:
    async def main() -> None:
        case = Case()
        await test(case)  # type: ignore[misc]
        await case.hosted.host.close()

    run(main)


def test_a_change_has_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def test(case: Case) -> None:
        case.outgoing(ORDERS)
        await case.note(ORDERS, ConnectionStatus.NONE, REFUSED, REFUSED, UNKNOWN_HOST)
        assert [line["reason"] for line in lines(caplog, "M0052")] == [
            "nothing accepts connections at the address",
            "the host name could not be resolved",
        ]
        assert lines(caplog, "M0052")[0]["destination"] == "DIRECT=OS:beta"
        await case.note(ORDERS, READY, READY)
        assert lines(caplog, "M0053") == [{"destination": "DIRECT=OS:beta"}]
        await case.note(ORDERS, REFUSED)
        assert len(lines(caplog, "M0052")) == 3

    drive(test)


def test_messages_that_only_await_their_final_acknowledgment_do_not_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(case: Case) -> None:
        queue = case.outgoing(ORDERS)
        message = queue.lanes.first()
        assert message is not None
        queue.lock(message, case)
        message.make_history().awaiting_final_ack = True
        # The other side has closed an idle session.
        await case.note(ORDERS, ConnectionStatus.SEND_FAILURE)
        assert lines(caplog, "M0052") == []
        message.make_history().awaiting_final_ack = False
        await case.note(ORDERS, ConnectionStatus.SEND_FAILURE)
        assert len(lines(caplog, "M0052")) == 1

    drive(test)


def test_messages_that_begin_to_wait_later_have_a_line_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(case: Case) -> None:
        case.outgoing(ORDERS)
        for utc in range(0, 1000, 200):
            await case.note(ORDERS, REFUSED, utc=utc)
        assert len(lines(caplog, "M0052")) == 1
        await case.note(ORDERS, REFUSED, utc=5000)
        assert len(lines(caplog, "M0052")) == 2

    drive(test)


def test_queues_of_one_host_share_a_line(caplog: pytest.LogCaptureFixture) -> None:
    async def test(case: Case) -> None:
        for name in (ORDERS, OTHER, ELSEWHERE):
            case.outgoing(name)
            await case.note(name, REFUSED)
        assert [line["destination"] for line in lines(caplog, "M0052")] == [
            "DIRECT=OS:beta",
            "DIRECT=TCP:10.0.0.7",
        ]

    drive(test)


def test_a_web_server_is_reached_when_it_takes_a_message(caplog: pytest.LogCaptureFixture) -> None:
    busy = ConnectionStatus.REFUSED_BY_OTHER_SIDE

    async def test(case: Case) -> None:
        queue = case.outgoing(ORDER_QUEUE)
        manager = case.hosted.manager.outgoing
        for _ in range(3):
            reason = "beta answered with HTTP status 503"
            manager.change(queue, OutgoingInput.FAILED, status=busy, reason=reason)
            await case.note(ORDER_QUEUE, READY)
            case.reachability.look()
        destination = {"destination": "DIRECT=HTTPS://beta:8443"}
        assert lines(caplog, "M0052") == [{**destination, "reason": reason}]
        assert lines(caplog, "M0053") == []
        manager.finish(queue, list(queue.lanes), 2)
        case.reachability.look()
        case.reachability.look()
        assert lines(caplog, "M0053") == [destination]
        await case.note(ORDER_QUEUE, READY)
        assert lines(caplog, "M0053") == [destination]

    drive(test)


def test_a_web_server_that_nothing_waits_for_is_reached_with_its_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(case: Case) -> None:
        queue = case.outgoing(ORDER_QUEUE)
        await case.note(ORDER_QUEUE, REFUSED)
        case.hosted.manager.outgoing.finish(queue, list(queue.lanes), 2)
        await case.note(ORDER_QUEUE, READY)
        assert lines(caplog, "M0053") == [{"destination": "DIRECT=HTTPS://beta:8443"}]

    drive(test)


def test_without_messages_and_at_a_stop_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    async def test(case: Case) -> None:
        queue = case.outgoing(ORDERS)
        await case.note(ORDERS, ConnectionStatus.UNKNOWN_FAILURE)
        case.hosted.manager.outgoing.finish(queue, list(queue.lanes), 2)
        await case.note(ORDERS, REFUSED, READY)
        assert lines(caplog, "M0052") == lines(caplog, "M0053") == []

    drive(test)


def test_hosts_that_peers_make_up_are_bounded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reachability, "MAX_KNOWN", 2)

    async def test(case: Case) -> None:
        for name in (ORDERS, ELSEWHERE):
            case.outgoing(name)
            await case.note(name, REFUSED)
        case.outgoing(r"DIRECT=OS:gamma\private$\x")
        await case.note(r"DIRECT=OS:gamma\private$\x", REFUSED)
        assert len(lines(caplog, "M0052")) == 2
        await case.note(ORDERS, UNKNOWN_HOST)
        assert len(lines(caplog, "M0052")) == 3
        case.hosted.manager.state.outgoing.pop(
            next(key for key in case.hosted.manager.state.outgoing if "beta" in key)
        )
        await case.note(r"DIRECT=OS:gamma\private$\x", REFUSED)
        assert lines(caplog, "M0052")[-1]["destination"] == "DIRECT=OS:gamma"

    drive(test)

"""Nothing vanishes silently: counters and lines for what leaves unread or is refused."""

import logging
from typing import Any

import pytest
from tests.core.harness import ORDERS, RECEIVE, SEND, USER, packet
from tests.service.hosted import Hosted
from tests.service.loops import run, until

from openmsmq.core.management.counters import reason_name
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.transports import Transport
from openmsmq.service import logs
from openmsmq.service.message_log import LINES_PER_SECOND, MessageLog
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage


class Case:
    """A queue with messages, and the log of what becomes of them."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.hosted = Hosted(settings=settings)
        self.log = MessageLog(self.hosted.host)
        manager = self.manager = self.hosted.manager
        self.counters = manager.counters
        manager.create_queue(ORDERS, caller=USER)
        self.sender = manager.open_queue(ORDERS, SEND, caller=USER)
        self.reader = manager.open_queue(ORDERS, RECEIVE, caller=USER)


def lines(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    return [
        record.fields  # type: ignore[attr-defined]
        for record in caplog.records
        if record.event == event  # type: ignore[attr-defined]
    ]


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "openmsmq")


@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_a_message_that_leaves_unread_is_named_and_counted(
    caplog: pytest.LogCaptureFixture, delivery_mode: int
) -> None:
    async def main() -> None:
        case = Case()
        sent = case.manager.traffic.enqueue_many(case.sender, [packet(delivery_mode=delivery_mode)])
        identifier = UserMessage(sent.messages[0].packet or b"").identifier
        await case.hosted.host.drain()
        case.manager.traffic.purge(case.reader)
        await case.hosted.host.drain()
        (line,) = lines(caplog, "M0030")
        assert line == {
            "queue": r"private$\orders",
            "reason": "NACK_Q_PURGED",
            "id": str(identifier),
            "lookup_id": str(sent.lookup_ids[0]),
        }
        assert case.counters.deleted_messages.by() == {"NACK_Q_PURGED": 1}
        await case.hosted.host.close()

    run(main)


def test_it_is_said_when_it_is_true_on_disk(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        case.manager.traffic.enqueue_many(case.sender, [packet()])
        await case.hosted.host.drain()
        case.hosted.store.slow = True
        case.manager.traffic.purge(case.reader)
        case.hosted.host.wake()
        await until(lambda: case.hosted.host.engine.writing is not None)
        assert lines(caplog, "M0030") == []
        case.hosted.store.let_go()
        await until(lambda: len(lines(caplog, "M0030")) == 1)
        case.hosted.store.slow = False
        await case.hosted.host.close()

    run(main)


def test_a_message_that_was_read_is_not_spoken_of(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        case.manager.create_queue(r".\private$\x", caller=USER, transactional=True)
        case.manager.traffic.enqueue_many(case.sender, [packet(positive_journaling=True)])
        case.manager.traffic.dequeue_many(case.reader)
        await case.hosted.host.drain()
        assert lines(caplog, "M0030") == []
        assert not case.counters.deleted_messages.by()
        await case.hosted.host.close()

    run(main)


def test_the_packet_is_read_back_for_its_id(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case(Settings(memory_budget=0))
        case.manager.traffic.enqueue_many(case.sender, [packet(), packet(delivery_mode=0)])
        await case.hosted.host.drain()
        case.manager.traffic.purge(case.reader)
        await case.hosted.host.drain()
        stored, express = sorted(lines(caplog, "M0030"), key=lambda line: str(line["lookup_id"]))
        assert "\\" in stored["id"]
        assert express["id"] == "unknown"
        await case.hosted.host.close()

    run(main)


def test_many_at_once_are_summed_up(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        sent = case.manager.traffic.enqueue_many(case.sender, [packet()] * 1000)
        case.manager.traffic.purge(case.reader)
        await case.hosted.host.drain()
        assert len(lines(caplog, "M0030")) == LINES_PER_SECOND
        await until(lambda: bool(lines(caplog, "M0031")))
        (line,) = lines(caplog, "M0031")
        assert line == {
            "queue": r"private$\orders",
            "reason": "NACK_Q_PURGED",
            "count": 1000 - LINES_PER_SECOND,
            "first_lookup_id": str(sent.lookup_ids[LINES_PER_SECOND]),
            "last_lookup_id": str(sent.lookup_ids[-1]),
        }
        assert case.counters.deleted_messages.by() == {"NACK_Q_PURGED": 1000}
        case.log.sum_up()
        assert len(lines(caplog, "M0031")) == 1
        await case.hosted.host.close()

    run(main)


def test_refused_messages_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        error = QueueError(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, "full")
        case.log.refuse("Send", "a queue", 3, error)
        case.log.refuse("OpenQueue", "", 0, QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "x"))
        assert case.counters.refused_requests.by() == {
            "MQ_ERROR_INSUFFICIENT_RESOURCES": 1,
            "MQ_ERROR_QUEUE_NOT_FOUND": 1,
        }
        (line,) = lines(caplog, "M0035")
        assert line == {
            "queue": "a queue",
            "code": "MQ_ERROR_INSUFFICIENT_RESOURCES",
            "count": 3,
            "reason": "full",
        }
        assert logs.MESSAGES_OVER_QUOTA.level == logging.WARNING
        denied = QueueError(Hresult.MQ_ERROR_ACCESS_DENIED, "no")
        case.log.refuse("Send", "a queue", 1, denied)
        assert [each["code"] for each in lines(caplog, "M0032")] == ["MQ_ERROR_ACCESS_DENIED"]
        assert len(lines(caplog, "M0025")) == 3
        await case.hosted.host.close()

    run(main)


def test_a_read_that_finds_nothing_is_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        case.log.refuse("Receive", "", 0, QueueError(Hresult.MQ_ERROR_IO_TIMEOUT))
        case.log.refuse("Receive", "", 0, QueueError(Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION))
        assert case.counters.refused_requests.by() == {}
        assert lines(caplog, "M0025") == []
        await case.hosted.host.close()

    run(main)


def test_many_refusals_are_summed_up(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        error = QueueError(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, "full")
        for _ in range(LINES_PER_SECOND + 10):
            case.log.refuse("Send", "a queue", 2, error)
        assert len(lines(caplog, "M0035")) == LINES_PER_SECOND
        case.log.sum_up()
        assert lines(caplog, "M0035")[-1]["count"] == 20
        await case.hosted.host.close()

    run(main)


def test_a_reason_that_has_no_name_is_a_number() -> None:
    assert reason_name(0xFFF0) == "0xFFF0"


def test_what_finds_no_place_is_named_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        case.manager.state.machine_journal.properties.quota = 0
        count = LINES_PER_SECOND + 3
        packets = [packet(positive_journaling=True)] * count
        sent = case.manager.traffic.enqueue_many(case.sender, packets)
        identifier = UserMessage(sent.messages[0].packet or b"").identifier
        await case.hosted.host.drain()
        said = lines(caplog, "M0034")
        assert len(said) == LINES_PER_SECOND
        assert said[0] == {
            "what": "journal copy",
            "queue": case.manager.state.machine_journal.path,
            "reason": "over the quota",
            "id": identifier,
        }
        case.log.sum_up()
        assert lines(caplog, "M0034")[-1]["count"] == 3
        assert case.counters.dropped_messages.by() == {"journal copy: over the quota": count}

    run(main)


def test_a_refused_request_is_named_by_its_sender(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        case = Case()
        for _ in range(LINES_PER_SECOND + 2):
            case.manager.incoming.refuse_request("10.0.0.7", Transport.HTTP, "not XML")
        await case.hosted.host.drain()
        case.log.sum_up()
        said = lines(caplog, "M0034")
        fields = {"what": "request", "peer": "10.0.0.7", "reason": "not XML"}
        assert (said[0], said[-1]) == (fields, {**fields, "count": 2})

    run(main)

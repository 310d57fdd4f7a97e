"""The host: replies after their batch, events to their listeners, a full disk, faults."""

import asyncio
import logging

import pytest
from tests.core.harness import ORDERS, RECEIVE, SEND, USER, packet
from tests.service.fake_store import FakeStep, FakeStore
from tests.service.hosted import Hosted
from tests.service.loops import run, until

from openmsmq.core.events import QueueCreated, ReadEnded, ReadSatisfied
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.engine.engine import MAX_WAITING_BYTES
from openmsmq.store.interface import Finding
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError


def test_what_depends_on_a_batch_happens_when_it_is_on_disk() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        hosted.store.slow = True
        hosted.manager.create_queue(ORDERS, caller=USER)
        number = hosted.manager.state.outbox.number
        said: list[str] = []
        hosted.host.when_durable(number, said.append, "durable")
        hosted.host.when_durable(0, said.append, "at once")
        hosted.host.wake()
        await asyncio.sleep(0.02)
        assert said == ["at once"]
        hosted.store.let_go()
        await until(lambda: said == ["at once", "durable"])
        hosted.host.when_durable(number, said.append, "known")
        assert said[-1] == "known"
        hosted.store.slow = False
        await hosted.host.close()

    run(main)


def test_what_waits_is_released_in_the_order_of_the_batches() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        first = hosted.manager.state.outbox.number
        said: list[int] = []
        hosted.host.when_durable(first + 1, said.append, 2)
        hosted.host.when_durable(first, said.append, 1)
        hosted.manager.create_queue(ORDERS, caller=USER)
        await hosted.host.drain()
        assert said == [1]
        hosted.manager.create_queue(r".\private$\other", caller=USER)
        await hosted.host.drain()
        assert said == [1, 2]
        await hosted.host.close()

    run(main)


def test_events_go_to_whoever_listens() -> None:
    async def main() -> None:
        hosted = Hosted()
        created: list[str] = []
        hosted.host.engine.listen(QueueCreated, lambda event: created.append(event.queue.path))
        hosted.manager.create_queue(ORDERS, caller=USER)
        hosted.host.wake()
        hosted.host.wake()
        await until(lambda: bool(created))
        assert created == [r"private$\orders"]
        await hosted.host.close()

    run(main)


def test_timers_of_the_queue_manager_run() -> None:
    async def main() -> None:
        hosted = Hosted()
        ended: list[ReadEnded] = []
        hosted.host.engine.listen(ReadEnded, ended.append)
        hosted.manager.create_queue(ORDERS, caller=USER)
        reader = hosted.manager.open_queue(ORDERS, RECEIVE, caller=USER)
        hosted.manager.traffic.dequeue_many(reader, timeout=0.05)
        hosted.host.wake()
        await until(lambda: bool(ended))
        await hosted.host.close()

    run(main)


def test_events_that_a_listener_causes_are_handed_out_too() -> None:
    async def main() -> None:
        hosted = Hosted()
        satisfied: list[ReadSatisfied] = []
        manager = hosted.manager
        manager.create_queue(ORDERS, caller=USER)
        reader = manager.open_queue(ORDERS, RECEIVE, caller=USER)
        sender = manager.open_queue(ORDERS, SEND, caller=USER)
        hosted.host.engine.listen(ReadSatisfied, satisfied.append)

        def send(event: QueueCreated) -> None:
            manager.traffic.enqueue_many(sender, [packet()])

        hosted.host.engine.listen(QueueCreated, send)
        manager.traffic.dequeue_many(reader, timeout=None)
        await hosted.host.drain()
        assert len(satisfied) == 1
        await hosted.host.close()

    run(main)


# Outputs that send at once


def test_an_output_that_leaves_nothing_to_do_needs_no_turn() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        # The turn after the write.
        await asyncio.sleep(0.02)
        sent: list[str] = []
        turns: list[str] = []
        hosted.host.engine.add_output(lambda: turns.append("turn"))
        hosted.host.send_at_once(lambda: sent.append("answer"))
        await asyncio.sleep(0.02)
        assert (sent, turns) == (["answer"], [])
        hosted.manager.create_queue(ORDERS, caller=USER)
        hosted.host.send_at_once(lambda: None)
        await until(lambda: hosted.manager.idle and bool(turns))
        await hosted.host.close()

    run(main)


def test_a_read_that_waits_sets_the_timer_without_a_turn_of_its_own() -> None:
    async def main() -> None:
        hosted = Hosted()
        hosted.manager.create_queue(ORDERS, caller=USER)
        reader = hosted.manager.open_queue(ORDERS, RECEIVE, caller=USER)
        await hosted.host.drain()
        ended: list[ReadEnded] = []
        hosted.host.engine.listen(ReadEnded, ended.append)
        hosted.host.tick()
        hosted.manager.traffic.dequeue_many(reader, timeout=0.05)
        assert hosted.manager.idle
        hosted.host.send_at_once(lambda: None)
        # Sooner than the timer of things that are done once a second.
        await asyncio.sleep(0.3)
        assert len(ended) == 1
        await hosted.host.close()

    run(main)


def test_a_fault_of_an_output_that_sends_at_once_stops_everything() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()

        def fail() -> None:
            raise LookupError

        hosted.host.send_at_once(fail)
        assert isinstance(hosted.failures[0], LookupError)
        sent: list[str] = []
        hosted.host.send_at_once(lambda: sent.append("answer"))
        assert sent == []
        await hosted.host.close()

    run(main)


# Pressure


def test_too_much_that_waits_for_the_disk_saturates() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        hosted.store.slow = True
        hosted.manager.create_queue(ORDERS, caller=USER)
        hosted.host.wake()
        await until(lambda: hosted.host.engine.writing is not None)
        hosted.host.engine.take_in(MAX_WAITING_BYTES - 1)
        assert not hosted.host.saturated
        hosted.host.engine.take_in(1)
        assert hosted.host.saturated
        called: list[bool] = []
        hosted.host.engine.when_free(lambda: called.append(hosted.host.saturated))
        hosted.host.wake()
        await asyncio.sleep(0.02)
        assert called == []
        hosted.store.let_go()
        await until(lambda: called == [False])
        hosted.store.slow = False
        await hosted.host.close()

    run(main)


# A full disk


def test_a_full_disk_refuses_new_messages_until_there_is_room() -> None:
    async def main() -> None:
        hosted = Hosted()
        manager = hosted.manager
        manager.create_queue(ORDERS, caller=USER)
        sender = manager.open_queue(ORDERS, SEND, caller=USER)
        reader = manager.open_queue(ORDERS, RECEIVE, caller=USER)
        manager.traffic.enqueue_many(sender, [packet(b"before")])
        await hosted.host.drain()
        hosted.store.full = True
        # Nobody writes: it is noticed all the same.
        await until(lambda: manager.state.local.throttled)
        with pytest.raises(QueueError, match="MQ_ERROR_INSUFFICIENT_RESOURCES"):
            manager.traffic.enqueue_many(sender, [packet(b"too much")])
        assert isinstance(manager.traffic.dequeue_many(reader), Read)
        hosted.store.full = False
        await until(lambda: not manager.state.local.throttled)
        manager.traffic.enqueue_many(sender, [packet(b"after")])
        await hosted.host.close()

    run(main)


def test_a_disk_that_is_full_at_the_start_is_noticed_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        store = FakeStore()
        store.full = True
        with caplog.at_level(logging.ERROR, "openmsmq"):
            hosted = Hosted(store)
        assert hosted.manager.state.local.throttled
        await hosted.host.close()

    run(main)
    assert [record.event for record in caplog.records] == ["M0008"]  # type: ignore[attr-defined]


# The store's own work


def test_the_store_writes_for_itself_when_it_is_quiet() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        hosted.store.own_writes = 2
        hosted.host.wake()
        await until(lambda: hosted.store.own_writes == 0)
        await hosted.host.close()

    run(main)


def test_steps_follow_each_other_while_nobody_writes() -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        made: list[int] = []
        hosted.store.steps = [
            FakeStep(lambda: None, lambda number=number: made.append(number))  # type: ignore[misc]
            for number in range(20)
        ]
        await until(lambda: len(made) == 20)
        await hosted.host.close()

    run(main)


def test_steps_are_made_under_load_too() -> None:
    async def main() -> None:
        hosted = Hosted()
        manager = hosted.manager
        manager.create_queue(ORDERS, caller=USER)
        sender = manager.open_queue(ORDERS, SEND, caller=USER)
        made: list[int] = []
        hosted.store.steps = [
            FakeStep(lambda: None, lambda number=number: made.append(number))  # type: ignore[misc]
            for number in range(5)
        ]
        while len(made) < 5:
            manager.traffic.enqueue_many(sender, [packet()])
            hosted.host.wake()
            await asyncio.sleep(0)
        await hosted.host.close()

    run(main)


def test_damage_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        hosted = Hosted()
        hosted.store.findings.append(Finding("segment-1", 512, "damaged"))
        hosted.store.steps = [FakeStep(lambda: None, lambda: None)]
        await until(lambda: not hosted.store.findings)
        await hosted.host.close()

    with caplog.at_level(logging.ERROR, "openmsmq"):
        run(main)
    (record,) = caplog.records
    assert record.fields == {  # type: ignore[attr-defined]
        "file": "segment-1",
        "offset": 512,
        "what": "damaged",
    }


# Faults


@pytest.mark.parametrize("where", ["begin", "write", "finish", "maintain", "write!"])
def test_a_fault_of_the_store_stops_everything(where: str) -> None:
    async def main() -> None:
        hosted = Hosted()
        await hosted.host.drain()
        number = hosted.manager.state.outbox.number
        hosted.store.fail_in = where
        said: list[str] = []
        hosted.manager.create_queue(ORDERS, caller=USER)
        if where != "maintain":
            hosted.host.when_durable(number, said.append, "a lie")
        hosted.host.wake()
        await until(lambda: bool(hosted.failures))
        assert isinstance(hosted.failures[0], RuntimeError if "!" in where else StoreError)
        assert hosted.host.saturated
        hosted.store.fail_in = ""
        hosted.host.wake()
        await asyncio.sleep(0.02)
        await hosted.host.close()
        assert said == []
        assert len(hosted.failures) == 1

    run(main)


def test_a_fault_of_a_listener_stops_everything() -> None:
    async def main() -> None:
        hosted = Hosted()

        def fail(event: object) -> None:
            raise LookupError(event)

        hosted.host.engine.listen(QueueCreated, fail)
        hosted.manager.create_queue(ORDERS, caller=USER)
        hosted.host.wake()
        await until(lambda: bool(hosted.failures))
        assert isinstance(hosted.failures[0], LookupError)
        await hosted.host.close()

    run(main)


def test_a_fault_of_a_timer_stops_everything() -> None:
    async def main() -> None:
        hosted = Hosted()
        hosted.manager.create_queue(ORDERS, caller=USER)
        reader = hosted.manager.open_queue(ORDERS, RECEIVE, caller=USER)
        read = hosted.manager.traffic.dequeue_many(reader, timeout=0.05)
        assert isinstance(read, ReadRequest)
        # A read that its queue does not know cannot end.
        hosted.manager.find_queue(ORDERS).waiting.clear()
        hosted.host.wake()
        await until(lambda: bool(hosted.failures))
        await hosted.host.close()

    run(main)


def test_everything_built_is_on_disk_at_the_end() -> None:
    async def main() -> None:
        hosted = Hosted()
        hosted.manager.create_queue(ORDERS, caller=USER)
        sender = hosted.manager.open_queue(ORDERS, SEND, caller=USER)
        hosted.manager.traffic.enqueue_many(sender, [packet(b"last")])
        await hosted.host.close()
        assert hosted.store.stats().messages == 1

    run(main)

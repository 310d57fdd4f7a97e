"""Events for those who watch, over a real connection."""

import asyncio

import pytest

import openmsmq
from openmsmq import aio

ORDERS = r".\private$\orders"


def kinds(page: dict[str, object]) -> list[tuple[str, str]]:
    events = page["events"]
    assert isinstance(events, list)
    return [(event["kind"], event["queue"]) for event in events]


def test_events_are_told_as_they_happen(msmq: openmsmq.QueueManager) -> None:
    async def watch() -> list[tuple[str, str]]:
        async with aio.connect(msmq.address) as manager:
            waiting = asyncio.ensure_future(manager.events(1_000_000))
            await asyncio.sleep(0)
            # Answered after the request above has come: nothing happens before it waits.
            await manager.status()
            await asyncio.to_thread(msmq.create_queue, ORDERS)
            # Who names an event that is not there yet waits for the next one.
            assert kinds(await asyncio.wait_for(waiting, 30))
            await asyncio.to_thread(msmq.delete_queue, ORDERS)
            seen: list[tuple[str, str]] = []
            last = -1
            while ("queue-deleted", "private$\\orders") not in seen:
                page = await asyncio.wait_for(manager.events(last), 30)
                seen += kinds(page)
                last = page["last"]
                assert page["left_out"] == 0
            return seen

    seen = asyncio.run(watch())
    created = seen.index(("queue-created", "private$\\orders"))
    assert created < seen.index(("queue-deleted", "private$\\orders"))


def test_an_outgoing_queue_that_is_paused_and_resumed_is_told(msmq: openmsmq.QueueManager) -> None:
    name = r"DIRECT=TCP:127.0.0.99\private$\orders"
    msmq.send(name, openmsmq.Message(b"x"))
    msmq.pause_outgoing(name)
    msmq.resume_outgoing(name)
    told = [kind for kind, queue in kinds(msmq.events(0)) if queue == name]
    assert [kind for kind in told if kind in ("queue-paused", "queue-resumed")] == [
        "queue-paused",
        "queue-resumed",
    ]


def test_what_was_left_out_is_counted(msmq: openmsmq.QueueManager) -> None:
    queue = msmq.create_queue(ORDERS)
    for number in range(1100):
        msmq.set_queue(ORDERS, label=str(number))
    page = msmq.events(0)
    assert len(page["events"]) == 1000
    assert page["left_out"] == page["last"] - 1000 > 0
    assert queue.name


def ask_for_ever(manager: openmsmq.QueueManager) -> None:
    for _ in range(1000):
        manager.status()


def test_a_client_is_hung_up_on(msmq: openmsmq.QueueManager) -> None:
    with openmsmq.connect(msmq.address) as other:
        (victim,) = {each["id"] for each in other.clients()} - {msmq.clients()[0]["id"]}
        msmq.hang_up("local", victim)
        with pytest.raises(openmsmq.ConnectionLost):
            ask_for_ever(other)
    with pytest.raises(openmsmq.QueueError, match="neither a session nor a client"):
        msmq.hang_up("local", victim)

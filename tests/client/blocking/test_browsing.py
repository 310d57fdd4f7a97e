"""Looking through a queue with the client."""

import asyncio
from datetime import UTC, datetime, timedelta

import openmsmq
from openmsmq import aio

ORDERS = r".\private$\orders"


def test_pages_in_both_directions_with_short_bodies(msmq: openmsmq.QueueManager) -> None:
    queue = msmq.create_queue(ORDERS)
    queue.send_many([openmsmq.Message(b"%04d" % number) for number in range(2500)])
    page = queue.ranges.browse(count=2000, head_bytes=2)
    assert (len(page.messages), page.more) == (2000, True)
    first = page.messages[0]
    assert (first.body_bytes, first.body_size, first.is_cut) == (b"00", 4, True)
    assert (first.state, first.holder) == ("available", "")
    rest = queue.ranges.browse(page.messages[-1].lookup_id, count=1000)
    assert (len(rest.messages), rest.more) == (500, False)
    assert not rest.messages[0].is_cut
    back = queue.ranges.browse(backwards=True, count=1200)
    assert [message.body for message in back.messages] == [f"{n:04d}" for n in range(1300, 2500)]
    assert back.more


def test_a_message_that_another_reader_has_is_shown_as_locked(msmq: openmsmq.QueueManager) -> None:
    queue = msmq.create_queue(ORDERS)
    queue.send("one")
    queue.send("two")
    with queue.hold_by_lookup_id(0, "first"):
        states = [message.state for message in queue.ranges.browse().messages]
    assert states == ["locked", "available"]


def test_a_message_that_waits_says_when_it_appears(msmq: openmsmq.QueueManager) -> None:
    queue = msmq.create_queue(ORDERS)
    queue.send("now")
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    queue.send("later", deliver_at=due)
    messages = queue.ranges.browse().messages
    assert {(each.body, each.state, each.deliver_at) for each in messages} == {
        ("now", "available", None),
        ("later", "delayed", due),
    }
    later = next(each for each in messages if each.body == "later")
    assert later.to_dict()["deliver_at"] == due.isoformat()
    assert queue.peek().to_dict()["deliver_at"] is None


def test_the_asynchronous_client_looks_too(msmq: openmsmq.QueueManager) -> None:
    msmq.create_queue(ORDERS).send_and_wait("text")

    async def look() -> list[str | bytes]:
        async with aio.connect(msmq.address) as manager:
            page = await (await manager.open_queue(ORDERS, "peek")).ranges.browse()
            return [message.body for message in page.messages]

    assert asyncio.run(asyncio.wait_for(look(), 30)) == ["text"]

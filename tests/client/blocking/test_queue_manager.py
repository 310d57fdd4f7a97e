"""The queue manager as the blocking client sees it."""

import os
import threading
from pathlib import Path

import pytest

import openmsmq
from openmsmq import Message, QueueManager
from openmsmq.client import QueueProperties
from openmsmq.server.embedded import embedded

ORDERS = r".\private$\orders"
MISSING = r".\private$\missing"
WAIT = 20.0


def test_a_queue_has_the_properties_that_it_was_made_with(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS, label="orders", journal=True, quota=100)
    info = msmq.queue_info(ORDERS)
    assert (info["label"], info["journal"], info["quota"]) == ("orders", True, 100)
    msmq.set_queue(ORDERS, label="bills")
    assert msmq.queue_info(ORDERS)["label"] == "bills"
    assert [each["label"] for each in msmq.queues()] == ["bills"]
    assert len(msmq.queues(include_system=True)) > 1


def test_a_queue_is_made_once(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    with pytest.raises(openmsmq.QueueError) as caught:
        msmq.create_queue(ORDERS)
    assert (caught.value.name, caught.value.code) == ("MQ_ERROR_QUEUE_EXISTS", 0xC00E0005)
    assert msmq.create_queue(ORDERS, exist_ok=True).name == ORDERS


def test_a_queue_that_exists_is_taken_only_with_the_same_properties(msmq: QueueManager) -> None:
    kind = "{11111111-2222-3333-4444-5555555555AA}"
    properties: QueueProperties = {"label": "Orders", "quota": 100, "type": kind}
    msmq.create_queue(ORDERS, **properties)
    assert msmq.create_queue(ORDERS, exist_ok=True, **properties).name == ORDERS
    msmq.create_queue(ORDERS, exist_ok=True, type=kind.lower().strip("{}"))
    with pytest.raises(openmsmq.QueueError) as caught:
        msmq.create_queue(ORDERS, exist_ok=True, transactional=True, label="orders", quota=100)
    assert caught.value.name == "MQ_ERROR_QUEUE_EXISTS"
    assert caught.value.detail == (
        rf"{ORDERS} exists with other properties: transactional is false instead of true, "
        "label is 'Orders' instead of 'orders'"
    )
    with pytest.raises(openmsmq.QueueError, match=r"multicast is none instead of '234.1.1.1:8001'"):
        msmq.create_queue(ORDERS, exist_ok=True, multicast="234.1.1.1:8001")


def test_a_deleted_queue_is_gone(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    msmq.delete_queue(ORDERS)
    with pytest.raises(openmsmq.QueueError) as caught:
        msmq.open_queue(ORDERS)
    assert caught.value.name == "MQ_ERROR_QUEUE_NOT_FOUND"


def test_rights_are_granted_denied_and_revoked(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)

    def of_everyone(entries: list[dict[str, object]]) -> list[object]:
        return [entry["allow"] for entry in entries if entry["principal"] == "everyone"]

    assert of_everyone(msmq.grant(ORDERS, "everyone", ["receive"])) == [True]
    assert False in of_everyone(msmq.grant(ORDERS, "everyone", ["delete"], deny=True))
    assert of_everyone(msmq.revoke(ORDERS, "everyone", ["full"])) == []


def test_rights_are_explained(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    msmq.grant(ORDERS, "user:nobody", ["peek"])
    explained = {info["right"]: info for info in msmq.explain_access(ORDERS, "user:nobody")}
    assert explained["peek"]["allowed"]
    assert explained["peek"]["reason"] == "It is granted to user:nobody."
    assert not explained["receive"]["allowed"]


def test_the_queue_manager_tells_its_state_and_who_it_is(msmq: QueueManager) -> None:
    assert msmq.status()["state"] == "Ready"
    assert msmq.identity.guid == msmq.status()["guid"]
    assert msmq.identity.sid == f"S-1-22-1-{os.getuid()}"
    assert msmq.address in repr(msmq)


def test_outgoing_queues_are_listed_paused_and_resumed(msmq: QueueManager) -> None:
    destination = r"DIRECT=TCP:127.0.0.99\private$\far"
    assert msmq.outgoing() == []
    msmq.send(destination, Message("x", delivery="recoverable"))
    (outgoing,) = msmq.outgoing()
    assert outgoing["messages"] == 1
    msmq.pause_outgoing(destination)
    paused = msmq.outgoing()[0]["state"]
    assert paused != outgoing["state"]
    msmq.resume_outgoing(destination)
    assert msmq.outgoing()[0]["state"] != paused


def test_a_backup_is_a_file(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as manager:
        file = tmp_path / "backup"
        assert manager.backup(file)["file"] == str(file)
        assert file.stat().st_size > 0


def test_messages_go_to_many_queues_by_name(msmq: QueueManager) -> None:
    for number in range(300):
        path = rf".\private$\q{number}"
        msmq.create_queue(path)
        msmq.send(path, Message(str(number)))
    for number in range(300):
        assert msmq.open_queue(rf".\private$\q{number}").receive(timeout=WAIT).body == str(number)


def test_a_name_that_no_queue_has_is_told_by_a_later_call(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    for _ in range(2):
        msmq.send(MISSING, Message("lost"))
        msmq.send(ORDERS, Message("kept"))
        msmq.send(MISSING, Message("lost, too"))
        with pytest.raises(openmsmq.QueueError, match=r"_NOT_FOUND.*missing") as caught:
            msmq.flush()
        assert caught.value.refused == 2
        assert msmq.open_queue(ORDERS).receive(timeout=WAIT).body == "kept"
    msmq.create_queue(MISSING)
    msmq.send(MISSING, Message("here"))
    assert msmq.open_queue(MISSING).receive(timeout=WAIT).body == "here"


def test_a_name_that_no_queue_has_is_told_at_once_by_a_send_that_waits(msmq: QueueManager) -> None:
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        msmq.send(MISSING, Message("lost", delivery="recoverable"))
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        msmq.send(MISSING, Message("lost"), "single")
    msmq.flush()


def test_a_transaction_with_a_name_that_no_queue_has_is_not_committed(msmq: QueueManager) -> None:
    ordered = msmq.create_queue(ORDERS, transactional=True)

    def send_both() -> None:
        with msmq.transaction() as transaction:
            msmq.send(ORDERS, Message("one"), transaction)
            msmq.send(MISSING, Message("two"), transaction)

    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        send_both()
    assert ordered.info()["messages"] == 0


def test_a_request_gets_the_answer_to_it(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)

    def serve() -> None:
        with openmsmq.connect(msmq.address) as manager:
            queue = manager.open_queue(ORDERS)
            requests = [queue.receive(timeout=WAIT) for _ in range(2)]
            for request in reversed(requests):
                manager.reply(request, Message(f"answer to {request.body!s}"))

    server = threading.Thread(target=serve)
    server.start()
    answers: dict[str, str | bytes] = {}

    def ask(text: str) -> None:
        answers[text] = msmq.request(ORDERS, Message(text), timeout=WAIT).body

    askers = [threading.Thread(target=ask, args=(text,)) for text in ("a", "b")]
    for thread in askers:
        thread.start()
    for thread in (*askers, server):
        thread.join(WAIT)
    assert answers == {"a": "answer to a", "b": "answer to b"}
    path = next(each["path"] for each in msmq.queues() if "responses" in each["path"])
    with openmsmq.connect(msmq.address) as other:
        msmq.close()
        assert path not in [each["path"] for each in other.queues()]


def test_a_request_without_an_answer_times_out(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    msmq.create_queue(r".\private$\answers")
    with pytest.raises(openmsmq.ReceiveTimeout):
        msmq.request(ORDERS, Message("?"), timeout=0.05, response_queue=r".\private$\answers")


def test_a_batch_is_published_whole_and_once(msmq: QueueManager) -> None:
    queue = msmq.create_queue(ORDERS, transactional=True)
    producer = msmq.producer("job")
    assert producer.stage(1, 0, 0, ORDERS, [Message("a"), Message("b")]) == 2
    assert producer.stage(1, 1, 0, ORDERS, [Message("c")]) == 1
    assert producer.stage(1, 1, 1, ORDERS, [Message("d")]) == 1
    assert queue.info()["messages"] == 0
    assert producer.commit(1, [(0, 0), (1, 1)])
    assert [message.body for message in queue.cursor()] == ["a", "b", "d"]
    assert not producer.commit(1, [(0, 0), (1, 1)])
    producer.stage(2, 0, 0, ORDERS, [Message("e")])
    producer.abort(2)
    with pytest.raises(openmsmq.QueueError):
        producer.commit(2, [(0, 0)])
    packet = queue.peek(timeout=0).packet
    assert producer.stage_packets(3, 0, 0, ORDERS, [packet]) == 1


def test_a_range_is_read_first_and_removed_later(msmq: QueueManager) -> None:
    queue = msmq.create_queue(ORDERS)
    queue.send_many(Message(str(number)) for number in range(5000))
    ranges = queue.ranges
    info = ranges.info()
    assert info.count == 5000
    plan = ranges.plan(0, max_rows=4000)
    assert (plan.count, plan.end) == (4000, info.first + 3999)
    ends = ranges.split(0, plan.end, 2)
    assert (len(ends), ends[-1]) == (2, plan.end)
    blocks = list(ranges.peek(0, plan.end, block_rows=1000))
    assert [len(block.ends) for block in blocks] == [1000] * 4
    for block in ranges.peek(0, plan.end, block_rows=10):
        assert len(block.lookup_ids) == 10
        break
    assert ranges.acknowledge(0, plan.end) == 4000
    assert ranges.acknowledge(0, plan.end) == 0
    leased = ranges.lease("consumer", 1, max_rows=10, max_bytes=1 << 20)
    assert leased.count == 10
    assert queue.info()["messages"] == 990
    assert ranges.release("consumer", 1) == 10
    ranges.pin(0, ranges.info().last)


def test_an_error_of_the_block_comes_before_one_of_closing(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS, transactional=True)

    def fail() -> None:
        with openmsmq.connect(msmq.address) as manager:
            manager.send(ORDERS, Message("refused"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()


def test_closing_tells_what_was_refused(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS, transactional=True)
    manager = openmsmq.connect(msmq.address)
    manager.send(ORDERS, Message("refused"))
    with pytest.raises(openmsmq.QueueError):
        manager.close()
    with pytest.raises(openmsmq.ConnectionLost, match="was closed"):
        manager.status()
    manager.close()

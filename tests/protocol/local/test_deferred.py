"""Requests that something outside the session answers later."""

import pytest
from tests.protocol.local.harness import ORDERS, Client, World

from openmsmq.protocol.local import deferred as deferred_module
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.deferred import Deferred, defer
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


@pytest.fixture
def client() -> Client:
    return World().client()


class Work:
    """Something outside that carries out one request, and can be stopped."""

    def __init__(self, client: Client) -> None:
        self.request = client.make(local.ShowQueue, "elsewhere")
        self.stopped = 0
        self.answer: Deferred = defer(client.session, self.request, self._stop)

    def _stop(self) -> None:
        self.stopped += 1


def test_the_answer_comes_when_it_is_there_and_other_requests_do_not_wait(client: Client) -> None:
    work = Work(client)
    assert client.create()
    assert client.replies(work.request) == []
    work.answer.done({"path": "elsewhere"})
    assert client.replies(work.request) == [local.Done(work.request.id, {"path": "elsewhere"})]
    assert not client.session.deferred


def test_any_reply_can_be_the_answer_and_waits_for_its_batch(client: Client) -> None:
    work = Work(client)
    client.post(client.make(local.CreateQueue, ORDERS, {}))
    reply = local.Messages(work.request.id, [], [], [], [])
    work.answer.answer(reply, client.session.seen)
    assert client.replies(work.request, flush=False) == []
    assert client.replies(work.request) == [reply]


def test_only_the_first_answer_counts(client: Client) -> None:
    work = Work(client)
    work.answer.done(1)
    work.answer.done(2)
    work.answer.fail(QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "too late"))
    assert client.replies(work.request) == [local.Done(work.request.id, 1)]
    assert client.world.service.refusals == []


def test_a_refusal_is_told_to_the_service_as_well(client: Client) -> None:
    work = Work(client)
    work.answer.fail(QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "not there"))
    (reply,) = client.replies(work.request)
    assert isinstance(reply, local.Failed)
    assert (reply.code, reply.text) == (Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "not there")
    code = Hresult.MQ_ERROR_QUEUE_NOT_FOUND
    assert client.world.service.refusals == [("ShowQueue", "", 0, code)]


def test_a_client_that_cancels_is_answered_and_the_work_is_stopped(client: Client) -> None:
    work = Work(client)
    assert client.value(local.Cancel, work.request.id) is True
    (reply,) = client.replies(work.request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_OPERATION_CANCELLED
    work.answer.done("too late")
    assert client.replies(work.request) == [reply]
    assert work.stopped == 1
    assert client.value(local.Cancel, work.request.id) is False


def test_work_that_cannot_be_stopped_is_not_cancelled(client: Client) -> None:
    request = client.make(local.Backup, "/backups/today")
    answer = defer(client.session, request)
    assert client.value(local.Cancel, request.id) is False
    answer.done({"bytes": 5})
    assert client.replies(request) == [local.Done(request.id, {"bytes": 5})]


def test_a_client_that_goes_stops_its_work(client: Client) -> None:
    work = Work(client)
    request = client.make(local.Backup, "/backups/today")
    backup = defer(client.session, request)
    client.session.close()
    assert work.stopped == 1
    assert not client.session.deferred
    for answer in (work.answer, backup):
        answer.done("nothing hears it")
        answer.fail(QueueError(Hresult.MQ_ERROR, "nor this"))
    assert client.replies(work.request) == client.replies(request) == []


def test_one_client_may_wait_for_so_many_answers(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deferred_module, "MAX_DEFERRED", 2)
    works = [Work(client), Work(client)]
    with pytest.raises(QueueError, match="2 requests that are answered later at a time"):
        Work(client)
    works[0].answer.done()
    Work(client)

"""A participant and its coordinators: bad tokens, bad answers, and nobody who answers."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from tests.core.harness import QM_GUID, RECEIVE, USER, Harness, refused

from openmsmq.protocol.coordinator import CoordinatorServer, Participant, ParticipantSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc_interfaces import coordinator as calls
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.propagation_token import PropagationToken

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
SID = USER.sid.serialize()
TRANSACTION = UUID(int=1)
COORDINATOR = UUID(int=2)


class Owner:
    def __init__(self) -> None:
        self.outcome: object = None
        self.errors: list[QueueError] = []

    def enlisted(self) -> None:
        self.outcome = "enlisted"

    def refused(self, error: QueueError) -> None:
        self.outcome = error.code


class Side:
    """A participant over a queue manager that is driven by hand."""

    def __init__(self, **settings: object) -> None:
        self.harness = Harness()
        self.harness.create(PAY, transactional=True)
        filling = self.harness.qm.traffic.begin(self.harness.guid())
        self.harness.send(b"1", b"2", name=PAY, transaction=filling)
        self.harness.qm.traffic.commit(filling.identifier)
        self.harness.flush()
        self.settings = ParticipantSettings(**settings)  # type: ignore[arg-type]
        self.participant = Participant(self.harness.qm, self.harness.engine.gate, self.settings)

    def enlist(self, url: str = "openmsmq://10.0.0.7:99/", **token: object) -> Owner:
        owner = Owner()
        values = {"guid_tx": TRANSACTION, "contact": COORDINATOR, "host_name": "QM", **token}
        raw = PropagationToken(url=url, **values).serialize()  # type: ignore[arg-type]
        self.participant.enlist(TRANSACTION, raw, address="10.0.0.7", caller=SID, owner=owner)
        return owner

    def take(self) -> tuple[int, object, object]:
        """The one call that is to be made: its number, where to, and what."""
        (request,) = self.participant.take_requests()
        return request.number, request.url, request.request

    def join(self) -> int:
        """Enlist, receive a message, and return the number of the report that waits."""
        owner = self.enlist()
        number, _, _ = self.take()
        self.participant.answered(number, SimpleNamespace(result=0))
        assert owner.outcome == "enlisted"
        qm = self.harness.qm
        transaction = qm.enlisted.transaction(TRANSACTION, SID)
        qm.traffic.dequeue_many(self.harness.open(RECEIVE, PAY), transaction=transaction)
        return self.take()[0]

    def order(self, number: int, order: int, result: int = 0) -> None:
        self.participant.answered(number, SimpleNamespace(order=order, result=result))

    def standing(self) -> Standing | None:
        enlistment = self.harness.qm.enlisted.get(TRANSACTION)
        return None if enlistment is None else enlistment.standing


@SPEC("MQRR-3.1.4.12-03")
def test_the_coordinator_of_the_token_is_asked_and_then_told() -> None:
    side = Side()
    owner = side.enlist()
    number, url, request = side.take()
    assert str(url) == "openmsmq://10.0.0.7:99/"
    assert request == calls.EnlistRequest(COORDINATOR, TRANSACTION, QM_GUID)
    assert owner.outcome is None
    side.participant.answered(number, SimpleNamespace(result=0))
    assert owner.outcome == "enlisted"
    assert side.take()[2] == calls.ReportRequest(COORDINATOR, TRANSACTION, QM_GUID, Standing.ACTIVE)
    assert side.enlist().outcome == "enlisted"


def test_a_prepared_part_is_told_once_it_is_on_disk() -> None:
    side = Side()
    side.order(side.join(), Order.PREPARE)
    assert side.participant.take_requests() == []
    side.harness.flush()
    number, _, request = side.take()
    assert request == calls.ReportRequest(COORDINATOR, TRANSACTION, QM_GUID, Standing.PREPARED)
    # Asked twice, it answers twice.
    side.order(number, Order.PREPARE)
    number, _, _ = side.take()
    side.order(number, Order.COMMIT)
    assert side.participant.take_requests() == []
    side.harness.flush()
    side.order(side.take()[0], Order.FORGET)
    assert side.standing() is None
    assert side.harness.contents(PAY) == [b"2"]
    side.harness.flush()
    side.harness.restart()
    assert side.standing() is None


@SPEC("MQRR-3.1.4.13-05", "MQRR-3.1.4.12-05")
@pytest.mark.parametrize("order", [Order.ABORT, Order.FORGET])
def test_an_abort_puts_messages_back(order: Order) -> None:
    side = Side()
    side.order(side.join(), order)
    assert side.harness.contents(PAY) == [b"1", b"2"]
    assert (side.standing(), side.harness.qm.state.transactions) == (None, {})


def test_a_coordinator_that_is_lost_before_the_prepare_aborts() -> None:
    side = Side()
    side.participant.failed(side.join(), "lost")
    assert side.harness.contents(PAY) == [b"1", b"2"]
    assert side.standing() is None


def test_a_commit_without_a_prepare_is_not_believed() -> None:
    side = Side()
    side.order(side.join(), Order.COMMIT)
    assert side.harness.contents(PAY) == [b"1", b"2"]
    assert side.standing() is Standing.ABORTED
    number, _, request = side.take()
    assert request == calls.ReportRequest(COORDINATOR, TRANSACTION, QM_GUID, Standing.ABORTED)
    side.order(number, Order.FORGET)
    assert side.standing() is None


@pytest.mark.parametrize(
    ("order", "result"), [(77, 0), (0, int(Hresult.MQ_ERROR)), (Order.FORGET, 0)]
)
def test_answers_that_decide_nothing_leave_it_in_doubt(order: int, result: int) -> None:
    side = Side(retry_seconds=1.0)
    side.order(side.join(), Order.PREPARE)
    side.harness.flush()
    side.order(side.take()[0], order, result)
    assert side.standing() is Standing.PREPARED
    assert side.harness.contents(PAY) == [b"2"]
    # It is asked again, as soon as after the first call that failed.
    assert side.participant.take_requests() == []
    assert side.participant.next_timer() == side.harness.now + 1.0


def test_a_coordinator_that_does_not_answer_is_asked_again_and_again() -> None:
    side = Side(retry_seconds=1.0, max_retry_seconds=4.0)
    side.order(side.join(), Order.PREPARE)
    side.harness.flush()
    number = side.take()[0]
    for delay in (1.0, 2.0, 4.0, 4.0):
        side.participant.failed(number, "nobody")
        assert side.participant.take_requests() == []
        assert side.participant.next_timer() == side.harness.now + delay
        side.harness.advance(delay - 0.1)
        side.participant.handle_timer(now=side.harness.now)
        assert side.participant.take_requests() == []
        side.harness.advance(0.1)
        side.participant.handle_timer(now=side.harness.now)
        assert side.participant.next_timer() == side.harness.now
        number = side.take()[0]
    assert side.participant.next_timer() is None
    assert side.harness.qm.enlistments.in_doubt == [TRANSACTION]


def test_a_part_that_is_not_whole_is_not_prepared() -> None:
    side = Side()
    number = side.join()
    side.harness.qm.traffic.find_transaction(TRANSACTION).unended = 1
    side.order(number, Order.PREPARE)
    assert side.harness.contents(PAY) == [b"1", b"2"]
    assert side.standing() is Standing.ABORTED


def test_a_full_disk_refuses_the_prepare() -> None:
    side = Side()
    number = side.join()
    side.harness.qm.outgoing.set_throttled(throttled=True)
    side.order(number, Order.PREPARE)
    assert side.standing() is Standing.ABORTED


@pytest.mark.parametrize(
    ("url", "token", "code"),
    [
        ("openmsmq://10.0.0.7:99/", {"guid_tx": UUID(int=9)}, "MQ_ERROR_TRANSACTION_IMPORT"),
        ("openmsmq://10.0.0.7/", {}, "MQ_ERROR_TRANSACTION_IMPORT"),
        ("openmsmq://10.0.0.8:99/", {}, "MQ_ERROR_TRANSACTION_ENLIST"),
        ("tip://10.0.0.7:3372/", {}, "MQ_ERROR_TRANSACTION_ENLIST"),
        ("", {"version_max": 2}, "MQ_ERROR_TRANSACTION_ENLIST"),
        ("openmsmq://10.0.0.7:99/", {"network_enabled": False}, "MQ_ERROR_TRANSACTION_ENLIST"),
    ],
)
def test_a_token_that_cannot_be_used_is_refused(
    url: str, token: dict[str, object], code: str
) -> None:
    side = Side()
    with refused(code):
        side.enlist(url, **token)
    assert side.participant.take_requests() == []
    assert side.harness.qm.state.transactions == {}


def test_a_token_that_cannot_be_read_is_refused() -> None:
    side = Side()
    with refused("MQ_ERROR_TRANSACTION_IMPORT"):
        side.participant.enlist(
            TRANSACTION, b"short", address="10.0.0.7", caller=SID, owner=Owner()
        )


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("openmsmq://10.0.0.9:99/", "10.0.0.9"),
        ("openmsmq://TRUSTED:99/", "TRUSTED"),
        # A name is not resolved: the call came from there.
        ("openmsmq://somewhere.example:99/", "10.0.0.7"),
    ],
)
def test_a_coordinator_is_where_the_call_came_from_or_in_the_settings(url: str, host: str) -> None:
    side = Side(hosts=("10.0.0.9", "trusted"))
    side.enlist(url)
    (request,) = side.participant.take_requests()
    assert request.url == (host, 99)


def test_a_coordinator_that_refuses_or_does_not_answer_leaves_nothing_behind() -> None:
    side = Side()
    owner = side.enlist()
    side.participant.answered(side.take()[0], SimpleNamespace(result=int(Hresult.MQ_ERROR)))
    assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_ENLIST
    owner = side.enlist()
    side.participant.failed(side.take()[0], "nobody")
    assert owner.outcome == Hresult.MQ_ERROR_DTC_CONNECT
    side.harness.qm.traffic.begin(TRANSACTION)
    owner = side.enlist()
    side.participant.answered(side.take()[0], SimpleNamespace(result=0))
    assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    assert len(side.harness.qm.enlisted) == 0


def test_too_many_transactions_of_others_are_refused() -> None:
    side = Side(max_transactions=1)
    side.join()
    raw = PropagationToken(UUID(int=5), COORDINATOR, "QM", "openmsmq://10.0.0.7:99/").serialize()
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        side.participant.enlist(UUID(int=5), raw, address="10.0.0.7", caller=SID, owner=Owner())


def test_another_client_cannot_use_the_transaction() -> None:
    side = Side()
    side.join()
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        side.harness.qm.enlisted.transaction(TRANSACTION, b"another")


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_in_doubt_is_ended_by_hand_and_told(*, commit: bool) -> None:
    side = Side()
    side.order(side.join(), Order.PREPARE)
    side.harness.flush()
    waiting = side.take()[0]
    side.harness.qm.enlisted.resolve(TRANSACTION, commit=commit)
    assert side.harness.contents(PAY) == ([b"2"] if commit else [b"1", b"2"])
    assert side.participant.take_requests() == []
    side.harness.flush()
    assert side.standing() is (Standing.COMMITTED if commit else Standing.ABORTED)
    side.order(side.take()[0], Order.FORGET)
    # The answer to the report from before has no effect.
    side.order(waiting, Order.COMMIT)
    assert side.standing() is None
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        side.harness.qm.enlisted.resolve(TRANSACTION, commit=commit)


def test_what_changed_before_it_was_on_disk_is_not_told() -> None:
    side = Side()
    side.order(side.join(), Order.PREPARE)
    assert side.participant.take_requests() == []
    side.harness.qm.enlisted.resolve(TRANSACTION, commit=False)
    assert side.participant.take_requests() == []
    side.harness.flush()
    # Not that it is prepared, which it was when it was written.
    assert side.take()[2] == calls.ReportRequest(
        COORDINATOR, TRANSACTION, QM_GUID, Standing.ABORTED
    )


class Call:
    """A call of a participant, as the server sees it."""

    def __init__(self) -> None:
        self.caller = USER
        self.on_cancel = None
        self.open = True
        self.replies: list[object] = []

    def reply(self, response: object, *, depends: int = 0) -> None:  # noqa: ARG002
        self.open = False
        self.replies.append(response)

    def fail(self, code: int) -> None:
        self.reply(code)


class Home:
    """The coordinator's side, with one transaction."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.harness.qm.traffic.begin(TRANSACTION)
        self.server = CoordinatorServer(self.harness.qm, minimum_level=AuthnLevel.NONE)

    def call(self, opnum: int, request: object) -> Call:
        call = Call()
        self.server.interface.operations[opnum].handler(call, request)  # type: ignore[arg-type]
        return call

    def enlist(self, participant: int = 1, coordinator: UUID = QM_GUID) -> Call:
        return self.call(0, calls.EnlistRequest(coordinator, TRANSACTION, UUID(int=participant)))

    def report(self, standing: int, participant: int = 1, coordinator: UUID = QM_GUID) -> Call:
        guid = UUID(int=participant)
        return self.call(1, calls.ReportRequest(coordinator, TRANSACTION, guid, standing))

    def commit(self) -> Owner:
        owner = SimpleNamespace(outcome=None, errors=[])
        owner.done = lambda _value, _depends: setattr(owner, "outcome", "committed")

        def fail(error: QueueError) -> None:
            owner.outcome = error.code
            owner.errors.append(error)

        owner.fail = fail
        self.harness.qm.coordination.commit(TRANSACTION, owner)
        return owner  # type: ignore[return-value]


def orders(call: Call) -> list[object]:
    return [getattr(reply, "order", reply) for reply in call.replies]


def test_all_participants_decide_together() -> None:
    home = Home()
    home.enlist(1)
    home.enlist(2)
    home.enlist(2)
    reports = [home.report(Standing.ACTIVE, each) for each in (1, 2)]
    owner = home.commit()
    assert [orders(each) for each in reports] == [[Order.PREPARE], [Order.PREPARE]]
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        home.enlist(3)
    first = home.report(Standing.PREPARED, 1)
    assert (orders(first), owner.outcome) == ([], None)
    second = home.report(Standing.PREPARED, 2)
    assert (orders(first), orders(second)) == ([Order.COMMIT], [Order.COMMIT])
    assert owner.outcome == "committed"
    assert home.harness.qm.coordination.unconfirmed() == [TRANSACTION]
    # A participant that has lost what it had prepared.
    assert orders(home.report(Standing.ACTIVE, 1)) == [Order.ABORT]
    assert orders(home.report(Standing.PREPARED, 1)) == [Order.COMMIT]
    assert orders(home.report(Standing.COMMITTED, 1)) == [Order.FORGET]
    home.harness.restart()
    home.server = CoordinatorServer(home.harness.qm, minimum_level=AuthnLevel.NONE)
    assert home.harness.qm.coordination.unconfirmed() == [TRANSACTION]
    assert orders(home.report(Standing.PREPARED, 2)) == [Order.COMMIT]
    assert orders(home.report(Standing.COMMITTED, 2)) == [Order.FORGET]
    home.harness.restart()
    assert home.harness.qm.coordination.unconfirmed() == []


@pytest.mark.parametrize(
    ("standing", "order"),
    [
        (Standing.ACTIVE, Order.ABORT),
        (Standing.PREPARED, Order.ABORT),
        (Standing.COMMITTED, Order.FORGET),
        (Standing.ABORTED, Order.FORGET),
    ],
)
def test_what_is_not_known_was_aborted(standing: Standing, order: Order) -> None:
    assert orders(Home().report(standing)) == [order]


@pytest.mark.parametrize("standing", [Standing.ABORTED, Standing.COMMITTED, Standing.PREPARED])
def test_a_participant_that_does_not_prepare_as_asked_aborts_all(standing: Standing) -> None:
    home = Home()
    home.enlist(1)
    home.report(standing, 1)
    assert home.harness.qm.state.transactions == {}


def test_a_refusal_to_prepare_aborts_all() -> None:
    home = Home()
    home.enlist(1)
    home.enlist(2)
    other = home.report(Standing.ACTIVE, 2)
    owner = home.commit()
    home.report(Standing.ABORTED, 1)
    assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    assert orders(other) == [Order.PREPARE]
    assert orders(home.report(Standing.PREPARED, 2)) == [Order.ABORT]


def test_participants_that_take_too_long_abort_all() -> None:
    home = Home()
    home.enlist(1)
    owner = home.commit()
    # It is asked as soon as it reports.
    assert orders(home.report(Standing.ACTIVE, 1)) == [Order.PREPARE]
    assert home.server.next_timer() == home.harness.now + 30.0
    home.server.handle_timer(now=home.harness.now + 29.0)
    assert owner.outcome is None
    home.server.handle_timer(now=home.harness.now + 30.0)
    assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    (error,) = owner.errors
    assert "the transaction was aborted" in error.detail
    assert error.known_cause.endswith("cannot commit it.")
    assert error.known_remedy.endswith("begin another transaction.")
    assert home.server.next_timer() is None


def test_a_participant_that_is_lost_before_its_vote_aborts_all() -> None:
    home = Home()
    home.enlist(1)
    call = home.report(Standing.ACTIVE, 1)
    assert call.on_cancel is not None
    call.on_cancel(call)
    assert home.harness.qm.state.transactions == {}


def test_a_participant_that_is_lost_after_its_vote_is_waited_for() -> None:
    home = Home()
    home.enlist(1)
    home.enlist(2)
    home.commit()
    call = home.report(Standing.PREPARED, 1)
    assert call.on_cancel is not None
    call.on_cancel(call)
    assert orders(call) == [Hresult.MQ_ERROR_OPERATION_CANCELLED]
    # Its connection is not the one that counts any more.
    call.on_cancel(call)
    home.report(Standing.PREPARED, 2)
    assert orders(home.report(Standing.PREPARED, 1)) == [Order.COMMIT]


def test_a_report_takes_the_place_of_the_one_before() -> None:
    home = Home()
    home.enlist(1)
    first = home.report(Standing.ACTIVE, 1)
    second = home.report(Standing.ACTIVE, 1)
    assert orders(first) == [Hresult.MQ_ERROR_OPERATION_CANCELLED]
    home.harness.qm.traffic.abort(TRANSACTION)
    assert orders(second) == [Order.ABORT]


def test_a_full_disk_refuses_the_commit() -> None:
    home = Home()
    home.enlist(1)
    home.harness.qm.outgoing.set_throttled(throttled=True)
    assert home.commit().outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE


def test_nobody_answers_for_another_coordinator() -> None:
    home = Home()
    with refused("MQ_ERROR_TRANSACTION_ENLIST"):
        home.enlist(1, UUID(int=99))
    with refused("MQ_ERROR_TRANSACTION_ENLIST"):
        home.report(Standing.PREPARED, 1, UUID(int=99))
    with refused("MQ_ERROR_INVALID_PARAMETER"):
        home.report(0)


def test_another_account_cannot_report_for_a_participant() -> None:
    home = Home()
    home.harness.qm.coordination.enlist(TRANSACTION, UUID(int=1), b"another")
    with refused("MQ_ERROR_ACCESS_DENIED"):
        home.report(Standing.PREPARED, 1)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        home.enlist(1)


def test_a_commit_that_nobody_confirms_is_forgotten_by_hand() -> None:
    home = Home()
    coordination = home.harness.qm.coordination
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        coordination.forget(TRANSACTION)
    home.enlist(1)
    home.commit()
    home.report(Standing.PREPARED, 1)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        home.harness.qm.traffic.abort(TRANSACTION)
    coordination.forget(TRANSACTION)
    assert coordination.unconfirmed() == []

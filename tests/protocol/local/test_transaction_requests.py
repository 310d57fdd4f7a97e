"""Requests about transactions that queue managers of several machines take part in."""

from uuid import UUID

import pytest
from tests.protocol.local.harness import ADMINISTRATOR, ORDERS, USER, Client, World, transactional

from openmsmq.protocol.local import messages as local
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl
from openmsmq.wire.transactions.propagation_token import PropagationToken

TRANSACTION = UUID(int=1)
PARTICIPANT = UUID(int=2)
SID = USER.sid.serialize()


class Outcome:
    """Whoever commits, or reports; it does not matter here what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def done(self, value: None = None, depends: int = 0) -> None:
        self.told.append((value, depends))

    def fail(self, error: object) -> None:
        self.told.append(error)

    def ordered(self, order: Order, depends: int) -> None:
        self.told.append((order, depends))

    def superseded(self) -> None:
        self.told.append("superseded")


@pytest.fixture
def client() -> Client:
    """An administrator of a queue manager with a transactional queue."""
    world = World()
    world.client().create(transactional=True)
    return world.client(ADMINISTRATOR)


def decide(client: Client) -> None:
    """Commit a transaction whose participant does not confirm it."""
    manager = client.world.core.qm
    manager.traffic.begin(TRANSACTION)
    manager.coordination.enlist(TRANSACTION, PARTICIPANT, SID)
    manager.coordination.commit(TRANSACTION, Outcome())
    manager.coordination.report(TRANSACTION, PARTICIPANT, Standing.PREPARED, SID, Outcome())
    assert manager.coordination.unconfirmed() == [TRANSACTION]


def leave_in_doubt(client: Client) -> None:
    """Prepare a transaction of another machine that has sent a message to the queue."""
    core = client.world.core
    url = CoordinatorUrl("10.0.0.7", 99)
    enlistment = core.qm.enlisted.begin(TRANSACTION, UUID(int=3), url, SID)
    transaction = core.qm.enlisted.transaction(TRANSACTION, SID)
    core.send(b"one", name=ORDERS, transaction=transaction)
    core.qm.enlisted.ordered(enlistment, Order.PREPARE)
    core.flush()
    assert core.qm.enlistments.in_doubt == [TRANSACTION]


def test_a_transaction_is_propagated_with_a_token() -> None:
    client = transactional()
    coordination = client.world.core.qm.coordination
    coordination.url = CoordinatorUrl("10.0.0.7", 99)
    propagated = client.value(local.PropagateTransaction, client.begin())
    identifier = UUID(bytes_le=propagated["id"])
    (listed,) = client.world.core.qm.state.transactions
    token = PropagationToken.parse(propagated["token"])
    assert token.guid_tx == identifier == listed
    assert token.url == "openmsmq://10.0.0.7:99/"


@pytest.mark.parametrize("number", [0, 4711])
def test_what_is_no_transaction_is_not_propagated(number: int) -> None:
    client = transactional()
    refused = client.refusal(local.PropagateTransaction, number)
    assert refused == "MQ_ERROR_TRANSACTION_SEQUENCE"


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_in_doubt_is_ended_by_hand(client: Client, *, commit: bool) -> None:
    leave_in_doubt(client)
    request = client.make(local.ResolveTransaction, str(TRANSACTION), commit)
    client.post(request)
    assert client.replies(request, flush=False) == []
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Done)
    assert client.world.core.contents(ORDERS) == ([b"one"] if commit else [])
    refused = client.refusal(local.ResolveTransaction, str(TRANSACTION), commit)
    assert refused == "MQ_ERROR_TRANSACTION_SEQUENCE"


def test_a_commit_that_nobody_confirms_is_forgotten_but_not_undone(client: Client) -> None:
    decide(client)
    coordination = client.world.core.qm.coordination
    refused = client.refusal(local.ResolveTransaction, str(TRANSACTION), False)
    assert refused == "MQ_ERROR_TRANSACTION_SEQUENCE"
    assert coordination.unconfirmed() == [TRANSACTION]
    assert client.value(local.ResolveTransaction, str(TRANSACTION), True) is None
    assert coordination.unconfirmed() == []


def test_a_dry_run_makes_the_checks_and_ends_nothing(client: Client) -> None:
    unknown = client.refusal(local.ResolveTransaction, str(TRANSACTION), True, True)
    assert unknown == "MQ_ERROR_TRANSACTION_SEQUENCE"
    leave_in_doubt(client)
    assert client.value(local.ResolveTransaction, str(TRANSACTION), True, True) is None
    assert client.world.core.qm.enlistments.in_doubt == [TRANSACTION]


def test_what_is_no_guid_is_refused(client: Client) -> None:
    refused = client.refusal(local.ResolveTransaction, "nonsense", True)
    assert refused == "MQ_ERROR_INVALID_PARAMETER"


def test_only_an_administrator_ends_transactions_in_doubt(client: Client) -> None:
    leave_in_doubt(client)
    user = client.world.client(USER)
    refused = user.refusal(local.ResolveTransaction, str(TRANSACTION), True)
    assert refused == "MQ_ERROR_ACCESS_DENIED"
    assert client.world.core.qm.enlistments.in_doubt == [TRANSACTION]

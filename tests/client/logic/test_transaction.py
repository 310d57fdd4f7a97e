"""Transactions: begun without a round trip, whole or not at all."""

from typing import Any

import pytest
from tests.client.local.peer import Peer, Running

from openmsmq.client.backend import SINGLE, Backend
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.transaction import (
    TransactionLogic,
    open_transaction_number,
    transaction_number,
)
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

REFUSED = int(Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES)
NO_TRANSACTION = int(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE)


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.fixture
def transaction(peer: Peer) -> TransactionLogic:
    begun = Running(TransactionLogic.begin(peer.backend))
    assert begun.ended
    return begun.result


def test_a_transaction_is_named_by_the_request_that_begins_it(
    peer: Peer, transaction: TransactionLogic
) -> None:
    assert peer.request(local.BeginTransaction).id == transaction.number


def test_a_transaction_does_not_begin_over_a_refused_message(peer: Peer) -> None:
    peer.channel.add_packet(7, 0, b"a")
    peer.channel.close_sends()
    peer.answer(local.Failed(1, REFUSED, "full"))
    with pytest.raises(QueueError, match="full"):
        Running(TransactionLogic.begin(peer.backend))


def test_sends_and_commit_leave_together(peer: Peer, transaction: TransactionLogic) -> None:
    peer.channel.add_packet(7, transaction.number, b"a")
    number = transaction.number
    ending = Running(transaction.end(commit=True))
    begin, send, end = peer.requests()
    assert isinstance(begin, local.BeginTransaction)
    assert isinstance(send, local.Send)
    assert send.transaction == number
    assert end == local.EndTransaction(end.id, number, True)
    peer.answer(local.Done(begin.id), local.Done(send.id, 1))
    peer.go_on(ending, local.Done(end.id))
    assert ending.ended


def test_a_commit_raises_why_a_message_in_it_was_refused(
    peer: Peer, transaction: TransactionLogic
) -> None:
    peer.channel.add_packet(7, transaction.number, b"a")
    ending = Running(transaction.end(commit=True))
    begin, send, end = peer.requests()
    peer.answer(local.Done(begin.id), local.Failed(send.id, REFUSED, "full"))
    with pytest.raises(QueueError, match="full"):
        peer.go_on(ending, local.Failed(end.id, NO_TRANSACTION, "no such transaction"))


def test_a_commit_does_not_raise_what_happened_outside(
    peer: Peer, transaction: TransactionLogic
) -> None:
    peer.channel.add_packet(7, 0, b"a")
    ending = Running(transaction.end(commit=True))
    _, send, end = peer.requests()
    peer.answer(local.Failed(send.id, REFUSED, "full"))
    peer.go_on(ending, local.Done(end.id))
    assert ending.ended
    with pytest.raises(QueueError, match="full"):
        peer.channel.check()


def test_a_commit_that_is_refused_itself_raises(peer: Peer, transaction: TransactionLogic) -> None:
    ending = Running(transaction.end(commit=True))
    _, end = peer.requests()
    with pytest.raises(QueueError, match="no such"):
        peer.go_on(ending, local.Failed(end.id, NO_TRANSACTION, "no such transaction"))


def test_an_abort_of_what_is_undone_already_is_fine(
    peer: Peer, transaction: TransactionLogic
) -> None:
    peer.channel.add_packet(7, transaction.number, b"a")
    number = transaction.number
    ending = Running(transaction.end(commit=False))
    _, send, end = peer.requests()
    peer.answer(local.Failed(send.id, REFUSED, "full"))
    peer.go_on(ending, local.Failed(end.id, NO_TRANSACTION, "no such transaction"))
    assert ending.ended
    peer.channel.check(number)


def test_a_transaction_that_is_over_is_not_used_again(
    peer: Peer, transaction: TransactionLogic
) -> None:
    ending = Running(transaction.end(commit=True))
    assert not transaction.alive
    with pytest.raises(QueueError, match="is over"):
        _ = transaction.number
    assert not ending.ended


def test_a_transaction_is_lost_with_its_connection(
    peer: Peer, transaction: TransactionLogic
) -> None:
    peer.connect()
    assert not transaction.alive
    with pytest.raises(ConnectionLost, match="Begin another"):
        _ = transaction.number


def test_a_loss_during_the_commit_tells_that_nobody_knows(
    peer: Peer, transaction: TransactionLogic
) -> None:
    ending = Running(transaction.end(commit=True))
    with pytest.raises(ConnectionLost, match=r"gone\. Whether the transaction was committed"):
        ending.throw(peer.channel.lose("gone."))


def test_a_loss_during_an_abort_is_just_a_loss(peer: Peer, transaction: TransactionLogic) -> None:
    ending = Running(transaction.end(commit=False))
    with pytest.raises(ConnectionLost, match=r"^gone\.$"):
        ending.throw(ConnectionLost("gone."))


class Own:
    """A transaction as the clients have it."""

    def __init__(self, logic: TransactionLogic) -> None:
        self._logic = logic

    def _number_on(self, backend: Backend) -> int:
        return self._logic.number_on(backend)


def test_words_and_transactions_have_numbers(peer: Peer, transaction: TransactionLogic) -> None:
    backend = peer.backend
    assert transaction_number(None, backend) == open_transaction_number(None, backend) == 0
    assert transaction_number("single", backend) == SINGLE
    assert transaction_number(Own(transaction), backend) == transaction.number
    assert open_transaction_number(Own(transaction), backend) == transaction.number
    with pytest.raises(ValueError, match="'double' is neither a Transaction nor \"single\""):
        transaction_number("double", backend)


@pytest.mark.parametrize(("given", "shown"), [(True, "True"), (5, "5"), ([], "list")])
def test_what_is_no_transaction_is_refused(peer: Peer, given: Any, shown: str) -> None:
    end = rf", from QueueManager\.transaction\(\), not {shown}$"
    with pytest.raises(TypeError, match=f'^transaction: a Transaction or "single" is taken{end}'):
        transaction_number(given, peer.backend)
    with pytest.raises(TypeError, match=f"^transaction: a Transaction is taken{end}"):
        open_transaction_number(given, peer.backend)


def test_a_read_is_never_a_transaction_of_its_own(peer: Peer) -> None:
    single: Any = "single"
    with pytest.raises(TypeError, match=r"a Transaction is taken.*not 'single'"):
        open_transaction_number(single, peer.backend)


def test_a_transaction_of_another_connection_is_refused(transaction: TransactionLogic) -> None:
    with pytest.raises(ValueError, match="it belongs to another connection"):
        transaction_number(Own(transaction), Peer().backend)

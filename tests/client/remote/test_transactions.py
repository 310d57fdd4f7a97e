"""Transactions in which queue managers of two machines take part, over real sockets."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import openmsmq
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

SPEC = pytest.mark.spec
# A name without a port means 135 and 2103: every process of tests has addresses of its own.
_PLACE = f"{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF or 1}"
HOME = f"127.74.{_PLACE}"
FAR = f"127.75.{_PLACE}"
ORDERS = rf"DIRECT=TCP:{FAR}\private$\orders"
LATER = ORDERS + ";later"
DONE = r".\private$\done"


class Machines:
    """A queue manager that coordinates, and one that has the orders."""

    def __init__(self, home: openmsmq.QueueManager, far: openmsmq.QueueManager) -> None:
        self.home = home
        self.far = far
        home.create_queue(DONE, transactional=True)
        with far.create_queue(r".\private$\orders", transactional=True) as queue:
            far.grant(r".\private$\orders", "anonymous", ["full"])
            for number in range(4):
                queue.send(str(number), transaction="single")

    def bodies(self) -> tuple[list[str | bytes], list[str | bytes]]:
        """What is in both queues."""
        with self.far.open_queue(r".\private$\orders", "peek") as orders:
            left = [message.body for message in orders.cursor()]
        with self.home.open_queue(DONE, "peek") as done:
            return left, [message.body for message in done.cursor()]

    def wait_until_settled(self) -> None:
        """Wait until nobody is in doubt, and nothing is left to confirm."""
        for manager in (self.home, self.far):
            for _ in range(200):
                if not manager.transactions():
                    break
                time.sleep(0.02)
            else:
                raise AssertionError(manager.transactions())


@pytest.fixture
def machines() -> Iterator[Machines]:
    common: dict[str, Any] = {"rpc_port": 2103, "rpc_minimum_level": "none"}
    with (
        openmsmq.embedded(bind=HOME, **common) as home,
        openmsmq.embedded(bind=FAR, coordinator_hosts=(HOME,), **common) as far,
    ):
        yield Machines(home, far)


def test_a_remote_receive_and_a_local_send_commit_together(machines: Machines) -> None:
    with machines.home.open_queue(ORDERS) as orders, machines.home.transaction() as transaction:
        received = orders.receive_many(2, 5, transaction)
        with machines.home.open_queue(DONE, "send") as done:
            for message in received:
                done.send(message.body, transaction)
        assert machines.bodies() == (["2", "3"], [])
    machines.wait_until_settled()
    assert machines.bodies() == (["2", "3"], ["0", "1"])


def test_an_abort_puts_messages_of_other_machines_back_in_place(machines: Machines) -> None:
    with machines.home.open_queue(ORDERS) as orders:
        transaction = machines.home.transaction()
        assert orders.receive(5, transaction).body == "0"
        assert orders.receive(5, transaction).body == "1"
        transaction.abort()
        machines.wait_until_settled()
        assert machines.bodies() == (["0", "1", "2", "3"], [])
        assert [orders.receive(5).body for _ in range(2)] == ["0", "1"]


def test_a_program_that_goes_before_the_commit_leaves_nothing_behind(machines: Machines) -> None:
    with openmsmq.connect(machines.home.address) as program:
        transaction = program.transaction()
        with program.open_queue(ORDERS) as orders:
            assert len(orders.receive_many(3, 5, transaction)) == 3
        assert machines.bodies() == (["3"], [])
    machines.wait_until_settled()
    assert machines.bodies() == (["0", "1", "2", "3"], [])


@SPEC("MQRR-3.1.4.10-12", "MQRR-3.2.4.6-01")
@pytest.mark.parametrize("commit", [True, False])
def test_a_move_takes_effect_with_the_transaction(machines: Machines, *, commit: bool) -> None:
    with machines.home.open_queue(ORDERS) as orders, machines.home.open_queue(LATER) as later:
        transaction = machines.home.transaction()
        first = orders.receive(5, transaction)
        second = orders.peek(5)
        assert orders.move(";later", [second.lookup_id], transaction=transaction) == 1
        assert first.body == "0"
        assert machines.bodies()[0] == ["2", "3"]
        assert list(later.cursor()) == []
        if commit:
            transaction.commit()
        else:
            transaction.abort()
        machines.wait_until_settled()
        assert machines.bodies()[0] == (["2", "3"] if commit else ["0", "1", "2", "3"])
        assert [message.body for message in later.cursor()] == (["1"] if commit else [])


@SPEC("MQRR-3.1.4.14-02")
@pytest.mark.parametrize("commit", [True, False])
def test_a_rejection_takes_effect_with_the_transaction(machines: Machines, *, commit: bool) -> None:
    with machines.far.create_queue(r".\private$\answers") as answers:
        message = openmsmq.Message(
            "rejected", admin_queue=r".\private$\answers", acknowledge="receive"
        )
        machines.far.send(r".\private$\orders", message, transaction="single")
        with machines.home.open_queue(ORDERS) as orders:
            *_, last = orders.cursor()
            transaction = machines.home.transaction()
            taken = orders.receive_by_lookup_id(last.lookup_id, transaction=transaction)
            orders.reject([taken.lookup_id], transaction)
            if commit:
                transaction.commit()
            else:
                transaction.abort()
            machines.wait_until_settled()
        classes = [each.class_name for each in answers.cursor()]
    assert classes == (["MQMSG_CLASS_NACK_RECEIVE_REJECTED"] if commit else [])
    left = ["0", "1", "2", "3"]
    assert machines.bodies()[0] == (left if commit else [*left, "rejected"])


def test_what_a_transaction_has_not_received_is_not_rejected(machines: Machines) -> None:
    with machines.home.open_queue(ORDERS) as orders, machines.home.transaction() as transaction:
        first = orders.receive(5, transaction)
        second = orders.peek(5)
        for lookup_id, code in (
            (second.lookup_id, Hresult.MQ_ERROR_TRANSACTION_USAGE),
            (first.lookup_id + 4711, Hresult.MQ_ERROR_MESSAGE_NOT_FOUND),
        ):
            with pytest.raises(QueueError) as refused:
                orders.reject([lookup_id], transaction)
            assert refused.value.code == code
    machines.wait_until_settled()
    assert machines.bodies()[0] == ["1", "2", "3"]


def test_a_message_is_received_by_lookup_id_in_a_transaction(machines: Machines) -> None:
    with machines.home.open_queue(ORDERS) as orders:
        third = [message.lookup_id for message in orders.cursor()][2]
        with machines.home.transaction() as transaction:
            assert orders.receive_by_lookup_id(third, transaction=transaction).body == "2"
        machines.wait_until_settled()
        assert machines.bodies()[0] == ["0", "1", "3"]


def test_a_coordinator_that_may_not_be_connected_to_is_refused(machines: Machines) -> None:
    with (
        openmsmq.embedded(
            bind=f"127.76.{_PLACE}", rpc_port=2103, rpc_minimum_level="none"
        ) as stranger,
        stranger.open_queue(ORDERS) as orders,
    ):
        transaction = stranger.transaction()
        with pytest.raises(QueueError) as raised:
            orders.receive(5, transaction)
        assert raised.value.code == Hresult.MQ_ERROR_TRANSACTION_ENLIST
        transaction.abort()
    assert machines.far.transactions() == []
    assert machines.bodies()[0] == ["0", "1", "2", "3"]


def test_a_queue_manager_without_rpc_cannot_coordinate(machines: Machines) -> None:
    with openmsmq.embedded() as alone, alone.open_queue(ORDERS) as orders:
        transaction = alone.transaction()
        with pytest.raises(QueueError) as raised:
            orders.receive(5, transaction)
        assert raised.value.code == Hresult.MQ_ERROR_DTC_CONNECT
        assert "rpc_port" in raised.value.known_remedy
        transaction.abort()
    assert machines.far.transactions() == []


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Machines]:
    """As `machines`, with passwords and calls that are encrypted."""
    homes = {}
    for name, address, other in (("home", HOME, FAR), ("far", FAR, HOME)):
        data = tmp_path / name
        data.mkdir(mode=0o700)
        password = tmp_path / f"{name}.password"
        password.write_text("secret\n")
        AccountFile(data).add("ada", "secret", None)
        homes[name] = openmsmq.embedded(
            data,
            bind=address,
            rpc_port=2103,
            coordinator_hosts=(other,),
            coordinator_user="ada",
            coordinator_password_file=password,
        )
    with homes["home"] as home, homes["far"] as far:
        machines = Machines(home, far)
        far.grant(r".\private$\orders", "everyone", ["full"])
        yield machines


def test_queue_managers_prove_to_each_other_who_they_are(known: Machines) -> None:
    with openmsmq.connect(known.home.address, user="ada", password="secret") as program:
        with program.open_queue(ORDERS) as orders, program.transaction() as transaction:
            assert orders.receive(5, transaction).body == "0"
        known.wait_until_settled()
    assert known.bodies() == (["1", "2", "3"], [])

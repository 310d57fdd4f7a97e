"""Queue managers on machines with faults, and one fault for each alert."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.admin.console_process import Watched, children, wait_until, watched
from tests.interop.loopback import new_address
from tests.net.certificate import Authority

import openmsmq

ORDERS: Final = r".\private$\orders"
GIBIBYTE: Final = 1 << 30
# In place of the threshold of the rule, which takes a while to reach.
JOURNAL_MESSAGES: Final = 100


class Machine(NamedTuple):
    """A queue manager, its settings, the faults of its machine, and what ends with the test."""

    manager: Watched
    settings: dict[str, Any]
    faults: Path
    stack: ExitStack

    def break_down(self, **faults: float) -> None:
        """Have these faults from now on."""
        self.faults.write_text(json.dumps(faults))

    def connect(self) -> openmsmq.QueueManager:
        return openmsmq.connect(self.manager.socket)


@contextmanager
def machine_at(folder: Path, **settings: Any) -> Iterator[Machine]:
    """A machine that is well until `break_down`, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    config, faults = folder / "qm.toml", folder / "faults.json"
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items()))
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(Path(__file__).with_name("machine")), os.pathsep)
            patch.setenv("FAULTY_MACHINE", str(faults))
            manager = stack.enter_context(
                watched(folder, "--config", str(config), *_ports(settings))
            )
        yield Machine(manager, settings, faults, stack)
        faults.unlink(missing_ok=True)


def _ports(settings: dict[str, Any]) -> Iterator[str]:
    """Who has an address listens where others look; for remote calls, if in their transactions."""
    yield from ("--binary-port", "1801" if "bind" in settings else "0")
    if "coordinator_hosts" in settings:
        yield from ("--rpc-port", "2103")


def _keep_reader(machine: Machine) -> None:
    """Have the queue open, without a receive."""
    machine.stack.enter_context(machine.connect()).open_queue(ORDERS).peek(timeout=5)


def _peer(machine: Machine) -> Machine:
    """Another machine, as long as this one runs."""
    folder = machine.faults.parent / "peer"
    return machine.stack.enter_context(machine_at(folder, bind=new_address()))


# Faults


def poison(machine: Machine) -> None:
    with machine.connect() as client:
        queue = client.create_queue(
            ORDERS,
            transactional=True,
            receive_error_handling="move",
            receive_retry_count=0,
            max_retry_cycles=0,
        )
        queue.send("x", transaction="single")
        transaction = client.transaction()
        queue.receive(timeout=5, transaction=transaction)
        transaction.abort()


def let_a_message_die(machine: Machine) -> None:
    with machine.connect() as client:
        queue = client.create_queue(ORDERS)
        queue.send(openmsmq.Message("x", dead_letter=True, time_to_be_received=0))
        client.flush()


def fill_a_queue(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS, quota=1).send_and_wait(openmsmq.Message(bytes(800)))
    _keep_reader(machine)


def send_what_is_refused(machine: Machine) -> None:
    with machine.connect() as client:
        queue = client.create_queue(ORDERS, transactional=True)
        with pytest.raises(openmsmq.QueueError):
            queue.send_and_wait(openmsmq.Message("x"))


def fill_all_queues(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS).send_and_wait(openmsmq.Message("x"))
    _keep_reader(machine)


def fill_a_journal(machine: Machine) -> None:
    with machine.connect() as client:
        queue = client.create_queue(ORDERS, journal=True)
        for _ in range(JOURNAL_MESSAGES):
            queue.send("x")
            queue.receive(timeout=5)


def send_faster_than_is_received(machine: Machine) -> None:
    with machine.connect() as client:
        queue = client.create_queue(ORDERS)
        # The empty queue is seen as well.
        time.sleep(3)
        for _ in range(1_100):
            queue.send("x")
        client.flush()
    _keep_reader(machine)


def go_offline(machine: Machine) -> None:
    with machine.connect() as client:
        client.take_offline()


def let_a_certificate_end(machine: Machine) -> None:
    """Its settings say so already."""
    assert "https_certificate" in machine.settings


def lose_a_link(machine: Machine) -> None:
    with machine.connect() as client:
        # Nobody listens there.
        client.send("DIRECT=TCP:127.9.9.9\\private$\\away", openmsmq.Message(b"x"))
        client.flush()


def forget_a_delivered_message(machine: Machine) -> None:
    peer = _peer(machine)
    with peer.connect() as client:
        client.create_queue(ORDERS, transactional=True)
    far = peer.settings["bind"]
    with machine.connect() as client:
        message = openmsmq.Message("x", dead_letter=True)
        client.send(rf"DIRECT=TCP:{far}\private$\orders", message, transaction="single")
        wait_until(lambda: any(each["awaiting_final_ack"] for each in client.outgoing()))
    machine.break_down(clock_seconds=7200)


def kill_the_console(machine: Machine) -> None:
    for _ in range(3):
        _kill_child(machine)


def _kill_child(machine: Machine) -> None:
    (child,) = children(machine.manager.process.pid)
    os.kill(child, signal.SIGKILL)
    assert machine.manager.get("/healthz").status == 200


def hang(machine: Machine) -> None:
    machine.manager.process.send_signal(signal.SIGSTOP)
    machine.stack.callback(machine.manager.process.send_signal, signal.SIGCONT)


def hang_now_and_then(machine: Machine) -> None:
    for _ in range(3):
        machine.manager.process.send_signal(signal.SIGSTOP)
        time.sleep(1.2)
        machine.manager.process.send_signal(signal.SIGCONT)
        time.sleep(0.3)


def forget_a_message(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS).send_and_wait(openmsmq.Message("x"))
    _keep_reader(machine)
    machine.break_down(clock_seconds=7200)


def forget_a_queue(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS).send_and_wait(openmsmq.Message("x"))
    machine.break_down(clock_seconds=120)


def have_a_peer_with_a_wrong_clock(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS)
    peer = _peer(machine)
    peer.break_down(clock_seconds=300)
    with peer.connect() as client:
        client.send(
            rf"DIRECT=TCP:{machine.settings['bind']}\private$\orders", openmsmq.Message("x")
        )
        client.flush()
    _keep_reader(machine)
    # The next console looks at its start.
    _kill_child(machine)


def forget_a_transaction(machine: Machine) -> None:
    client = machine.stack.enter_context(machine.connect())
    queue = client.create_queue(ORDERS, transactional=True)
    transaction = client.transaction()
    queue.send("x", transaction=transaction)
    client.flush()
    machine.break_down(clock_seconds=7200)


def fill_the_disk(machine: Machine) -> None:
    machine.break_down(free_bytes=0)
    with machine.connect() as client:
        client.create_queue(ORDERS)


def nearly_fill_the_disk(machine: Machine) -> None:
    machine.break_down(free_bytes=GIBIBYTE // 2)


def slow_the_disk_down(machine: Machine) -> None:
    machine.break_down(sync_seconds=0.4)
    with machine.connect() as client:
        queue = client.create_queue(ORDERS)
        for _ in range(8):
            queue.send_and_wait(openmsmq.Message("x", delivery="recoverable"))
            queue.receive(timeout=5)


def change_a_definition(machine: Machine) -> None:
    with machine.connect() as client:
        client.delete_queue(ORDERS)
    # The next console compares at its start.
    _kill_child(machine)


def lose_a_coordinator(machine: Machine) -> None:
    with machine.connect() as client:
        client.create_queue(ORDERS, transactional=True).send("x", transaction="single")
        client.grant(ORDERS, "anonymous", ["full"])
    far, (address,) = machine.settings["bind"], machine.settings["coordinator_hosts"]
    home = machine.stack.enter_context(
        machine_at(machine.faults.parent / "home", **transaction_settings(address, far))
    )
    client = home.connect()
    transaction = client.transaction()
    orders = client.open_queue(rf"DIRECT=TCP:{far}\private$\orders")
    orders.receive(timeout=10, transaction=transaction)
    # With a part of its own it must ask before it decides.
    client.create_queue(ORDERS, transactional=True).send("x", transaction=transaction)
    client.flush()
    # It decides, and is gone before anybody hears of it.
    home.break_down(sync_seconds=20.0)

    def commit() -> None:
        with suppress(openmsmq.MsmqError):
            transaction.commit()

    committing = threading.Thread(target=commit)
    committing.start()
    with machine.connect() as watching:
        wait_until(lambda: any(each["state"] == "prepared" for each in watching.transactions()))
    home.manager.process.kill()
    home.manager.process.wait()
    committing.join()


def transaction_settings(address: str, other: str) -> dict[str, Any]:
    """A machine at an address that takes part in transactions of another."""
    return {
        "bind": address,
        "rpc_minimum_level": "none",
        "coordinator_hosts": [other],
        "coordinator_retry_seconds": 0.1,
        "coordinator_max_retry_seconds": 0.5,
    }


class Fault(NamedTuple):
    """Something that goes wrong, and the alerts that say so."""

    make: Callable[[Machine], None]
    alerts: frozenset[str]


FAULTS: Final = tuple(
    Fault(make, frozenset(alerts))
    for make, *alerts in (
        (poison, "MsmqPoisonMessages"),
        (let_a_message_die, "MsmqDeadLetters"),
        (fill_a_queue, "MsmqQueueNearQuota"),
        (send_what_is_refused, "MsmqMessagesRefused"),
        (fill_all_queues, "MsmqQuotaUsedUp"),
        (fill_a_journal, "MsmqJournalGrows"),
        (send_faster_than_is_received, "MsmqQueueGrows"),
        (go_offline, "MsmqOffline"),
        (let_a_certificate_end, "MsmqCertificateEnds"),
        (lose_a_link, "MsmqLinkDown"),
        (forget_a_delivered_message, "MsmqNotAcknowledged"),
        (kill_the_console, "MsmqConsoleRestarts"),
        (forget_a_message, "MsmqMessagesWait"),
        (forget_a_queue, "MsmqNoReader"),
        # The console is killed once.
        (have_a_peer_with_a_wrong_clock, "MsmqClockWrong", "MsmqConsoleRestarts"),
        (forget_a_transaction, "MsmqTransactionOld"),
        # What is full has little left, too.
        (fill_the_disk, "MsmqDiskFull", "MsmqDiskLow"),
        (nearly_fill_the_disk, "MsmqDiskLow"),
        (change_a_definition, "MsmqDefinitionsDrift", "MsmqConsoleRestarts"),
        (lose_a_coordinator, "MsmqTransactionInDoubt"),
        (slow_the_disk_down, "MsmqStoreSlow"),
        (hang_now_and_then, "MsmqEventLoopSlow"),
        (hang, "MsmqNotReady"),
    )
)
"""A fault for each alert; the last ones stand still for a while."""


def settings_for(fault: Fault, folder: Path) -> dict[str, Any]:
    """What the machine of a fault needs to have it."""
    if fault.make is fill_the_disk:
        return {"segment_bytes": 1 << 20}
    if fault.make is lose_a_coordinator:
        return transaction_settings(new_address(), new_address())
    if fault.make is fill_all_queues:
        return {"quota_kilobytes": 1}
    if fault.make in (forget_a_delivered_message, have_a_peer_with_a_wrong_clock):
        return {"bind": new_address()}
    if fault.make is let_a_certificate_end:
        certificate, key = Authority(folder).issue("127.0.0.1")
        return {"https_certificate": str(certificate), "https_key": str(key)}
    if fault.make is change_a_definition:
        file = folder / "definitions.toml"
        file.write_text("[[queues]]\npath = '.\\private$\\orders'\n")
        return {"definitions": str(file)}
    return {}

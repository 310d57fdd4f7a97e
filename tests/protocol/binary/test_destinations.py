"""Which host an outgoing queue leads to."""

from uuid import UUID

import pytest
from tests.directory.memory_file import directory_of
from tests.protocol.binary.ordered_traffic import traffic
from tests.protocol.binary.outgoing_state import history, state
from tests.protocol.binary.pair import ORDERS, TO_B, pair

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.routing.next_hops import Choice
from openmsmq.core.transfer.incoming.delivery import learn_address
from openmsmq.core.transfer.outgoing.destinations import Destination, find_destination
from openmsmq.core.transfer.outgoing.unused import drop_unused_outgoing
from openmsmq.core.transfer.transports import Transport
from openmsmq.directory.objects import Enterprise, QueueManagerObject, QueueObject
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import direct_address, public_address
from openmsmq.wire.scalars import GUID_NULL


@pytest.mark.spec("MQQB-3.1.7.4-01")
@pytest.mark.parametrize(
    ("name", "host"),
    [(TO_B, "10.0.0.2"), (r"DIRECT=OS:host.example\private$\q", "host.example")],
)
def test_a_direct_name_says_its_host(name: str, host: str) -> None:
    _, a, _ = pair()
    found = find_destination(a.qm.state, parse_format_name(name))
    assert found == Destination(GUID_NULL, (NextHop(host, GUID_NULL),))


@pytest.mark.spec("MQQB-3.1.7.4-03")
def test_a_private_name_says_its_queue_manager() -> None:
    _, a, b = pair()
    name = parse_format_name(rf"PRIVATE={b.guid}\00000009")
    assert find_destination(a.qm.state, name) == Destination(b.guid, ())
    learn_address(a.qm.state, b.guid, "10.0.0.2")
    assert find_destination(a.qm.state, name) == Destination(b.guid, (NextHop("10.0.0.2", b.guid),))
    a.restart()
    assert find_destination(a.qm.state, name) == Destination(b.guid, (NextHop("10.0.0.2", b.guid),))


@pytest.mark.spec("MQQB-3.1.7.4-02")
def test_a_public_name_is_looked_up_in_the_directory() -> None:
    _, a, b = pair()
    queue = QueueObject(
        identifier=UUID(int=0x9),
        queue_manager=b.guid,
        pathname=r"B\q",
        qualified_pathname=r"b.example\q",
    )
    machine = QueueManagerObject(
        identifier=b.guid, computer_name="B", qualified_computer_name="b.example"
    )
    enterprise = Enterprise(UUID(int=0xE), "corp")
    name = parse_format_name(f"PUBLIC={queue.identifier}")
    assert find_destination(a.qm.state, name) is None
    a.qm.state.directory = directory_of(enterprise, machine, queue)[0]
    a.qm.state.local.directory_integrated = True
    assert find_destination(a.qm.state, name) == Destination(
        b.guid, (NextHop("b.example", b.guid),), Choice.DESTINATION
    )


@pytest.mark.spec("MQQB-3.1.7.4-02", "MQQB-3.1.5.8.5-01")
def test_a_message_to_a_public_queue_leaves_with_the_owner_of_the_queue() -> None:
    network, a, b = pair()
    machines = [
        QueueManagerObject(identifier=node.guid, computer_name=node.name) for node in (a, b)
    ]
    directory = directory_of(Enterprise(UUID(int=0xE), "corp"), *machines)[0]
    for node in (a, b):
        node.qm.state.directory = directory
        node.qm.state.local.directory_integrated = True
    identifier = b.create("public", transactional=True).properties.identifier
    name = f"PUBLIC={identifier}"
    a.send(name, b"1", b"2", tx=True, destination_queue=public_address(identifier))
    network.advance(2)
    assert b.bodies("public") == [b"1", b"2"]
    assert [message.queue_manager_address for message in traffic(network, "B")] == [b.guid] * 2
    assert a.outgoing(name).count == 0


@pytest.mark.spec("MQQB-6-04")
def test_other_names_lead_nowhere() -> None:
    _, a, b = pair()
    for protocol in ("SPX", "IPX"):
        name = parse_format_name(rf"DIRECT={protocol}:00000001:00000000000A\private$\q")
        assert find_destination(a.qm.state, name) is None
    assert find_destination(a.qm.state, parse_format_name(f"MACHINE={b.guid};DEADLETTER")) is None


@pytest.mark.spec("MQQB-3.1.5.2.1-02")
def test_a_destination_that_nobody_knows_is_looked_up_again() -> None:
    network, a, b = pair()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    name = rf"PRIVATE={b.guid}\{number:08x}"
    a.send(name, b"1")
    network.advance(4)
    assert state(a, name) is QueueState.NEED_VALIDATION
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.reason, status.retry_in_seconds) == ("nothing says where the queue is", 1)
    a.send(name, b"2")
    network.run()
    assert len(history(a, name)) == 1
    learn_address(a.qm.state, b.guid, "10.0.0.2")
    network.advance(2)
    assert state(a, name) is QueueState.CONNECTED


def test_a_queue_manager_that_connects_gets_what_waits_for_it() -> None:
    network, a, b = pair()
    a.create()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    name = rf"PRIVATE={b.guid}\{number:08x}"
    a.send(name, b"1", destination_queue=direct_address(TO_B.removeprefix("DIRECT=")))
    network.advance(1)
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"2")
    network.run()
    assert b.bodies() == [b"1"]


def test_of_several_queues_that_wait_for_a_queue_manager_one_may_be_forgotten() -> None:
    network, a, b = pair()
    a.create()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    destination = direct_address(TO_B.removeprefix("DIRECT="))
    a.send(rf"PRIVATE={b.guid}\0000ffff", b"lost", time_to_reach_queue=2)
    a.send(rf"PRIVATE={b.guid}\{number:08x}", b"1", destination_queue=destination)
    a.send(r"DIRECT=SPX:00000001:00000000000A\q", b"nowhere", destination_queue=destination)
    network.advance(3)
    a.qm.handle_timer(now=network.now, utc=network.utc)
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert len(a.binary._finder._unknown[b.guid]) == 1
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"2")
    network.run()
    assert b.bodies() == [b"1"]
    assert a.binary._finder._unknown == {}


def test_queues_of_one_queue_manager_share_a_way_that_goes_with_the_last() -> None:
    network, a, b = pair()
    learn_address(a.qm.state, b.guid, "10.0.0.2")
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    for each in (number, number + 1000):
        a.send(rf"PRIVATE={b.guid}\{each:08x}", b"%d" % each, delivery_mode=0)
    network.advance(1)
    assert len(a.binary._finder._named) == len(network.wires) // 2 == 1
    network.advance(1000)
    assert network.wires == {}
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert len(a.binary._finder._named) == 1
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    assert a.binary._finder._named == {}


def test_another_queue_manager_at_the_address_gets_nothing() -> None:
    network, a, b = pair()
    stranger = UUID(int=0xDEAD)
    learn_address(a.qm.state, stranger, "10.0.0.2")
    name = rf"PRIVATE={stranger}\00000009"
    a.send(name, b"1")
    network.run()
    assert b.bodies() == []
    assert history(a, name)[-1] is ConnectionStatus.REFUSED_BY_OTHER_SIDE


@pytest.mark.spec("MQQB-3.1.7.12-01")
@pytest.mark.parametrize(
    ("name", "served"),
    [
        (TO_B, True),
        ("DIRECT=HTTP://host/msmq/q", False),
        ("DIRECT=HTTPS://host/msmq/q", False),
        ("MULTICAST=224.3.4.5:8001", False),
    ],
)
def test_which_outgoing_queues_this_protocol_serves(*, name: str, served: bool) -> None:
    network, a, _ = pair()
    a.send(name, b"1", destination_queue=direct_address(TO_B.removeprefix("DIRECT=")))
    network.run()
    (queue,) = a.qm.outgoing.queues
    assert queue.outgoing is not None
    assert (queue.outgoing.transport is Transport.BINARY) is served
    assert len(a.binary.outgoing(now=network.now)) == served
    assert bool(network.wires) is served


@pytest.mark.spec("MQQB-3.1.7.12-01")
def test_a_locked_queue_is_not_served() -> None:
    network, a, _ = pair()
    a.qm.state.local.hardened_security = True
    a.send(TO_B, b"1")
    network.run()
    assert not network.wires
    (status,) = a.binary.outgoing(now=network.now)
    assert status.reason.startswith("locked")

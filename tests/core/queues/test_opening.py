"""Open Queue and Close Queue ([MS-MQDMPR] 3.1.7.1.5-6)."""

from uuid import UUID

import pytest
from tests.core.directory_harness import shared_file
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    OTHER_GUID,
    PEEK,
    QM_GUID,
    RECEIVE,
    SEND,
    STRANGER,
    USER,
    Harness,
    bodies,
    packet,
    refused,
)

from openmsmq.core.model.open_queue import QueueAccessType, RemoteReadState
from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.model.queue import Queue
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.transports import Transport
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import DistributionList
from openmsmq.wire.codes.queue_enums import QueueState, ShareMode
from openmsmq.wire.message.multi_queue_format_header import MQFFormatNameElement
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import GUID_NULL

SPEC = pytest.mark.spec
REMOTE = r"DIRECT=OS:elsewhere\private$\q"
MULTICAST = "MULTICAST=234.1.1.1:8001"
OTHER = r".\private$\other"


BOTH = r"DIRECT=OS:qm\private$\orders,DIRECT=OS:qm\private$\other"


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        (r".\private$\ORDERS", r"DIRECT=OS:QM\private$\ORDERS"),
        (r".\PRIVATE$\orders", r"DIRECT=OS:QM\private$\orders"),
        (r"qm\private$\orders", r"DIRECT=OS:qm\private$\orders"),
        (r"DIRECT=OS:qm\private$\orders", r"DIRECT=OS:qm\private$\orders"),
        (r".\private$\orders;journal", r"DIRECT=OS:QM\private$\orders;JOURNAL"),
        (r".\private$\orders\Journal$", r"DIRECT=OS:QM\private$\orders;JOURNAL"),
        (r".\private$\orders;later", r"DIRECT=OS:QM\private$\orders;later"),
    ],
)
def test_a_queue_is_known_by_one_name_however_it_was_written(
    harness: Harness, name: str, format_name: str
) -> None:
    assert harness.open(PEEK, name).format_name == format_name


@SPEC("MQDMPR-3.1.7.1.5-25", "MQDMPR-3.1.1.16-01")
def test_a_descriptor_says_what_was_opened(harness: Harness) -> None:
    descriptors = [harness.open(access) for access in (RECEIVE, PEEK, SEND, PEEK)]
    queue = harness.qm.find_queue(ORDERS)
    assert [each.access for each in descriptors] == [RECEIVE, PEEK, SEND, PEEK]
    assert {each.queue for each in descriptors} == {queue}
    assert {each.format_name for each in descriptors} == {r"DIRECT=OS:QM\private$\orders"}
    assert [each.multiple or each.children for each in descriptors] == [[]] * 4
    assert list(queue.descriptors.values()) == descriptors
    numbers = {each.handle for each in descriptors} | {each.context_value for each in descriptors}
    assert len({each.handle for each in descriptors}) == 4
    assert len({each.context_value for each in descriptors}) == 4
    assert numbers


@SPEC("MQDMPR-3.1.1.16-03")
def test_a_local_open_is_no_remote_read(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    assert descriptor.remote_read_state is RemoteReadState.NONE
    for state in (RemoteReadState.OPENED, RemoteReadState.READY_FOR_READ):
        descriptor.remote_read_state = state
    assert set(RemoteReadState) == {"none", "opened", "ready_for_read"}


@SPEC("MQDMPR-3.1.1.2-16", "MQDMPR-3.1.7.1.5-26")
def test_a_queue_is_active_while_it_is_open(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    harness.send(b"1")
    assert not queue.active
    one, two = harness.open(PEEK), harness.open(SEND)
    assert queue.active
    harness.qm.close_queue(one)
    assert queue.active
    harness.qm.close_queue(two)
    assert not queue.active


@SPEC("MQDMPR-3.1.1.16-05")
def test_nothing_is_open_after_a_restart(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    harness.qm.open_cursor(descriptor)
    harness.qm.traffic.dequeue_many(descriptor)
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert (queue.descriptors, list(queue.waiting), harness.qm.state.descriptors) == ({}, [], {})


@SPEC("MQDMPR-3.1.7.1.6-01")
def test_closing_after_the_queue_was_deleted_is_no_error(harness: Harness) -> None:
    descriptor = harness.open(RECEIVE)
    harness.qm.delete_queue(harness.qm.find_queue(ORDERS), caller=USER)
    harness.qm.close_queue(descriptor)
    assert harness.qm.state.descriptors == {}


def names_of_orders(harness: Harness) -> list[str]:
    number = harness.qm.find_queue(ORDERS).properties.private_queue_number
    return [
        ORDERS,
        r"QM\private$\Orders",
        r"DIRECT=OS:qm\private$\orders",
        r"DIRECT=OS:.\private$\orders",
        r"DIRECT=TCP:10.1.2.3\private$\orders",
        r"DIRECT=OS:alias\PRIVATE$\ORDERS",
        rf"PRIVATE={QM_GUID}\{number:X}",
        r"FORMATNAME:DIRECT=OS:qm\private$\orders",
    ]


def test_all_names_of_a_queue_lead_to_it() -> None:
    harness = Harness(settings=Settings(names=frozenset(("10.1.2.3", "alias"))))
    queue = harness.create()
    for name in names_of_orders(harness):
        assert harness.open(RECEIVE, name).queue is queue
    assert harness.open(SEND, "DIRECT=HTTP://alias/msmq/private$/orders").queue is queue
    public = harness.qm.create_queue(r".\public", caller=USER, skip_directory=True).value
    assert harness.open(RECEIVE, f"PUBLIC={public.properties.identifier}").queue is public
    assert (
        harness.open(RECEIVE, f"PUBLIC={public.properties.identifier};JOURNAL").queue
        is public.journal
    )


def test_the_system_queues_have_machine_names(harness: Harness) -> None:
    state = harness.qm.state
    for suffix, queue in (
        ("JOURNAL", state.machine_journal),
        ("DEADLETTER", state.deadletter),
        ("DEADXACT", state.xact_deadletter),
    ):
        for name in (f"MACHINE={QM_GUID};{suffix}", rf".\system$;{suffix}"):
            assert harness.open(RECEIVE, name, caller=ADMINISTRATOR).queue is queue


@SPEC("MQDMPR-3.1.7.1.5-09")
@pytest.mark.parametrize("access", [RECEIVE, PEEK, QueueAccessType.MOVE])
@pytest.mark.parametrize(
    "name",
    [
        r".\private$\nothing",
        REMOTE,
        rf"PRIVATE={OTHER_GUID}\9",
        f"PUBLIC={OTHER_GUID}",
        f"MACHINE={OTHER_GUID};DEADLETTER",
    ],
)
def test_a_queue_that_is_not_here_cannot_be_read(
    harness: Harness, name: str, access: QueueAccessType
) -> None:
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.open(access, name)


@SPEC("MQDMPR-3.1.7.1.5-10", "MQDMPR-3.1.7.1.5-13")
@pytest.mark.parametrize("name", [r"DIRECT=OS:qm\private$\nothing", rf"PRIVATE={QM_GUID}\99"])
def test_a_local_name_makes_no_outgoing_queue(harness: Harness, name: str) -> None:
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.open(SEND, name)
    assert harness.qm.outgoing.queues == []


@pytest.mark.parametrize(
    ("name", "access"),
    [
        pytest.param("DIRECT=HTTP://elsewhere/msmq/q", RECEIVE, marks=SPEC("MQDMPR-3.1.7.1.5-06")),
        pytest.param("DIRECT=HTTPS://elsewhere/msmq/q", PEEK, marks=SPEC("MQDMPR-3.1.7.1.5-06")),
        pytest.param(f"MACHINE={QM_GUID};JOURNAL", SEND, marks=SPEC("MQDMPR-3.1.7.1.5-07")),
        pytest.param(f"MACHINE={QM_GUID};DEADXACT", SEND, marks=SPEC("MQDMPR-3.1.7.1.5-07")),
        pytest.param(MULTICAST, RECEIVE, marks=SPEC("MQDMPR-3.1.7.1.5-08")),
        pytest.param(MULTICAST, PEEK, marks=SPEC("MQDMPR-3.1.7.1.5-08")),
        pytest.param(BOTH, RECEIVE, marks=SPEC("MQDMPR-3.1.7.1.5-02")),
        pytest.param(BOTH, PEEK, marks=SPEC("MQDMPR-3.1.7.1.5-02")),
        (ORDERS + ";journal", SEND),
    ],
)
def test_a_kind_of_name_allows_some_access_only(
    harness: Harness, name: str, access: QueueAccessType
) -> None:
    with refused("MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"):
        harness.open(access, name)


@SPEC("MQDMPR-3.1.7.1.5-01")
def test_an_unknown_distribution_list_fails_the_open(harness: Harness) -> None:
    with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
        harness.open(SEND, f"DL={OTHER_GUID}")
    assert harness.qm.outgoing.queues == []


@pytest.mark.parametrize(
    ("name", "access"),
    [
        (ORDERS, QueueAccessType.RECEIVE_ADMIN),
        (ORDERS, QueueAccessType.PEEK_ADMIN),
        (ORDERS + ";journal", QueueAccessType.PEEK_ADMIN),
        (r".\system$;deadletter", QueueAccessType.RECEIVE_ADMIN),
        (r".\private$\order_queue$", QueueAccessType.PEEK_ADMIN),
    ],
)
def test_admin_access_is_for_outgoing_queues(
    harness: Harness, name: str, access: QueueAccessType
) -> None:
    with refused("MQ_ERROR_UNSUPPORTED_ACCESS_MODE|MQ_ERROR_ACCESS_DENIED"):
        harness.open(access, name, caller=ADMINISTRATOR)


def test_others_may_send_but_not_read(harness: Harness) -> None:
    harness.open(SEND, caller=STRANGER)
    for access in (RECEIVE, PEEK, QueueAccessType.MOVE):
        with refused("MQ_ERROR_ACCESS_DENIED"):
            harness.open(access, caller=STRANGER)
        with refused("MQ_ERROR_ACCESS_DENIED"):
            harness.open(access, ORDERS + ";later", caller=STRANGER)
        with refused("MQ_ERROR_ACCESS_DENIED"):
            harness.open(access, ORDERS + ";journal", caller=STRANGER)


def test_a_distribution_list_opens_its_members() -> None:
    members = r"DIRECT=OS:qm\private$\orders", REMOTE
    partners = DistributionList(OTHER_GUID, "partners", members)
    harness = Harness(directory=LocalDirectory(shared_file(partners).open()))
    harness.create()
    descriptor = harness.open(SEND, f"DL={OTHER_GUID}")
    harness.qm.traffic.enqueue_many(descriptor, [packet(b"1")])
    assert harness.contents() == [b"1"]
    assert harness.qm.outgoing.find(REMOTE).count == 1
    with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
        harness.open(SEND, f"DL={UUID(int=1)}")


def test_without_a_directory_there_are_no_distribution_lists(harness: Harness) -> None:
    with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
        harness.open(SEND, f"DL={OTHER_GUID}")


# Several queues at once


@SPEC("MQDMPR-3.1.7.1.5-04", "MQDMPR-3.1.1.16-02")
def test_several_queues_open_as_one(harness: Harness) -> None:
    other = harness.create(OTHER)
    descriptor = harness.open(SEND, BOTH)
    assert (descriptor.multiple, descriptor.queue) == (True, None)
    assert (descriptor.access, descriptor.remote_read_state) == (SEND, RemoteReadState.NONE)
    assert {child.queue for child in descriptor.children} == {
        harness.qm.find_queue(ORDERS),
        other,
    }
    assert {(child.access, child.share) for child in descriptor.children} == {
        (SEND, ShareMode.DENY_NONE)
    }
    assert [child.children for child in descriptor.children] == [[], []]


@SPEC("MQDMPR-3.1.7.1.5-03")
def test_several_queues_cannot_be_denied_to_others(harness: Harness) -> None:
    harness.create(OTHER)
    with refused("MQ_ERROR_UNSUPPORTED_ACCESS_MODE"):
        harness.open(SEND, BOTH, share=ShareMode.DENY_RECEIVE_SHARE)


@SPEC("MQDMPR-3.1.7.1.5-05")
def test_if_one_of_several_cannot_be_opened_none_is(harness: Harness) -> None:
    with refused("MQ_ERROR_QUEUE_NOT_FOUND"):
        harness.open(SEND, BOTH)
    assert harness.qm.find_queue(ORDERS).descriptors == {}
    assert harness.qm.state.descriptors == {}


@SPEC("MQDMPR-3.1.7.1.6-02")
def test_closing_several_queues_closes_each(harness: Harness) -> None:
    harness.create(OTHER)
    descriptor = harness.open(SEND, BOTH)
    harness.qm.close_queue(descriptor)
    assert harness.qm.find_queue(ORDERS).descriptors == {}
    assert harness.qm.find_queue(OTHER).descriptors == {}
    with refused("MQ_ERROR_INVALID_HANDLE"):
        harness.qm.traffic.enqueue_many(descriptor, [packet()])


def only(queue: Queue) -> UserMessage:
    (message,) = queue.lanes
    assert message.packet is not None
    return UserMessage(message.packet)


@SPEC("MQDMPR-3.1.7.1.27-02", "MQDMPR-3.1.7.1.27-03", "MQDMPR-3.1.1.12-22")
def test_each_of_several_queues_gets_a_copy_that_names_all(harness: Harness) -> None:
    harness.create(OTHER)
    sent = harness.send(
        b"1",
        name=f"{BOTH},{REMOTE}",
        label="to many",
        application_tag=7,
        priority=5,
        extension=b"more",
        tracing_requested=True,
    )
    assert len(sent.messages) == 3
    names = {
        OTHER: r"OS:qm\private$\other",
        ORDERS: r"OS:qm\private$\orders",
        REMOTE: r"OS:elsewhere\private$\q",
    }
    elements = [MQFFormatNameElement(3, direct_format_name=name) for name in sorted(names.values())]
    for path, name in names.items():
        local = path != REMOTE
        queue = harness.qm.find_queue(path) if local else harness.qm.outgoing.find(path)
        copy = only(queue)
        assert copy.destination_queue is not None
        assert copy.destination_queue.direct == name
        header = copy.multi_queue_format_header
        assert header is not None
        assert sorted(header.destination) == sorted(elements)
        assert (copy.body, copy.label, copy.application_tag) == (b"1", "to many", 7)
        assert (copy.priority, copy.extension, copy.tracing_requested) == (5, b"more", True)
    ordinals = [only(message.queue).message_id for message in sent.messages]
    assert ordinals == [sent.first_ordinal + n for n in range(3)]


@SPEC("MQDMPR-3.1.7.1.27-04")
def test_the_first_queue_that_refuses_stops_a_send_to_several(harness: Harness) -> None:
    for name, quota in (("a", 1), ("b", 0), ("c", 1)):
        harness.create(rf".\private$\{name}", quota=quota)
    name = ",".join(rf"DIRECT=OS:qm\private$\{each}" for each in "abc")
    with refused("MQ_ERROR_INSUFFICIENT_RESOURCES"):
        harness.send(b"1", name=name)
    assert [len(harness.contents(rf".\private$\{each}")) for each in "abc"] == [1, 0, 0]


@SPEC("MQDMPR-3.1.7.1.27-05", "MQDMPR-3.1.7.1.27-04")
@pytest.mark.parametrize(("keep", "count"), [(True, 1), (False, 0)])
def test_a_send_to_several_queues_can_be_one_transaction(
    harness: Harness, *, keep: bool, count: int
) -> None:
    for each in "ab":
        harness.create(rf".\private$\{each}", transactional=True)
    name = ",".join(rf"DIRECT=OS:qm\private$\{each}" for each in "ab")
    transaction = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", name=name, transaction=transaction)
    assert [harness.contents(rf".\private$\{each}") for each in "ab"] == [[], []]
    decide = harness.qm.traffic.commit if keep else harness.qm.traffic.abort
    decide(transaction.identifier)
    assert [len(harness.contents(rf".\private$\{each}")) for each in "ab"] == [count, count]


# Outgoing queues


@SPEC("MQDMPR-3.1.7.1.5-14")
def test_a_send_open_of_a_remote_name_makes_an_outgoing_queue(harness: Harness) -> None:
    descriptor = harness.open(SEND, REMOTE)
    queue = descriptor.queue
    assert queue is not None
    assert queue.outgoing is not None
    assert queue.outgoing.destination_format_name == queue.properties.label == REMOTE
    assert (queue.outgoing.next_hops, queue.outgoing.state) == (None, QueueState.INACTIVE)
    assert queue.outgoing.transport is Transport.BINARY
    identifiers = {each.properties.identifier for each in harness.qm.queues}
    assert queue.properties.identifier.int
    assert len(identifiers & {queue.properties.identifier}) == 1


@SPEC("MQDMPR-3.1.7.1.5-15", "MQDMPR-3.1.1.3-01")
def test_an_outgoing_queue_is_used_again_also_after_a_restart(harness: Harness) -> None:
    first = harness.open(SEND, REMOTE).queue
    assert first is not None
    assert first.outgoing is not None
    first.outgoing.next_hops = (NextHop("10.0.0.1", GUID_NULL),)
    assert harness.open(SEND, REMOTE.upper()).queue is first
    harness.send(b"1", name=REMOTE)
    harness.restart()
    (again,) = harness.qm.outgoing.queues
    assert again.outgoing is not None
    assert again.properties.identifier == first.properties.identifier
    assert again.outgoing.destination_format_name == REMOTE
    assert again.outgoing.next_hops is None
    assert again.count == 1
    assert harness.open(SEND, REMOTE).queue is again


@SPEC("MQDMPR-3.1.7.1.5-18", "MQDMPR-3.1.1.3-01")
def test_an_outgoing_queue_to_a_multicast_address_says_so(harness: Harness) -> None:
    harness.open(SEND, MULTICAST)
    for _ in range(2):
        queue = harness.qm.outgoing.find(MULTICAST)
        assert queue.outgoing is not None
        assert queue.outgoing.transport is Transport.MULTICAST
        harness.restart()


@SPEC("MQDMPR-3.1.7.1.5-17", "MQDMPR-3.1.1.3-03")
def test_in_hardened_mode_only_http_leaves_the_machine(harness: Harness) -> None:
    harness.qm.state.local.hardened_security = True
    states = {}
    for name in (REMOTE, MULTICAST, "DIRECT=HTTP://elsewhere/msmq/q"):
        harness.send(b"1", name=name)
        queue = harness.qm.outgoing.find(name)
        assert queue.outgoing is not None
        sends = harness.qm.outgoing.peek(queue, max_count=1, max_bytes=1 << 20) is not None
        states[name] = (queue.outgoing.state, sends)
    assert states == {
        REMOTE: (QueueState.LOCKED, False),
        MULTICAST: (QueueState.LOCKED, False),
        "DIRECT=HTTP://elsewhere/msmq/q": (QueueState.INACTIVE, True),
    }


@SPEC("MQDMPR-3.1.1.17-03")
def test_administrators_look_into_outgoing_queues(harness: Harness) -> None:
    harness.send(b"1", b"2", name=REMOTE)
    peek = harness.open(QueueAccessType.PEEK_ADMIN, REMOTE, caller=ADMINISTRATOR)
    assert bodies(harness.qm.traffic.peek_many(peek)) == [b"1"]
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.traffic.dequeue_many(peek)
    receive = harness.open(QueueAccessType.RECEIVE_ADMIN, REMOTE, caller=ADMINISTRATOR)
    assert bodies(harness.qm.traffic.peek_many(receive)) == [b"1"]
    assert bodies(harness.qm.traffic.dequeue_many(receive)) == [b"1"]
    assert harness.qm.traffic.purge(receive).count == 1
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.open(QueueAccessType.PEEK_ADMIN, REMOTE, caller=STRANGER)

"""Create Queue and setting attributes ([MS-MQDMPR] 3.1.7.1.3, 3.1.7.1.33)."""

from typing import Any
from uuid import UUID

import pytest
from tests.core.harness import ORDERS, RECEIVE, START_UTC, STRANGER, USER, Harness, refused

from openmsmq.core.events import QueueChanged, QueueCreated
from openmsmq.core.model.queue import QueueRole, QueueType
from openmsmq.directory.objects import NULL_GUID, UNLIMITED
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.security.default_descriptor import default_queue_descriptor
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel

SPEC = pytest.mark.spec
GUID = UUID("12345678-1234-1234-1234-123456789abc")
EVERYTHING: dict[str, Any] = {
    "label": "Orders",
    "type": GUID,
    "journaling": True,
    "quota": 10,
    "journal_quota": 20,
    "authentication": True,
    "privacy_level": QueuePrivacyLevel.BODY,
    "transactional": True,
    "multicast_address": "234.1.1.1:8001",
    "security": default_queue_descriptor(STRANGER.sid).serialize(),
    "base_priority": 7,
}


@SPEC("MQDMPR-3.1.7.1.33-01", "MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.3-01")
def test_a_queue_starts_with_the_defaults() -> None:
    properties = Harness().create().properties
    assert (properties.label, properties.type, properties.multicast_address) == (
        "",
        NULL_GUID,
        None,
    )
    assert (properties.journaling, properties.authentication) == (False, False)
    assert (properties.transactional, properties.base_priority) == (False, 0)
    assert properties.quota == properties.journal_quota == UNLIMITED == 0xFFFFFFFF
    assert properties.privacy_level is QueuePrivacyLevel.OPTIONAL


@SPEC("MQDMPR-3.1.7.1.3-04", "MQDMPR-3.1.1.2-02", "MQDMPR-3.1.1.2-01")
def test_a_queue_has_the_attributes_that_were_asked_for_also_after_a_restart() -> None:
    harness = Harness()
    harness.create(**EVERYTHING)
    for _ in range(2):
        properties = harness.qm.find_queue(ORDERS).properties
        assert {name: getattr(properties, name) for name in EVERYTHING} == EVERYTHING
        assert properties.pathname == r"QM\private$\orders"
        harness.restart()


@SPEC("MQDMPR-3.1.7.1.3-05")
def test_a_new_queue_is_empty() -> None:
    harness = Harness()
    queue = harness.create()
    properties = queue.properties
    assert (queue.total_bytes, queue.active, queue.count) == (0, False, 0)
    assert (properties.full_path, properties.directory_path) == ("", "")
    assert properties.create_time == properties.modify_time == int(START_UTC)
    assert (queue.subqueues, queue.descriptors, queue.incoming) == ({}, {}, {})


@SPEC("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.1.2-18")
def test_the_type_follows_from_the_path_name(harness: Harness) -> None:
    public = harness.qm.create_queue(r".\public", caller=USER, skip_directory=True).value
    system = harness.qm.find_queue(r".\system$;deadletter")
    assert harness.qm.find_queue(ORDERS).queue_type is QueueType.PRIVATE
    assert public.queue_type is QueueType.PUBLIC
    assert system.queue_type is QueueType.SYSTEM
    harness.restart()
    assert harness.qm.find_queue(r".\public").queue_type is QueueType.PUBLIC


@SPEC("MQDMPR-3.1.7.1.3-07", "MQDMPR-3.1.1.2-04")
def test_private_queues_have_numbers_of_their_own(harness: Harness) -> None:
    numbers = {
        harness.create(rf".\private$\q{n}").properties.private_queue_number for n in range(5)
    }
    numbers.add(harness.qm.find_queue(ORDERS).properties.private_queue_number)
    assert len(numbers) == 6
    assert not numbers & {0, 3, 4}
    harness.restart()
    assert harness.create(r".\private$\new").properties.private_queue_number not in numbers
    public = harness.qm.create_queue(r".\public", caller=USER, skip_directory=True).value
    assert public.properties.private_queue_number == 0


@SPEC("MQDMPR-3.1.7.1.3-02")
def test_a_queue_has_a_journal(harness: Harness) -> None:
    journal = harness.qm.find_queue(ORDERS + ";journal")
    assert harness.qm.find_queue(ORDERS).journal is journal
    assert journal.role is QueueRole.JOURNAL
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert queue.journal is harness.qm.find_queue(ORDERS + ";journal")


@SPEC("MQDMPR-3.1.7.1.3-03", "MQDMPR-3.1.1.2-19")
def test_subqueues_are_listed_with_their_queue_and_have_no_journal(harness: Harness) -> None:
    harness.send(b"1", b"2")
    queue = harness.qm.find_queue(ORDERS)
    names = [ORDERS + ";a", ORDERS + ";b"]
    subqueues = []
    for name in names:
        descriptor = harness.open(RECEIVE, name)
        harness.qm.traffic.move_many(harness.open(RECEIVE), descriptor, max_count=1)
        subqueues.append(harness.qm.find_queue(name))
    assert list(queue.subqueues.values()) == subqueues
    assert all(each.journal is None and each.count == 1 for each in subqueues)
    harness.restart()
    queue = harness.qm.find_queue(ORDERS)
    assert [each.path for each in queue.subqueues.values()] == [
        r"private$\orders;a",
        r"private$\orders;b",
    ]


@SPEC("MQDMPR-3.1.7.1.3-11", "MQDMPR-3.1.1-04")
def test_a_created_queue_is_returned_and_stays_with_its_identifier(harness: Harness) -> None:
    queue = harness.create(r".\private$\new")
    assert queue in harness.qm.queues
    harness.qm.set_queue(queue, caller=USER, label="other")
    harness.restart()
    again = harness.qm.find_queue(r".\private$\new")
    assert again.properties.identifier == queue.properties.identifier != NULL_GUID
    assert again.properties.label == "other"


@SPEC("MQDMPR-3.1.7.1.3-01")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        (r".\private$\a;b", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\private$\a;journal", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\system$;deadletter", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\private$" + "\\", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        ("orders", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (".\\private$\\" + "x" * 125, "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r"elsewhere\private$\a", "MQ_ERROR_QUEUE_NOT_FOUND"),
        (r".\private$\ORDERS", "MQ_ERROR_QUEUE_EXISTS"),
        (r"qm\PRIVATE$\orders", "MQ_ERROR_QUEUE_EXISTS"),
    ],
)
def test_a_wrong_path_name_makes_no_queue(harness: Harness, path: str, code: str) -> None:
    queues = len(harness.qm.queues)
    with refused(code):
        harness.create(path)
    assert len(harness.qm.queues) == queues


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("label", "x" * 125, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("quota", -1, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("quota", True, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("journal_quota", 1 << 32, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("journaling", 1, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("privacy_level", 9, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("base_priority", 0x8000, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("type", "orders", "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        ("pathname", "other", "MQ_ERROR_PROPERTY_NOTALLOWED"),
        ("colour", "red", "MQ_ERROR_PROPERTY_NOTALLOWED"),
    ],
)
def test_wrong_attributes_are_refused(harness: Harness, name: str, value: Any, code: str) -> None:
    with refused(code):
        harness.create(r".\private$\new", **{name: value})
    queue = harness.qm.find_queue(ORDERS)
    with refused(code):
        harness.qm.set_queue(queue, caller=USER, **{name: value})


@SPEC("MQDMPR-3.1.1.2-12")
@pytest.mark.parametrize("address", ["10.0.0.1:80", "234.1.1.1", "234.1.1.1:70000", "", 5])
def test_a_multicast_address_is_one_or_none(harness: Harness, address: Any) -> None:
    with refused("MQ_ERROR_ILLEGAL_PROPERTY_VALUE"):
        harness.create(r".\private$\new", multicast_address=address)
    queue = harness.create(r".\private$\new", multicast_address="234.1.1.1:8001")
    harness.qm.set_queue(queue, caller=USER, multicast_address=None)
    assert queue.properties.multicast_address is None


@SPEC("MQDMPR-3.1.1.2-11")
def test_a_queue_stays_transactional_or_not(harness: Harness) -> None:
    with refused("MQ_ERROR_PROPERTY_NOTALLOWED"):
        harness.qm.set_queue(harness.qm.find_queue(ORDERS), caller=USER, transactional=True)


def test_creation_and_change_are_told(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    assert [event.queue for event in harness.take_events(QueueCreated)] == [queue]
    harness.advance(10)
    harness.qm.set_queue(queue, caller=USER, label="new")
    assert [event.queue for event in harness.take_events(QueueChanged)] == [queue]
    assert queue.properties.modify_time == int(START_UTC) + 10
    assert queue.properties.create_time == int(START_UTC)


def test_others_may_not_change_a_queue(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.qm.set_queue(queue, caller=STRANGER, label="mine")
    journal = queue.journal
    assert journal is not None
    with refused("MQ_ERROR_ILLEGAL_OPERATION"):
        harness.qm.set_queue(journal, caller=USER, label="mine")


@SPEC("MQDMPR-3.1.3-15")
@pytest.mark.parametrize(("name", "number"), [("notify_queue$", 3), ("order_queue$", 4)])
def test_internal_queues_are_there_but_closed_to_applications(
    harness: Harness, name: str, number: int
) -> None:
    queue = harness.qm.find_queue(rf".\private$\{name}")
    assert harness.qm.state.private_numbers[number] is queue
    with refused("MQ_ERROR_ACCESS_DENIED"):
        harness.open(RECEIVE, rf".\private$\{name}")
    assert harness.open(RECEIVE, rf".\private$\{name}", caller=SYSTEM_CALLER).queue is queue


@SPEC("MQDMPR-3.1.1.1-21", "MQDMPR-3.1.3-14")
def test_the_system_queues_are_there_after_every_start_with_what_they_held() -> None:
    harness = Harness()
    harness.create()
    harness.send(b"1", time_to_be_received=1, negative_journaling=True)
    harness.advance(2)
    for _ in range(2):
        state = harness.qm.state
        queues = (state.deadletter, state.xact_deadletter, state.machine_journal)
        assert {queue.queue_type for queue in queues} == {QueueType.SYSTEM}
        assert [queue.count for queue in queues] == [1, 0, 0]
        assert harness.contents(r".\system$;deadletter") == [b"1"]
        harness.restart()

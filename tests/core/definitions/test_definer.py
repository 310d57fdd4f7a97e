"""Definitions: plans, checks before any change, and that a file says how things are then."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.harness import (
    ADMINISTRATOR,
    ORDERS,
    RECEIVE,
    SEND,
    STRANGER,
    USER,
    Harness,
    packet,
    refused,
)
from tests.security.accounts import FakeAccounts

from openmsmq.core.definitions.plan import Change, PlanOptions
from openmsmq.core.definitions.queue_plans import MAX_QUEUES
from openmsmq.security.caller import Caller
from openmsmq.server.defining import apply_definitions_file
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.definitions.model import (
    Definitions,
    MachineDefinition,
    OutgoingDefinition,
    PermissionDefinition,
    QueueDefinition,
    RedirectionDefinition,
)

ACCOUNTS = FakeAccounts()
FAR = r"DIRECT=TCP:10.0.0.9\private$\x"
FULL = PermissionDefinition(principal="everyone", allow=("full",))


@pytest.fixture
def harness() -> Harness:
    return Harness()


def apply(
    harness: Harness, definitions: Definitions, *, caller: Caller = ADMINISTRATOR, **options: bool
) -> tuple[Change, ...]:
    done = harness.qm.definer.apply(
        definitions, PlanOptions(**options), caller=caller, accounts=ACCOUNTS
    )
    return done.value


def exported(harness: Harness) -> Definitions:
    return harness.qm.definer.export(caller=ADMINISTRATOR, accounts=ACCOUNTS)


def queues(*definitions: QueueDefinition) -> Definitions:
    return Definitions(queues=definitions)


def test_queues_are_created_and_changed(harness: Harness) -> None:
    orders = QueueDefinition(path=r"private$\orders", label="a", quota=5, permissions=(FULL,))
    assert apply(harness, queues(orders)) == (
        Change(action="create", kind="queue", name=r"private$\orders"),
    )
    changed = QueueDefinition(path=r".\PRIVATE$\orders", label="b", journal=True)
    changes = apply(harness, queues(changed))
    assert [(change.property, change.before, change.after) for change in changes] == [
        ("label", "a", "b"),
        ("journal", "false", "true"),
        ("quota", "5", "none"),
    ]
    queue = harness.qm.find_queue(ORDERS)
    assert (queue.properties.label, queue.properties.journaling) == ("b", True)
    assert apply(harness, queues(changed)) == ()


def test_permissions_are_complete_lists(harness: Harness) -> None:
    harness.create(ORDERS)
    entries = (
        PermissionDefinition(principal="everyone", allow=("send",), deny=("receive",)),
        PermissionDefinition(principal="user:alice", allow=("full",)),
    )
    orders = QueueDefinition(path=r"private$\orders", permissions=entries)
    (change,) = apply(harness, queues(orders))
    assert change.property == "permissions"
    assert change.after == "everyone: send, not receive; user:alice: full"
    (definition,) = exported(harness).queues or ()
    assert definition.permissions == entries
    assert apply(harness, queues(orders)) == ()


def test_unlisted_queues_stay_unless_they_are_pruned(harness: Harness) -> None:
    harness.create(ORDERS)
    assert [change.action for change in apply(harness, queues())] == ["unlisted"]
    harness.qm.find_queue(ORDERS)
    assert [change.action for change in apply(harness, queues(), prune=True)] == ["delete"]
    with pytest.raises(QueueError):
        harness.qm.find_queue(ORDERS)


def test_a_queue_with_messages_is_pruned_by_force_only(harness: Harness) -> None:
    harness.create(ORDERS)
    harness.send(packet())
    with pytest.raises(QueueError, match=r"holds 1 message$"):
        apply(harness, queues(), prune=True)
    assert harness.qm.find_queue(ORDERS).count == 1
    (change,) = apply(harness, queues(), prune=True, force=True)
    assert (change.action, change.property, change.before) == ("delete", "messages", "1")
    assert exported(harness).queues == ()


def test_delayed_messages_and_journals_keep_a_queue_from_being_deleted(harness: Harness) -> None:
    wanted = queues(QueueDefinition(path=r"private$\orders", transactional=True))
    harness.create(ORDERS)
    delayed = harness.open(SEND)
    harness.qm.traffic.enqueue_many(delayed, [packet(b"1")], deliver_at=harness.utc + 5)
    with pytest.raises(QueueError, match="holds 1 message"):
        apply(harness, queues(), prune=True)
    with pytest.raises(QueueError, match="holds 1 message"):
        apply(harness, wanted, recreate=True)
    harness.advance(10)
    apply(harness, queues(QueueDefinition(path=r"private$\orders", journal=True)))
    assert harness.drain() == [b"1"]
    with pytest.raises(QueueError, match="holds 1 message"):
        apply(harness, queues(), prune=True)
    with pytest.raises(QueueError, match="holds 1 message"):
        apply(harness, wanted, recreate=True)
    apply(harness, queues(), prune=True, force=True)
    assert exported(harness).queues == ()


def test_transactional_is_changed_by_recreation_of_an_empty_queue_only(harness: Harness) -> None:
    harness.create(ORDERS)
    harness.send(packet())
    wanted = queues(QueueDefinition(path=r"private$\orders", transactional=True))
    for recreate in (False, True):
        with pytest.raises(QueueError, match="cannot be changed"):
            apply(harness, wanted, recreate=recreate)
    harness.qm.traffic.purge(harness.open(RECEIVE))
    assert [change.action for change in apply(harness, wanted, recreate=True)] == ["recreate"]
    assert harness.qm.find_queue(ORDERS).properties.transactional


def test_a_comparison_tells_of_a_queue_that_cannot_be_replaced(harness: Harness) -> None:
    harness.create(ORDERS)
    harness.send(packet())
    wanted = queues(QueueDefinition(path=r"private$\orders", transactional=True))
    plan = harness.qm.definer.plan(
        wanted, PlanOptions(compare=True), caller=ADMINISTRATOR, accounts=ACCOUNTS
    )
    assert [(change.action, change.name) for change in plan.changes] == [
        ("recreate", r"private$\orders")
    ]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (QueueDefinition(path=r"far\private$\x"), "$.queues[1].path: "),
        (QueueDefinition(path=r"private$\x;journal"), "$.queues[1].path: "),
        (QueueDefinition(path=r"private$\A"), "$.queues[1].path: queues[0] has"),
        (QueueDefinition(path="public"), "$.queues[1].path: a public queue needs"),
        (QueueDefinition(path=r"private$\x", label="x" * 125), "$.queues[1].label: "),
        (QueueDefinition(path=r"private$\x", multicast="here"), "$.queues[1].multicast: "),
        (QueueDefinition(path=r"private$\x", type="no"), "$.queues[1].type: 'no' is not a GUID"),
        (
            QueueDefinition(
                path=r"private$\x", permissions=(PermissionDefinition(principal="nobody at all"),)
            ),
            "$.queues[1].permissions[0].principal: ",
        ),
        (
            QueueDefinition(
                path=r"private$\x",
                permissions=(PermissionDefinition(principal="everyone", allow=("fly",)),),
            ),
            "$.queues[1].permissions[0].allow: ",
        ),
        (
            QueueDefinition(
                path=r"private$\x",
                permissions=(PermissionDefinition(principal="everyone", deny=("fly",)),),
            ),
            "$.queues[1].permissions[0].deny: ",
        ),
        (
            QueueDefinition(path=r"private$\x", permissions=(FULL, FULL)),
            "$.queues[1].permissions[1].principal: everyone is named twice",
        ),
        (
            QueueDefinition(
                path=r"private$\x",
                permissions=(
                    PermissionDefinition(principal="everyone", allow=("full",), deny=("send",)),
                ),
            ),
            "$.queues[1].permissions[0]: the same right",
        ),
    ],
)
def test_one_fault_changes_nothing(harness: Harness, wrong: QueueDefinition, place: str) -> None:
    before = exported(harness)
    with pytest.raises(QueueError) as caught:
        apply(harness, queues(QueueDefinition(path=r"private$\a"), wrong))
    assert caught.value.detail.startswith(place)
    assert exported(harness) == before


def test_there_is_a_limit(harness: Harness) -> None:
    many = tuple(QueueDefinition(path=rf"private$\q{n}") for n in range(MAX_QUEUES + 1))
    with pytest.raises(QueueError, match="more than"):
        apply(harness, queues(*many))


def test_who_may_not_is_refused_before_anything_changes(harness: Harness) -> None:
    harness.create(ORDERS)
    grants = (PermissionDefinition(principal="uid:1000", allow=("full",)),)
    apply(harness, queues(QueueDefinition(path=r"private$\orders", permissions=grants)))
    before = exported(harness)
    for definition in (
        QueueDefinition(path=r"private$\orders", label="mine"),
        QueueDefinition(path=r"private$\orders", permissions=(FULL,)),
    ):
        with pytest.raises(QueueError) as caught:
            apply(harness, queues(definition), caller=STRANGER)
        assert caught.value.code == AccessDenied().code
    for options in ({"prune": True}, {"recreate": True}):
        other = QueueDefinition(path=r"private$\orders", transactional=True)
        with pytest.raises(QueueError):
            apply(harness, queues(*[other][: "recreate" in options]), caller=STRANGER, **options)
    with pytest.raises(AccessDenied):
        harness.qm.definer.export(caller=STRANGER, accounts=ACCOUNTS)
    machine = Definitions(machine=MachineDefinition(permissions=(FULL,)))
    with pytest.raises(QueueError):
        apply(harness, machine, caller=USER)
    assert exported(harness) == before


def test_an_administrator_defines_queues_that_grant_it_nothing(harness: Harness) -> None:
    alone = (PermissionDefinition(principal="user:alice", allow=("full",)),)
    apply(harness, queues(QueueDefinition(path=r"private$\orders", permissions=alone)))
    wanted = QueueDefinition(path=r"private$\orders", label="x", permissions=(FULL,))
    assert [change.property for change in apply(harness, queues(wanted))] == [
        "label",
        "permissions",
    ]
    assert exported(harness).queues == (wanted,)


def test_denied_rights_are_exported(harness: Harness) -> None:
    denied = PermissionDefinition(principal="everyone", deny=("send",))
    nothing = PermissionDefinition(principal="user:alice")
    wanted = QueueDefinition(path=r"private$\orders", permissions=(denied, nothing))
    apply(harness, queues(wanted))
    (definition,) = exported(harness).queues or ()
    assert definition.permissions == (denied,)
    assert apply(harness, queues(wanted)) == ()


def test_rights_of_the_queue_manager(harness: Harness) -> None:
    grants = (
        PermissionDefinition(principal="everyone", allow=("get-properties",)),
        PermissionDefinition(principal="uid:0", allow=("full",)),
    )
    definitions = Definitions(machine=MachineDefinition(permissions=grants))
    (change,) = apply(harness, definitions)
    assert (change.kind, change.property) == ("machine", "permissions")
    assert apply(harness, definitions) == ()
    machine = exported(harness).machine
    assert machine is not None
    assert machine.permissions is not None
    assert {one.principal for one in machine.permissions} == {"everyone", "uid:0"}
    assert apply(harness, Definitions(machine=MachineDefinition())) == ()


def test_outgoing_queues_are_paused_and_resumed(harness: Harness) -> None:
    paused = Definitions(outgoing=(OutgoingDefinition(destination=FAR),))
    (change,) = apply(harness, paused)
    assert (change.kind, change.name, change.after) == ("outgoing", FAR, "true")
    assert apply(harness, paused) == ()
    assert exported(harness).outgoing == paused.outgoing
    (change,) = apply(harness, Definitions(outgoing=()))
    assert (change.name, change.after) == (FAR, "false")
    assert exported(harness).outgoing == ()


@pytest.mark.parametrize(
    ("destinations", "reason"),
    [
        ((ORDERS,), "is not one queue of another machine"),
        (("no name",), r"\$\.outgoing\[0\]\.destination: "),
        ((FAR, FAR.lower()), "is listed twice"),
        ((f"{FAR},{FAR}",), "is not one queue"),
    ],
)
def test_wrong_destinations_are_named(
    harness: Harness, destinations: tuple[str, ...], reason: str
) -> None:
    outgoing = tuple(OutgoingDefinition(destination=name) for name in destinations)
    with pytest.raises(QueueError, match=reason):
        apply(harness, Definitions(outgoing=outgoing))
    assert exported(harness).outgoing == ()


def test_redirections_are_added_changed_and_removed(harness: Harness) -> None:
    def redirections(*targets: tuple[str, str]) -> Definitions:
        return Definitions(
            redirections=tuple(
                RedirectionDefinition(kind="outbound", url=url, to=to) for url, to in targets
            )
        )

    first = redirections(("http://a/*", "http://b/msmq/c"), ("http://x/*", "http://y/msmq/z"))
    assert [change.action for change in apply(harness, first)] == ["create", "create"]
    assert exported(harness).redirections == first.redirections
    second = redirections(("http://a/*", "http://d/msmq/c"))
    assert [change.action for change in apply(harness, second)] == ["delete", "change"]
    assert apply(harness, second) == ()
    with pytest.raises(QueueError, match="is listed twice"):
        apply(
            harness,
            redirections(("http://a/*", "http://d/msmq/c"), ("http://A/*", "http://d/msmq/e")),
        )
    with pytest.raises(QueueError, match=r"\$\.redirections\[0\]: "):
        apply(harness, redirections(("nothing", "http://d/msmq/c")))
    with pytest.raises(QueueError, match="at most"):
        apply(harness, redirections(*[("http://a/*", "http://d/msmq/c")] * 1_001))
    with pytest.raises(QueueError):
        apply(harness, Definitions(redirections=()), caller=STRANGER)


def test_all_of_it_is_one_batch(harness: Harness) -> None:
    harness.flush()
    number = harness.qm.state.outbox.number
    apply(harness, queues(*(QueueDefinition(path=rf"private$\q{n}") for n in range(50))))
    assert harness.qm.state.outbox.number == number


NAMES = st.sampled_from(["a", "b", "c", "d"])
ENTRIES = st.lists(
    st.builds(
        PermissionDefinition,
        principal=st.sampled_from(["everyone", "uid:0", "uid:1000"]),
        allow=st.sampled_from([("send",), ("full",), ("receive", "peek")]),
    ),
    unique_by=lambda entry: entry.principal,
    min_size=1,
)


@st.composite
def files(draw: st.DrawFn) -> Definitions:
    paths = draw(st.lists(NAMES, unique=True))
    return Definitions(
        queues=tuple(
            QueueDefinition(
                path=rf"private$\{path}",
                transactional=draw(st.booleans()),
                label=draw(st.sampled_from(["", "x"])),
                journal=draw(st.booleans()),
                quota=draw(st.sampled_from(["none", 1])),
                base_priority=draw(st.integers(-2, 2)),
                receive_retry_count=draw(st.integers(4, 6)),
                receive_error_handling=draw(st.sampled_from(["none", "move", "hold"])),
                permissions=tuple(draw(ENTRIES)),
            )
            for path in paths
        ),
        outgoing=tuple(
            OutgoingDefinition(destination=rf"DIRECT=TCP:10.0.0.{n}\private$\x")
            for n in draw(st.lists(st.integers(1, 3), unique=True))
        ),
    )


@settings(max_examples=200)
@given(files(), files())
def test_after_two_files_things_are_as_the_second_says(
    first: Definitions, second: Definitions
) -> None:
    twice, once = Harness(), Harness()
    apply(twice, first)
    apply(twice, second, prune=True, recreate=True)
    apply(once, second)
    assert exported(twice) == exported(once)
    assert apply(once, exported(once)) == ()


def test_an_export_makes_the_same_queue_manager_elsewhere(harness: Harness) -> None:
    apply(harness, queues(QueueDefinition(path=r"private$\orders", quota=5, permissions=(FULL,))))
    other = Harness()
    apply(other, exported(harness))
    assert exported(other) == exported(harness)


def test_a_retry_policy_is_applied_exported_and_compared(harness: Harness) -> None:
    wanted = QueueDefinition(
        path=r"private$\retried", retry_cycle_delay=60, receive_error_handling="reject"
    )
    assert apply(harness, Definitions(queues=(wanted,)))
    queue = harness.qm.find_queue(r".\private$\retried")
    assert (queue.policy.retry_cycle_delay, queue.policy.active) == (60, True)
    assert not apply(harness, Definitions(queues=(wanted,)))
    harness.restart()
    (now,) = [each for each in exported(harness).queues or () if each.path == queue.path]
    assert (now.retry_cycle_delay, now.receive_error_handling) == (60, "reject")
    too_long = QueueDefinition(path=r"private$\retried", retry_cycle_delay=10**9)
    with refused("MQ_ERROR_ILLEGAL_PROPERTY_VALUE"):
        apply(harness, Definitions(queues=(too_long,)))


def test_a_full_disk_refuses_everything_but_deletions(harness: Harness) -> None:
    kept, other = (QueueDefinition(path=rf"private$\{name}") for name in ("kept", "other"))
    apply(harness, queues(kept, other))
    harness.qm.outgoing.set_throttled(throttled=True)
    before = exported(harness)
    new = QueueDefinition(path=r"private$\new")
    changed = QueueDefinition(path=r"private$\kept", label="changed")
    for wanted in (queues(new), queues(changed)):
        with pytest.raises(QueueError) as caught:
            apply(harness, wanted, prune=True)
        assert caught.value.code == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
        assert "nothing was changed" in caught.value.cause
        assert caught.value.remedy
        assert exported(harness) == before
    assert apply(harness, queues(kept, other)) == ()
    (deleted,) = apply(harness, queues(kept), prune=True)
    assert (deleted.action, deleted.name) == ("delete", r"private$\other")
    harness.qm.outgoing.set_throttled(throttled=False)
    assert [change.action for change in apply(harness, queues(kept, new))] == ["create"]


def test_a_start_applies_its_file_even_if_the_disk_is_full(
    harness: Harness, tmp_path: Path
) -> None:
    harness.qm.outgoing.set_throttled(throttled=True)
    file = tmp_path / "definitions.toml"
    file.write_text("[[queues]]\npath = 'private$\\orders'\n")
    apply_definitions_file(file, harness.qm, caller=ADMINISTRATOR, accounts=ACCOUNTS)
    assert [queue.path for queue in exported(harness).queues or ()] == [r"private$\orders"]

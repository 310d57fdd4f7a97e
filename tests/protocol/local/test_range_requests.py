"""Requests of pipelines: ranges, leases, staged batches; every refusal with its code."""

from typing import Any

import pytest
from tests.protocol.local.harness import ORDERS, STRANGER, Client, World, bodies, packet

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.range_requests import PLAN_STEP
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.scalars import MessageIdentifier

EVERYTHING = (1 << 56) - 1


@pytest.fixture
def client() -> Client:
    client = World().client()
    client.create()
    client.create(r".\private$\other")
    return client


def block_bodies(replies: list[local.AnyReply]) -> list[bytes]:
    """The bodies in the blocks of a stream, in order."""
    found = []
    for reply in replies:
        assert isinstance(reply, local.Block)
        start = 0
        for end in reply.ends:
            found.append(UserMessage(reply.blob[start:end]).body)
            start = end
    return found


# Ranges


def test_a_range_is_described(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    locked = client.call(local.Receive, handle, two_phase=True)
    info = client.value(local.RangeInfo, handle)
    (taken,) = locked.lookup_ids
    assert info["count"] == 2
    assert (info["first"], info["last"]) == ((taken + 1) & EVERYTHING, (taken + 2) & EVERYTHING)
    assert info["stable"] == (taken & EVERYTHING) - 1
    assert info["bytes"] > 0
    assert list(info["lock_holders"].values()) == [1]
    assert info["incarnation"]


def test_a_plan_ends_at_a_limit(client: Client) -> None:
    client.send(*[bytes(100)] * 10)
    handle = client.open("peek")
    first = client.value(local.RangeInfo, handle)["first"]
    plan = client.value(local.PlanRange, handle, 0, max_rows=4)
    assert (plan["end"], plan["count"]) == (first + 3, 4)
    one = plan["bytes"] // 4
    assert client.value(local.PlanRange, handle, 0, max_bytes=3 * one)["count"] == 3
    assert client.value(local.PlanRange, handle, 0, max_bytes=1)["count"] == 1
    assert client.value(local.PlanRange, handle, 0, upto=first)["count"] == 1
    assert client.value(local.PlanRange, handle, first + 9)["count"] == 0
    # There is always a way forward.
    assert client.value(local.PlanRange, handle, 0, max_rows=0)["count"] == 1
    assert client.value(local.PlanRange, handle, 0, max_rows=-5, max_bytes=-5)["count"] == 1


def test_a_plan_in_steps_is_the_plan_of_the_whole(client: Client) -> None:
    handle = client.open("send")
    count = PLAN_STEP + 500
    for start in range(0, count, 5000):
        size = min(5000, count - start)
        client.value(local.Send, handle, [packet(b"x", delivery_mode=0)] * size)
    reader = client.open("peek")
    descriptor = client.session.holder.descriptor(reader)
    whole = client.world.core.qm.ranges.plan(descriptor, 0)
    plan = client.value(local.PlanRange, reader, 0)
    assert plan == {
        "end": whole.end,
        "count": count,
        "bytes": whole.size,
        "digest": whole.digest,
    }
    rows = client.world.core.qm.ranges.plan(descriptor, 0, max_rows=PLAN_STEP + 7)
    plan = client.value(local.PlanRange, reader, 0, max_rows=PLAN_STEP + 7)
    assert (plan["end"], plan["digest"]) == (rows.end, rows.digest)
    # A limit that falls just behind the first step.
    size = whole.size // count * PLAN_STEP
    exact = client.world.core.qm.ranges.plan(descriptor, 0, max_bytes=size)
    plan = client.value(local.PlanRange, reader, 0, max_bytes=size)
    assert (plan["count"], plan["digest"]) == (PLAN_STEP, exact.digest)


def test_a_range_is_split(client: Client) -> None:
    client.send(*[bytes(100)] * 10)
    handle = client.open("peek")
    info = client.value(local.RangeInfo, handle)
    ends = client.value(local.SplitRange, handle, 0, info["last"], 3)
    assert len(ends) == 3
    assert ends[-1] == info["last"]
    assert ends == sorted(ends)


def test_a_range_is_streamed_in_blocks(client: Client) -> None:
    contents = [b"%d" % number for number in range(10)]
    client.send(*contents)
    handle = client.open("peek")
    request = client.make(local.PeekRange, handle, 0, EVERYTHING, block_rows=3)
    client.post(request)
    replies = client.replies(request)
    assert block_bodies(replies) == contents
    assert [reply.last for reply in replies if isinstance(reply, local.Block)] == [
        False,
        False,
        False,
        False,
        True,
    ]


def test_a_block_has_a_column_for_each_field(client: Client) -> None:
    client.send(b"one", b"two")
    handle = client.open("peek")
    shown = client.call(local.Receive, handle, action="peek", count=2)
    request = client.make(local.PeekRange, handle, 0, EVERYTHING)
    client.post(request)
    block = client.replies(request)[0]
    assert isinstance(block, local.Block)
    assert block.lookup_ids.tolist() == shown.lookup_ids
    assert block.arrived_times.tolist() == shown.arrived_times


def test_blocks_are_bounded_by_bytes(client: Client) -> None:
    client.send(*[bytes(1000)] * 4)
    handle = client.open("peek")
    request = client.make(local.PeekRange, handle, 0, EVERYTHING, block_bytes=2500)
    client.post(request)
    sizes = [len(reply.ends) for reply in client.replies(request) if isinstance(reply, local.Block)]
    assert sizes == [2, 2, 0]


def test_no_block_overtakes_one_that_waits_for_the_disk(client: Client) -> None:
    sender = client.open("send")
    reader = client.open("peek")
    client.value(local.Send, sender, [packet(b"stored")])
    client.post(client.make(local.Send, sender, [packet(b"on its way")]))
    client.post(client.make(local.Send, sender, [packet(b"express", delivery_mode=0)]))
    request = client.make(local.PeekRange, reader, 0, EVERYTHING, block_rows=1)
    client.post(request)
    assert block_bodies(client.replies(request, flush=False)) == [b"stored"]
    replies = client.replies(request)
    assert block_bodies(replies) == [b"stored", b"on its way", b"express"]
    assert isinstance(replies[-1], local.Block)
    assert replies[-1].last


def test_an_empty_range_is_one_last_block(client: Client) -> None:
    request = client.make(local.PeekRange, client.open("peek"), 5, 4)
    client.post(request)
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Block)
    assert (reply.last, reply.blob, list(reply.ends)) == (True, b"", [])


def test_an_acknowledged_range_is_received_for_good(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    first = client.value(local.RangeInfo, handle)["first"]
    for _ in range(2):
        step = client.value(local.AcknowledgeRange, handle, 0, first + 1)
        assert step["done"]
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"three"]


def test_a_pinned_range_does_not_expire(client: Client) -> None:
    client.send(b"one", time_to_be_received=10)
    client.send(b"two", time_to_be_received=10)
    handle = client.open()
    first = client.value(local.RangeInfo, handle)["first"]
    client.value(local.Pin, handle, 0, first, seconds=100.0)
    client.world.advance(20)
    assert bodies(client.call(local.Receive, handle, action="peek", count=9)) == [b"one"]
    client.world.advance(200)
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0


@pytest.mark.parametrize(
    "fields", [(5, 5, 1.0), (0, 5, 0.0), (0, 5, -1.0), (0, 5, float("nan")), (0, 5, float("inf"))]
)
def test_a_pin_of_nothing_is_refused(client: Client, fields: tuple[Any, ...]) -> None:
    base, upto, seconds = fields
    code = client.refusal(local.Pin, client.open(), base, upto, seconds=seconds)
    assert code == "MQ_ERROR_INVALID_PARAMETER"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (local.AcknowledgeRange, (0, 9)),
        (local.Lease, ("c", 1, 1, 1)),
        (local.Release, ("c", 1)),
        (local.Pin, (0, 9)),
    ],
)
def test_what_takes_needs_the_right_to_receive(
    client: Client, kind: Any, fields: tuple[Any, ...]
) -> None:
    assert client.refusal(kind, client.open("peek"), *fields) == "MQ_ERROR_ACCESS_DENIED"


@pytest.mark.parametrize("kind", [local.RangeInfo, local.PlanRange, local.PeekRange])
def test_what_looks_needs_the_right_to_peek(client: Client, kind: Any) -> None:
    fields = {local.RangeInfo: (), local.PlanRange: (0,), local.PeekRange: (0, 9)}[kind]
    assert client.refusal(kind, client.open("send"), *fields) == "MQ_ERROR_ACCESS_DENIED"


@pytest.mark.parametrize("number", [-(1 << 63), -1, (1 << 64) - 1])
def test_sequence_numbers_that_are_none_find_nothing_wrong(client: Client, number: int) -> None:
    client.send(b"one")
    handle = client.open()
    client.value(local.PlanRange, handle, number, upto=number)
    client.value(local.SplitRange, handle, number, number, number)
    request = client.make(local.PeekRange, handle, number, number, number, number)
    client.post(request)
    assert client.replies(request)
    client.value(local.AcknowledgeRange, handle, number, number)
    assert client.value(local.ShowQueue, ORDERS)["messages"] in (0, 1)


# Leases


def test_a_lease_takes_messages_aside_and_gives_them_back(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    leased = client.value(local.Lease, handle, "job", 1, 2, 1 << 20)
    assert (leased["count"], leased["done"]) == (2, False)
    aside = client.open(name=leased["subqueue"])
    assert bodies(client.call(local.Receive, aside, action="peek", count=9)) == [b"one", b"two"]
    client.value(local.CloseQueue, aside)
    released = client.value(local.Release, handle, "job", 1)
    assert (released["count"], released["done"]) == (2, True)
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"three", b"one", b"two"]


def test_an_older_run_of_a_consumer_is_shut_out(client: Client) -> None:
    client.send(b"one")
    handle = client.open()
    client.value(local.Lease, handle, "job", 2, 1, 1 << 20)
    assert client.refusal(local.Lease, handle, "job", 1, 1, 1) == "MQ_ERROR_STALE_HANDLE"
    assert client.refusal(local.Release, handle, "job", 1) == "MQ_ERROR_STALE_HANDLE"


@pytest.mark.parametrize("consumer", ["", "x" * 100, "a;b", "a\\b"])
def test_a_consumer_needs_a_name(client: Client, consumer: str) -> None:
    code = client.refusal(local.Lease, client.open(), consumer, 1, 1, 1)
    assert code in ("MQ_ERROR_INVALID_PARAMETER", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME")


# Staged batches


def stage(client: Client, *contents: bytes, batch: int = 1, partition: int = 0) -> Any:
    packets = [packet(body) for body in contents]
    return client.value(local.Stage, "job", batch, partition, 0, ORDERS, packets)


def test_a_batch_is_published_whole_and_once(client: Client) -> None:
    assert stage(client, b"one") == 1
    assert stage(client, b"two") == 2
    assert stage(client, b"three", partition=1) == 1
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0
    stages = [(1, 0), (0, 0)]
    done = client.value(local.CommitBatch, "job", 1, stages)
    first = done["first"]
    assert done == {"count": 3, "repeated": False, "first": first, "last": first + 2}
    again = client.value(local.CommitBatch, "job", 1, stages)
    assert again == {**done, "count": 0, "repeated": True}
    assert client.value(local.LastBatch, "job") == {"batch": 1, "first": first, "last": first + 2}
    assert client.value(local.LastBatch, "other")["batch"] == -1
    handle = client.open()
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"three", b"one", b"two"]


def test_a_stage_is_answered_at_once_because_a_restart_forgets_it(client: Client) -> None:
    request = client.make(local.Stage, "job", 1, 0, 0, ORDERS, [packet(b"one")])
    client.post(request)
    assert len(client.replies(request, flush=False)) == 1


def test_a_published_batch_is_told_of_when_it_is_on_disk(client: Client) -> None:
    stage(client, b"one")
    client.world.core.flush()
    request = client.make(local.CommitBatch, "job", 1, [(0, 0)])
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


def test_an_aborted_batch_is_gone(client: Client) -> None:
    stage(client, b"one")
    client.value(local.AbortBatch, "job", 1)
    code = client.refusal(local.CommitBatch, "job", 1, [(0, 0)])
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"


def test_a_stage_outlives_the_connection(client: Client) -> None:
    stage(client, b"one")
    client.session.close()
    other = client.world.client()
    assert other.value(local.CommitBatch, "job", 1, [(0, 0)])["count"] == 1


def test_nobody_publishes_in_the_name_of_another(client: Client) -> None:
    stage(client, b"one")
    stranger = client.world.client(STRANGER)
    code = stranger.refusal(local.CommitBatch, "job", 1, [(0, 0)])
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"


@pytest.mark.parametrize(
    ("producer", "destination", "packets", "code"),
    [
        ("", ORDERS, [packet()], "MQ_ERROR_INVALID_PARAMETER"),
        ("job", r".\private$\none", [packet()], "MQ_ERROR_QUEUE_NOT_FOUND"),
        ("job", "nonsense", [packet()], "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        ("job", ORDERS, [b"junk"], "MQ_ERROR_INVALID_PARAMETER"),
        (
            "job",
            r"DIRECT=OS:QM\private$\orders,DIRECT=OS:QM\private$\other",
            [packet()],
            "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION",
        ),
    ],
)
def test_a_stage_is_refused_with_its_reason(
    client: Client, producer: str, destination: str, packets: list[bytes], code: str
) -> None:
    assert client.refusal(local.Stage, producer, 1, 0, 0, destination, packets) == code


def test_an_empty_stage_and_an_empty_batch_are_fine(client: Client) -> None:
    assert client.value(local.Stage, "job", 1, 0, 0, ORDERS, []) == 0
    assert client.value(local.CommitBatch, "job", 1, [(0, 0)])["count"] == 0
    assert client.value(local.CommitBatch, "job", 2, [])["count"] == 0


def test_messages_that_are_held_leave_with_the_batch(client: Client) -> None:
    client.send(b"old", b"kept")
    handle = client.open()
    old, kept = client.call(local.Receive, handle, action="peek", count=2).lookup_ids
    assert bodies(client.call(local.Hold, handle, [old, 4711])) == [b"old"]
    assert client.call(local.Hold, handle, [old]).packets == []
    stage(client, b"new")
    done = client.value(local.CommitBatch, "job", 1, [(0, 0)], handle, [old])
    assert done["count"] == 1
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"kept", b"new"]
    assert done["first"] > kept & EVERYTHING


def test_a_check_names_the_packets_that_would_be_refused(client: Client) -> None:
    client.value(local.SetQueue, ORDERS, {"quota": 1})
    packets = [packet(bytes(500)), packet(bytes(2000)), packet(bytes(100))]
    checked = client.value(local.CheckBatch, ORDERS, packets)
    ((place, code, text, cause, remedy),) = checked["refused"]
    assert (place, code) == (1, 0xC00E0027)
    assert "over the quota of the queue" in text
    assert (cause, "queue set" in remedy) == ("", True)
    assert checked["bytes"] > 600
    assert len(client.value(local.CheckBatch, ORDERS, packets, 500)["refused"]) == 2
    assert client.refusal(local.CheckBatch, r".\private$\none", packets) == (
        "MQ_ERROR_QUEUE_NOT_FOUND"
    )


def test_messages_are_purged_by_lookup_id(client: Client) -> None:
    client.send(b"one", b"two")
    handle = client.open()
    one, two = client.call(local.Receive, handle, action="peek", count=2).lookup_ids
    assert client.value(local.PurgeMessages, handle, [one, 4711]) == [one]
    assert client.call(local.Receive, handle, action="peek", count=2).lookup_ids == [two]


def test_a_message_is_found_by_its_identifier(client: Client) -> None:
    ordinal = client.send(*[b"x"] * 1001)
    handle = client.open("peek")
    identifier = MessageIdentifier(client.world.core.qm.identifier, ordinal + 1000).serialize()
    found = client.value(local.FindMessage, handle, identifier)
    (shown,) = client.call(local.Lookup, handle, found).packets
    assert UserMessage(shown).identifier.serialize() == identifier
    assert client.value(local.FindMessage, handle, identifier, correlation=True) is None


# Looking through a queue


def test_a_look_shows_a_page_with_short_bodies_and_locked_messages(client: Client) -> None:
    client.send(b"first", b"second", b"third")
    handle = client.open()
    (taken,) = client.call(local.Receive, handle, two_phase=True).lookup_ids
    page = client.call(local.Browse, handle, None, False, 2, 3)
    assert [UserMessage(each).body for each in page.packets] == [b"fir", b"sec"]
    assert (page.body_sizes, page.more) == ([5, 6], True)
    ((index, state, holder),) = page.states
    assert (page.lookup_ids[index], state) == (taken, "locked")
    assert holder
    rest = client.call(local.Browse, handle, page.lookup_ids[-1])
    assert [UserMessage(each).body for each in rest.packets] == [b"third"]
    assert (rest.body_sizes, rest.states, rest.more) == ([5], [], False)
    last = client.call(local.Browse, handle, None, True, 1)
    assert [UserMessage(each).body for each in last.packets] == [b"third"]


def test_a_range_is_streamed_with_short_bodies(client: Client) -> None:
    client.send(b"first", b"second")
    request = client.make(local.PeekRange, client.open("peek"), 0, EVERYTHING, head_bytes=2)
    client.post(request)
    replies = client.replies(request)
    assert block_bodies(replies) == [b"fi", b"se"]
    assert isinstance(replies[0], local.Block)
    assert list(replies[0].body_sizes) == [5, 6]

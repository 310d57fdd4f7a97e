"""From bytes to handlers: greeting, requests out of turn, hostile bytes, long requests."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.harness import ADMINISTRATOR
from tests.protocol.local.fake_service import TOKEN
from tests.protocol.local.harness import ORDERS, USER, Client, World, bodies, packet

from openmsmq.core.rows.packets import forget_packet
from openmsmq.protocol.local import dispatch
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.session import MAX_LONG
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ProtocolViolation, StoreError
from openmsmq.wire.security.sid import ANONYMOUS


def refused(client: Client) -> local.Failed:
    """The reply that went out before the connection was closed."""
    ((_, reply),) = client.held
    assert isinstance(reply, local.Failed)
    return reply


# The greeting


def test_a_greeting_tells_both_sides_who_they_are() -> None:
    client = World().client(greet=False)
    told = client.value(local.Hello, local.VERSION)
    assert told == {
        "name": "QM",
        "guid": "{11111111-2222-3333-4444-555555555555}",
        "version": "1.2",
        "sid": USER.sid.serialize(),
        "names": [".", "qm"],
        "directory": False,
        "signature_form": "",
        "srmp_signature_form": "",
    }


def test_nothing_is_served_before_the_greeting() -> None:
    client = World().client(greet=False)
    with pytest.raises(ProtocolViolation, match="must be Hello"):
        client.post(client.make(local.GetStatus))
    assert client.held == []


def test_another_version_is_refused_with_a_reason() -> None:
    client = World().client(greet=False)
    with pytest.raises(ProtocolViolation, match="version 2"):
        client.post(client.make(local.Hello, 2))
    assert refused(client).code == Hresult.MQ_ERROR_UNSUPPORTED_OPERATION


def test_a_second_greeting_is_out_of_turn() -> None:
    client = World().client()
    with pytest.raises(ProtocolViolation, match="Hello is out of turn"):
        client.post(client.make(local.Hello, local.VERSION))


def test_a_token_says_who_it_is_where_the_kernel_does_not() -> None:
    client = World().client(caller=None, greet=False)
    told = client.value(local.Hello, local.VERSION, TOKEN)
    assert told["sid"] == USER.sid.serialize()


@pytest.mark.parametrize("token", ["", "guess", TOKEN + " "])
def test_an_unknown_token_is_refused_with_a_reason(token: str) -> None:
    client = World().client(caller=None, greet=False)
    with pytest.raises(ProtocolViolation, match="token is not known"):
        client.post(client.make(local.Hello, local.VERSION, token))
    assert refused(client).code == Hresult.MQ_ERROR_ACCESS_DENIED
    assert "local_tokens" in refused(client).cause
    assert "queue grant" not in refused(client).remedy
    with pytest.raises(ProtocolViolation, match="must be Hello"):
        client.post(client.make(local.GetStatus))


def test_an_administrator_acts_for_somebody_whose_rights_count_then() -> None:
    world = World()
    world.client().create()
    client = world.client(caller=ADMINISTRATOR, greet=False)
    told = client.value(local.Hello, local.VERSION, act_for="anonymous")
    assert told["sid"] == ANONYMOUS.serialize()
    refusal = client.call(local.GrantMachine, "everyone", ["full"])
    assert refusal.code == Hresult.MQ_ERROR_ACCESS_DENIED


@pytest.mark.parametrize(
    ("caller", "principal", "code"),
    [
        (USER, "anonymous", Hresult.MQ_ERROR_ACCESS_DENIED),
        (ADMINISTRATOR, "user:nobody-of-that-name", Hresult.MQ_ERROR_INVALID_PARAMETER),
    ],
)
def test_others_do_not_act_for_anybody(caller: Caller, principal: str, code: int) -> None:
    client = World().client(caller=caller, greet=False)
    with pytest.raises(ProtocolViolation):
        client.post(client.make(local.Hello, local.VERSION, act_for=principal))
    assert refused(client).code == code
    with pytest.raises(ProtocolViolation, match="must be Hello"):
        client.post(client.make(local.GetStatus))


# Hostile bytes

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats()
    | st.text(max_size=10)
    | st.binary(max_size=10),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=15,
)
KINDS = [kind for kind in local.AnyRequest.__args__ if kind is not local.Hello]


def feed(client: Client, payload: bytes) -> None:
    """Give bytes to a session: it may refuse them or hang up, nothing else."""
    try:
        dispatch.receive(client.session, payload)
        while client.session.long:
            dispatch.step(client.session)
    except ProtocolViolation:
        pass


# What Python shows of its own objects: enums, bytes, dataclasses, dicts.
PYTHON = re.compile(r"<\w+[.: ]|\bb['\"]|\b[A-Z]\w+\(\w+=|\{'| object at 0x")


def assert_texts_are_for_people(client: Client) -> None:
    """No reply shows an object of Python."""
    for _, reply in client.held:
        if isinstance(reply, local.Failed):
            told = f"{reply.text} {reply.cause} {reply.remedy}"
            assert not PYTHON.search(told), told


def busy_client() -> Client:
    """A client that has one of everything, so that small numbers mean something."""
    client = World().client()
    client.create(transactional=False)
    client.open()
    client.open("send")
    client.value(local.OpenCursor, 1)
    client.begin()
    client.value(local.Send, 2, [packet(b"kept")] * 3)
    return client


def assert_still_serves(client: Client) -> None:
    """Another client finds the queue manager at work."""
    other = client.world.client()
    other.create(r".\private$\other")
    other.send(b"after", name=r".\private$\other")
    handle = other.open(name=r".\private$\other")
    assert bodies(other.call(local.Receive, handle)) == [b"after"]


@given(ANY)
def test_any_value_is_refused_or_costs_one_session(value: Any) -> None:
    client = busy_client()
    feed(client, msgspec.msgpack.encode(value))
    assert_still_serves(client)


@given(st.sampled_from(KINDS), st.lists(ANY, max_size=8), st.integers(0, 1 << 64))
def test_any_fields_are_refused_or_cost_one_session(
    kind: type[local.Request], fields: list[Any], identifier: int
) -> None:
    client = busy_client()
    tag = kind.__struct_config__.tag
    feed(client, msgspec.msgpack.encode([tag, identifier % (1 << 64), *fields]))
    assert_texts_are_for_people(client)
    assert_still_serves(client)


SMALL = st.integers(-2, 4)
NUMBERS = SMALL | st.integers(-(1 << 63), (1 << 64) - 1)
NAMES = st.sampled_from(
    [ORDERS, "", ".", r".\private$\new", "DIRECT=OS:elsewhere\\private$\\x", ";", ORDERS + ";sub"]
)


QUEUES = st.builds(lambda path: {"path": path}, NAMES)


def plausible(kind: type[local.Request]) -> st.SearchStrategy[list[Any]]:
    """Fields of the right type with odd values."""
    by_type: dict[str, st.SearchStrategy[Any]] = {
        "Literal": st.sampled_from(["list", "export", "odd"]),
        "int": NUMBERS,
        "str": NAMES | st.sampled_from(["receive", "send", "peek", "move", "peek_next", "last"]),
        "bool": st.booleans(),
        "float": st.floats(0, 10) | st.just(0.0),
    }
    fields: list[st.SearchStrategy[Any]] = []
    for field in msgspec.structs.fields(kind)[1:]:
        text = str(field.type)
        if "Definitions" in text:
            fields.append(st.lists(QUEUES, max_size=3).map(lambda queues: {"queues": queues}))
        elif "bytes" in text:
            fields.append(st.lists(st.binary(max_size=40) | st.just(packet()), max_size=3))
        elif "dict" in text:
            values = NUMBERS | st.booleans() | NAMES | st.none()
            words = st.sampled_from(["label", "quota", "journal", "privacy", "type", "odd"])
            fields.append(st.dictionaries(words, values, max_size=3))
        elif "tuple" in text:
            fields.append(st.lists(st.tuples(SMALL, SMALL), max_size=3))
        elif "list[int" in text:
            fields.append(st.lists(NUMBERS, max_size=3))
        elif "list[str" in text:
            fields.append(st.lists(st.sampled_from(["send", "receive", "odd"]), max_size=3))
        else:
            name = next(name for name in by_type if name in text)
            fields.append(by_type[name])
    return st.tuples(*fields).map(list)


@given(st.data())
def test_odd_values_are_refused_or_cost_one_session(data: st.DataObject) -> None:
    client = busy_client()
    for kind in data.draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)):
        fields = data.draw(plausible(kind))
        tag = kind.__struct_config__.tag
        feed(client, msgspec.msgpack.encode([tag, 1000, *fields]))
    client.session.close()
    assert_still_serves(client)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x93",
        b"\xc1",
        msgspec.msgpack.encode([99, 1]),
        msgspec.msgpack.encode([1]),
        msgspec.msgpack.encode([1, 1, "too much"]),
        msgspec.msgpack.encode([1, 1]) + b"\0",
        msgspec.msgpack.encode([20, "id", 1, []]),
        msgspec.msgpack.encode([20, 1, 1, ["text"]]),
        b"\x91" * 100_000,
        msgspec.msgpack.encode([3, 1]) + b"\xa1\xff",
        b"\x93\x03\x01\xa2\xff\xff",
        # More than may come at a time: refused before anything is made of it.
        b"\x94\x14\x01\x01\xdd\x00\xff\xff\xff",
        b"\x94\x02\x01\xa1x\xdf\x00\xff\xff\xff",
        b"\x94\x17\x01\x01\xdd\x7f\xff\xff\xff",
        # A token and a batch number of more than 64 bits with sign.
        msgspec.msgpack.encode([45, 1, 1, "c", 1 << 63, 1, 1]),
        msgspec.msgpack.encode([51, 1, "p", 1 << 63, []]),
    ],
)
def test_bytes_that_are_no_request_close_the_session(payload: bytes) -> None:
    client = World().client()
    client.held.clear()
    with pytest.raises(ProtocolViolation, match="not a request"):
        dispatch.receive(client.session, payload)
    assert client.held == []


# What the service hears


def test_the_service_hears_of_refused_messages() -> None:
    world = World()
    client = world.client()
    client.create()
    handle = client.open("send")
    client.refusal(local.Send, handle, [b"junk", b"more"])
    client.refusal(local.Send, 99, [b"junk"])
    client.refusal(local.Stage, "p", 1, 0, 0, r".\private$\none", [packet()])
    client.refusal(local.OpenQueue, r".\private$\none", "receive")
    assert world.service.refusals == [
        ("Send", r"DIRECT=OS:QM\private$\orders", 2, Hresult.MQ_ERROR_INVALID_PARAMETER),
        ("Send", "", 1, Hresult.MQ_ERROR_INVALID_HANDLE),
        ("Stage", r".\private$\none", 1, Hresult.MQ_ERROR_QUEUE_NOT_FOUND),
        ("OpenQueue", "", 0, Hresult.MQ_ERROR_QUEUE_NOT_FOUND),
    ]


def test_a_message_that_cannot_be_read_back_is_refused_with_file_and_offset() -> None:
    world = World()
    client = world.client()
    client.create()
    client.send(b"one", b"two")
    queue = world.core.qm.find_queue(ORDERS)
    for message in queue.lanes:
        forget_packet(world.core.qm.state, message)
        message.packet = None

    class Broken:
        def read_many(self, keys: object) -> list[bytes]:  # noqa: ARG002 - as stores have it
            raise StoreError("segment-1 at offset 512: damaged")

    sound, world.core.qm.state.packets = world.core.qm.state.packets, Broken()
    handle = client.open()
    reply = client.call(local.Receive, handle, action="peek")
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert "offset 512" in reply.text
    world.core.qm.state.packets = sound
    assert len(client.call(local.Receive, handle, count=5).packets) == 2


# Requests that take long


def test_long_requests_take_turns_and_are_bounded() -> None:
    world = World()
    client = world.client()
    client.create()
    client.send(b"one", b"two", b"three")
    handle = client.open("peek")
    streams = [
        client.make(local.PeekRange, handle, 0, 1 << 40, block_rows=1) for _ in range(MAX_LONG)
    ]
    for stream in streams:
        dispatch.receive(client.session, local.encode(stream))
    assert client.refusal(local.PeekRange, handle, 0, 9) == "MQ_ERROR_INSUFFICIENT_RESOURCES"
    assert [len(client.replies(stream)) for stream in streams] == [4] * MAX_LONG


def test_steps_of_long_requests_alternate() -> None:
    world = World()
    client = world.client()
    client.create()
    client.send(b"one", b"two")
    handle = client.open("peek")
    client.held.clear()
    for _ in range(2):
        stream = client.make(local.PeekRange, handle, 0, 1 << 40, block_rows=1)
        dispatch.receive(client.session, local.encode(stream))
    for _ in range(4):
        dispatch.step(client.session)
    ids = [reply.id for _, reply in client.held]
    assert ids == [ids[0], ids[0] + 1] * 2


def test_a_long_request_that_fails_is_answered() -> None:
    client = World().client()
    assert client.refusal(local.PeekRange, 7, 0, 9) == "MQ_ERROR_INVALID_HANDLE"
    assert not client.session.long


def test_the_end_of_a_session_ends_its_long_requests() -> None:
    world = World()
    client = world.client()
    client.create()
    client.send(b"one", b"two")
    stream = client.make(local.PeekRange, client.open("peek"), 0, 1 << 40, block_rows=1)
    dispatch.receive(client.session, local.encode(stream))
    client.session.close()
    assert not client.session.long

"""qm2qm as an RPC interface: transfer syntaxes, stubs without NULL, codes, and who is counted."""

from typing import NamedTuple

import pytest
from tests.core.harness import ORDERS, USER
from tests.protocol.qm2qm.harness import (
    BY_LOOKUP_ID,
    FOR_EVER,
    NEW,
    OLD,
    PEEK_CURRENT,
    RECEIVE,
    RR_NACK,
    Reader,
    World,
)
from tests.protocol.rpc.harness import LOCAL, OTHER_HOST, Link
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import ClientConnection, ClientSecurity
from openmsmq.protocol.rpc.client.settings import ClientSettings
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, NDR, NDR64, U32, Call, Stub
from openmsmq.wire.ndr.syntax import TransferSyntax
from openmsmq.wire.rpc.status import RPC_X_BAD_STUB_DATA, AuthnLevel
from openmsmq.wire.rpc_interfaces import qm2qm
from openmsmq.wire.rpc_interfaces.common import NO_PARAMETERS
from openmsmq.wire.scalars import GUID_NULL

INVALID_PARAMETER = int(Hresult.MQ_ERROR_INVALID_PARAMETER)
FAILURE = 0x80000000
LOOKUPS = [0x40000010, 0x40000011, 0x40000012, 0x40000020, 0x40000021, 0x40000022]
LAST = 0xFFFFFFFFFFFFFFFF


class Dwords(NamedTuple):
    first: int
    second: int = 0


def read_by(world: World, syntaxes: tuple[TransferSyntax, ...]) -> Reader:
    """A client that offers these transfer syntaxes."""
    number = world.server.accept(
        OTHER_HOST, local_address=LOCAL, endpoint=world.endpoint, now=world.now
    )
    assert number is not None
    link = Link(world, number)  # type: ignore[arg-type]
    world.links.append(link)
    security = ClientSecurity(AUTH_TYPE, AuthnLevel.PKT_PRIVACY, lambda: FakeContext("alice"))
    settings = ClientSettings(transfer_syntaxes=syntaxes)
    connection = ClientConnection((QM2QM, QMCOMM), security=security, settings=settings)
    return Reader(world, link, connection)


@pytest.mark.spec("MQQP-2.2-01")
@pytest.mark.parametrize("syntaxes", [(NDR,), (NDR64,), (NDR64, NDR)])
@pytest.mark.parametrize("call", [OLD, NEW], ids=lambda call: call.name)
def test_a_queue_is_read_in_either_transfer_syntax(
    world: World, call: Call, syntaxes: tuple[TransferSyntax, ...]
) -> None:
    world.core.send(b"first")
    reader = read_by(world, syntaxes)
    number, session = reader.session()
    read = reader.read(number, call=call)
    assert read.body == b"first"
    assert reader.end(read.handle) == 0
    assert reader.close(session) == 0
    assert world.core.contents() == []


# Pointers that cannot be NULL


@pytest.mark.spec("MQQP-3.1.4.1-18")
def test_a_read_has_its_structure_in_place_where_a_null_pointer_would_be(
    world: World, reader: Reader
) -> None:
    world.core.send(b"first")
    reader.session()
    null = Call(OLD.opnum, "a NULL pointer", Stub(Dwords, U32, U32), NO_PARAMETERS)
    assert reader.fault_of(null, Dwords(0)) == RPC_X_BAD_STUB_DATA
    # The first DWORD is hRemoteQueue, not a pointer.
    assert reader.read(0, call=OLD).result == INVALID_PARAMETER
    assert world.core.contents() == [b"first"]


@pytest.mark.spec("MQQP-3.1.4.3-07")
def test_a_session_has_its_identifier_in_place_where_a_null_pointer_would_be(
    reader: Reader,
) -> None:
    number = reader.open_remote().dwp_queue
    short = Call(2, "a NULL pointer", Stub(Dwords, U32, U32), NO_PARAMETERS)
    assert reader.fault_of(short, Dwords(0, number)) == RPC_X_BAD_STUB_DATA
    # Sixteen zero bytes are an identifier like others.
    assert reader.ask(qm2qm.REMOTE_QM_OPEN_QUEUE, GUID_NULL, 0, 0, number, number).result == 0


@pytest.mark.spec("MQQP-2.2.2.1-13")
@pytest.mark.parametrize("ack", [0, 1, 2])
def test_the_acknowledgment_of_a_read_says_nothing(world: World, reader: Reader, ack: int) -> None:
    world.core.send(b"first")
    number, _ = reader.session()
    desc = qm2qm.RemoteReadDesc(number, 0, RECEIVE, 0, number, 1, e_ack_nack=ack)
    read = reader.outcome(reader.post(NEW, (qm2qm.RemoteReadDesc2(desc),)))
    assert read is not None
    assert read.body == b"first"
    assert world.core.contents() == []
    assert reader.end(read.handle, RR_NACK) == 0
    assert world.core.contents() == [b"first"]


# Codes


@pytest.mark.spec("MQQP-2.2-02", "MQQP-2.2-03")
def test_failures_without_a_code_of_their_own_have_the_severity_bit() -> None:
    world = World(settings=RemoteReadSettings(max_waiting_reads=1, max_cursors=1))
    reader = world.client()
    number, session = reader.session()
    assert reader.create_cursor(number).result == 0
    reader.start(number, timeout=FOR_EVER)
    assert reader.cancel(number, 2) == int(Hresult.MQ_ERROR)
    refused = [
        reader.create_cursor(number).result,
        reader.read(number, timeout=FOR_EVER, request_id=2).result,
        reader.open_remote(access=0x99).result,
        world.client("bob").open_remote().result,
    ]
    world.core.qm.delete_queue(world.core.qm.find_queue(ORDERS), caller=USER)
    world.turn()
    refused += [
        reader.read(number, PEEK_CURRENT, request_id=3).result,
        reader.look_up(number, 0x40000011, 0, request_id=4).result,
        reader.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, number),
    ]
    assert all(code & FAILURE for code in refused), [hex(code) for code in refused]
    assert reader.close(session) == 0


@pytest.mark.spec("MQQP-3.1.4.4-07")
def test_a_session_is_closed_though_its_queue_is_gone(world: World, reader: Reader) -> None:
    # Choice: as Windows Server 2003 and later, without a search for the queue.
    _, session = reader.session()
    world.core.qm.delete_queue(world.core.qm.find_queue(ORDERS), caller=USER)
    assert reader.close(session) == 0
    assert len(world.queues) == 0


@pytest.mark.spec("MQQP-3.1.4.2-08")
def test_an_end_does_not_look_for_other_reads_of_the_queue(world: World, reader: Reader) -> None:
    # Choice: as Windows Server 2003 and later; MQ_ERROR_INVALID_PARAMETER is never the answer.
    world.core.send(b"first")
    number, session = reader.session()
    read = reader.read(number)
    assert reader.cancel(number) == Hresult.MQ_ERROR_INVALID_HANDLE
    assert reader.end(read.handle) == 0
    world.core.send(b"second")
    read = reader.read(number)
    reader.close(session)
    assert reader.end(read.handle) == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE


# Sessions


@pytest.mark.spec("MQQP-3.1.1.5-01")
def test_sessions_of_all_associations_are_in_one_collection(world: World, reader: Reader) -> None:
    world.core.send(b"first")
    second = world.client(address=OTHER_HOST)
    (one, session), (two, _) = reader.session(), second.session()
    assert len(world.queues) == 2
    for each in (reader, second):
        assert each.read(one, PEEK_CURRENT).body == b"first"
        assert each.read(two, PEEK_CURRENT).body == b"first"
    assert reader.close(session) == 0
    assert len(world.queues) == 1
    assert second.read(one, PEEK_CURRENT).result == INVALID_PARAMETER
    assert reader.read(two, PEEK_CURRENT).body == b"first"


@pytest.mark.spec("MQQP-3.1.4.3-10")
@pytest.mark.parametrize("dw_mqs", [0, 1, 16])
def test_callers_are_not_limited_by_what_they_say_they_are(world: World, dw_mqs: int) -> None:
    for _ in range(50):
        reader = world.client()
        number = reader.open_remote().dwp_queue
        request = (GUID_NULL, dw_mqs, 0, number, number)
        assert reader.ask(qm2qm.REMOTE_QM_OPEN_QUEUE, *request).result == 0
    assert len(world.queues) == 50


# Lookups


@pytest.mark.spec("MQQP-3.1.4.11-11")
@pytest.mark.parametrize("action", LOOKUPS)
@pytest.mark.parametrize("start", [0, 1, 2, LAST])
def test_action_and_lookup_id_say_where_a_lookup_seeks_and_whether_it_takes(
    world: World, reader: Reader, action: int, start: int
) -> None:
    world.core.send(b"a", b"b")
    number, _ = reader.session()
    queue = world.core.qm.find_queue(ORDERS)
    a, b = (message.lookup_id for message in queue.lanes)
    lookup_id = {0: 0, 1: a, 2: b, LAST: LAST}[start]
    # Current, Next (First from 0), Previous (Last from the end).
    expected: dict[tuple[int, int], bytes] = {
        (0, 1): b"a",
        (0, 2): b"b",
        (1, 0): b"a",
        (1, 1): b"b",
        (2, 2): b"a",
        (2, LAST): b"b",
    }
    body = expected.get((action & 3, start))
    found = reader.read(number, action, call=BY_LOOKUP_ID, lookup_id=lookup_id)
    if body is None:
        assert found.result == Hresult.MQ_ERROR_MESSAGE_NOT_FOUND
    else:
        assert found.body == body
    takes = body is not None and bool(action & 0x20)
    assert (found.handle != CONTEXT_HANDLE_NULL) is takes
    assert len(queue.locked) == takes

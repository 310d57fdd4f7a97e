"""Which calls our client makes, and in which order: a naive server writes them down."""

import asyncio
import struct
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import pytest
from tests.interop.loopback import new_address
from tests.interop.naive_remote_read import (
    MQQP_ONLY,
    QM2QM,
    QMCOMM,
    REMOTE_READ,
    WINDOWS_7,
    WINDOWS_2000,
    WINDOWS_2003,
    Kind,
    NaiveCalls,
)
from tests.interop.naive_rpc_server import Logged, NaiveRpcServer

import openmsmq
from openmsmq import aio
from openmsmq.wire.codes.hresult import Hresult

QUEUE = r".\private$\orders"
OTHER = r".\private$\others"
SECONDS = 20
NULL = bytes(20)
FIRST_OF_LOOKUPS, RECEIVES = 0x40000000, 0x20
RECEIVE_ACCESS = 1
OLD_KINDS = pytest.mark.parametrize("kind", [MQQP_ONLY, WINDOWS_2000], ids=["MQQP only", "2000"])
ALL_KINDS = pytest.mark.parametrize(
    "kind",
    [WINDOWS_7, WINDOWS_2003, MQQP_ONLY, WINDOWS_2000],
    ids=["MQRR", "2003", "MQQP only", "2000"],
)


class Server:
    """A server with two queues that writes down all calls."""

    def __init__(self, kind: Kind, port: int = 0) -> None:
        self.address = new_address()
        self.calls = NaiveCalls(kind)
        self.calls.create("orders")
        self.calls.create("others")
        self.rpc = NaiveRpcServer(
            self.address, [port, 0], self.calls.interfaces(), self.calls.rundown
        )
        self.calls.ports = self.rpc.ports
        self.url = f"msmq://{self.address}:{self.rpc.ports[0]}"

    def made(self, interface: UUID, *opnums: int) -> list[Logged]:
        """The calls of an interface, or those of some opnums."""
        return [
            each
            for each in list(self.rpc.log)
            if each.interface == interface and (not opnums or each.opnum in opnums)
        ]


@contextmanager
def serving(kind: Kind, port: int = 0) -> Iterator[Server]:
    server = Server(kind, port)
    with server.rpc:
        yield server


async def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def drive(kind: Kind, test: Callable[[Server, Any], Coroutine[Any, Any, None]]) -> Server:
    """Run a test with a client that is connected; return the server when all is closed."""

    async def main(server: Server) -> None:
        async with aio.connect(server.url, timeout=SECONDS) as remote:
            await test(server, remote)

    with serving(kind) as server:
        asyncio.run(asyncio.wait_for(main(server), SECONDS))
    return server


def use_everything(server: Server, *, lookups: bool, moves: bool) -> None:
    """Read in every way that a server has, with hits and misses."""
    with (
        openmsmq.connect(server.url, timeout=SECONDS) as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        server.calls.put("orders", *[b"%d" % number for number in range(9)])
        first = queue.peek(timeout=SECONDS)
        assert len(list(queue.cursor())) == 9
        assert queue.receive(timeout=SECONDS).id == first.id
        if lookups:
            second = queue.peek_by_lookup_id(first.lookup_id, relation="next")
            assert queue.receive_by_lookup_id(second.lookup_id).id == second.id
            with pytest.raises(openmsmq.QueueError):
                queue.peek_by_lookup_id(second.lookup_id)
        if moves:
            assert queue.move(QUEUE + ";aside", count=2) == 2
        with queue.messages(timeout=SECONDS, prefetch=3) as messages:
            next(messages)
        queue.purge()
        with pytest.raises(openmsmq.ReceiveTimeout):
            queue.receive(timeout=0.05)


# RemoteRead


@pytest.mark.spec("MQRR-2.2.4-01", "MQRR-3.1.4.2-05", "MQRR-3.1.4-03")
def test_handles_come_from_opens_and_are_closed_and_opnum_1_is_never_sent() -> None:
    with serving(WINDOWS_7) as server:
        use_everything(server, lookups=True, moves=True)
        calls = server.made(REMOTE_READ)
    opened: set[bytes] = set()
    for call in calls:
        if call.opnum == 2:
            opened.add(call.answer[:20])
        elif call.opnum == 11:
            opened.add(call.answer[8:28])
        else:
            assert call.stub[:20] in opened, call.opnum
        if call.opnum == 3:
            opened.remove(call.stub[:20])
    assert not opened
    assert {call.opnum for call in calls} - {8} == {2, 3, 4, 5, 6, 7, 9, 10, 11}


@pytest.mark.spec("MQQP-1.4-02")
@pytest.mark.parametrize("kind", [WINDOWS_7, WINDOWS_2003], ids=["MQRR", "2003"])
def test_server_with_remote_read_is_read_by_that_alone(kind: Kind) -> None:
    with serving(kind) as server:
        use_everything(server, lookups=True, moves=False)
        assert server.made(REMOTE_READ, 7)
        assert not server.made(QM2QM)
        assert not server.made(QMCOMM)


# qm2qm


def read_desc(call: Logged) -> tuple[int, ...]:
    """REMOTEREADDESC of a read: seven DWORDs, from hRemoteQueue to dwRequestID."""
    return struct.unpack_from("<7I", call.stub, {0: 0, 9: 16, 10: 24}[call.opnum])


def result(call: Logged) -> int:
    return int.from_bytes(call.answer[-4:], "little")


@OLD_KINDS
@pytest.mark.spec("MQQP-3.1.4.3-03", "MQQP-3.1.4.1-03", "MQQP-3.1.4.2-09")
def test_queue_is_opened_by_qmcomm_and_claimed_before_it_is_read(kind: Kind) -> None:
    with serving(kind) as server:
        use_everything(server, lookups=kind is MQQP_ONLY, moves=False)
        calls = [*server.rpc.log]
    opened: set[int] = set()
    claimed: set[int] = set()
    received: set[bytes] = set()
    for call in calls:
        where = call.interface, call.opnum
        if where == (QMCOMM, 2):
            opened.add(struct.unpack_from("<I", call.answer, 28)[0])
        elif where == (QM2QM, 2):
            (number,) = struct.unpack_from("<I", call.stub, 24)
            assert number in opened
            claimed.add(number)
        elif where in ((QM2QM, 0), (QM2QM, 9), (QM2QM, 10)):
            assert read_desc(call)[0] in claimed
            received.add(call.answer[:20])
        elif where == (QM2QM, 1):
            assert call.stub[:20] in received - {NULL}
        elif where in ((QM2QM, 4), (QM2QM, 5), (QM2QM, 6)):
            assert struct.unpack_from("<I", call.stub)[0] in claimed
    assert len(claimed) == 1


@OLD_KINDS
@pytest.mark.spec("MQQP-3.1.4.1-07", "MQQP-3.1.4.1-06", "MQQP-3.2.4.2-04")
def test_each_receive_is_ended_once_and_peeks_and_failures_are_not(kind: Kind) -> None:
    with serving(kind) as server:
        use_everything(server, lookups=kind is MQQP_ONLY, moves=False)
        reads = server.made(QM2QM, 0, 9, 10)
        ends = [call.stub[:20] for call in server.made(QM2QM, 1)]
    received = []
    for call in reads:
        action = read_desc(call)[2]
        receives = action == 0 or (action & FIRST_OF_LOOKUPS and action & RECEIVES)
        if receives and result(call) == 0:
            received.append(call.answer[:20])
    assert NULL not in received
    assert sorted(ends) == sorted(received)
    assert len(ends) > 2
    assert any(result(call) for call in reads)


@pytest.mark.spec("MQQP-3.2.4.2-01", "MQQP-3.2.4.3-01", "MQQP-2.1-05")
@pytest.mark.parametrize(
    ("kind", "opnum"), [(MQQP_ONLY, 9), (WINDOWS_2000, 0)], ids=["MQQP only", "2000"]
)
def test_port_and_version_are_asked_before_the_first_read(kind: Kind, opnum: int) -> None:
    with serving(kind) as server:
        use_everything(server, lookups=False, moves=False)
        calls = server.made(QM2QM)
    assert [call.opnum for call in calls[:3]] == [7, 8, 2]
    # The client has gone to the port that opnum 7 told.
    assert calls[0].connection is not calls[1].connection
    assert {call.opnum for call in calls} & {0, 9} == {opnum}


@pytest.mark.spec("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-09", "MQQP-2.2.2.1-10")
def test_reads_have_known_actions_and_request_ids_of_their_own() -> None:
    with serving(MQQP_ONLY) as server:
        use_everything(server, lookups=True, moves=False)
        reads = [read_desc(call) for call in server.made(QM2QM, 0, 9, 10)]
    actions = {0, 0x80000000, 0x80000001, *(0x40000010 + n for n in (0, 1, 2, 16, 17, 18))}
    assert {desc[2] for desc in reads} <= actions
    assert len({desc[2] for desc in reads}) >= 5
    assert len({desc[6] for desc in reads}) == len(reads) > 10


# Reads that wait


@OLD_KINDS
@pytest.mark.spec("MQQP-3.2.4.9-01", "MQQP-3.1.4.6-09", "MQQP-3.2.1.2-01")
def test_close_cancels_the_reads_of_its_queue_over_another_connection(kind: Kind) -> None:
    async def test(server: Server, remote: aio.QueueManager) -> None:
        orders = await remote.open_queue(QUEUE, "receive")
        others = await remote.open_queue(OTHER, "receive")
        waiting = asyncio.create_task(orders.receive(timeout=None))
        await until(lambda: server.made(QM2QM, 0, 9))
        await orders.close()
        with pytest.raises(openmsmq.QueueError):
            await waiting
        server.calls.put("others", b"still read")
        assert (await others.receive(timeout=SECONDS)).body_bytes == b"still read"
        await others.close()

    server = drive(kind, test)
    read, *_ = server.made(QM2QM, 0, 9)
    (cancel,) = server.made(QM2QM, 5)
    desc = read_desc(read)
    assert struct.unpack("<III", cancel.stub) == (desc[0], desc[5], desc[6])
    assert cancel.connection is not read.connection
    assert cancel.connection.group == read.connection.group
    assert result(read) == 0x400E03E9
    calls = server.made(QM2QM)
    close = server.made(QM2QM, 3)[0]
    assert calls.index(read) < calls.index(cancel) < calls.index(close)
    assert len(server.made(QM2QM, 3)) == 2


@pytest.mark.parametrize(
    ("kind", "interface", "cancel", "close"),
    [(WINDOWS_7, REMOTE_READ, 8, 5), (MQQP_ONLY, QM2QM, 5, 4)],
    ids=["MQRR", "MQQP only"],
)
def test_read_that_waits_at_a_cursor_is_cancelled_before_that_is_closed(
    kind: Kind, interface: UUID, cancel: int, close: int
) -> None:
    async def test(server: Server, remote: aio.QueueManager) -> None:
        async with remote.open_queue(QUEUE, "peek") as queue:

            async def look() -> None:
                async for _ in queue.cursor(timeout=None):
                    pass

            looking = asyncio.create_task(look())
            await until(lambda: len(server.made(interface, 7, 9)) > 1)
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    server = drive(kind, test)
    opnums = [call.opnum for call in server.made(interface, cancel, close)]
    assert opnums == [cancel, close]


# Answers


@ALL_KINDS
def test_time_to_reach_queue_is_what_the_sender_wrote(kind: Kind) -> None:
    with serving(kind) as server, openmsmq.connect(server.url, timeout=SECONDS) as remote:
        server.calls.put("orders", b"short", life=500)
        server.calls.put("orders", b"for ever")
        with remote.open_queue(QUEUE, "receive") as queue:
            found = queue.receive_many(2, timeout=SECONDS)
            found += queue.receive_many(2, timeout=0.5) if len(found) < 2 else []
    assert [message.time_to_reach_queue for message in found] == [500, None]


@pytest.mark.spec("MQQP-3.1.4.7-05", "MQQP-3.1.4.1-32")
@pytest.mark.parametrize("throws", [False, True], ids=["result", "fault"])
@pytest.mark.parametrize("code", [0xC00E0007, 0x80004005, 0xC0000022])
def test_failed_purge_is_raised_whether_it_returns_or_throws(code: int, *, throws: bool) -> None:
    with serving(MQQP_ONLY) as server, openmsmq.connect(server.url, timeout=SECONDS) as remote:
        server.calls.put("orders", b"stays")
        server.calls.purge_result, server.calls.purge_throws = code, throws
        with remote.open_queue(QUEUE, "receive") as queue:
            with pytest.raises(openmsmq.QueueError) as refused:
                queue.purge()
            assert refused.value.code == code
            assert queue.receive(timeout=SECONDS).body_bytes == b"stays"


@pytest.mark.spec("MQQP-3.1.4.11-05")
@pytest.mark.parametrize("kind", [WINDOWS_7, MQQP_ONLY], ids=["MQRR", "MQQP only"])
def test_lookup_id_0_is_never_sent(kind: Kind) -> None:
    with serving(kind) as server, openmsmq.connect(server.url, timeout=SECONDS) as remote:
        server.calls.put("orders", b"first", b"second")
        with remote.open_queue(QUEUE, "receive") as queue:
            for relation in ("current", "previous"):
                with pytest.raises(openmsmq.QueueError) as refused:
                    queue.peek_by_lookup_id(0, relation=relation)
                assert refused.value.code == Hresult.MQ_ERROR_MESSAGE_NOT_FOUND
            assert not server.made(REMOTE_READ, 7)
            assert not server.made(QM2QM, 9, 10)
            assert queue.peek_by_lookup_id(0, relation="next").body_bytes == b"first"
            assert queue.receive_by_lookup_id(0, relation="next").body_bytes == b"first"
            assert not server.made(QM2QM, 10)


# Transactions


@contextmanager
def transaction_at(server: Server) -> Iterator[tuple[openmsmq.Queue, openmsmq.Transaction]]:
    """A queue of the server, and a transaction of a queue manager of ours."""
    name = rf"DIRECT=TCP:{server.address}\private$\orders"
    with (
        openmsmq.embedded(bind=new_address(), rpc_port=0, rpc_minimum_level="none") as home,
        home.open_queue(name, "receive") as queue,
    ):
        yield queue, home.transaction()


@contextmanager
def taking_part() -> Iterator[Server]:
    """A server at the port where it is looked for without an endpoint mapper."""
    with serving(WINDOWS_7, port=2103) as server:
        yield server


def transact(server: Server) -> tuple[list[Logged], int]:
    """Receive, receive by lookup id, reject and move in one; the calls, and what was rejected."""
    server.rpc.log.clear()
    with transaction_at(server) as (queue, transaction):
        server.calls.put("orders", b"0", b"1", b"2")
        first = queue.receive(SECONDS, transaction)
        second = queue.receive_by_lookup_id(
            first.lookup_id, relation="next", transaction=transaction
        )
        queue.reject([second.lookup_id], transaction)
        queue.move(QUEUE + ";aside", count=1, transaction=transaction)
        transaction.commit()
    return server.made(REMOTE_READ), second.lookup_id


def uow(call: Logged) -> bytes:
    """The XACTUOW of a call."""
    return call.stub[:16] if call.opnum == 12 else call.stub[-16:]


@pytest.mark.spec("MQRR-2.2.8-02", "MQRR-3.1.4.12-04", "MQRR-3.2.4.2-01")
def test_a_transaction_is_enlisted_before_anything_is_done_in_it() -> None:
    identifiers = []
    with taking_part() as server:
        for _ in range(2):
            calls, _rejected = transact(server)
            in_order = [call.opnum for call in calls]
            assert in_order.count(12) == 1
            assert in_order.index(12) < min(in_order.index(13), in_order.index(10))
            identifiers.append({uow(call) for call in calls if call.opnum in (10, 12, 13)})
            assert len(identifiers[-1]) == 1
    # Each transaction has an identifier of its own.
    assert len(identifiers[0] | identifiers[1]) == 2


@pytest.mark.spec("MQRR-3.1.4.9-10", "MQRR-3.1.4.13-12")
def test_receives_of_a_transaction_end_by_opnum_15_on_a_handle_that_may_receive() -> None:
    with taking_part() as server:
        calls, _ = transact(server)
    assert 9 not in {call.opnum for call in calls}
    received = [call for call in calls if call.opnum == 13]
    ended = [call for call in calls if call.opnum == 15]
    # By position, then by lookup id.
    assert [call.stub[24:32] == bytes(8) for call in received] == [True, False]
    # RR_ACK, for the same requests.
    assert [(call.stub[20:24], call.stub[24:28]) for call in ended] == [
        (struct.pack("<I", 2), call.stub[44:48]) for call in received
    ]
    (opened,) = [call for call in calls if call.opnum == 2]
    assert {call.stub[:20] for call in received} == {opened.answer[:20]}
    (access,) = struct.unpack_from("<I", opened.stub, len(opened.stub) - 36)
    assert access == RECEIVE_ACCESS


@pytest.mark.spec("MQRR-3.1.4.14-07", "MQRR-3.2.4.5-01")
def test_a_rejection_follows_the_end_of_its_receive() -> None:
    with taking_part() as server:
        calls, rejected = transact(server)
    in_order = [call.opnum for call in calls]
    (rejection,) = [call for call in calls if call.opnum == 14]
    (opened,) = [call for call in calls if call.opnum == 2]
    assert rejection.stub[:20] == opened.answer[:20]
    assert struct.unpack_from("<QH", rejection.stub, 24) == (rejected, 0xC004)
    assert [opnum for opnum in in_order[: in_order.index(14)] if opnum >= 12] == [
        12,
        13,
        15,
        13,
        15,
    ]


@pytest.mark.spec("MQRR-3.2.4.4.2-01")
def test_a_message_whose_end_is_refused_is_withheld_and_nothing_commits() -> None:
    with taking_part() as server, transaction_at(server) as (queue, transaction):
        server.calls.put("orders", b"0")
        server.calls.refused_end = Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
        with pytest.raises(openmsmq.QueueError) as refused:
            queue.receive(SECONDS, transaction)
        assert refused.value.code == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
        with pytest.raises(openmsmq.QueueError, match="did not arrive here"):
            transaction.commit()

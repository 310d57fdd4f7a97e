"""impacket reads queues by qm2qm and qmcomm, with stubs packed by hand."""

import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import openmsmq
from openmsmq import Message
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.message.user_message import UserMessage

epm: Any = pytest.importorskip("impacket.dcerpc.v5.epm", reason="impacket is not installed")
rpcrt: Any = pytest.importorskip("impacket.dcerpc.v5.rpcrt", reason="impacket is not installed")
transport: Any = pytest.importorskip("impacket.dcerpc.v5.transport")
uuids: Any = pytest.importorskip("impacket.uuid")

HOST = "127.0.0.1"
QUEUE = r".\private$\orders"
QM2QM = uuids.uuidtup_to_bin(("1088a980-eae5-11d0-8d9b-00a02453c337", "1.0"))
QMCOMM = uuids.uuidtup_to_bin(("fdb3a030-065f-11d1-bb9b-00a024ea5525", "1.0"))
NULL = bytes(20)
RECEIVE, PEEK, PEEK_NEXT, LOOKUP_NEXT = 0, 0x80000000, 0x80000001, 0x40000011
FOR_EVER = 0xFFFFFFFF
INVALID_HANDLE, INVALID_PARAMETER, DENIED = 0xC00E0007, 0xC00E0006, 0xC00E0025
TIMEOUT, CANCELLED = 0xC00E001B, 0x400E03E9


class Served(NamedTuple):
    manager: openmsmq.QueueManager
    rpc: int
    qm2qm: int
    epm: int


@contextmanager
def serving(path: Path, **options: Any) -> Iterator[Served]:
    queue_manager = openmsmq.embedded(
        path, name="alpha", bind=HOST, rpc_port=0, qm2qm_port=0, epm_port=0, **options
    )
    with queue_manager as manager:
        manager.create_queue(QUEUE)
        for body in (b"a", b"b", b"c"):
            manager.send(QUEUE, Message(body))
        ports = [int(queue_manager.endpoints[key].rpartition(":")[2]) for key in Served._fields[1:]]
        yield Served(manager, *ports)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A queue with three messages that anybody may read."""
    with serving(tmp_path / "alpha", rpc_minimum_level="none") as served:
        served.manager.grant(QUEUE, "anonymous", ["full"])
        yield served


@contextmanager
def bound(port: int, interface: bytes, *, user: str = "", password: str = "") -> Iterator[Any]:
    channel = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{HOST}[{port}]")
    channel.set_connect_timeout(10)
    dce = channel.get_dce_rpc()
    if user:
        channel.set_credentials(user, password)
        dce.set_auth_level(rpcrt.RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
        dce.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)
    dce.connect()
    try:
        if interface:
            dce.bind(interface)
        yield dce
    finally:
        dce.disconnect()


def ask(dce: Any, opnum: int, stub: bytes) -> bytes:
    dce.call(opnum, stub)
    return bytes(dce.recv())


def numbers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}I", data)


def open_remote(dce: Any, access: int = 1, name: str = r"OS:alpha\private$\orders") -> Any:
    """R_QMOpenRemoteQueue: the context handle, the number of the queue, and the result."""
    text = (name + "\0").encode("utf-16-le")
    count = len(text) // 2
    stub = struct.pack("<IBBHBxxxI", 1, 3, 0, 0, 3, 2) + struct.pack("<III", count, 0, count)
    stub += text + bytes(-len(text) % 4)
    stub += struct.pack("<III16xI", 4711, access, 0, 0)
    answer = ask(dce, 2, stub)
    context, queue, handle, result = numbers(answer[20:])
    assert context == queue == handle
    return answer[:20], queue, result


def claim(dce: Any, number: int) -> tuple[bytes, int]:
    """RemoteQMOpenQueue: the handle of the session, and the result."""
    answer = ask(dce, 2, struct.pack("<16xIIII", 0, number, number, number))
    return answer[:20], numbers(answer[20:])[0]


def describe(
    number: int, action: int, *, cursor: int = 0, timeout: int = 0, request: int = 1
) -> bytes:
    """REMOTEREADDESC."""
    return struct.pack("<9IHxxI", number, cursor, action, timeout, 0, number, request, 0, 0, 0, 0)


class Read(NamedTuple):
    handle: bytes
    body: bytes
    sequence: int
    result: int


def read_answer(answer: bytes, *, newer: bool) -> Read:
    offset = 40 if newer else 20
    sequence = struct.unpack_from("<Q", answer, 32)[0] if newer else 0
    size, pointer = (struct.unpack_from("<I", answer, offset + each)[0] for each in (16, 40))
    body = b""
    if pointer:
        assert struct.unpack_from("<III", answer, offset + 44) == (size, 0, size)
        body = UserMessage(answer[offset + 56 : offset + 56 + size]).body
    return Read(answer[:20], body, sequence, numbers(answer[-4:])[0])


def read(dce: Any, number: int, action: int, *, opnum: int = 9, **options: int) -> Read:
    """RemoteQMStartReceive or RemoteQMStartReceive2."""
    desc = describe(number, action, **options)
    stub = desc if opnum == 0 else struct.pack("<IxxxxQ", 1, 0) + desc
    return read_answer(ask(dce, opnum, stub), newer=opnum == 9)


def look_up(dce: Any, number: int, action: int, lookup_id: int, **options: int) -> Read:
    """RemoteQMStartReceiveByLookupId."""
    stub = struct.pack("<QIxxxxQ", lookup_id, 1, 0) + describe(number, action, **options)
    return read_answer(ask(dce, 10, stub), newer=True)


def end(dce: Any, handle: bytes, ack: int) -> int:
    answer = ask(dce, 1, handle + struct.pack("<I", ack))
    assert answer[:20] == NULL
    return numbers(answer[20:])[0]


@contextmanager
def session(served: Served) -> Iterator[tuple[Any, int]]:
    """A connection with a session, whose queue was opened over another connection."""
    with bound(served.rpc, QMCOMM) as opener, bound(served.qm2qm, QM2QM) as dce:
        context, number, result = open_remote(opener)
        assert result == 0
        assert claim(dce, number)[1] == 0
        assert ask(opener, 3, context) == NULL
        yield dce, number


def left(served: Served) -> list[bytes]:
    with served.manager.open_queue(QUEUE, "peek") as queue:
        return [each.body_bytes for each in queue.cursor()]


@pytest.mark.spec("MQQP-2.1-03", "MQQP-1.9-01", "MQQP-3.1.3-01")
def test_the_mapper_and_the_port_calls_agree(served: Served) -> None:
    for interface, port in ((QM2QM, served.qm2qm), (QMCOMM, served.rpc)):
        # impacket binds to the mapper by itself.
        with bound(served.epm, b"") as dce:
            binding = epm.hept_map(HOST, interface, protocol="ncacn_ip_tcp", dce=dce)
        assert binding == f"ncacn_ip_tcp:{HOST}[{port}]"
    expected = [served.rpc, served.qm2qm, 0, 0]
    # Both interfaces answer on both ports.
    for port in (served.rpc, served.qm2qm):
        for interface, opnum in ((QM2QM, 7), (QMCOMM, 31)):
            with bound(port, interface) as dce:
                found = [numbers(ask(dce, opnum, struct.pack("<I", kind)))[0] for kind in range(4)]
            assert found == expected


@pytest.mark.spec("MQQP-3.1.4.9-04", "MQQP-3.1.4.8-06")
def test_version_bad_port_type_and_opnum_out_of_the_table(served: Served) -> None:
    with bound(served.qm2qm, QM2QM) as dce:
        major, minor, build = struct.unpack("<BBH", ask(dce, 8, b""))
        assert (major, minor) == (6, 1)
        assert build >= 6531
        with pytest.raises(rpcrt.DCERPCException, match="rpc_x_bad_stub_data"):
            ask(dce, 7, struct.pack("<I", 4))
        with pytest.raises(rpcrt.DCERPCException, match="nca_s_op_rng_error"):
            ask(dce, 11, b"")
    with bound(served.rpc, QMCOMM) as dce:
        with pytest.raises(rpcrt.DCERPCException, match=r"(?i)c00e0064"):
            ask(dce, 1, bytes(40))
        assert open_remote(dce, name=r"OS:alpha\private$\missing")[2] == 0xC00E0003
        assert open_remote(dce, access=8)[2] == INVALID_PARAMETER


def test_stubs_that_are_cut_off_are_faults_in_every_call(served: Served) -> None:
    with session(served) as (dce, number):
        # Opnum 8 has no parameters.
        for opnum in (*range(8), 9, 10):
            with pytest.raises(rpcrt.DCERPCException, match="rpc_x_bad_stub_data"):
                ask(dce, opnum, b"\0\0")
        assert read(dce, number, PEEK).body == b"a"
    with bound(served.rpc, QMCOMM) as dce:
        for opnum in (2, 3, 4, 31):
            with pytest.raises(rpcrt.DCERPCException, match="rpc_x_bad_stub_data"):
                ask(dce, opnum, b"\0\0")
        with pytest.raises(rpcrt.DCERPCException, match="nca_s_fault_context_mismatch"):
            ask(dce, 3, bytes(range(20)))
        # Other kinds of ports are no fault here.
        assert numbers(ask(dce, 31, struct.pack("<I", 4))) == (0,)


@pytest.mark.spec("MQQP-3.1.4.1-01", "MQQP-3.1.4.2-01", "MQQP-3.1.4.10-01")
@pytest.mark.parametrize("opnum", [0, 9])
def test_receives_are_acknowledged_or_refused(served: Served, opnum: int) -> None:
    with session(served) as (dce, number):
        assert read(dce, number, PEEK, opnum=opnum)[:2] == (NULL, b"a")
        first = read(dce, number, RECEIVE, opnum=opnum)
        second = read(dce, number, RECEIVE, opnum=opnum)
        assert (first.body, second.body) == (b"a", b"b")
        assert left(served) == [b"c"]
        assert end(dce, first.handle, 2) == 0
        assert end(dce, second.handle, 1) == 0
        assert left(served) == [b"b", b"c"]
        assert end(dce, NULL, 2) == INVALID_HANDLE
        assert read(dce, number + 1, RECEIVE, opnum=opnum).result == INVALID_PARAMETER
        with pytest.raises(rpcrt.DCERPCException, match="nca_s_fault_context_mismatch"):
            end(dce, first.handle, 2)
        with pytest.raises(rpcrt.DCERPCException, match="rpc_x_bad_stub_data"):
            end(dce, NULL, 3)


@pytest.mark.spec("MQQP-3.1.4.10-02", "MQQP-3.1.4.10-09", "MQQP-3.1.4.11-01")
def test_lookups_cursors_and_purges(served: Served) -> None:
    with bound(served.rpc, QMCOMM) as opener, session(served) as (dce, number):
        # A zeroed CACTransferBufferV1, then hQueue.
        cursor, result = numbers(ask(opener, 4, bytes(228) + struct.pack("<I", number)))
        assert result == 0
        assert ask(opener, 4, bytes(232))[4:] == struct.pack("<I", INVALID_HANDLE)
        walk = [read(dce, number, each, cursor=cursor) for each in (PEEK, PEEK_NEXT, PEEK_NEXT)]
        assert [each.body for each in walk] == [b"a", b"b", b"c"]
        assert read(dce, number, PEEK_NEXT, cursor=cursor).result == TIMEOUT
        close = struct.pack("<II", number, cursor)
        assert [numbers(ask(dce, 4, close))[0] for _ in range(2)] == [0, INVALID_HANDLE]
        found = look_up(dce, number, LOOKUP_NEXT, 0)
        assert (found.body, found.sequence) == (b"a", walk[0].sequence)
        assert look_up(dce, number, LOOKUP_NEXT, 0, timeout=5).result == INVALID_PARAMETER
        assert numbers(ask(dce, 6, struct.pack("<I", number))) == (0,)
        assert left(served) == []
        with pytest.raises(rpcrt.DCERPCException, match=r"(?i)c00e0007"):
            ask(dce, 6, struct.pack("<I", number + 1))


@pytest.mark.spec("MQQP-3.1.4.6-01", "MQQP-3.1.4.6-05")
def test_a_read_is_cancelled_from_another_connection(served: Served) -> None:
    with session(served) as (dce, number), bound(served.qm2qm, QM2QM) as second:
        assert numbers(ask(dce, 6, struct.pack("<I", number))) == (0,)
        found: list[Read] = []
        waiting = threading.Thread(
            target=lambda: found.append(read(dce, number, RECEIVE, timeout=20_000, request=7))
        )
        waiting.start()
        cancel = struct.pack("<III", number, number, 7)
        results = [INVALID_HANDLE]
        # Until the read has begun there is none to cancel.
        while results[-1] == INVALID_HANDLE and waiting.is_alive():
            results.append(numbers(ask(second, 5, cancel))[0])
        waiting.join(20)
        assert results[-1] == 0
        assert found == [Read(NULL, b"", 0, CANCELLED)]
        assert numbers(ask(second, 5, struct.pack("<III", number, 0, 7)))[0] == INVALID_PARAMETER


@pytest.mark.spec("MQQP-3.1.6.1-01", "MQQP-3.1.6.2-02")
def test_a_dropped_connection_gives_everything_back(served: Served) -> None:
    with session(served) as (dce, number):
        assert read(dce, number, RECEIVE).body == b"a"
        assert left(served) == [b"b", b"c"]
    with session(served) as (dce, number):
        # The server may still be about to notice; a receive waits until it has.
        bodies = {read(dce, number, RECEIVE, timeout=10_000, request=n).body for n in range(3)}
        assert bodies == {b"a", b"b", b"c"}


@pytest.mark.spec("MQQP-3.1.4.4-01", "MQQP-3.1.4.4-02")
def test_a_session_ends_once(served: Served) -> None:
    with bound(served.rpc, QMCOMM) as opener, bound(served.qm2qm, QM2QM) as dce:
        _, number, _ = open_remote(opener)
        handle, result = claim(dce, number)
        assert result == 0
        assert claim(dce, number) == (NULL, INVALID_PARAMETER)
        assert ask(dce, 3, handle) == bytes(24)
        assert ask(dce, 3, NULL) == NULL + struct.pack("<I", INVALID_HANDLE)
        assert read(dce, number, PEEK).result == INVALID_PARAMETER


@pytest.mark.spec("MQQP-5-02", "MQQP-5-03")
def test_only_a_sealed_call_of_a_user_with_the_right_reads(tmp_path: Path) -> None:
    path = tmp_path / "alpha"
    with serving(path) as served:
        account = AccountFile(path).add("alice", "correct horse", None)
        served.manager.grant(QUEUE, str(account.sid), ["receive", "peek"])
        login = {"user": "alice", "password": "correct horse"}
        with (
            bound(served.rpc, QMCOMM, **login) as opener,
            bound(served.qm2qm, QM2QM, **login) as dce,
            bound(served.qm2qm, QM2QM) as weak,
            bound(served.rpc, QMCOMM) as weak_opener,
        ):
            _, number, result = open_remote(opener)
            assert result == 0
            assert claim(weak, number) == (NULL, DENIED)
            with pytest.raises(rpcrt.DCERPCException, match="access_denied"):
                open_remote(weak_opener)
            assert claim(dce, number)[1] == 0
            assert read(weak, number, RECEIVE).result == DENIED
            assert numbers(ask(weak, 7, struct.pack("<I", 1))) == (served.qm2qm,)
            received = read(dce, number, RECEIVE)
            assert received.body == b"a"
            assert end(dce, received.handle, 2) == 0
        assert left(served) == [b"b", b"c"]

"""impacket as an independent reader of our queues: every call of RemoteRead, over real sockets."""

import logging
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.interop.loopback import new_address

from openmsmq import Message
from openmsmq.server.embedded import EmbeddedQueueManager, embedded
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.ndr import NDR, Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import join_sections
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.rpc_interfaces.common import NoParameters
from openmsmq.wire.transactions.propagation_token import PropagationToken

epm: Any = pytest.importorskip("impacket.dcerpc.v5.epm", reason="impacket is not installed")
rpcrt: Any = pytest.importorskip("impacket.dcerpc.v5.rpcrt", reason="impacket is not installed")
transport: Any = pytest.importorskip("impacket.dcerpc.v5.transport")

ORDERS = r".\private$\orders"
PASSWORD = "correct horse"
SECONDS = 30
OK = Hresult.MQ_OK
RR_NACK, RR_ACK = 1, 2
UNLIMITED = 0xFFFFFFFF
PEEK = 0x80000000
INTERFACE = SyntaxId.of_interface(REMOTE_READ).serialize()


class Site:
    """A queue manager with a queue `orders` that the account `reader` may read."""

    def __init__(self, running: EmbeddedQueueManager, address: str, data: Path) -> None:
        self.address = address
        self.endpoints = running.endpoints
        self.manager = running.connect()
        account = AccountFile(data).add("reader", PASSWORD, None)
        self.queue = self.manager.create_queue(ORDERS)
        self.manager.grant(ORDERS, str(account.sid), ["receive", "peek"])
        self.direct = rf"DIRECT=TCP:{address}\private$\orders"

    def port(self, name: str) -> int:
        return int(self.endpoints[name].rpartition(":")[2])

    def count(self) -> int:
        count: int = self.queue.info()["messages"]
        return count

    def send(self, *contents: bytes) -> None:
        for body in contents:
            self.queue.send(Message(body, delivery="recoverable"))

    @contextmanager
    def reader(self, **options: Any) -> Iterator["Reader"]:
        reader = Reader(self, **options)
        try:
            yield reader
        finally:
            reader.dce.disconnect()


class Reader:
    """A client; its stubs are ours, its RPC is impacket's."""

    def __init__(
        self,
        site: Site,
        *,
        level: int = 6,
        user: str = "reader",
        password: str = PASSWORD,
        endpoint: str = "rpc",
    ) -> None:
        self.site = site
        port = site.port(endpoint)
        channel = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{site.address}[{port}]")
        channel.set_connect_timeout(SECONDS)
        if user:
            channel.set_credentials(user, password)
        self.dce = channel.get_dce_rpc()
        if level > 1:
            self.dce.set_auth_level(level)
            self.dce.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)
        self.dce.connect()
        self.ack = self.dce.bind(INTERFACE)

    def do(self, call: Call, request: Any) -> Any:
        self.dce.call(call.opnum, call.request.encode(request, NDR))
        return call.response.decode(self.dce.recv(), NDR)[0]

    def fault(self, opnum: int, stub: bytes) -> str:
        """What impacket calls the fault."""
        self.dce.call(opnum, stub)
        with pytest.raises(rpcrt.DCERPCException) as caught:
            self.dce.recv()
        return str(caught.value)

    def open_request(self, suffix: str = "", access: int = 1, share: int = 0) -> Any:
        name = QueueFormat.from_format_name(parse_format_name(self.site.direct + suffix))
        return rr.OpenQueueRequest(name, access, share, UUID(int=5), 1, 6, 1, 7600, 1)

    def open(self, suffix: str = "", access: int = 1, share: int = 0) -> bytes:
        handle: bytes = self.do(
            rr.R_OPEN_QUEUE, self.open_request(suffix, access, share)
        ).pph_context
        return handle

    def start(self, handle: bytes, action: int = 0, **values: int) -> Any:
        request = rr.StartReceiveRequest(handle, 0, 0, action, 0, 1, UNLIMITED, UNLIMITED)
        return self.do(rr.R_START_RECEIVE, request._replace(**values))  # type: ignore[arg-type]

    def end(self, handle: bytes, ack: int = RR_ACK, request_id: int = 1) -> int:
        result: int = self.do(
            rr.R_END_RECEIVE, rr.EndReceiveRequest(handle, ack, request_id)
        ).result
        return result


def body_of(response: Any) -> bytes:
    assert response.result == OK, hex(response.result)
    message = RemoteReadMessage.parse(join_sections(response.pp_packet_sections))
    return UserMessage(message.packet).body


@contextmanager
def site_with(folder: Path, **settings: Any) -> Iterator[Site]:
    address = new_address()
    running = embedded(
        folder, name="qm", bind=address, rpc_port=0, qm2qm_port=0, epm_port=0, **settings
    )
    try:
        yield Site(running, address, folder)
    finally:
        running.close()


@pytest.fixture(scope="module", name="site")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_with(tmp_path_factory.mktemp("rr") / "data") as site:
        yield site


@pytest.fixture(autouse=True)
def _empty(site: Site) -> None:
    site.queue.purge()


@pytest.mark.spec("MQRR-2.1-02", "MQRR-3.1.3-01")
def test_the_mapper_names_the_port_and_so_does_opnum_0(site: Site) -> None:
    channel = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{site.address}[{site.port('epm')}]")
    dce = channel.get_dce_rpc()
    dce.connect()
    binding = epm.hept_map(site.address, INTERFACE, protocol="ncacn_ip_tcp", dce=dce)
    dce.disconnect()
    assert binding == f"ncacn_ip_tcp:{site.address}[{site.port('rpc')}]"
    for endpoint in ("rpc", "qm2qm"):
        with site.reader(level=1, user="", endpoint=endpoint) as reader:
            assert reader.do(rr.R_GET_SERVER_PORT, NoParameters()).result == site.port("rpc")


@pytest.mark.parametrize("level", [1, 2, 5])
def test_a_weak_level_is_refused(site: Site, level: int) -> None:
    with site.reader(level=level, user="reader" if level > 1 else "") as reader:
        stub = rr.R_OPEN_QUEUE.request.encode(reader.open_request(), NDR)
        assert "rpc_s_access_denied" in reader.fault(2, stub)


@pytest.mark.parametrize(("least", "level"), [("none", 1), ("connect", 2), ("integrity", 5)])
def test_a_lower_least_level_lets_weaker_clients_in(tmp_path: Path, least: str, level: int) -> None:
    with site_with(tmp_path / "data", rpc_minimum_level=least) as site:
        site.manager.grant(ORDERS, "anonymous", ["receive"])
        site.send(b"x")
        with site.reader(level=level, user="reader" if level > 1 else "") as reader:
            handle = reader.open()
            assert body_of(reader.start(handle)) == b"x"
            assert reader.end(handle) == OK


def test_a_message_is_received_at_packet_privacy(site: Site) -> None:
    site.send(b"hello")
    with site.reader() as reader:
        handle = reader.open()
        assert body_of(reader.start(handle)) == b"hello"
        assert reader.end(handle, RR_NACK) == OK
        assert body_of(reader.start(handle)) == b"hello"
        assert reader.end(handle) == OK
        assert reader.start(handle).result == Hresult.MQ_ERROR_IO_TIMEOUT
    assert site.count() == 0


@pytest.mark.parametrize(("user", "password"), [("reader", "wrong"), ("stranger", PASSWORD)])
def test_a_wrong_password_and_an_unknown_user_are_refused(
    tmp_path: Path, user: str, password: str
) -> None:
    with (
        site_with(tmp_path / "data") as site,
        pytest.raises(Exception, match=r"rpc_s_access_denied|0x5|Broken|reset|0x"),
        site.reader(user=user, password=password) as reader,
    ):
        reader.open()


def test_an_address_whose_logons_fail_is_slowed_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    with site_with(tmp_path / "data") as site:
        site.send(b"x")

        def seconds(password: str) -> float:
            begin = time.monotonic()
            with suppress(Exception), site.reader(password=password) as reader:
                reader.open()
            return time.monotonic() - begin

        for _ in range(7):
            seconds("wrong")
        # The right password waits as well, and then it counts.
        assert seconds(PASSWORD) > 0.4
        with site.reader() as reader:
            assert body_of(reader.start(reader.open())) == b"x"
    failed = [each for each in caplog.records if getattr(each, "event", "") == "M0060"]
    assert len(failed) == 7
    assert all(each.fields["address"].startswith("127.") for each in failed)  # type: ignore[attr-defined]


def test_cursors_lookups_and_sections(site: Site) -> None:
    site.send(b"1111", b"2222", b"3333")
    with site.reader() as reader:
        handle = reader.open()
        cursor = reader.do(rr.R_CREATE_CURSOR, rr.HandleRequest(handle)).ph_cursor
        assert body_of(reader.start(handle, PEEK, h_cursor=cursor)) == b"1111"
        second = reader.start(handle, 0x80000001, h_cursor=cursor, dw_max_body_size=2)
        assert body_of(second) == b"22\0\0"
        assert len(second.pp_packet_sections) == 2
        # The byte of the priority does not travel.
        lookup_id = second.p_sequence_id | (7 - 3) << 56
        assert body_of(reader.start(handle, 0x40000011, lookup_id=lookup_id)) == b"3333"
        assert body_of(reader.start(handle, 0x40000022, lookup_id=lookup_id)) == b"1111"
        assert reader.end(handle) == OK
        bad = reader.start(handle, 0x40000010)
        assert bad.result == Hresult.MQ_ERROR_INVALID_PARAMETER
        closed = reader.do(rr.R_CLOSE_CURSOR, rr.CloseCursorRequest(handle, cursor))
        assert closed.result == OK
        wrong = reader.start(handle, PEEK, h_cursor=cursor)
        assert wrong.result == 0xC0000008
        assert reader.do(rr.R_PURGE_QUEUE, rr.HandleRequest(handle)).result == OK
        assert reader.do(rr.R_CLOSE_QUEUE, rr.CloseQueueRequest(handle)) == (bytes(20), OK)
        assert "context_mismatch" in reader.fault(6, handle)
    assert site.count() == 0


@pytest.mark.parametrize(
    ("limit", "sections"), [(0, 2), (1, 2), (9, 2), (10, 1), (11, 1), (UNLIMITED, 1)]
)
def test_a_body_is_cut_at_every_kind_of_limit(site: Site, limit: int, sections: int) -> None:
    body = b"0123456789"
    site.send(body)
    with site.reader() as reader:
        response = reader.start(reader.open(), PEEK, dw_max_body_size=limit)
    assert len(response.pp_packet_sections) == sections
    assert body_of(response) == body[:limit] + bytes(max(len(body) - limit, 0))


def test_a_message_moves_to_a_subqueue_and_back(site: Site) -> None:
    site.send(b"x")
    with site.reader() as reader:
        queue, sub = reader.open(), reader.open(";failed")
        lookup_id = reader.start(queue, PEEK).p_sequence_id | (7 - 3) << 56
        for source, suffix in ((queue, ";failed"), (sub, "")):
            request = reader.open_request(suffix, access=4)
            target = reader.do(rr.R_OPEN_QUEUE_FOR_MOVE, request).p_move_context
            move = rr.MoveMessageRequest(source, target, lookup_id, bytes(16))
            assert reader.do(rr.R_MOVE_MESSAGE, move).result == OK
            lookup_id = reader.start(sub if suffix else queue, PEEK).p_sequence_id | (7 - 3) << 56
        assert body_of(reader.start(queue)) == b"x"
        assert reader.end(queue) == OK


@pytest.mark.parametrize(
    ("url", "code"),
    [
        (None, Hresult.MQ_ERROR_TRANSACTION_IMPORT),
        ("", Hresult.MQ_ERROR_TRANSACTION_ENLIST),
        # Nobody listens at the first port.
        ("openmsmq://reader:1/", Hresult.MQ_ERROR_DTC_CONNECT),
    ],
)
def test_transactions_without_a_coordinator_are_refused(
    site: Site, url: str | None, code: Hresult
) -> None:
    transaction = UUID(int=12)
    token = b"token"
    if url is not None:
        token = PropagationToken(transaction, UUID(int=13), "READER", url).serialize()
    with site.reader() as reader:
        name = reader.open_request().p_queue_format
        enlist = rr.QMEnlistRemoteTransactionRequest(transaction.bytes_le, token, name)
        assert reader.do(rr.R_QM_ENLIST_REMOTE_TRANSACTION, enlist).result == code


def test_transactions_of_a_queue_that_has_none_are_refused(site: Site) -> None:
    site.send(b"x")
    with site.reader() as reader:
        handle = reader.open()
        start = rr.StartTransactionalReceiveRequest(
            handle, 0, 0, 0, 0, 1, UNLIMITED, UNLIMITED, bytes(range(16))
        )
        code = reader.do(rr.R_START_TRANSACTIONAL_RECEIVE, start).result
        assert code == Hresult.MQ_ERROR_TRANSACTION_USAGE
        reject = rr.SetUserAcknowledgementClassRequest(handle, 12345, 0xC004)
        code = reader.do(rr.R_SET_USER_ACKNOWLEDGEMENT_CLASS, reject).result
        assert code == Hresult.MQ_ERROR_MESSAGE_NOT_FOUND
        end = rr.EndReceiveRequest(handle, RR_ACK, 1)
        code = reader.do(rr.R_END_TRANSACTIONAL_RECEIVE, end).result
        assert code == Hresult.MQ_ERROR_INVALID_HANDLE


@pytest.mark.spec("MQRR-3.1.4-01", "MQRR-3.1.4.9-02")
def test_stubs_that_are_wrong_are_faults(site: Site) -> None:
    with site.reader() as reader:
        handle = reader.open()
        for opnum in range(2, 16):
            assert "bad_stub_data" in reader.fault(opnum, b"\0\0")
        assert "bad_stub_data" in reader.fault(9, handle + struct.pack("<II", 3, 1))
        assert "op_rng_error" in reader.fault(16, b"")
        assert reader.start(handle).result == Hresult.MQ_ERROR_IO_TIMEOUT


def test_a_connection_that_drops_gives_the_message_back(site: Site) -> None:
    site.send(b"1", b"2")
    with site.reader() as reader:
        assert body_of(reader.start(reader.open())) == b"1"
    with site.reader() as reader:
        handle = reader.open()
        for _ in range(500):
            if body_of(reader.start(handle, PEEK)) == b"1":
                break
            threading.Event().wait(0.02)
        assert body_of(reader.start(handle)) == b"1"
        assert reader.end(handle) == OK
        assert body_of(reader.start(handle)) == b"2"


def test_a_second_connection_of_the_association_cancels_a_read(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    class JoiningBind(rpcrt.MSRPCBind):  # type: ignore[misc]
        group = 0

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self["assoc_group"] = self.group

    with site.reader() as reader:
        JoiningBind.group = rpcrt.MSRPCBindAck(reader.ack.getData())["assoc_group"]
        handle = reader.open()
        request = rr.StartReceiveRequest(handle, 0, 0, 0, 60_000, 1, 0, 0)
        reader.dce.call(7, rr.R_START_RECEIVE.request.encode(request, NDR))
        monkeypatch.setattr(rpcrt, "MSRPCBind", JoiningBind)
        with site.reader() as second:
            cancel = rr.CancelReceiveRequest(handle, 1)
            for _ in range(200):
                code = second.do(rr.R_CANCEL_RECEIVE, cancel).result
                if code == OK:
                    break
                threading.Event().wait(0.02)
            assert code == OK
        response = rr.R_START_RECEIVE.response.decode(reader.dce.recv(), NDR)[0]
        assert response.result == Hresult.MQ_ERROR_OPERATION_CANCELLED


@pytest.mark.timeout(120)
def test_two_clients_that_race_get_each_message_once(site: Site) -> None:
    count = 1000
    site.queue.send_many(Message(str(number).encode()) for number in range(count))
    got: Counter[bytes] = Counter()

    def drain() -> None:
        with site.reader() as reader:
            handle = reader.open()
            while (response := reader.start(handle)).result == OK:
                assert reader.end(handle) == OK
                got[body_of(response)] += 1

    threads = [threading.Thread(target=drain) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert len(got) == count
    assert set(got.values()) == {1}
    assert site.count() == 0

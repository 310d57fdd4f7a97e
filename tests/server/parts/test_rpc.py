"""The part that speaks RPC: its ports, and who gets in."""

import errno
import logging
import resource
import socket
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address
from tests.server.raw_client import TIMEOUT
from tests.server.threaded import Threaded, threaded

import openmsmq
from openmsmq.net.rpc.shell import RpcShell
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.protocol.rpc import ClientConnection, RpcSettings
from openmsmq.protocol.rpc.client import Answered, Bound
from openmsmq.protocol.rpc.server import Endpoint
from openmsmq.server.config import Config
from openmsmq.server.parts.rpc import RpcPart
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.codes.endpoints import QM2QM, QMCOMM, REMOTE_READ, RpcInterface
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.ndr import Call
from openmsmq.wire.rpc_interfaces import qm2qm, qmcomm, remote_read
from openmsmq.wire.rpc_interfaces.common import NoParameters

OTHERS_OFF: dict[str, Any] = {
    f"{name}_port": "off" for name in ("binary", "ping", "http", "console")
}


@contextmanager
def taken(address: str, *ports: int) -> Iterator[None]:
    """Another program has these ports."""
    with ExitStack() as sockets:
        for port in ports:
            other = sockets.enter_context(socket.socket())
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind((address, port))
            other.listen()
        yield


@contextmanager
def running(folder: Path, **settings: Any) -> Iterator[Threaded]:
    """A queue manager whose ports are the default ones unless they are named."""
    process = Threaded(Config(data=folder, name="QM", **{**OTHERS_OFF, **settings}))
    try:
        yield process
    finally:
        process.stop()


@pytest.mark.spec("MQRR-2.1-03", "MQRR-3.1.4.1-02")
def test_a_default_port_that_is_taken_steps_up_by_eleven(tmp_path: Path) -> None:
    address = new_address()
    with (
        taken(address, 2103, 2114, 2105),
        running(tmp_path / "data", bind=address, epm_port="off") as process,
    ):
        endpoints = process.process.endpoints
        assert endpoints["rpc"] == f"{address}:2125"
        assert endpoints["qm2qm"] == f"{address}:2116"
        assert "epm" not in endpoints


def told(address: str, port: int, interface: RpcInterface, call: Call, request: object) -> int:
    """Ask the server at a port for the number of another."""
    connection = ClientConnection((interface,))
    connection.call(interface, call, request)
    with socket.create_connection((address, port), TIMEOUT) as stream:
        while True:
            stream.sendall(b"".join(connection.data_to_send()))
            connection.receive_data(stream.recv(65536))
            while (event := connection.next_event()) is not None:
                if isinstance(event, Answered):
                    result: int = event.response.result
                    return result
                assert isinstance(event, Bound)


@pytest.mark.spec("MQQP-3.1.4.8-07", "MQQP-3.1.4.8-08", "MQQP-1.6-01")
def test_qm2qm_tells_the_ports_that_it_got_at_the_start(tmp_path: Path) -> None:
    address = new_address()
    with (
        taken(address, 2103, 2105, 2116),
        running(tmp_path / "data", bind=address, epm_port="off"),
    ):
        read = qm2qm.GetQMQMServerPortRequest(1)
        handshake = qm2qm.GetQMQMServerPortRequest(0)
        call = qm2qm.REMOTE_QM_GET_QMQM_SERVER_PORT
        # Both interfaces answer on both ports.
        for port in (2114, 2127):
            assert told(address, port, QM2QM, call, read) == 2127
            assert told(address, port, QM2QM, call, handshake) == 2114
            fip = qmcomm.QMGetRTQMServerPortRequest(0)
            assert told(address, port, QMCOMM, qmcomm.R_QM_GET_RTQM_SERVER_PORT, fip) == 2114


@pytest.mark.spec("MQRR-3.1.4.1-03")
def test_the_port_of_an_interface_that_listens_nowhere_is_0(tmp_path: Path) -> None:
    call, request = remote_read.R_GET_SERVER_PORT, NoParameters()
    settings: dict[str, Any] = {"bind": new_address(), "epm_port": "off"}
    with running(tmp_path / "a", rpc_port="off", qm2qm_port=0, **settings) as process:
        address, _, port = process.process.endpoints["qm2qm"].rpartition(":")
        assert told(address, int(port), REMOTE_READ, call, request) == 0
    with running(tmp_path / "b", rpc_port=0, qm2qm_port=0, **settings) as process:
        address, _, port = process.process.endpoints["rpc"].rpartition(":")
        assert told(address, int(port), REMOTE_READ, call, request) == int(port) != 0


def test_the_default_ports_are_2103_and_2105(tmp_path: Path) -> None:
    address = new_address()
    with running(tmp_path / "data", bind=address, epm_port="off") as process:
        assert process.process.endpoints["rpc"] == f"{address}:2103"
        assert process.process.endpoints["qm2qm"] == f"{address}:2105"


@pytest.mark.parametrize("key", ["rpc_port", "qm2qm_port", "epm_port"])
def test_a_port_that_is_named_and_taken_is_an_error(tmp_path: Path, key: str) -> None:
    address = new_address()
    settings: dict[str, Any] = {"rpc_port": 0, "qm2qm_port": 0, "epm_port": "off"}
    settings |= {"bind": address, key: 45678}
    with (
        taken(address, 45678),
        pytest.raises(ConfigError, match=f"{key}: {address}:45678: Address already in use"),
        running(tmp_path / "data", **settings),
    ):
        pass


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The system does not give the port of the endpoint mapper."""
    listen = RpcShell.listen

    async def refusing(shell: RpcShell, endpoint: Endpoint, port: int, *, key: str) -> str:
        if key == "epm_port":
            error = OSError(number, "no")
            raise ConfigError(f"{key}: {port}: no") from error
        return await listen(shell, endpoint, port, key=key)

    monkeypatch.setattr(RpcShell, "listen", refusing)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_port_135_without_the_right_to_it_is_a_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    number: int,
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    refuse(monkeypatch, number)
    address = new_address()
    with running(tmp_path / "data", bind=address, rpc_port=0, qm2qm_port=0) as process:
        assert set(process.process.endpoints) >= {"rpc", "qm2qm"}
        assert "epm" not in process.process.endpoints
    skipped = [each for each in caplog.records if "fields" in vars(each)]
    assert [vars(each)["fields"]["port"] for each in skipped if "port" in vars(each)["fields"]] == [
        135
    ]


@pytest.mark.parametrize(
    ("number", "settings"), [(errno.EACCES, {"epm_port": 0}), (errno.EADDRINUSE, {})]
)
def test_other_reasons_and_a_port_that_is_named_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, settings: dict[str, int]
) -> None:
    refuse(monkeypatch, number)
    with (
        pytest.raises(ConfigError, match="epm_port"),
        running(tmp_path / "data", bind=new_address(), rpc_port=0, qm2qm_port="off", **settings),
    ):
        pass


def test_without_anything_to_map_there_is_no_mapper(tmp_path: Path) -> None:
    with threaded(tmp_path / "data", bind=new_address(), epm_port=0) as process:
        assert "epm" not in process.process.endpoints


def test_a_level_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rpc_minimum_level"):
        Config.load(None, {"data": tmp_path, "rpc_minimum_level": "much"})


@pytest.mark.parametrize("kind", [RpcSettings, RemoteReadSettings])
def test_every_limit_is_a_key_with_the_same_default(kind: Any) -> None:
    not_keys = {"max_fragment", "purge_step"}
    for field in fields(kind):
        if field.name not in not_keys:
            assert Config.fields[f"rpc_{field.name}"].default == field.default, field.name


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("rpc_max_connections", 0),
        ("rpc_max_connections_per_address", 0),
        ("rpc_max_unbound", 0),
        ("rpc_bind_seconds", 0.5),
        ("rpc_max_associations", 0),
        ("rpc_max_contexts", 0),
        ("rpc_max_security_contexts", 65_537),
        ("rpc_max_handles", 0),
        ("rpc_max_total_handles", 0),
        ("rpc_max_cursors", 0),
        ("rpc_max_waiting_reads", 0),
        ("rpc_max_calls", 0),
        ("rpc_max_total_calls", 0),
        ("rpc_max_request_bytes", 1024),
        ("rpc_max_unfinished_bytes", 1024),
        ("rpc_pause_reply_bytes", 1024),
        ("rpc_max_reply_bytes", 1024),
        ("rpc_cleanup_seconds", 0.5),
        ("coordinator_max_transactions", 0),
        ("coordinator_retry_seconds", 0.01),
        ("coordinator_max_retry_seconds", 0.01),
        ("coordinator_enlist_seconds", 0.01),
        ("coordinator_prepare_seconds", 0.01),
    ],
)
def test_a_limit_out_of_its_range_is_refused(tmp_path: Path, key: str, wrong: float) -> None:
    with pytest.raises(ConfigError, match=f"{key}: {wrong}"):
        Config.load(None, {"data": tmp_path, key: wrong})


def test_limits_of_the_configuration_reach_the_server(tmp_path: Path) -> None:
    limits = {"rpc_max_calls": 7, "rpc_max_handles": 8, "rpc_bind_seconds": 9.0}
    with running(tmp_path / "data", bind=new_address(), epm_port="off", **limits) as process:
        settings = rpc_part(process).server.settings
    assert (settings.max_calls, settings.max_handles, settings.bind_seconds) == (7, 8, 9.0)


def test_remote_readers_leave_files_for_local_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4096, 4096))
    with running(
        tmp_path / "data", bind=new_address(), epm_port="off", max_connections=1096
    ) as process:
        assert rpc_part(process).server.settings.max_connections == 4096 - 1096 - 1000


def rpc_part(process: Threaded) -> RpcPart:
    (part,) = (part for part in process.process._running.parts if isinstance(part, RpcPart))
    return part


def test_management_shows_remote_readers_and_counts_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "openmsmq")
    data = tmp_path / "data"
    data.mkdir()
    account = AccountFile(data).add("ada", "secret", None)
    with running(data, bind=new_address(), rpc_port=0, epm_port="off") as process:
        with openmsmq.connect(process.config.socket_path) as local:
            local.create_queue(r".\private$\orders")
            local.grant(r".\private$\orders", str(account.sid), ["receive", "peek"])
            host, _, port = process.process.endpoints["rpc"].rpartition(":")
            address = f"msmq://{host}:{port}"
            with (
                openmsmq.connect(address, user="ada", password="secret") as remote,
                remote.open_queue(r".\private$\orders", access="receive") as queue,
            ):
                (reader,) = [each for each in local.clients() if each["protocol"] == "rpc"]
                assert (reader["principal"], reader["sid"]) == ("ada", str(account.sid))
                assert (reader["address"], reader["queues"]) == ("127.0.0.1", 1)
                assert (reader["cursors"], reader["waiting_reads"], reader["id"]) == (0, 0, 1)
                status = local.status()
                assert status["clients"] == 2
                local.send(r".\private$\orders", openmsmq.Message("x"))
                queue.receive(timeout=10)
                parts = [part for part in local.sample() if part["part"] == "traffic"]
                (columns,) = [part["columns"] for part in parts if part["protocol"] == "rpc"]
                assert array("Q", columns["outgoing_messages"]).tolist() == [1]
                assert array("Q", columns["incoming_bytes"])[0] > 100
                assert array("Q", columns["outgoing_bytes"])[0] > 100
            counters = local.status()["counters"]
        assert counters['msmq_clients_total{protocol="rpc",event="connected"}'] == 1
        assert counters['msmq_logons_total{outcome="succeeded"}'] == 1
        assert counters["msmq_rpc_calls_total"] >= 2
    (logon,) = [vars(each) for each in caplog.records if vars(each).get("event") == "M0065"]
    assert logon["fields"]["user"] == "ada"
    assert logon["fields"]["level"] == "privacy"

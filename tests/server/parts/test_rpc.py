"""The part that speaks RPC: its ports, and who gets in."""

import errno
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address
from tests.server.threaded import Threaded, threaded

from openmsmq.net.rpc.shell import RpcShell
from openmsmq.protocol.rpc.server import Endpoint
from openmsmq.server.config import Config
from openmsmq.wire.errors import ConfigError

OTHERS_OFF = {"binary_port": "off", "ping_port": "off"}


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

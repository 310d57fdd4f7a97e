"""What would refuse a start is found before anything is made."""

import os
import socket
from pathlib import Path

import pytest
from tests.net.certificate import Authority
from tests.server.threaded import threaded

from openmsmq.server.config import Config
from openmsmq.server.start_checks import check_start
from openmsmq.wire.errors import ConfigError, StoreError

OFF = {f"{name}_port": "off" for name in ("binary", "ping", "epm", "http", "console")}


def config(data: Path, **settings: object) -> Config:
    return Config.load(None, {"data": data, **OFF, **settings})


@pytest.mark.parametrize(
    ("key", "kind"),
    [("binary_port", socket.SOCK_STREAM), ("ping_port", socket.SOCK_DGRAM)],
)
def test_a_port_that_is_taken_leaves_nothing_behind(
    tmp_path: Path, key: str, kind: socket.SocketKind
) -> None:
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind is socket.SOCK_STREAM:
            taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(ConfigError, match=f"{key}: 127.0.0.1:{port}: Address already in use"),
            threaded(tmp_path / "data", **{key: port}),
        ):
            pass
    assert not (tmp_path / "data").exists()


def test_a_local_port_without_a_certificate_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="local_port: needs local_certificate"),
        threaded(tmp_path / "data", local_port=0),
    ):
        pass
    assert not (tmp_path / "data").exists()


def test_tokens_that_cannot_be_used_leave_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="local_tokens: "),
        threaded(tmp_path / "data", local_tokens=tmp_path / "none"),
    ):
        pass
    assert not (tmp_path / "data").exists()


def test_a_certificate_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("127.0.0.1")
    key.write_text("no key")
    settings = {"local_port": 0, "local_certificate": certificate, "local_key": key}
    with pytest.raises(ConfigError, match="local_certificate: "):
        check_start(config(tmp_path / "data", local_tokens=key, **settings))


def test_a_socket_with_a_long_path_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at most 107") as caught:
        check_start(config(tmp_path / ("x" * 107)))
    assert caught.value.remedy == "Name a shorter path with --socket."


def test_a_ready_file_needs_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    check_start(config(data, ready_file=data / "ready"))
    with pytest.raises(ConfigError, match=r"ready_file: .* there is no directory"):
        check_start(config(data, ready_file=tmp_path / "none" / "ready"))
    # Whoever runs the tests may be allowed everything.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ConfigError, match=r"ready_file: .* may not be written"):
        check_start(config(data, ready_file=tmp_path / "ready"))


def test_a_data_directory_in_use_is_told_before_its_ports(tmp_path: Path) -> None:
    with threaded(tmp_path, binary_port=0) as running:
        port = int(running.process.endpoints["binary"].rpartition(":")[2])
        with pytest.raises(StoreError, match="is in use by process") as caught:
            check_start(config(tmp_path, binary_port=port))
    assert caught.value.remedy.startswith("Stop process ")
    check_start(config(tmp_path, binary_port=port))

"""Where clients connect, and who they are."""

import asyncio
import os
import socket
from pathlib import Path

import pytest
import uvloop

from openmsmq.net.local.connection import peer_credentials
from openmsmq.net.local.listeners import (
    SOCKET_MODE,
    listen_unix,
    remove_stale_socket,
    server_context,
)
from openmsmq.net.local.paths import SOCKET_VARIABLE, default_data_directory, default_socket
from openmsmq.wire.errors import ConfigError


async def listen(path: Path) -> None:
    listener = await listen_unix(asyncio.BufferedProtocol, path)
    assert path.stat().st_mode & 0o777 == SOCKET_MODE
    _, writer = await asyncio.open_unix_connection(str(path))
    writer.close()
    listener.close()


def test_a_socket_is_open_to_everybody_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "sock"
    uvloop.run(listen(path))
    assert not path.exists()


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "sock"
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(path))
    uvloop.run(listen(path))


def test_a_socket_in_use_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(ConfigError, match="another process listens there"):
            remove_stale_socket(path)
    assert path.exists()


def test_what_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sock"
    path.write_text("precious")
    with pytest.raises(ConfigError, match="is not a socket"):
        uvloop.run(listen(path))
    assert path.read_text() == "precious"


def test_a_path_that_is_too_long_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"socket: .*too long"):
        uvloop.run(listen(tmp_path / ("x" * 120)))


def test_the_socket_of_a_successor_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "sock"

    async def main() -> None:
        listener = await listen_unix(asyncio.BufferedProtocol, path)
        path.unlink()
        path.write_text("of somebody else")
        listener.close()

    uvloop.run(main())
    assert path.exists()


@pytest.mark.parametrize("files", ["missing", "wrong"])
def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path, files: str) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    if files == "wrong":
        certificate.write_text("no certificate")
        key.write_text("no key")

    with pytest.raises(ConfigError, match=r"local_certificate: .*certificate\.pem"):
        server_context(certificate, key)


def test_the_kernel_says_who_connected() -> None:
    here, there = socket.socketpair()
    with here, there:
        assert peer_credentials(here) == (os.getpid(), os.getuid(), os.getgid())


def test_the_default_places_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOCKET_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data/of/user")
    assert default_data_directory() == Path("/data/of/user/openmsmq")
    assert default_socket() == Path("/data/of/user/openmsmq/openmsmq.sock")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_data_directory() == Path("~/.local/share/openmsmq").expanduser()
    monkeypatch.setenv(SOCKET_VARIABLE, "/run/other.sock")
    assert default_socket() == Path("/run/other.sock")

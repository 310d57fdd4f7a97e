"""Where a queue manager is."""

from pathlib import Path

import pytest

from openmsmq.client.address import TcpAddress, UnixAddress, find_address, split_host
from openmsmq.wire.errors import ConfigError


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("localhost:1234", ("localhost", 1234)),
        ("10.0.0.1:1234", ("10.0.0.1", 1234)),
        ("[::1]:1234", ("::1", 1234)),
        ("openmsmq.sock", None),
        ("/run/a:1", None),
        ("host:", None),
        (":1234", None),
        ("host:port", None),
        ("host:²", None),
    ],
)
def test_host_and_port_are_told_from_paths(address: str, expected: tuple[str, int] | None) -> None:
    assert split_host(address) == expected


def test_a_path_is_a_socket_whatever_it_looks_like() -> None:
    found = find_address(Path("localhost:1234"), token=None, ca_file=None)
    assert found == UnixAddress(Path("localhost:1234"))
    assert str(found) == "localhost:1234"


@pytest.mark.parametrize("shown", ["localhost:1234", "[::1]:1234"])
def test_host_and_port_need_a_token(shown: str) -> None:
    with pytest.raises(ConfigError, match="token"):
        find_address(shown, token=None, ca_file=None)
    found = find_address(shown, token="secret", ca_file=None)
    assert isinstance(found, TcpAddress)
    assert str(found) == shown


@pytest.mark.parametrize(("token", "ca_file"), [("secret", None), (None, "ca.pem")])
def test_a_socket_needs_neither_token_nor_certificate(
    token: str | None, ca_file: str | None
) -> None:
    with pytest.raises(ConfigError, match="is a socket"):
        find_address("openmsmq.sock", token=token, ca_file=ca_file)


def test_a_file_that_has_no_certificates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    for ca_file in (file, tmp_path / "missing"):
        with pytest.raises(ConfigError, match="ca_file"):
            find_address("localhost:1", token="secret", ca_file=ca_file)


def test_the_environment_can_name_files_with_token_and_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    monkeypatch.setenv("OPENMSMQ_TOKEN_FILE", str(token))
    found = find_address("localhost:1", token=None, ca_file=None)
    assert isinstance(found, TcpAddress)
    assert found.token == "secret"
    given = find_address("localhost:1", token="given", ca_file=None)
    assert isinstance(given, TcpAddress)
    assert given.token == "given"
    # Sockets need none, and an empty variable is none.
    assert find_address("openmsmq.sock", token=None, ca_file=None) == UnixAddress(
        Path("openmsmq.sock")
    )
    monkeypatch.setenv("OPENMSMQ_CA_FILE", str(tmp_path / "ca.pem"))
    with pytest.raises(ConfigError, match=r"ca_file: .*ca\.pem"):
        find_address("localhost:1", token=None, ca_file=None)
    monkeypatch.setenv("OPENMSMQ_CA_FILE", "")
    token.unlink()
    with pytest.raises(ConfigError, match=r"\$OPENMSMQ_TOKEN_FILE: .*token"):
        find_address("localhost:1", token=None, ca_file=None)


def test_without_an_address_the_environment_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENMSMQ_SOCKET", "/run/openmsmq.sock")
    found = find_address(None, token=None, ca_file=None)
    assert found == UnixAddress(Path("/run/openmsmq.sock"))


def test_without_anything_it_is_in_the_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENMSMQ_SOCKET", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    found = find_address(None, token=None, ca_file=None)
    assert found == UnixAddress(Path("/data/openmsmq/openmsmq.sock"))

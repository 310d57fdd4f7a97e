"""How a client of remote read logs on: what the arguments, the environment and a ticket give."""

from pathlib import Path

import pytest

from openmsmq.client.remote import address
from openmsmq.client.remote.address import RpcAddress, parse_rpc_address
from openmsmq.protocol.rpc.client import ClientSecurity
from openmsmq.security import kerberos
from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_KERBEROS, RPC_C_AUTHN_WINNT
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.rpc.status import AuthnLevel

SERVER = "msmq://server"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (address.USER_VARIABLE, address.PASSWORD_FILE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(kerberos, "has_ticket", lambda: False)
    # The extra is there; nothing is asked of it.
    monkeypatch.setattr(kerberos, "require_gssapi", lambda: None)


@pytest.fixture
def ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kerberos, "has_ticket", lambda: True)


def test_nobody_named_and_no_ticket_is_anonymous_logon() -> None:
    assert parse_rpc_address(SERVER) == RpcAddress("server")


@pytest.mark.usefixtures("ticket")
def test_nobody_named_is_known_by_ticket_at_level_privacy() -> None:
    assert parse_rpc_address(SERVER) == RpcAddress("server", level="privacy", kerberos=True)
    assert parse_rpc_address(SERVER, level="connect").level == "connect"
    assert parse_rpc_address(f"{SERVER}:99", rebind=True).rebinds


@pytest.mark.usefixtures("ticket")
def test_who_names_a_user_or_no_authentication_uses_no_ticket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert parse_rpc_address(SERVER, auth="none") == RpcAddress("server")
    assert not parse_rpc_address(SERVER, user="ada", password="x").kerberos
    with pytest.raises(ConfigError, match="user"):
        parse_rpc_address(SERVER, auth="ntlm")
    with pytest.raises(ConfigError, match="user"):
        parse_rpc_address(SERVER, password="x")
    monkeypatch.setenv(address.USER_VARIABLE, "ada")
    assert not parse_rpc_address(SERVER, password="x").kerberos


def test_kerberos_takes_a_principal_with_or_without_a_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = parse_rpc_address(SERVER, auth="kerberos", user="ada@REALM")
    assert (named.user, named.password, named.kerberos) == ("ada@REALM", "", True)
    known = parse_rpc_address(SERVER, auth="kerberos", user="ada@REALM", password="secret")
    assert known.password == "secret"
    assert "secret" not in repr(known)
    file = tmp_path / "password"
    file.write_text("kept\n")
    monkeypatch.setenv(address.PASSWORD_FILE_VARIABLE, str(file))
    assert parse_rpc_address(SERVER, auth="kerberos", user="ada@REALM").password == "kept"
    # The file is for a user; without one it is the ticket that counts.
    assert parse_rpc_address(SERVER, auth="kerberos").password == ""


def test_what_does_not_go_with_kerberos_is_refused() -> None:
    with pytest.raises(ConfigError, match="level: 'none'"):
        parse_rpc_address(SERVER, auth="kerberos", level="none")
    with pytest.raises(ConfigError, match="password: with Kerberos it needs a user"):
        parse_rpc_address(SERVER, auth="kerberos", password="x")
    with pytest.raises(ConfigError, match="auth: 'spnego' must be one of 'kerberos'"):
        parse_rpc_address(SERVER, auth="spnego")


def test_connections_are_authenticated_as_the_address_says() -> None:
    security = parse_rpc_address(SERVER, auth="kerberos", level="integrity").security()
    assert isinstance(security, ClientSecurity)
    assert security.auth_type == RPC_C_AUTHN_GSS_KERBEROS
    assert security.level is AuthnLevel.PKT_INTEGRITY
    # Tickets may be far away: they are fetched beforehand.
    assert security.prepare is not None
    security = parse_rpc_address(SERVER, user="ada", password="x").security()
    assert security is not None
    assert (security.auth_type, security.prepare) == (RPC_C_AUTHN_WINNT, None)
    assert parse_rpc_address(SERVER).security() is None


@pytest.mark.parametrize(
    ("where", "who"),
    [
        (RpcAddress("server"), "Anonymous Logon"),
        (RpcAddress("server", user="ada", level="privacy"), "ada at level privacy"),
        (
            RpcAddress("server", level="connect", kerberos=True),
            "the ticket of the user at level connect",
        ),
        (
            RpcAddress("server", user="a@R", level="privacy", kerberos=True),
            "the ticket of a@R at level privacy",
        ),
    ],
)
def test_error_texts_say_who_logs_on(where: RpcAddress, who: str) -> None:
    assert where.who == who

"""Logons of a queue manager: accounts that change while it runs, and failures."""

import logging
import os
from pathlib import Path

import pytest
from tests.service.test_message_log import lines

from openmsmq.security.caller import unix_user_sid
from openmsmq.security.mechanism import (
    RPC_C_AUTHN_GSS_KERBEROS,
    RPC_C_AUTHN_WINNT,
    AuthenticationFailed,
    SecurityContext,
)
from openmsmq.security.ntlm import NtlmCredentials, nt_hash
from openmsmq.security.packages import initiators
from openmsmq.service.account_file import AccountFile
from openmsmq.service.logons import Logons
from openmsmq.wire.errors import ConfigError

ADDRESS = "192.0.2.1"


def log_on(logons: Logons, user: str, password: str) -> SecurityContext:
    credentials = NtlmCredentials.of_password(user, password)
    packages = initiators(credentials, random=os.urandom, utc=lambda: 0.0, seal=True)
    client = packages[RPC_C_AUTHN_WINNT]()
    server = logons.acceptors[RPC_C_AUTHN_WINNT]()
    server.step(client.step(server.step(client.step(b""))))
    return server


def test_an_account_logs_on_as_its_principal(tmp_path: Path) -> None:
    AccountFile(tmp_path).add("Alice", "secret", unix_user_sid(os.getuid()))
    server = log_on(Logons(tmp_path, "server"), "alice", "secret")
    assert server.identity == "Alice"
    assert server.caller.sid == unix_user_sid(os.getuid())


def test_changes_of_the_file_count_from_the_next_logon_on(tmp_path: Path) -> None:
    logons = Logons(tmp_path, "server")
    file = AccountFile(tmp_path)
    assert logons.find("alice") is None
    file.add("alice", "secret", None)
    log_on(logons, "alice", "secret")
    file.set_password("alice", "another")
    log_on(logons, "alice", "another")
    with pytest.raises(AuthenticationFailed):
        log_on(logons, "alice", "secret")
    file.remove("alice")
    with pytest.raises(AuthenticationFailed):
        log_on(logons, "alice", "another")


def test_a_file_that_cannot_be_used_is_logged_once_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = AccountFile(tmp_path)
    file.add("alice", "secret", None)
    logons = Logons(tmp_path, "server")
    logons.reload()
    file.path.write_text("{}")
    with caplog.at_level(logging.INFO, "openmsmq"):
        for _ in range(3):
            account = logons.find("alice")
            assert account is not None
            assert account.nt_hash == nt_hash("secret")
    assert len(lines(caplog, "M0017")) == 1
    with pytest.raises(ConfigError):
        logons.reload()


def test_failures_are_logged_and_slow_the_address_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    times = [0.0]
    logons = Logons(tmp_path, "server", now=lambda: times[0])
    with caplog.at_level(logging.INFO, "openmsmq"):
        assert logons.reserve(ADDRESS) == 0.0
        for _ in range(9):
            logons.failed(ADDRESS, AuthenticationFailed("wrong password"))
        assert logons.reserve(ADDRESS) == 8.0
        while logons.reserve(ADDRESS) is not None:
            pass
        assert logons.reserve("192.0.2.2") == 0.0
    assert len(lines(caplog, "M0060")) == 9
    assert len(lines(caplog, "M0061")) == 1
    times[0] = 3600.0
    logons.forget()
    assert logons.reserve(ADDRESS) == 0.0


def test_anonymous_logons_are_refused_unless_allowed(tmp_path: Path) -> None:
    with pytest.raises(AuthenticationFailed):
        log_on(Logons(tmp_path, "server"), "", "")
    assert log_on(Logons(tmp_path, "server", allow_anonymous=True), "", "").identity == "anonymous"


def test_a_principal_logs_on_to_its_account_and_no_other(tmp_path: Path) -> None:
    logons = Logons(tmp_path, "server")
    file = AccountFile(tmp_path)
    assert logons.find_principal("alice@REALM") is None
    file.add("alice", None, unix_user_sid(os.getuid()), "alice@REALM")
    file.add("bob", "secret", None)
    account = logons.find_principal("alice@REALM")
    assert account is not None
    assert (account.name, account.caller.sid) == ("alice", unix_user_sid(os.getuid()))
    for other in ("Alice@REALM", "alice@realm", "alice", "bob@REALM", ""):
        assert logons.find_principal(other) is None
    file.remove("alice")
    assert logons.find_principal("alice@REALM") is None


def test_an_account_without_a_password_does_not_log_on_by_ntlm(tmp_path: Path) -> None:
    AccountFile(tmp_path).add("alice", None, None, "alice@REALM")
    logons = Logons(tmp_path, "server")
    assert logons.find("alice") is None
    for password in ("", "secret"):
        with pytest.raises(AuthenticationFailed):
            log_on(logons, "alice", password)


def test_kerberos_is_offered_where_there_is_a_keytab(tmp_path: Path) -> None:
    assert RPC_C_AUTHN_GSS_KERBEROS not in Logons(tmp_path, "server").acceptors
    with_keys = Logons(tmp_path, "server", keytab=tmp_path / "keytab")
    assert RPC_C_AUTHN_GSS_KERBEROS in with_keys.acceptors

"""Options for servers that are read by Kerberos ticket."""

from typing import Any

import pytest

from openmsmq.spark import connection
from openmsmq.spark.options.connection import ConnectionOptions
from openmsmq.wire.errors import ConfigError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENMSMQ_RPC_USER", raising=False)
    monkeypatch.delenv("OPENMSMQ_RPC_PASSWORD_FILE", raising=False)


def test_kerberos_reads_servers_by_ticket_or_password() -> None:
    found = ConnectionOptions.from_values({"endpoint": "msmq://server", "auth.kerberos": True})
    assert (found.kerberos, found.user, found.password_file) == (True, None, None)
    found = ConnectionOptions.from_values(
        {
            "endpoint": "msmq://server",
            "auth.kerberos": True,
            "auth.user": "ada@REALM",
            "auth.passwordFile": "/etc/ada",
            "auth.level": "integrity",
        }
    )
    assert (found.user, found.password_file, found.level) == (
        "ada@REALM",
        "/etc/ada",
        "integrity",
    )


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"endpoint": "msmq://server", "auth.kerberos": True, "auth.level": "none"}, "auth.level"),
        ({"endpoint": "/socket", "auth.kerberos": True}, "auth.kerberos"),
    ],
)
def test_kerberos_goes_with_servers_and_a_level(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=f"option {reason}"):
        ConnectionOptions.from_values(values)


@pytest.mark.parametrize(
    ("options", "auth"),
    [
        (ConnectionOptions(), None),
        (ConnectionOptions("msmq://server"), "none"),
        (ConnectionOptions("msmq://server", user="ada"), "ntlm"),
        (ConnectionOptions("msmq://server", kerberos=True), "kerberos"),
        (ConnectionOptions("msmq://server", user="ada", kerberos=True), "kerberos"),
    ],
)
def test_a_ticket_is_taken_only_where_an_option_says_so(
    options: ConnectionOptions, auth: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}
    monkeypatch.setattr(connection, "connect", lambda _, **rest: made.update(rest))
    connection.open_connection(options)
    assert made["auth"] == auth

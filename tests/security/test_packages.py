"""Contexts by auth_type, as RPC asks for them."""

import pytest
from tests.security.ntlm.peers import ALICE, NAMES, NOW, PASSWORD, find, repeatable

from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.security.mechanism import (
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_WINNT,
    AuthenticationFailed,
    SecurityContext,
)
from openmsmq.security.ntlm import ANONYMOUS_CREDENTIALS, NtlmCredentials
from openmsmq.security.packages import ACCEPTED_TYPES, Acceptors, Initiators


def acceptors(*, allow_anonymous: bool = False) -> Acceptors:
    return Acceptors(NAMES, find, repeatable(), lambda: NOW, allow_anonymous)


def initiators(credentials: NtlmCredentials) -> Initiators:
    return Initiators(credentials, repeatable(), lambda: NOW, "RPC/server", "CLIENT")


def log_on(client: SecurityContext, server: SecurityContext) -> None:
    token = client.step(b"")
    while token:
        token = server.step(token)
        token = client.step(token) if token else b""


@pytest.mark.parametrize("auth_type", ACCEPTED_TYPES)
@pytest.mark.parametrize("seal", [False, True])
def test_every_type_logs_on_and_protects(auth_type: int, *, seal: bool) -> None:
    server = acceptors().accept(auth_type)
    client = initiators(NtlmCredentials.of_password("alice", PASSWORD)).start(auth_type, seal=seal)
    log_on(client, server)
    assert server.caller.sid == ALICE
    body, signature = client.wrap(b"h", b"body", b"t", seal=seal, header_signing=False)
    assert server.unwrap(b"h", body, b"t", signature, seal=seal, header_signing=False) == b"body"


@pytest.mark.parametrize("auth_type", ACCEPTED_TYPES)
def test_anonymous_logons_are_a_choice(auth_type: int) -> None:
    server = acceptors(allow_anonymous=True).accept(auth_type)
    log_on(initiators(ANONYMOUS_CREDENTIALS).start(auth_type, seal=True), server)
    assert server.caller == ANONYMOUS_CALLER
    with pytest.raises(AuthenticationFailed, match="anonymous"):
        log_on(
            initiators(ANONYMOUS_CREDENTIALS).start(auth_type, seal=True),
            acceptors().accept(auth_type),
        )


def test_other_types_are_refused() -> None:
    assert ACCEPTED_TYPES == (RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT)
    with pytest.raises(AuthenticationFailed, match="auth_type 16"):
        acceptors().accept(16)
    with pytest.raises(AuthenticationFailed, match="auth_type 68"):
        initiators(ANONYMOUS_CREDENTIALS).start(68, seal=True)

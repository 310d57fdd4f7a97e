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
from openmsmq.security.packages import acceptors, initiators

TYPES = (RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT)


def server_of(auth_type: int, *, allow_anonymous: bool = False) -> SecurityContext:
    packages = acceptors(
        NAMES, find, random=repeatable(), utc=lambda: NOW, allow_anonymous=allow_anonymous
    )
    assert set(packages) == set(TYPES)
    return packages[auth_type]()


def client_of(
    auth_type: int, credentials: NtlmCredentials, *, seal: bool = True
) -> SecurityContext:
    packages = initiators(credentials, random=repeatable(), utc=lambda: NOW, seal=seal)
    assert set(packages) == set(TYPES)
    return packages[auth_type]()


def log_on(client: SecurityContext, server: SecurityContext) -> None:
    token = client.step(b"")
    while token:
        token = server.step(token)
        token = client.step(token) if token else b""


@pytest.mark.parametrize("auth_type", TYPES)
@pytest.mark.parametrize("seal", [False, True])
def test_every_type_logs_on_and_protects(auth_type: int, *, seal: bool) -> None:
    server = server_of(auth_type)
    client = client_of(auth_type, NtlmCredentials.of_password("alice", PASSWORD), seal=seal)
    log_on(client, server)
    assert server.caller.sid == ALICE
    body, signature = client.wrap(b"h", b"body", b"t", seal=seal, header_signing=False)
    assert server.unwrap(b"h", body, b"t", signature, seal=seal, header_signing=False) == b"body"


@pytest.mark.parametrize("auth_type", TYPES)
def test_every_context_is_a_new_one(auth_type: int) -> None:
    packages = acceptors(NAMES, find, random=repeatable(), utc=lambda: NOW)
    first, second = packages[auth_type](), packages[auth_type]()
    offer = client_of(auth_type, ANONYMOUS_CREDENTIALS).step(b"")
    assert first.step(offer) != second.step(offer)


@pytest.mark.parametrize("auth_type", TYPES)
def test_anonymous_logons_are_a_choice(auth_type: int) -> None:
    server = server_of(auth_type, allow_anonymous=True)
    log_on(client_of(auth_type, ANONYMOUS_CREDENTIALS), server)
    assert server.caller == ANONYMOUS_CALLER
    with pytest.raises(AuthenticationFailed, match="anonymous"):
        log_on(client_of(auth_type, ANONYMOUS_CREDENTIALS), server_of(auth_type))

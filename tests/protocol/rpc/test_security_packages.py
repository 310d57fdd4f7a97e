"""RPC with the security packages of the product, both roles in memory."""

import pytest
from tests.protocol.rpc.harness import ADD, SECRET, TEST, Case, Client, Number
from tests.security.ntlm.peers import NAMES, NOW, PASSWORD, find, repeatable

from openmsmq.protocol.rpc import (
    ClientConnection,
    ClientSecurity,
    ConnectionClosed,
    RpcServer,
    RpcSettings,
)
from openmsmq.protocol.rpc.client import Answered, Failed
from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT
from openmsmq.security.ntlm import ANONYMOUS_CREDENTIALS, NtlmCredentials
from openmsmq.security.packages import acceptors, initiators
from openmsmq.wire.rpc.status import AuthnLevel

TYPES = (RPC_C_AUTHN_WINNT, RPC_C_AUTHN_GSS_NEGOTIATE)
LEVELS = (AuthnLevel.CONNECT, AuthnLevel.PKT, AuthnLevel.PKT_INTEGRITY, AuthnLevel.PKT_PRIVACY)
WRONG = NtlmCredentials.of_password("alice", "wrong")
ALICE = NtlmCredentials.of_password("WORKGROUP\\alice", PASSWORD)


def connected(auth_type: int, level: AuthnLevel, credentials: NtlmCredentials) -> Client:
    case = Case()
    case.server = RpcServer(
        RpcSettings(),
        acceptors=acceptors(
            NAMES, find, random=repeatable(), utc=lambda: NOW, allow_anonymous=True
        ),
        random_bytes=repeatable(),
        gate=case.gate,
    )
    packages = initiators(
        credentials, random=repeatable(), utc=lambda: NOW, seal=level == AuthnLevel.PKT_PRIVACY
    )
    security = ClientSecurity(auth_type, level, packages[auth_type])
    return Client(case.link(), ClientConnection((TEST,), security=security))


@pytest.mark.parametrize("auth_type", TYPES)
@pytest.mark.parametrize("level", LEVELS)
def test_calls_are_answered_at_every_level(auth_type: int, level: AuthnLevel) -> None:
    client = connected(auth_type, level, ALICE)
    for number in range(3):
        answer = client.call(ADD, Number(number))
        assert isinstance(answer, Answered)
        assert answer.response == Number(number + 1)
    secret = client.call(SECRET, Number(7))
    assert isinstance(secret, Answered if level == AuthnLevel.PKT_PRIVACY else Failed)


def test_a_wrong_password_is_refused_by_the_first_call_of_ntlm() -> None:
    """Its last token, in auth3, gets no answer."""
    client = connected(RPC_C_AUTHN_WINNT, AuthnLevel.PKT_PRIVACY, WRONG)
    client.call(ADD, Number(1))
    outcomes = [event for event in client.events if isinstance(event, Answered | Failed)]
    assert [type(outcome) for outcome in outcomes] == [Failed]


def test_a_wrong_password_is_refused_by_the_negotiation_of_spnego() -> None:
    client = connected(RPC_C_AUTHN_GSS_NEGOTIATE, AuthnLevel.PKT_PRIVACY, WRONG)
    with pytest.raises(ConnectionClosed, match="refused the credentials"):
        client.call(ADD, Number(1))


@pytest.mark.parametrize("auth_type", TYPES)
def test_an_anonymous_logon_counts_as_no_authentication(auth_type: int) -> None:
    client = connected(auth_type, AuthnLevel.PKT_PRIVACY, ANONYMOUS_CREDENTIALS)
    assert isinstance(client.call(ADD, Number(1)), Answered)
    assert isinstance(client.call(SECRET, Number(7)), Failed)

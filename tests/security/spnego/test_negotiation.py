"""Negotiations between our two sides, with NTLM and with mechanisms made for the test."""

from dataclasses import dataclass, field, replace

import pytest
from tests.security.ntlm import peers

from openmsmq.security.caller import ANONYMOUS_CALLER, Caller
from openmsmq.security.mechanism import AuthenticationFailed, SecurityContext
from openmsmq.security.ntlm.messages import SIGNATURE
from openmsmq.security.spnego import (
    KERBEROS,
    MS_KERBEROS,
    NTLMSSP,
    Mechanism,
    SpnegoAcceptor,
    SpnegoContext,
    SpnegoInitiator,
)
from openmsmq.security.spnego.tokens import NegState, NegTokenInit, NegTokenResp


@dataclass
class Steps:
    """A mechanism that sends its tokens one after the other and signs by reversing."""

    tokens: list[bytes]
    has_integrity: bool = True
    seen: list[bytes] = field(default_factory=list)
    complete: bool = False
    identity: str = "somebody"
    caller: Caller = ANONYMOUS_CALLER

    def signature_size(self, *, seal: bool) -> int:
        del seal
        return 4

    def step(self, token: bytes) -> bytes:
        self.seen.append(token)
        answer = self.tokens.pop(0)
        self.complete = not self.tokens
        return answer

    def wrap(
        self,
        header: bytes,
        body: bytes | bytearray,
        trailer: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> tuple[bytes, bytes]:
        del header, trailer, seal, header_signing
        return bytes(body), b"sign"

    def unwrap(
        self,
        header: bytes,
        body: bytes | bytearray | memoryview,
        trailer: bytes,
        signature: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> bytes:
        del header, trailer, signature, seal, header_signing
        return bytes(body)

    def sign_mechanisms(self, mechanisms: bytes) -> bytes:
        return mechanisms[::-1]

    def verify_mechanisms(self, mechanisms: bytes, signature: bytes) -> None:
        if signature != mechanisms[::-1]:
            raise AuthenticationFailed("wrong list")


def ntlm_server() -> SpnegoContext:
    return SpnegoContext(SpnegoAcceptor((Mechanism((NTLMSSP,), peers.acceptor, SIGNATURE),)))


def ntlm_client(password: str = peers.PASSWORD) -> SpnegoContext:
    mechanism = Mechanism((NTLMSSP,), lambda: peers.initiator("alice", password))
    return SpnegoContext(SpnegoInitiator((mechanism,)))


def kerberos_first(steps: Steps, *, seal: bool = True) -> SpnegoContext:
    """A client that prefers Kerberos and can also do NTLM."""
    return SpnegoContext(
        SpnegoInitiator(
            (
                Mechanism((MS_KERBEROS, KERBEROS), lambda: steps),
                Mechanism((NTLMSSP,), lambda: peers.initiator(seal=seal)),
            )
        )
    )


def exchange(client: SecurityContext, server: SecurityContext) -> list[bytes]:
    """All tokens of both sides."""
    tokens = [client.step(b"")]
    sides = [server, client]
    while True:
        answer = sides[0].step(tokens[-1])
        if not answer:
            return tokens
        tokens.append(answer)
        sides.reverse()


def check_messages(client: SecurityContext, server: SecurityContext) -> None:
    for source, target in ((client, server), (server, client)) * 2:
        body, signature = source.wrap(b"head", b"body", b"tail", seal=True, header_signing=True)
        assert target.unwrap(b"head", body, b"tail", signature, seal=True, header_signing=True) == (
            b"body"
        )


def test_ntlm_needs_four_tokens() -> None:
    client, server = ntlm_client(), ntlm_server()
    tokens = exchange(client, server)
    assert len(tokens) == 4
    assert NegTokenResp.parse(tokens[1]).neg_state is NegState.ACCEPT_INCOMPLETE
    assert NegTokenResp.parse(tokens[1]).supported_mech == NTLMSSP
    assert NegTokenResp.parse(tokens[2]).mech_list_mic is not None
    last = NegTokenResp.parse(tokens[3])
    assert last.neg_state is NegState.ACCEPT_COMPLETED
    assert last.mech_list_mic is not None
    assert client.complete
    assert server.complete
    assert server.caller.sid == peers.ALICE
    assert (client.identity, server.identity) == ("alice", "Alice")
    assert server.signature_size(seal=True) == 16
    check_messages(client, server)


def test_a_client_that_prefers_kerberos_falls_back_to_ntlm() -> None:
    client, server = kerberos_first(Steps([b"ticket", b""])), ntlm_server()
    tokens = exchange(client, server)
    assert NegTokenResp.parse(tokens[1]).neg_state is NegState.REQUEST_MIC
    assert NegTokenResp.parse(tokens[1]).response_token is None
    assert client.complete
    assert server.complete
    check_messages(client, server)


def test_ntlm_without_spnego_around_it_is_taken() -> None:
    client, server = peers.initiator(), ntlm_server()
    assert server.step(client.step(server.step(client.step(b"")))) == b""
    assert server.complete
    check_messages(client, server)


def test_a_wrong_password_fails() -> None:
    client, server = ntlm_client("wrong"), ntlm_server()
    with pytest.raises(AuthenticationFailed, match="wrong password"):
        exchange(client, server)
    assert not server.complete
    assert server.identity == ""
    with pytest.raises(AuthenticationFailed, match="over"):
        server.step(b"")


def test_nothing_is_known_before_the_end() -> None:
    for context in (ntlm_client(), ntlm_server()):
        with pytest.raises(AuthenticationFailed, match="not complete"):
            _ = context.caller
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.signature_size(seal=True)
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.wrap(b"", b"", b"", seal=False, header_signing=False)


def test_steps_after_the_end_fail() -> None:
    client, server = ntlm_client(), ntlm_server()
    tokens = exchange(client, server)
    for context in (client, server):
        with pytest.raises(AuthenticationFailed, match="over"):
            context.step(tokens[2])


def test_a_changed_list_of_mechanisms_is_noticed_by_the_server() -> None:
    client, server = kerberos_first(Steps([b"ticket", b""])), ntlm_server()
    offer = NegTokenInit.parse(client.step(b""))
    # Somebody on the way takes Kerberos out, so that NTLM seems to be preferred.
    stripped = NegTokenInit.offering((NTLMSSP,), b"")
    challenge = server.step(replace(stripped, mech_token=None).serialize())
    assert offer.mech_types[0] == MS_KERBEROS
    challenge = server.step(client.step(challenge))
    with pytest.raises(AuthenticationFailed, match="wrong signature"):
        server.step(client.step(challenge))


def test_a_missing_mic_of_the_client_is_noticed() -> None:
    client, server = kerberos_first(Steps([b"ticket", b""])), ntlm_server()
    token = client.step(server.step(client.step(server.step(client.step(b"")))))
    silent = replace(NegTokenResp.parse(token), mech_list_mic=None)
    with pytest.raises(AuthenticationFailed, match="prove its list"):
        server.step(silent.serialize())


def test_a_missing_mic_of_the_server_is_noticed() -> None:
    client, server = kerberos_first(Steps([b"ticket", b""])), ntlm_server()
    token = client.step(server.step(client.step(server.step(client.step(b"")))))
    last = replace(NegTokenResp.parse(server.step(token)), mech_list_mic=None)
    with pytest.raises(AuthenticationFailed, match="prove its choice"):
        client.step(last.serialize())
    assert not client.complete


def test_a_mic_is_not_needed_for_the_preferred_mechanism() -> None:
    client, server = ntlm_client(), ntlm_server()
    token = client.step(server.step(client.step(b"")))
    last = server.step(replace(NegTokenResp.parse(token), mech_list_mic=None).serialize())
    assert NegTokenResp.parse(last) == NegTokenResp(NegState.ACCEPT_COMPLETED)
    assert server.complete


def test_a_mechanism_of_one_round_trip_completes_at_once() -> None:
    """As Kerberos without mutual authentication in DCE style."""
    theirs, ours = Steps([b"request", b""]), Steps([b"reply"])
    client = SpnegoContext(SpnegoInitiator((Mechanism((KERBEROS,), lambda: theirs),)))
    server = SpnegoContext(SpnegoAcceptor((Mechanism((KERBEROS,), lambda: ours),)))
    tokens = exchange(client, server)
    assert len(tokens) == 2
    assert client.complete
    assert ours.seen == [b"request"]
    assert theirs.seen == [b"", b"reply"]


def test_a_server_that_ends_the_mechanism_signs_first() -> None:
    """RFC 4178, 5: with a mechanism that is not the preferred one."""
    ntlm = Mechanism((NTLMSSP,), lambda: Steps([b"never"]))
    client = SpnegoContext(
        SpnegoInitiator((ntlm, Mechanism((KERBEROS,), lambda: Steps([b"request", b""]))))
    )
    server = SpnegoContext(SpnegoAcceptor((Mechanism((KERBEROS,), lambda: Steps([b"reply"])),)))
    tokens = exchange(client, server)
    states = [NegTokenResp.parse(token).neg_state for token in tokens[1::2]]
    assert states == [
        NegState.REQUEST_MIC,
        NegState.ACCEPT_INCOMPLETE,
        NegState.ACCEPT_COMPLETED,
    ]
    assert client.complete
    assert server.complete


def test_a_mechanism_without_integrity_signs_nothing() -> None:
    client = SpnegoContext(
        SpnegoInitiator(
            (
                Mechanism((KERBEROS,), lambda: Steps([b"x", b"y"])),
                Mechanism((NTLMSSP,), lambda: Steps([b"a", b"b"], has_integrity=False)),
            )
        )
    )
    server = SpnegoContext(
        SpnegoAcceptor((Mechanism((NTLMSSP,), lambda: Steps([b"c", b""], has_integrity=False)),))
    )
    tokens = exchange(client, server)
    assert all(NegTokenResp.parse(token).mech_list_mic is None for token in tokens[1:])
    assert client.complete
    assert server.complete


def awaiting_mic() -> tuple[SpnegoContext, bytes]:
    """A server that waits for the mechListMIC of its client."""
    server = SpnegoContext(SpnegoAcceptor((Mechanism((KERBEROS,), lambda: Steps([b"reply"])),)))
    init = NegTokenInit.offering((NTLMSSP, KERBEROS), b"other")
    server.step(init.serialize())
    server.step(NegTokenResp(response_token=b"request").serialize())
    return server, init.mech_types_der


def test_the_last_mic_must_be_right() -> None:
    server, der = awaiting_mic()
    server.step(NegTokenResp(mech_list_mic=der[::-1]).serialize())
    assert server.complete
    for wrong in (NegTokenResp(mech_list_mic=der), NegTokenResp()):
        server, _ = awaiting_mic()
        with pytest.raises(AuthenticationFailed, match="list"):
            server.step(wrong.serialize())
        assert not server.complete


@pytest.mark.parametrize("token", [b"", b"noise", b"\x60\x80", b"NTLMSSP\0", b"NTLMSSP\0\3"])
def test_noise_fails_at_every_leg(token: bytes) -> None:
    client, server = ntlm_client(), ntlm_server()
    with pytest.raises(AuthenticationFailed):
        ntlm_server().step(token)
    challenge = server.step(client.step(b""))
    with pytest.raises(AuthenticationFailed):
        server.step(token)
    second = ntlm_client()
    second.step(b"")
    with pytest.raises(AuthenticationFailed):
        second.step(token)
    client.step(challenge)
    with pytest.raises(AuthenticationFailed):
        client.step(token)


def test_a_client_refuses_what_a_server_must_not_say() -> None:
    reject = NegTokenResp(NegState.REJECT)
    foreign = NegTokenResp(NegState.REQUEST_MIC, KERBEROS)
    early = NegTokenResp(NegState.ACCEPT_COMPLETED, NTLMSSP)
    mixed = NegTokenResp(NegState.REQUEST_MIC, KERBEROS, b"token")
    for message, reason in (
        (reject, "refuses"),
        (foreign, "not offered"),
        (early, "missing"),
        (mixed, "not started"),
    ):
        client = ntlm_client()
        client.step(b"")
        with pytest.raises(AuthenticationFailed, match=reason):
            client.step(message.serialize())


def test_a_mechanism_may_take_more_round_trips() -> None:
    theirs, ours = Steps([b"1", b"3", b"5"]), Steps([b"2", b"4", b""])
    client = SpnegoContext(SpnegoInitiator((Mechanism((KERBEROS,), lambda: theirs),)))
    server = SpnegoContext(SpnegoAcceptor((Mechanism((KERBEROS,), lambda: ours),)))
    exchange(client, server)
    assert theirs.seen == [b"", b"2", b"4"]
    assert ours.seen == [b"1", b"3", b"5"]
    assert client.complete
    assert server.complete


def test_a_server_that_ends_too_early_or_never_is_refused() -> None:
    client, server = ntlm_client(), ntlm_server()
    challenge = NegTokenResp.parse(server.step(client.step(b"")))
    with pytest.raises(AuthenticationFailed, match="before the logon"):
        client.step(replace(challenge, neg_state=NegState.ACCEPT_COMPLETED).serialize())
    client, server = ntlm_client(), ntlm_server()
    client.step(server.step(client.step(b"")))
    with pytest.raises(AuthenticationFailed, match="does not end"):
        client.step(NegTokenResp(NegState.ACCEPT_INCOMPLETE).serialize())


def test_a_server_refuses_what_a_client_must_not_say() -> None:
    for message, reason in (
        (NegTokenResp(NegState.REJECT), "gave up"),
        (NegTokenResp(), "missing"),
    ):
        server = ntlm_server()
        server.step(ntlm_client().step(b""))
        with pytest.raises(AuthenticationFailed, match=reason):
            server.step(message.serialize())
    with pytest.raises(AuthenticationFailed, match="no mechanism"):
        ntlm_server().step(NegTokenInit.offering((KERBEROS,), b"").serialize())
    with pytest.raises(AuthenticationFailed, match="empty token"):
        ntlm_client().step(b"x")


def test_an_offer_without_a_token_is_answered_with_the_choice() -> None:
    server = ntlm_server()
    offer = replace(NegTokenInit.offering((NTLMSSP,), b""), mech_token=None)
    answer = NegTokenResp.parse(server.step(offer.serialize()))
    assert answer == NegTokenResp(NegState.ACCEPT_INCOMPLETE, NTLMSSP)

"""A logon between our two sides, and every way in which it must fail."""

import re
from dataclasses import replace

import pytest
from tests.security.ntlm.peers import (
    ALICE,
    NOW,
    PASSWORD,
    acceptor,
    find,
    initiator,
    logon,
    repeatable,
    tokens,
)

from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.security.mechanism import AuthenticationFailed, IntegrityContext
from openmsmq.security.ntlm import (
    ANONYMOUS_CREDENTIALS,
    MachineNames,
    NtlmAcceptor,
    NtlmContext,
    NtlmCredentials,
    nt_hash,
)
from openmsmq.security.ntlm import flags as f
from openmsmq.security.ntlm.av_pairs import MIC_PRESENT, AvId, AvPairs
from openmsmq.security.ntlm.messages import (
    AuthenticateMessage,
    ChallengeMessage,
    NegotiateMessage,
    with_mic,
)


def fails(context: NtlmContext, token: bytes, reason: str) -> None:
    with pytest.raises(AuthenticationFailed, match=reason):
        context.step(token)
    assert not context.complete
    assert context.identity == ""
    with pytest.raises(AuthenticationFailed, match="out of turn"):
        context.step(token)


def challenged(server: NtlmContext, **changes: object) -> bytes:
    """The challenge of a server, changed on its way."""
    message = ChallengeMessage.parse(server.step(NegotiateMessage(FULL_OFFER).serialize()))
    return replace(message, **changes).serialize()  # type: ignore[arg-type]


FULL_OFFER = (
    f.UNICODE | f.SIGN | f.SEAL | f.NTLM | f.EXTENDED_SESSIONSECURITY | f.KEY_128 | f.KEY_EXCH
)


def test_a_logon_completes_on_both_sides() -> None:
    client: IntegrityContext = initiator()
    server: IntegrityContext = acceptor()
    assert not client.complete
    assert not client.has_integrity
    challenge = server.step(client.step(b""))
    assert not server.complete
    with pytest.raises(AuthenticationFailed):
        _ = server.caller
    assert server.step(client.step(challenge)) == b""
    assert server.complete
    assert client.complete
    assert server.identity == "Alice"
    assert client.identity == "alice"
    assert server.caller.sid == ALICE
    assert client.has_integrity
    assert server.has_integrity
    assert client.signature_size(seal=True) == server.signature_size(seal=False) == 16
    with pytest.raises(AuthenticationFailed):
        _ = client.caller


@pytest.mark.parametrize("user", ["ALICE", "DOMAIN\\alice", "Alice", "straße", "STRAßE"])
def test_users_are_found_in_any_case_and_domain(user: str) -> None:
    server = acceptor()
    logon(initiator(user), server)
    assert server.identity in ("Alice", "straße")


def test_a_user_principal_name_is_sent_whole() -> None:
    credentials = NtlmCredentials.of_password("alice@example.org", PASSWORD)
    assert (credentials.user, credentials.domain) == ("alice@example.org", "")


def test_a_client_that_leaves_the_domain_out_of_its_key_is_taken() -> None:
    client, server = initiator("alice"), acceptor()
    # Without timestamp there is no MIC over the message, whose domain changes here.
    challenge = ChallengeMessage.parse(server.step(client.step(b"")))
    assert challenge.target_info is not None
    pairs = dict(challenge.target_info.pairs)
    del pairs[AvId.MSV_AV_TIMESTAMP]
    token = client.step(replace(challenge, target_info=AvPairs(pairs)).serialize())
    message = replace(AuthenticateMessage.parse(token), domain_name="ELSEWHERE")
    assert server.step(message.serialize()) == b""


def test_hashes_never_show() -> None:
    account = find("alice")
    credentials = NtlmCredentials.of_password("alice", PASSWORD)
    secret = nt_hash(PASSWORD)
    for shown in (repr(account), repr(credentials), str(account)):
        assert secret.hex() not in shown
        assert repr(secret) not in shown


@pytest.mark.parametrize(
    ("user", "password"), [("alice", "wrong"), ("bob", PASSWORD), ("alice", ""), ("bob", "")]
)
def test_a_wrong_password_and_an_unknown_user_fail_alike(user: str, password: str) -> None:
    client, server = initiator(user, password), acceptor()
    token = tokens(client, server)[2]
    fails(server, token, f"wrong password or unknown user '{user}'")


def test_an_unknown_user_with_the_hash_of_nobody_fails() -> None:
    client = initiator(credentials=NtlmCredentials("bob", "", bytes(16)))
    server = acceptor()
    fails(server, tokens(client, server)[2], "unknown user")


@pytest.mark.parametrize("leg", range(3))
def test_the_mic_covers_every_message(leg: int) -> None:
    client, server = initiator(), acceptor()
    negotiate = client.step(b"")
    challenge = server.step(negotiate if leg != 0 else negotiate[:32] + b"\1" + negotiate[33:])
    if leg == 1:
        # The version field of the challenge decides nothing else.
        challenge = challenge[:48] + b"\1" + challenge[49:]
    token = client.step(challenge)
    if leg == 2:
        token = token[:64] + b"\1" + token[65:]
    fails(server, token, "wrong MIC")


def test_a_mic_of_another_value_fails() -> None:
    client, server = initiator(), acceptor()
    fails(server, with_mic(tokens(client, server)[2], bytes(16)), "wrong MIC")


def test_a_mic_that_was_cut_out_fails() -> None:
    """The proof of the password says that there is a MIC; so it cannot be left out."""
    client, server = initiator(), acceptor()
    token = tokens(client, server)[2]
    message = AuthenticateMessage.parse(token)
    cut = bytearray(token[:72] + token[88:])
    for at in (12, 20, 28, 36, 44, 52):
        offset = int.from_bytes(cut[at + 4 : at + 8], "little") - 16
        cut[at + 4 : at + 8] = offset.to_bytes(4, "little")
    assert AuthenticateMessage.parse(bytes(cut)).user_name == message.user_name
    fails(server, bytes(cut), "no room")


def test_a_message_of_an_earlier_logon_fails() -> None:
    client, server = initiator(), acceptor()
    negotiate, _, token = tokens(client, server)
    server.step(token)
    random = repeatable()
    random(8)
    another = NtlmContext(
        NtlmAcceptor(MachineNames.of_computer("server"), find, random=random, utc=lambda: NOW)
    )
    another.step(negotiate)
    fails(another, token, "wrong password")


def test_steps_after_the_last_one_fail() -> None:
    client, server = initiator(), acceptor()
    token = tokens(client, server)[2]
    server.step(token)
    with pytest.raises(AuthenticationFailed, match="out of turn"):
        server.step(token)
    assert not server.complete
    with pytest.raises(AuthenticationFailed, match="out of turn"):
        client.step(b"")


def test_an_initiator_starts_with_an_empty_token() -> None:
    fails(initiator(), b"NTLMSSP\0", "empty token")


def test_messages_in_the_wrong_order_fail() -> None:
    client, server = initiator(), acceptor()
    negotiate, challenge, authenticate = tokens(client, server)
    fails(server, challenge, "MessageType")
    fails(acceptor(), challenge, "MessageType")
    fails(acceptor(), authenticate, "MessageType")
    fails(acceptor(), b"", "NEGOTIATE_MESSAGE")
    other = initiator()
    other.step(b"")
    fails(other, negotiate, "CHALLENGE_MESSAGE")


@pytest.mark.parametrize(
    ("offer", "reason"),
    [
        (FULL_OFFER & ~f.EXTENDED_SESSIONSECURITY, "no extended session security"),
        (FULL_OFFER & ~f.UNICODE, "no Unicode"),
        (FULL_OFFER & ~f.KEY_128, "128 bits"),
        (FULL_OFFER & ~f.KEY_128 | f.KEY_56, "128 bits"),
        (FULL_OFFER | f.DATAGRAM, "connectionless"),
        (0, "no Unicode"),
    ],
)
def test_weak_offers_are_refused(offer: int, reason: str) -> None:
    fails(acceptor(), NegotiateMessage(offer).serialize(), reason)


@pytest.mark.parametrize("flag", [f.EXTENDED_SESSIONSECURITY, f.KEY_128])
def test_a_choice_weaker_than_the_offer_is_refused(flag: int) -> None:
    client, server = initiator(), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    weaker = replace(message, negotiate_flags=message.negotiate_flags & ~flag)
    fails(server, weaker.serialize(), "chose too little")


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        (f.EXTENDED_SESSIONSECURITY, "no extended session security"),
        (f.KEY_128, "128 bits"),
        (f.SIGN, "no signing"),
        (f.SEAL, "no sealing"),
        (f.UNICODE, "no Unicode"),
        (f.TARGET_INFO, "names"),
    ],
)
def test_an_initiator_refuses_a_weaker_server(flag: int, reason: str) -> None:
    client = initiator()
    client.step(b"")
    server = acceptor()
    flags = ChallengeMessage.parse(challenged(server)).negotiate_flags & ~flag
    fails(client, challenged(acceptor(), negotiate_flags=flags), reason)


def test_an_initiator_wants_the_names_of_the_server() -> None:
    client = initiator()
    client.step(b"")
    pairs = AvPairs({AvId.MSV_AV_NB_COMPUTER_NAME: b"S\0"})
    fails(client, challenged(acceptor(), target_info=pairs), "names")


def test_a_response_of_ntlm_v1_is_refused() -> None:
    client, server = initiator(), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    old = replace(message, nt_challenge_response=bytes(24), lm_challenge_response=bytes(24))
    fails(server, old.serialize(), "NTLMv1")


def test_a_response_of_lm_alone_is_refused() -> None:
    client, server = initiator(), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    fails(server, replace(message, nt_challenge_response=b"").serialize(), "LM")


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (bytes(30), "NTLMv2_RESPONSE"),
        (bytes(16) + b"\1\2" + bytes(60), "RespType"),
        (bytes(16) + b"\1\1" + bytes(26), "AV_PAIR"),
        (bytes(16) + b"\1\1" + bytes(26) + b"\1\0\xff\0", "AV_PAIR.Value"),
    ],
)
def test_a_malformed_response_is_refused(response: bytes, reason: str) -> None:
    client, server = initiator(), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    fails(server, replace(message, nt_challenge_response=response).serialize(), reason)


def test_a_missing_session_key_is_refused() -> None:
    client, server = initiator(), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    keyless = replace(message, encrypted_random_session_key=b"").serialize()
    fails(server, keyless, "no session key")


def test_an_anonymous_logon_is_refused_by_default() -> None:
    client, server = initiator(credentials=ANONYMOUS_CREDENTIALS), acceptor()
    fails(server, tokens(client, server)[2], "anonymous")


@pytest.mark.parametrize("lm_response", [b"", b"\0"])
def test_an_anonymous_logon_is_anonymous_where_it_is_allowed(lm_response: bytes) -> None:
    client = initiator(credentials=ANONYMOUS_CREDENTIALS)
    server = acceptor(allow_anonymous=True)
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    assert message.negotiate_flags & f.ANONYMOUS
    server.step(replace(message, lm_challenge_response=lm_response).serialize())
    assert server.caller == ANONYMOUS_CALLER
    assert server.identity == client.identity == "anonymous"
    body, signature = client.wrap(b"", b"body", b"", seal=True, header_signing=True)
    assert server.unwrap(b"", body, b"", signature, seal=True, header_signing=True) == b"body"


def test_a_user_without_a_response_is_not_anonymous() -> None:
    client = initiator(credentials=ANONYMOUS_CREDENTIALS)
    server = acceptor(allow_anonymous=True)
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    fails(server, replace(message, user_name="alice").serialize(), "NTLMv1 or LM")


def test_channel_bindings_must_be_those_of_the_channel() -> None:
    logon(initiator(channel_bindings=b"one"), acceptor(channel_bindings=b"one"))
    logon(initiator(channel_bindings=b"one"), acceptor())
    for bindings in (b"", b"two"):
        client, server = initiator(channel_bindings=bindings), acceptor(channel_bindings=b"one")
        fails(server, tokens(client, server)[2], "another channel")


def test_a_server_without_a_time_gets_an_lm_response_and_no_mic() -> None:
    client = initiator()
    client.step(b"")
    names: dict[int, bytes] = {
        AvId.MSV_AV_NB_COMPUTER_NAME: b"S\0",
        AvId.MSV_AV_NB_DOMAIN_NAME: b"S\0",
    }
    token = client.step(challenged(acceptor(), target_info=AvPairs(names)))
    message = AuthenticateMessage.parse(token)
    assert message.mic == bytes(16)
    assert message.lm_challenge_response[16:] == message.nt_challenge_response[32:40]
    pairs, _ = AvPairs.parse(message.nt_challenge_response, 44)
    assert not pairs.flags & MIC_PRESENT


def test_a_server_without_key_exchange_gets_no_session_key() -> None:
    client, server = initiator(), acceptor()
    offer = NegotiateMessage.parse(client.step(b""))
    weaker = replace(offer, negotiate_flags=offer.negotiate_flags & ~f.KEY_EXCH)
    token = client.step(server.step(weaker.serialize()))
    message = AuthenticateMessage.parse(token)
    assert message.encrypted_random_session_key == b""
    # The MIC covers the offer, which was changed on its way.
    fails(server, token, "wrong MIC")


def test_what_a_client_says_of_itself() -> None:
    client, server = initiator("EXAMPLE\\alice"), acceptor()
    message = AuthenticateMessage.parse(tokens(client, server)[2])
    assert (message.domain_name, message.user_name) == ("EXAMPLE", "alice")
    assert message.workstation == "CLIENT"
    assert message.lm_challenge_response == bytes(24)
    pairs, end = AvPairs.parse(message.nt_challenge_response, 44)
    assert message.nt_challenge_response[end:] == bytes(4)
    assert pairs.flags == MIC_PRESENT
    target = pairs.pairs[AvId.MSV_AV_TARGET_NAME]
    assert target.decode("utf-16-le") == "RPC/server.example.org"
    # [MS-NLMP] 3.1.5.1.2: the time is the server's.
    assert message.nt_challenge_response[24:32] == pairs.timestamp


def test_what_a_server_says_of_itself() -> None:
    server = acceptor()
    challenge = ChallengeMessage.parse(server.step(initiator().step(b"")))
    assert challenge.target_name == "SERVER"
    assert challenge.target_info is not None
    texts = {
        av_id: value.decode("utf-16-le")
        for av_id, value in challenge.target_info.pairs.items()
        if av_id != AvId.MSV_AV_TIMESTAMP
    }
    assert texts == {
        AvId.MSV_AV_NB_DOMAIN_NAME: "SERVER",
        AvId.MSV_AV_NB_COMPUTER_NAME: "SERVER",
        AvId.MSV_AV_DNS_DOMAIN_NAME: "example.org",
        AvId.MSV_AV_DNS_COMPUTER_NAME: "server.example.org",
    }
    ticks = int.from_bytes(challenge.target_info.timestamp or b"", "little")
    assert ticks / 10_000_000 - 11_644_473_600 == NOW


def test_a_long_name_is_cut_to_a_netbios_name() -> None:
    names = MachineNames.of_computer("a-very-long-computer-name")
    assert names.netbios_computer == "A-VERY-LONG-COM"


def test_an_offer_without_signing_gets_no_keys() -> None:
    server = acceptor()
    offer = NegotiateMessage(f.UNICODE | f.NTLM | f.EXTENDED_SESSIONSECURITY | f.KEY_EXCH)
    flags = ChallengeMessage.parse(server.step(offer.serialize())).negotiate_flags
    assert not flags & (f.KEY_EXCH | f.KEY_128 | f.SIGN | f.SEAL)
    assert flags & f.ALWAYS_SIGN


def test_failures_name_no_bytes_of_the_secret() -> None:
    client, server = initiator("alice", "wrong"), acceptor()
    token = tokens(client, server)[2]
    with pytest.raises(AuthenticationFailed) as failure:
        server.step(token)
    assert not re.search(r"\\x|[0-9a-f]{8}", str(failure.value))

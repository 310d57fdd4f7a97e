"""impacket as the other side: its client functions, and its arithmetic as a server."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.ntlm.peers import ALICE, PASSWORD, acceptor, initiator

from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.security.md4 import md4
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.security.ntlm import NtlmContext

ntlm: Any = pytest.importorskip("impacket.ntlm", reason="impacket is not installed")

HEADER, BODY, TRAILER = b"request header", b"the stub " * 20, b"trailer."


class ImpacketKeys:
    """One direction of a session in impacket."""

    def __init__(self, flags: int, key: bytes, mode: str) -> None:
        self._flags = flags
        self._sign = ntlm.SIGNKEY(flags, key, mode)
        self._seal = ntlm.SEALKEY(flags, key, mode)
        self._handle: Callable[[bytes], bytes] = ntlm.ARC4.new(self._seal).encrypt
        self._number = 0

    def sign(self, message: bytes) -> bytes:
        signature = ntlm.SIGN(self._flags, self._sign, message, self._number, self._handle)
        self._number += 1
        return bytes(signature.getData())

    def seal(self, message: bytes, secret: bytes) -> tuple[bytes, bytes]:
        sealed, signature = ntlm.SEAL(
            self._flags, self._sign, self._seal, message, secret, self._number, self._handle
        )
        self._number += 1
        return bytes(sealed), bytes(signature.getData())

    def decrypt(self, data: bytes) -> bytes:
        return self._handle(data)


def log_on(server: NtlmContext, user: str, password: str, **options: Any) -> tuple[int, bytes]:
    """impacket logs on; return its flags and session key."""
    signing = options.pop("signing", True)
    domain = options.pop("domain", "")
    negotiate = ntlm.getNTLMSSPType1("WORKSTATION", domain, signingRequired=signing, **options)
    challenge = server.step(negotiate.getData())
    answer, key = ntlm.getNTLMSSPType3(negotiate, challenge, user, password, domain, **options)
    assert server.step(answer.getData()) == b""
    return answer["flags"], key


@given(data=st.binary(max_size=300))
def test_md4_is_that_of_another_library(data: bytes) -> None:
    assert md4(data) == ntlm.MD4.new(data).digest()


@pytest.mark.parametrize("domain", ["", "DOMAIN", "example.org"])
def test_it_logs_on(domain: str) -> None:
    server = acceptor()
    log_on(server, "alice", PASSWORD, domain=domain)
    assert server.complete
    assert server.caller.sid == ALICE


def test_it_logs_on_without_signing() -> None:
    server = acceptor()
    log_on(server, "alice", PASSWORD, signing=False)
    assert server.caller.sid == ALICE
    assert not server.has_integrity


def test_it_logs_on_anonymously() -> None:
    server = acceptor(allow_anonymous=True)
    log_on(server, "", "")
    assert server.caller == ANONYMOUS_CALLER


@pytest.mark.parametrize("header_signing", [False, True])
def test_its_signed_and_sealed_messages_are_understood(*, header_signing: bool) -> None:
    server = acceptor()
    flags, key = log_on(server, "alice", PASSWORD)
    client = ImpacketKeys(flags, key, "Client")
    whole = HEADER + BODY + TRAILER
    for _ in range(3):
        signature = client.sign(whole)
        assert (
            server.unwrap(
                HEADER, BODY, TRAILER, signature, seal=False, header_signing=header_signing
            )
            == BODY
        )
        sealed, signature = client.seal(whole, BODY)
        assert (
            server.unwrap(
                HEADER, sealed, TRAILER, signature, seal=True, header_signing=header_signing
            )
            == BODY
        )


def test_our_signatures_are_its_signatures() -> None:
    server = acceptor()
    flags, key = log_on(server, "alice", PASSWORD)
    expected, decrypting = (ImpacketKeys(flags, key, "Server") for _ in range(2))
    whole = HEADER + BODY + TRAILER
    for _ in range(3):
        body, signature = server.wrap(HEADER, BODY, TRAILER, seal=False, header_signing=True)
        assert body == BODY
        assert signature == expected.sign(whole)
        decrypting.decrypt(signature[4:12])
        body, signature = server.wrap(HEADER, BODY, TRAILER, seal=True, header_signing=True)
        assert (body, signature) == expected.seal(whole, BODY)
        assert decrypting.decrypt(body) == BODY
        decrypting.decrypt(signature[4:12])


def test_a_wrong_password_fails() -> None:
    server = acceptor()
    with pytest.raises(AuthenticationFailed, match="wrong password"):
        log_on(server, "alice", "wrong")
    assert not server.complete


def test_ntlm_v1_is_refused() -> None:
    with pytest.raises(AuthenticationFailed, match="NTLMv1"):
        log_on(acceptor(), "alice", PASSWORD, use_ntlmv2=False)


def test_an_offer_without_extended_session_security_is_refused() -> None:
    negotiate = ntlm.getNTLMSSPType1("", "", signingRequired=True)
    negotiate["flags"] &= ~ntlm.NTLMSSP_NEGOTIATE_EXTENDED_SESSIONSECURITY
    with pytest.raises(AuthenticationFailed, match="extended session security"):
        acceptor().step(negotiate.getData())


def test_it_takes_our_proof() -> None:
    """As a server: the response, the session key and the MIC by its functions."""
    client = initiator("DOMAIN\\alice")
    server = acceptor()
    negotiate = client.step(b"")
    challenge = server.step(negotiate)
    token = client.step(challenge)
    answer = ntlm.NTLMAuthChallengeResponse()
    answer.fromString(token)
    assert answer["user_name"].decode("utf-16-le") == "alice"
    response_key = ntlm.NTOWFv2("alice", PASSWORD, "DOMAIN")
    server_challenge = ntlm.NTLMAuthChallenge(challenge)["challenge"]
    proof, blob = answer["ntlm"][:16], answer["ntlm"][16:]
    assert proof == ntlm.hmac_md5(response_key, server_challenge + blob)
    base_key = ntlm.hmac_md5(response_key, proof)
    key = ntlm.generateEncryptedSessionKey(base_key, answer["session_key"])
    mic = ntlm.hmac_md5(key, negotiate + challenge + token[:72] + bytes(16) + token[88:])
    assert token[72:88] == mic
    sealed, signature = client.wrap(HEADER, BODY, TRAILER, seal=True, header_signing=True)
    keys = ImpacketKeys(answer["flags"], key, "Client")
    assert (sealed, signature) == keys.seal(HEADER + BODY + TRAILER, BODY)

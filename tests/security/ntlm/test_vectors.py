"""[MS-NLMP] 4.2.4: the calculations of NTLMv2."""

from typing import Final

import pytest
from tests.security.ntlm.peers import ALICE, NAMES, acceptor

from openmsmq.security.caller import sender_caller
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.security.ntlm.acceptor import NtlmAcceptor, NtlmAccount
from openmsmq.security.ntlm.av_pairs import AvId
from openmsmq.security.ntlm.context import NtlmContext
from openmsmq.security.ntlm.keys import (
    CLIENT_TO_SERVER,
    client_challenge_blob,
    lm_v2_response,
    nt_proof,
    ntowf_v2,
    rc4k,
    seal_key,
    session_base_key,
    sign_key,
)
from openmsmq.security.ntlm.messages import AuthenticateMessage, ChallengeMessage
from openmsmq.security.ntlm.session_security import SessionSecurity
from openmsmq.security.passwords import nt_hash

FLAGS: Final = 0xE28A8233
# [MS-NLMP] 4.2.4 shows no NEGOTIATE_MESSAGE; without a MIC only its flags matter.
OFFER: Final = b"NTLMSSP\0" + (1).to_bytes(4, "little") + FLAGS.to_bytes(4, "little")
SERVER_CHALLENGE: Final = bytes.fromhex("0123456789abcdef")
CLIENT_CHALLENGE: Final = b"\xaa" * 8
SESSION_KEY: Final = b"U" * 16
TARGET_INFO: Final = bytes.fromhex(
    "02000c0044006f006d00610069006e00 01000c005300650072007600650072 00 00000000"
)
PROOF: Final = bytes.fromhex("68cd0ab851e51c96aabc927bebef6a1c")
CHALLENGE: Final = bytes.fromhex(
    "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
    "2400240044000000 060070170000000f 530065007200760065007200"
    "02000c0044006f006d00610069006e00 01000c0053006500720076006500720000000000"
)
AUTHENTICATE: Final = bytes.fromhex(
    "4e544c4d5353500003000000180018006c00000054005400840000000c000c00"
    "480000000800080054000000100010005c00000010001000d8000000358288e2"
    "0501280a0000000f44006f006d00610069006e00550073006500720043004f00"
    "4d0050005500540045005200 86c35097ac9cec102554764a57cccc19aaaaaaaa"
    "aaaaaaaa68cd0ab851e51c96aabc927bebef6a1c010100000000000000000000"
    "00000000aaaaaaaaaaaaaaaa0000000002000c0044006f006d00610069006e00"
    "01000c005300650072007600650072000000000000000000"
    "c5dad2544fc9799094ce1ce90bc9d03e"
)


def response_key() -> bytes:
    return ntowf_v2(nt_hash("Password"), "User", "Domain")


def test_the_response_key() -> None:
    assert nt_hash("Password").hex() == "a4f49c406510bdcab6824ee7c30fd852"
    assert response_key().hex() == "0c868a403bfd7a93a3001ef22ef02e3f"


def test_the_responses_and_the_session_key() -> None:
    key = response_key()
    blob = client_challenge_blob(bytes(8), CLIENT_CHALLENGE, TARGET_INFO)
    assert AUTHENTICATE[0x94:0xD8] == blob
    assert nt_proof(key, SERVER_CHALLENGE, blob) == PROOF
    assert session_base_key(key, PROOF).hex() == "8de40ccadbc14a82f15cb0ad0de95ca3"
    lm_response = "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa"
    assert lm_v2_response(key, SERVER_CHALLENGE, CLIENT_CHALLENGE).hex() == lm_response
    encrypted = rc4k(session_base_key(key, PROOF), SESSION_KEY)
    assert encrypted.hex() == "c5dad2544fc9799094ce1ce90bc9d03e"


def test_the_challenge_message_is_read_and_rebuilt() -> None:
    message = ChallengeMessage.parse(CHALLENGE)
    assert message.negotiate_flags == FLAGS
    assert message.server_challenge == SERVER_CHALLENGE
    assert message.target_name == "Server"
    assert message.target_info is not None
    assert message.target_info.pairs[AvId.MSV_AV_NB_DOMAIN_NAME].decode("utf-16-le") == "Domain"
    assert message.serialize() == CHALLENGE


def test_the_authenticate_message_is_read() -> None:
    message = AuthenticateMessage.parse(AUTHENTICATE)
    assert (message.domain_name, message.user_name, message.workstation) == (
        "Domain",
        "User",
        "COMPUTER",
    )
    assert message.nt_challenge_response[:16] == PROOF
    assert message.encrypted_random_session_key.hex() == "c5dad2544fc9799094ce1ce90bc9d03e"
    # It comes from a client without a MIC: the names stand in its place.
    assert message.payload_offset == 72


def test_the_keys_of_a_session_and_the_sealed_message() -> None:
    assert seal_key(SESSION_KEY, CLIENT_TO_SERVER).hex() == "59f600973cc4960a25480a7c196e4c58"
    assert sign_key(SESSION_KEY, CLIENT_TO_SERVER).hex() == "4788dc861b4782f35d43fd98fe1a2d39"
    client = SessionSecurity(FLAGS, SESSION_KEY, is_client=True)
    plain = "Plaintext".encode("utf-16-le")
    sealed, signature = client.wrap(b"", plain, b"", seal=True)
    assert sealed.hex() == "54e50165bf1936dc996020c1811b0f06fb5f"
    assert signature.hex() == "010000007fb38ec5c55d497600000000"
    server = SessionSecurity(FLAGS, SESSION_KEY, is_client=False)
    assert server.unwrap(b"", sealed, b"", signature, seal=True) == plain


def test_the_acceptor_takes_the_authenticate_message() -> None:
    account = NtlmAccount("User", nt_hash("Password"), sender_caller(ALICE))
    server = NtlmContext(
        NtlmAcceptor(NAMES, lambda _: account, random=lambda _: SERVER_CHALLENGE, utc=lambda: 0.0)
    )
    server.step(OFFER)
    assert server.step(AUTHENTICATE) == b""
    assert server.identity == "User"
    client = SessionSecurity(FLAGS, SESSION_KEY, is_client=True)
    body, signature = client.wrap(b"header", b"body", b"trailer", seal=True)
    plain = server.unwrap(b"header", body, b"trailer", signature, seal=True, header_signing=False)
    assert plain == b"body"


def test_the_same_message_fails_against_another_challenge() -> None:
    server = acceptor()
    server.step(OFFER)
    with pytest.raises(AuthenticationFailed):
        server.step(AUTHENTICATE)
    assert not server.complete

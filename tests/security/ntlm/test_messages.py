"""Tokens byte by byte: bounds, signatures, limits."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.ntlm.peers import acceptor, initiator, tokens

from openmsmq.security.ntlm import flags as f
from openmsmq.security.ntlm.av_pairs import MAX_AV_PAIRS, AvId, AvPairs
from openmsmq.security.ntlm.messages import (
    MAX_TOKEN,
    AuthenticateMessage,
    ChallengeMessage,
    NegotiateMessage,
)
from openmsmq.wire.errors import MalformedPacket

NEGOTIATE, CHALLENGE, AUTHENTICATE = tokens(initiator("DOMAIN\\alice"), acceptor())
PARSERS: dict[str, tuple[Callable[[bytes], object], bytes]] = {
    "negotiate": (NegotiateMessage.parse, NEGOTIATE),
    "challenge": (ChallengeMessage.parse, CHALLENGE),
    "authenticate": (AuthenticateMessage.parse, AUTHENTICATE),
}


@pytest.mark.parametrize(("parse", "token"), PARSERS.values(), ids=PARSERS)
def test_every_cut_is_malformed(parse: Callable[[bytes], object], token: bytes) -> None:
    # An offer needs nothing after its flags.
    for size in range(16 if token is NEGOTIATE else len(token)):
        with pytest.raises(MalformedPacket):
            parse(token[:size])


@pytest.mark.parametrize(("parse", "token"), PARSERS.values(), ids=PARSERS)
def test_another_signature_type_or_size_is_malformed(
    parse: Callable[[bytes], object], token: bytes
) -> None:
    for wrong in (
        b"X" + token[1:],
        token[:8] + b"\4" + token[9:],
        token[:8] + b"\1\1" + token[10:],
        token + bytes(MAX_TOKEN),
    ):
        with pytest.raises(MalformedPacket):
            parse(wrong)


def test_an_offer_names_neither_domain_nor_workstation() -> None:
    # [MS-NLMP] 2.2.1.1: two fields of no bytes, each at the end of the fixed part.
    empty = bytes.fromhex("0000 0000 28000000")
    assert NEGOTIATE[:12] == b"NTLMSSP\0\1\0\0\0"
    assert NEGOTIATE[16:32] == empty * 2
    assert len(NEGOTIATE) == 40


def test_messages_are_rebuilt() -> None:
    assert NegotiateMessage.parse(NEGOTIATE).serialize() == NEGOTIATE
    assert ChallengeMessage.parse(CHALLENGE).serialize() == CHALLENGE
    assert AuthenticateMessage.parse(AUTHENTICATE).serialize() == AUTHENTICATE


def test_an_offer_may_end_after_its_flags() -> None:
    message = NegotiateMessage.parse(NEGOTIATE[:16])
    assert message.negotiate_flags == NegotiateMessage.parse(NEGOTIATE).negotiate_flags
    assert message.version == bytes(8)


@pytest.mark.parametrize(
    ("flag", "at"), [(f.OEM_DOMAIN_SUPPLIED, 16), (f.OEM_WORKSTATION_SUPPLIED, 24)]
)
def test_names_in_an_offer_must_lie_inside(flag: int, at: int) -> None:
    token = bytearray(NegotiateMessage(flag).serialize() + b"NAME")
    token[at : at + 8] = bytes.fromhex("0400040028000000")
    NegotiateMessage.parse(bytes(token))
    for wrong in ("0500050028000000", "0400040029000000", "04000400ffffffff", "0400040000000000"):
        token[at : at + 8] = bytes.fromhex(wrong)
        with pytest.raises(MalformedPacket):
            NegotiateMessage.parse(bytes(token))
    with pytest.raises(MalformedPacket):
        NegotiateMessage.parse(bytes(token[:at]))


@pytest.mark.parametrize("at", [12, 20, 28, 36, 44, 52])
def test_fields_of_the_last_message_must_lie_inside_the_payload(at: int) -> None:
    for offset in (0, 63, len(AUTHENTICATE), 0xFFFFFFFF):
        token = bytearray(AUTHENTICATE)
        token[at + 4 : at + 8] = offset.to_bytes(4, "little")
        with pytest.raises(MalformedPacket):
            AuthenticateMessage.parse(bytes(token))


@pytest.mark.parametrize("at", [28, 36, 44])
def test_names_must_be_text_of_bounded_length(at: int) -> None:
    payload = len(AUTHENTICATE).to_bytes(4, "little")
    for size, raw in ((2, b"\0\xd8"), (1, b"A"), (514, b"A\0" * 257)):
        token = bytearray(AUTHENTICATE + raw)
        token[at : at + 8] = size.to_bytes(2, "little") * 2 + payload
        with pytest.raises(MalformedPacket):
            AuthenticateMessage.parse(bytes(token))


def test_names_of_the_last_message_must_be_unicode() -> None:
    token = bytearray(AUTHENTICATE)
    token[60] &= 0xFE
    with pytest.raises(MalformedPacket, match="Unicode"):
        AuthenticateMessage.parse(bytes(token))


def test_a_last_message_without_version_and_mic_is_read() -> None:
    token = bytearray(AUTHENTICATE[:64])
    for at in (12, 20, 28, 36, 44, 52):
        token[at : at + 8] = bytes(8)
    message = AuthenticateMessage.parse(bytes(token))
    assert message.user_name == ""
    assert message.version == bytes(8)
    assert message.mic == bytes(16)
    assert message.payload_offset == 64


def test_a_challenge_of_a_server_without_unicode_and_version_is_read() -> None:
    token = (
        b"NTLMSSP\0"
        + bytes.fromhex("02000000 0200020030000000")
        + f.REQUEST_TARGET.to_bytes(4, "little")
        + bytes(24)
        + b"HI"
    )
    message = ChallengeMessage.parse(token)
    assert message.target_name == "HI"
    assert message.target_info is None
    assert message.version == bytes(8)


def test_a_challenge_without_a_name_is_read() -> None:
    message = ChallengeMessage.parse(ChallengeMessage(f.UNICODE, bytes(8)).serialize())
    assert message.target_name == ""
    assert message.target_info is None


def test_a_name_that_no_flag_announces_is_not_read() -> None:
    flags = f.REQUEST_TARGET | f.TARGET_TYPE_DOMAIN | f.TARGET_TYPE_SERVER
    token = bytearray(CHALLENGE)
    kept = int.from_bytes(token[20:24], "little") & ~flags
    token[20:24] = kept.to_bytes(4, "little")
    assert ChallengeMessage.parse(CHALLENGE).target_name
    assert ChallengeMessage.parse(bytes(token)).target_name == ""


def test_bytes_after_the_end_of_target_info_are_malformed() -> None:
    token = bytearray(CHALLENGE + bytes(1))
    size = int.from_bytes(token[40:42], "little") + 1
    token[40:42] = size.to_bytes(2, "little")
    with pytest.raises(MalformedPacket, match="MsvAvEOL"):
        ChallengeMessage.parse(bytes(token))


@given(
    pairs=st.dictionaries(
        st.integers(11, 0xFFFF) | st.integers(1, 5), st.binary(max_size=20), max_size=8
    )
)
def test_av_pairs_are_rebuilt(pairs: dict[int, bytes]) -> None:
    raw = AvPairs(pairs).serialize()
    parsed, end = AvPairs.parse(raw + b"more")
    assert parsed.pairs == pairs
    assert end == len(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "000000",
        "0000010000",
        "0100020041",
        "0100000001000000 00000000",
        "0600020000000000 0000",
        "07000400000000000000 0000",
        "0a000f00" + "00" * 15 + "00000000",
    ],
)
def test_malformed_av_pairs(raw: str) -> None:
    with pytest.raises(MalformedPacket):
        AvPairs.parse(bytes.fromhex(raw))


def test_av_pairs_have_a_limit() -> None:
    most = {0x100 + number: b"" for number in range(MAX_AV_PAIRS)}
    AvPairs.parse(AvPairs(most).serialize())
    with pytest.raises(MalformedPacket):
        AvPairs.parse(AvPairs(most | {0x90: b""}).serialize())


def test_av_pairs_without_flags_and_time() -> None:
    pairs = AvPairs({AvId.MSV_AV_NB_COMPUTER_NAME: b""})
    assert pairs.flags == 0
    assert pairs.timestamp is None
    assert not pairs.has_names

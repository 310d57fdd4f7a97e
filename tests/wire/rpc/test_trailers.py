"""sec_trailer and verification trailer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.rpc.test_bind import longs, shorts, syntaxes

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr.structures import TRAILER_SIGNATURE
from openmsmq.wire.rpc.sec_trailer import SecTrailer, parse_verifier
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.verification_trailer import (
    MAX_COMMANDS,
    Header2,
    VerificationTrailer,
    append_trailer,
)

bytes_ = st.integers(0, 255)
header2s = st.builds(Header2, bytes_, st.binary(min_size=4, max_size=4), longs, shorts, shorts)


@given(bytes_, bytes_, longs, bytes_)
def test_every_sec_trailer_comes_back(kind: int, level: int, context: int, padding: int) -> None:
    trailer = SecTrailer(kind, level, context, padding)
    assert SecTrailer.parse(trailer.serialize()) == (trailer, 8)


def test_a_verifier_is_found_at_the_end_of_the_pdu() -> None:
    pdu = bytes(24) + b"stub" + SecTrailer(10, 6, 3, 2).serialize() + b"token"
    verifier = parse_verifier(pdu, 5, 24)
    assert (verifier.trailer.auth_context_id, verifier.offset, verifier.token) == (3, 28, b"token")
    assert verifier.body_end == 26


def test_a_verifier_that_does_not_fit_is_malformed() -> None:
    pdu = bytes(24) + SecTrailer(10, 6, 3, 1).serialize() + b"token"
    with pytest.raises(MalformedPacket, match="do not fit"):
        parse_verifier(pdu, 6, 24)
    with pytest.raises(MalformedPacket, match="more padding"):
        parse_verifier(pdu, 5, 24)
    with pytest.raises(MalformedPacket):
        SecTrailer.parse(bytes(7))


@given(longs, st.tuples(syntaxes, syntaxes) | st.none(), header2s | st.none())
def test_every_verification_trailer_comes_back(
    bits: int, pair: tuple[SyntaxId, SyntaxId] | None, header2: Header2 | None
) -> None:
    interface, transfer = pair or (None, None)
    trailer = VerificationTrailer(bits, interface, transfer, header2)
    data = append_trailer(b"12345", trailer)
    assert data[5:16] == bytes(3) + TRAILER_SIGNATURE
    assert VerificationTrailer.find(data, 5) == trailer
    for size in range(16, len(data)):
        with pytest.raises(MalformedPacket):
            VerificationTrailer.find(data[:size], 5)


def test_a_trailer_of_one_command_ends_with_it() -> None:
    for trailer in (
        VerificationTrailer(header2=Header2(0, b"\x10\0\0\0", 1, 2, 3)),
        VerificationTrailer(1),
    ):
        assert VerificationTrailer.parse(trailer.serialize(), 8)[0] == trailer


def test_a_stub_without_signature_has_no_trailer() -> None:
    assert VerificationTrailer.find(TRAILER_SIGNATURE + bytes(8), 1) is None


def test_unknown_commands_are_ignored_unless_they_must_be_understood() -> None:
    data = TRAILER_SIGNATURE + bytes.fromhex("0900040000000000098004000000000001400400 01000000")
    trailer = VerificationTrailer.find(data, 0)
    assert trailer == VerificationTrailer(bits=1, unknown=(9,))


@pytest.mark.parametrize("kind", ["0140", "0240", "0340"])
def test_a_command_of_wrong_length_is_malformed(kind: str) -> None:
    with pytest.raises(MalformedPacket, match="8 in place of"):
        VerificationTrailer.find(TRAILER_SIGNATURE + bytes.fromhex(kind + "0800") + bytes(8), 0)


def test_the_number_of_commands_is_bounded() -> None:
    ignored = bytes.fromhex("09000000")
    end = bytes.fromhex("09400000")
    most = ignored * (MAX_COMMANDS - 1) + end
    assert VerificationTrailer.parse(most) == (VerificationTrailer(), len(most))
    with pytest.raises(MalformedPacket, match="more than 256 commands"):
        VerificationTrailer.parse(ignored + most)

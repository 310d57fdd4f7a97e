"""NegTokenInit and NegTokenResp, built and read."""

from typing import Final

import pytest

from openmsmq.security.der import CONTEXT_0, OCTET_STRING, SEQUENCE, element
from openmsmq.security.spnego.tokens import (
    KERBEROS,
    MAX_MECHANISMS,
    MAX_TOKEN,
    MS_KERBEROS,
    NTLMSSP,
    SPNEGO,
    NegState,
    NegTokenInit,
    NegTokenResp,
)
from openmsmq.wire.errors import MalformedPacket

# RFC 4178, 4.2.1, put together by hand: a list of NTLM alone, and the token "token".
INIT: Final = bytes.fromhex(
    "60 25 0606 2b0601050502 a0 1b 30 19"
    "a0 0e 30 0c 060a 2b06010401823702020a a2 07 04 05 746f6b656e"
)
RESPONSE: Final = bytes.fromhex(
    "a1 1f 30 1d a0 03 0a 01 01 a1 0c 060a 2b06010401823702020a a2 03 04 01 74 a3 03 04 01 6d"
)


def test_an_init_token() -> None:
    token = NegTokenInit.offering((NTLMSSP,), b"token")
    assert token.serialize() == INIT
    parsed = NegTokenInit.parse(INIT)
    assert parsed == token
    assert parsed.mech_types_der == bytes.fromhex("300c060a2b06010401823702020a")


def test_a_response_token() -> None:
    token = NegTokenResp(NegState.ACCEPT_INCOMPLETE, NTLMSSP, b"t", b"m")
    assert token.serialize() == RESPONSE
    assert NegTokenResp.parse(RESPONSE) == token
    assert NegTokenResp.parse(NegTokenResp().serialize()) == NegTokenResp()


def test_an_init_token_with_everything() -> None:
    der = NegTokenInit.offering((MS_KERBEROS, KERBEROS, NTLMSSP), b"").mech_types_der
    token = NegTokenInit((MS_KERBEROS, KERBEROS, NTLMSSP), der, None, b"mic")
    assert NegTokenInit.parse(token.serialize()) == token


def init_of(*members: bytes) -> bytes:
    inner = element(CONTEXT_0, element(SEQUENCE, *members))
    return element(0x60, element(6, SPNEGO), inner)


def test_flags_and_hints_are_passed_over() -> None:
    """[MS-SPNG] 2.2.1: hints stand where the mechListMIC is otherwise."""
    der = NegTokenInit.offering((NTLMSSP,), b"").mech_types_der
    flags = element(CONTEXT_0 + 1, element(3, b"\6\0"))
    hints = element(CONTEXT_0 + 3, element(SEQUENCE, b""))
    mic = element(CONTEXT_0 + 4, element(OCTET_STRING, b"mic"))
    types = element(CONTEXT_0, der)
    assert NegTokenInit.parse(init_of(types, flags, hints, mic)).mech_list_mic == b"mic"
    assert NegTokenInit.parse(init_of(types, flags, hints)).mech_list_mic is None


@pytest.mark.parametrize("token", [INIT, RESPONSE], ids=["init", "response"])
def test_every_cut_is_malformed(token: bytes) -> None:
    for size in range(len(token)):
        for parse in (NegTokenInit.parse, NegTokenResp.parse):
            with pytest.raises(MalformedPacket):
                parse(token[:size])


def test_malformed_init_tokens() -> None:
    der = NegTokenInit.offering((NTLMSSP,), b"").mech_types_der
    many = NegTokenInit.offering((NTLMSSP,) * (MAX_MECHANISMS + 1), b"").serialize()
    for wrong in (
        INIT.replace(SPNEGO, KERBEROS[:6]),
        INIT + b"\0",
        init_of(),
        init_of(element(CONTEXT_0, element(SEQUENCE))),
        init_of(element(CONTEXT_0, der), element(CONTEXT_0 + 1, element(OCTET_STRING))),
        init_of(element(CONTEXT_0, der), element(CONTEXT_0 + 2, element(SEQUENCE))),
        many,
        bytes(MAX_TOKEN + 1),
    ):
        with pytest.raises(MalformedPacket):
            NegTokenInit.parse(wrong)


@pytest.mark.parametrize("state", ["0a0104", "0a00", "0a020000", "040100"])
def test_malformed_states(state: str) -> None:
    token = element(CONTEXT_0 + 1, element(SEQUENCE, element(CONTEXT_0, bytes.fromhex(state))))
    with pytest.raises(MalformedPacket):
        NegTokenResp.parse(token)

"""NegTokenInit and NegTokenResp (RFC 4178, 4.2)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self

from openmsmq.security.der import (
    APPLICATION_0,
    BIT_STRING,
    CONTEXT_0,
    ENUMERATED,
    OBJECT_IDENTIFIER,
    OCTET_STRING,
    SEQUENCE,
    contexts,
    element,
    expect,
    only,
    read_element,
)
from openmsmq.wire.errors import MalformedPacket

# Object identifiers, as their contents stand in DER.
SPNEGO: Final = bytes.fromhex("2b0601050502")
NTLMSSP: Final = bytes.fromhex("2b06010401823702020a")
KERBEROS: Final = bytes.fromhex("2a864886f712010202")
# [MS-SPNG] 2.2: Windows 2000 wrote one number of Kerberos in 16 bits, and all list it since.
MS_KERBEROS: Final = bytes.fromhex("2a864882f712010202")

# The length of a token in RPC has 16 bits.
MAX_TOKEN: Final = 0xFFFF
MAX_MECHANISMS: Final = 32

_INIT: Final = "NegTokenInit"
_RESP: Final = "NegTokenResp"


class NegState(IntEnum):
    """How far a negotiation is."""

    ACCEPT_COMPLETED = 0
    ACCEPT_INCOMPLETE = 1
    REJECT = 2
    REQUEST_MIC = 3


@dataclass(frozen=True, slots=True)
class NegTokenInit:
    """The first token; `mech_types_der` is what the mechListMIC signs, as it came."""

    mech_types: tuple[bytes, ...]
    mech_types_der: bytes
    mech_token: bytes | None = None
    mech_list_mic: bytes | None = None

    @classmethod
    def offering(cls, mech_types: tuple[bytes, ...], mech_token: bytes) -> Self:
        """The token of an initiator, with the first token of the mechanism that it prefers."""
        der = element(SEQUENCE, *(element(OBJECT_IDENTIFIER, oid) for oid in mech_types))
        return cls(mech_types, der, mech_token)

    @classmethod
    def parse(cls, token: bytes) -> Self:
        """Read a token.

        Raises:
            MalformedPacket: it is not one.
        """
        _check_size(token, _INIT)
        start, end = only(token, 0, len(token), APPLICATION_0, "InitialContextToken")
        oid = expect(token, start, end, OBJECT_IDENTIFIER, "thisMech")
        if token[oid[0] : oid[1]] != SPNEGO:
            raise MalformedPacket("thisMech", oid[0], "is not SPNEGO")
        choice = only(token, oid[1], end, CONTEXT_0, "NegotiationToken")
        sequence = only(token, *choice, SEQUENCE, _INIT)
        members = contexts(token, *sequence, _INIT)
        if 0 not in members:
            raise MalformedPacket(f"{_INIT}.mechTypes", sequence[0], "is missing")
        mech_types = _mech_types(token, *members[0])
        if 1 in members:
            only(token, *members[1], BIT_STRING, f"{_INIT}.reqFlags")
        return cls(
            mech_types,
            token[members[0][0] : members[0][1]],
            _octets(token, members.get(2), f"{_INIT}.mechToken"),
            _mic_of_init(token, members),
        )

    def serialize(self) -> bytes:
        parts = [element(CONTEXT_0, self.mech_types_der)]
        for number, value in ((2, self.mech_token), (3, self.mech_list_mic)):
            if value is not None:
                parts.append(element(CONTEXT_0 + number, element(OCTET_STRING, value)))
        inner = element(CONTEXT_0, element(SEQUENCE, *parts))
        return element(APPLICATION_0, element(OBJECT_IDENTIFIER, SPNEGO), inner)


@dataclass(frozen=True, slots=True)
class NegTokenResp:
    """Every later token, of both sides."""

    neg_state: NegState | None = None
    supported_mech: bytes | None = None
    response_token: bytes | None = None
    mech_list_mic: bytes | None = None

    @classmethod
    def parse(cls, token: bytes) -> Self:
        """Read a token.

        Raises:
            MalformedPacket: it is not one.
        """
        _check_size(token, _RESP)
        choice = only(token, 0, len(token), CONTEXT_0 + 1, "NegotiationToken")
        members = contexts(token, *only(token, *choice, SEQUENCE, _RESP), _RESP)
        state, mech = None, None
        if 0 in members:
            start, stop = only(token, *members[0], ENUMERATED, f"{_RESP}.negState")
            value = token[start:stop]
            if len(value) != 1 or value[0] > NegState.REQUEST_MIC:
                raise MalformedPacket(f"{_RESP}.negState", start, f"is {value.hex()}")
            state = NegState(value[0])
        if 1 in members:
            start, stop = only(token, *members[1], OBJECT_IDENTIFIER, f"{_RESP}.supportedMech")
            mech = token[start:stop]
        return cls(
            state,
            mech,
            _octets(token, members.get(2), f"{_RESP}.responseToken"),
            _octets(token, members.get(3), f"{_RESP}.mechListMIC"),
        )

    def serialize(self) -> bytes:
        parts = []
        if self.neg_state is not None:
            state = element(ENUMERATED, bytes((self.neg_state,)))
            parts.append(element(CONTEXT_0, state))
        if self.supported_mech is not None:
            mech = element(OBJECT_IDENTIFIER, self.supported_mech)
            parts.append(element(CONTEXT_0 + 1, mech))
        for number, value in ((2, self.response_token), (3, self.mech_list_mic)):
            if value is not None:
                parts.append(element(CONTEXT_0 + number, element(OCTET_STRING, value)))
        return element(CONTEXT_0 + 1, element(SEQUENCE, *parts))


def _check_size(token: bytes, name: str) -> None:
    if len(token) > MAX_TOKEN:
        raise MalformedPacket(name, MAX_TOKEN, f"{len(token)} bytes are too many")


def _mech_types(token: bytes, start: int, end: int) -> tuple[bytes, ...]:
    field = f"{_INIT}.mechTypes"
    at, stop = only(token, start, end, SEQUENCE, field)
    mech_types: list[bytes] = []
    while at < stop:
        first, at = expect(token, at, stop, OBJECT_IDENTIFIER, field)
        mech_types.append(token[first:at])
    if not 0 < len(mech_types) <= MAX_MECHANISMS:
        raise MalformedPacket(field, start, f"names {len(mech_types)} mechanisms")
    return tuple(mech_types)


def _octets(token: bytes, member: tuple[int, int] | None, field: str) -> bytes | None:
    if member is None:
        return None
    start, stop = only(token, *member, OCTET_STRING, field)
    return token[start:stop]


def _mic_of_init(token: bytes, members: dict[int, tuple[int, int]]) -> bytes | None:
    """[MS-SPNG] 2.2.1: NegTokenInit2 has hints where NegTokenInit has the mechListMIC."""
    field = f"{_INIT}.mechListMIC"
    if 3 in members and read_element(token, *members[3], field)[0] == SEQUENCE:
        return _octets(token, members.get(4), field)
    return _octets(token, members.get(3), field)

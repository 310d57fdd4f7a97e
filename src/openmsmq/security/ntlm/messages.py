"""NEGOTIATE_MESSAGE, CHALLENGE_MESSAGE and AUTHENTICATE_MESSAGE ([MS-NLMP] 2.2.1)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import decode_utf16, require
from openmsmq.wire.errors import MalformedPacket

from .av_pairs import AvPairs
from .flags import (
    OEM_DOMAIN_SUPPLIED,
    OEM_WORKSTATION_SUPPLIED,
    REQUEST_TARGET,
    TARGET_INFO,
    TARGET_TYPE_DOMAIN,
    TARGET_TYPE_SERVER,
    UNICODE,
)

SIGNATURE: Final = b"NTLMSSP\0"
# Longer than any NTLM token of Windows, whose names have at most 256 characters.
MAX_TOKEN: Final = 0x4000
MAX_NAME_BYTES: Final = 512

NEGOTIATE: Final = 1
CHALLENGE: Final = 2
AUTHENTICATE: Final = 3

CHALLENGE_SIZE: Final = 8
SESSION_KEY_SIZE: Final = 16
MIC_SIZE: Final = 16
MIC_OFFSET: Final = 72
# [MS-NLMP] 2.2.2.10: Windows 10, NTLMSSP_REVISION_W2K3. For people who debug; never decides.
VERSION_BYTES: Final = bytes.fromhex("0a00000000 00000f")
NO_VERSION: Final = bytes(8)

_START: Final = Struct("<8sI")
_FIELDS: Final = Struct("<HHI")
_NEGOTIATE: Final = Struct("<8sII8s8s8s")
_NEGOTIATE_FLAGS_END: Final = 16
_NEGOTIATE_DOMAIN: Final = 16
_NEGOTIATE_WORKSTATION: Final = 24
_CHALLENGE: Final = Struct("<8sI8sI8s8x8s")
_CHALLENGE_VERSION: Final = 48
# [MS-NLMP] 4.2.4.3 shows a name with its type and without NTLMSSP_REQUEST_TARGET.
_HAS_TARGET_NAME: Final = REQUEST_TARGET | TARGET_TYPE_DOMAIN | TARGET_TYPE_SERVER
_AUTHENTICATE: Final = Struct("<8sI8s8s8s8s8s8sI")
_AUTHENTICATE_VERSION: Final = 64


@dataclass(frozen=True, slots=True)
class NegotiateMessage:
    """What the initiator offers."""

    negotiate_flags: int
    version: bytes = NO_VERSION

    @classmethod
    def parse(cls, token: bytes) -> Self:
        """Read a token.

        Raises:
            MalformedPacket: it is not one.
        """
        _check_start(token, NEGOTIATE, "NEGOTIATE_MESSAGE", _NEGOTIATE_FLAGS_END)
        flags = int.from_bytes(token[12:_NEGOTIATE_FLAGS_END], "little")
        # The names decide nothing, but a field that points outside is not believed.
        for flag, at, field in (
            (OEM_DOMAIN_SUPPLIED, _NEGOTIATE_DOMAIN, "DomainName"),
            (OEM_WORKSTATION_SUPPLIED, _NEGOTIATE_WORKSTATION, "Workstation"),
        ):
            if flags & flag:
                require(token, at, _FIELDS.size, f"NEGOTIATE_MESSAGE.{field}Fields")
                _payload(token, at, f"NEGOTIATE_MESSAGE.{field}", least=at + _FIELDS.size)
        return cls(flags, token[32:40] if len(token) >= _NEGOTIATE.size else NO_VERSION)

    def serialize(self) -> bytes:
        # [MS-NLMP] 2.2.1.1: the offset where the name would be, if there were one.
        empty = _FIELDS.pack(0, 0, _NEGOTIATE.size)
        return _NEGOTIATE.pack(
            SIGNATURE, NEGOTIATE, self.negotiate_flags, empty, empty, self.version
        )


@dataclass(frozen=True, slots=True)
class ChallengeMessage:
    """What the acceptor chose, its challenge and its names."""

    negotiate_flags: int
    server_challenge: bytes
    target_name: str = ""
    target_info: AvPairs | None = None
    version: bytes = NO_VERSION

    @classmethod
    def parse(cls, token: bytes) -> Self:
        """Read a token.

        Raises:
            MalformedPacket: it is not one.
        """
        _check_start(token, CHALLENGE, "CHALLENGE_MESSAGE", _CHALLENGE.size)
        _, _, _, flags, challenge, _ = _CHALLENGE.unpack_from(token)
        name = ""
        if flags & _HAS_TARGET_NAME:
            field = "CHALLENGE_MESSAGE.TargetName"
            raw, offset = _payload(token, 12, field, least=_CHALLENGE.size)
            name = _text(raw, offset, field) if flags & UNICODE else raw.decode("latin-1")
        pairs = None
        if flags & TARGET_INFO:
            field = "CHALLENGE_MESSAGE.TargetInfo"
            raw, offset = _payload(token, 40, field, least=_CHALLENGE.size)
            pairs, end = AvPairs.parse(raw)
            if end != len(raw):
                raise MalformedPacket(field, offset + end, "bytes follow MsvAvEOL")
        version_end = _CHALLENGE_VERSION + len(NO_VERSION)
        version = token[_CHALLENGE_VERSION:version_end] if len(token) >= version_end else NO_VERSION
        return cls(flags, challenge, name, pairs, version)

    def serialize(self) -> bytes:
        name = self.target_name.encode("utf-16-le")
        info = b"" if self.target_info is None else self.target_info.serialize()
        # The eight bytes of Version are always there, as all clients count on it.
        start = _CHALLENGE_VERSION + len(self.version)
        fixed = _CHALLENGE.pack(
            SIGNATURE,
            CHALLENGE,
            _FIELDS.pack(len(name), len(name), start),
            self.negotiate_flags,
            self.server_challenge,
            _FIELDS.pack(len(info), len(info), start + len(name)),
        )
        return b"".join((fixed, self.version, name, info))


@dataclass(frozen=True, slots=True)
class AuthenticateMessage:
    """Who the initiator says it is, and its proof.

    `mic` is whatever stands at the place of the MIC; whether it is one, the AV_PAIRs inside
    NtChallengeResponse say. `payload_offset` is where the first of the variable fields starts.
    """

    negotiate_flags: int
    user_name: str = ""
    domain_name: str = ""
    workstation: str = ""
    lm_challenge_response: bytes = b""
    nt_challenge_response: bytes = b""
    encrypted_random_session_key: bytes = b""
    version: bytes = NO_VERSION
    mic: bytes = bytes(MIC_SIZE)
    payload_offset: int = MIC_OFFSET + MIC_SIZE

    @classmethod
    def parse(cls, token: bytes) -> Self:
        """Read a token.

        Raises:
            MalformedPacket: it is not one.
        """
        name = "AUTHENTICATE_MESSAGE"
        _check_start(token, AUTHENTICATE, name, _AUTHENTICATE.size)
        flags = _AUTHENTICATE.unpack_from(token)[8]
        values: list[bytes] = []
        offsets: list[int] = []
        for at, field in (
            (12, "LmChallengeResponse"),
            (20, "NtChallengeResponse"),
            (28, "DomainName"),
            (36, "UserName"),
            (44, "Workstation"),
            (52, "EncryptedRandomSessionKey"),
        ):
            raw, offset = _payload(token, at, f"{name}.{field}", least=_AUTHENTICATE.size)
            values.append(raw)
            offsets.append(offset)
        if not flags & UNICODE:
            raise MalformedPacket(f"{name}.NegotiateFlags", 60, "names are not Unicode")
        lm, nt, domain, user, workstation, key = values
        return cls(
            flags,
            _text(user, offsets[3], f"{name}.UserName"),
            _text(domain, offsets[2], f"{name}.DomainName"),
            _text(workstation, offsets[4], f"{name}.Workstation"),
            lm,
            nt,
            key,
            (token[_AUTHENTICATE_VERSION:MIC_OFFSET] + NO_VERSION)[:8],
            (token[MIC_OFFSET : MIC_OFFSET + MIC_SIZE] + bytes(MIC_SIZE))[:MIC_SIZE],
            min((at for at, raw in zip(offsets, values, strict=True) if raw), default=len(token)),
        )

    def serialize(self) -> bytes:
        """The token with its MIC, which `with_mic` fills in."""
        start = MIC_OFFSET + MIC_SIZE
        # [MS-NLMP] 4.2.4.3: the order of the payload.
        domain, user, workstation = (
            text.encode("utf-16-le")
            for text in (self.domain_name, self.user_name, self.workstation)
        )
        values = (
            domain,
            user,
            workstation,
            self.lm_challenge_response,
            self.nt_challenge_response,
            self.encrypted_random_session_key,
        )
        fields = []
        for value in values:
            fields.append(_FIELDS.pack(len(value), len(value), start))
            start += len(value)
        fixed = _AUTHENTICATE.pack(
            SIGNATURE,
            AUTHENTICATE,
            fields[3],
            fields[4],
            *fields[:3],
            fields[5],
            self.negotiate_flags,
        )
        return b"".join((fixed, self.version, self.mic, *values))


def with_mic(token: bytes, mic: bytes) -> bytes:
    """An AUTHENTICATE_MESSAGE with another MIC."""
    return token[:MIC_OFFSET] + mic + token[MIC_OFFSET + MIC_SIZE :]


def _check_start(token: bytes, message_type: int, name: str, size: int) -> None:
    if len(token) > MAX_TOKEN:
        raise MalformedPacket(name, MAX_TOKEN, f"{len(token)} bytes are too many")
    require(token, 0, size, name)
    signature, kind = _START.unpack_from(token)
    if signature != SIGNATURE:
        raise MalformedPacket(f"{name}.Signature", 0, "is not NTLMSSP")
    if kind != message_type:
        raise MalformedPacket(f"{name}.MessageType", 8, f"is {kind}, not {message_type}")


def _payload(token: bytes, at: int, field: str, *, least: int) -> tuple[bytes, int]:
    """The bytes that a field names, and where they start; they never lie in the fixed part."""
    size, _, offset = _FIELDS.unpack_from(token, at)
    if not size:
        return b"", offset
    if offset < least:
        raise MalformedPacket(field, at, f"offset {offset} lies before the payload")
    end = require(token, offset, size, field)
    return token[offset:end], offset


def _text(raw: bytes, offset: int, field: str) -> str:
    if len(raw) > MAX_NAME_BYTES:
        raise MalformedPacket(field, offset, f"{len(raw)} bytes are too many for a name")
    return decode_utf16(raw, offset, field)

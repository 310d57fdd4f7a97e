"""NTLM on the side of the client ([MS-NLMP] 3.1.5.1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self

from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.security.passwords import nt_hash

from . import flags as f
from .av_pairs import MIC_PRESENT, AvId, AvPairs
from .context import Logon
from .keys import (
    channel_bindings_hash,
    client_challenge_blob,
    lm_v2_response,
    message_integrity_code,
    nt_proof,
    ntowf_v2,
    rc4k,
    session_base_key,
)
from .messages import (
    CHALLENGE_SIZE,
    SESSION_KEY_SIZE,
    VERSION_BYTES,
    AuthenticateMessage,
    ChallengeMessage,
    NegotiateMessage,
    with_mic,
)
from .session_security import SessionSecurity
from .times import filetime

OFFER: Final = (
    f.UNICODE
    | f.REQUEST_TARGET
    | f.SIGN
    | f.NTLM
    | f.ALWAYS_SIGN
    | f.EXTENDED_SESSIONSECURITY
    | f.TARGET_INFO
    | f.VERSION
    | f.KEY_128
    | f.KEY_EXCH
)
NO_LM_RESPONSE: Final = bytes(24)
ANONYMOUS_LM_RESPONSE: Final = b"\0"


@dataclass(frozen=True, slots=True)
class NtlmCredentials:
    """A user and the NT hash of its password; without a user, Anonymous Logon."""

    user: str
    domain: str
    nt_hash: bytes = field(repr=False)

    @classmethod
    def of_password(cls, user: str, password: str) -> Self:
        r"""Credentials of `USER`, `DOMAIN\USER` or `USER@DOMAIN` with its password."""
        domain, backslash, name = user.partition("\\")
        if not backslash:
            domain, name = "", user
        return cls(name, domain, nt_hash(password))


ANONYMOUS_CREDENTIALS: Final = NtlmCredentials("", "", b"")


class NtlmInitiator:
    """A logon to another machine by NTLMv2 with extended session security.

    Args:
        credentials: who logs on.
        random: gives that many random bytes.
        utc: the time, for servers that send none.
        seal: ask for encryption; signing is always asked for.
        target_name: the service principal name of the server, as the caller knows it.
        workstation: the NetBIOS name of this machine.
        channel_bindings: the gss_channel_bindings_struct of the channel, if any.
    """

    def __init__(
        self,
        credentials: NtlmCredentials,
        *,
        random: Callable[[int], bytes],
        utc: Callable[[], float],
        seal: bool = True,
        target_name: str = "",
        workstation: str = "",
        channel_bindings: bytes = b"",
    ) -> None:
        self._credentials = credentials
        self._random = random
        self._utc = utc
        self._offer = OFFER | (f.SEAL if seal else 0)
        self._target_name = target_name
        self._workstation = workstation
        self._channel_bindings = channel_bindings
        self._negotiate = b""

    def first(self, token: bytes) -> bytes:
        """Send a NEGOTIATE_MESSAGE."""
        if token:
            raise AuthenticationFailed("an initiator starts with an empty token")
        self._negotiate = NegotiateMessage(self._offer, VERSION_BYTES).serialize()
        return self._negotiate

    def second(self, token: bytes) -> tuple[bytes, Logon]:
        """Answer a CHALLENGE_MESSAGE with an AUTHENTICATE_MESSAGE."""
        challenge = ChallengeMessage.parse(token)
        flags, info = self._choose(challenge)
        if not self._credentials.user:
            response, lm_response, base_key = b"", ANONYMOUS_LM_RESPONSE, bytes(SESSION_KEY_SIZE)
            flags |= f.ANONYMOUS
        else:
            response, lm_response, base_key = self._respond(challenge.server_challenge, info)
        encrypted, session_key = b"", base_key
        if f.exchanges_key(flags):
            session_key = self._random(SESSION_KEY_SIZE)
            encrypted = rc4k(base_key, session_key)
        message = AuthenticateMessage(
            flags,
            self._credentials.user,
            self._credentials.domain,
            self._workstation,
            lm_response,
            response,
            encrypted,
            VERSION_BYTES,
        ).serialize()
        if info.timestamp is not None and self._credentials.user:
            mic = message_integrity_code(session_key, self._negotiate, token, message)
            message = with_mic(message, mic)
        security = SessionSecurity(flags, session_key, is_client=True)
        return message, Logon(self._credentials.user or "anonymous", None, security)

    def _choose(self, challenge: ChallengeMessage) -> tuple[int, AvPairs]:
        """What both sides can do, and what the server says of itself, if that is enough."""
        flags = challenge.negotiate_flags & self._offer
        weak = f.weakness(flags)
        if not weak and flags & (f.SIGN | f.SEAL) != self._offer & (f.SIGN | f.SEAL):
            weak = "no signing or no sealing"
        if weak:
            raise AuthenticationFailed(f"the server chose too little: {weak}")
        info = challenge.target_info
        # [MS-NLMP] 3.1.5.1.2: without both names there is no integrity.
        if info is None or not info.has_names:
            raise AuthenticationFailed("the server does not say its names")
        return flags, info

    def _respond(self, server_challenge: bytes, info: AvPairs) -> tuple[bytes, bytes, bytes]:
        """NtChallengeResponse, LmChallengeResponse and SessionBaseKey."""
        credentials = self._credentials
        client_challenge = self._random(CHALLENGE_SIZE)
        time = filetime(self._utc()) if info.timestamp is None else info.timestamp
        key = ntowf_v2(credentials.nt_hash, credentials.user, credentials.domain)
        blob = client_challenge_blob(time, client_challenge, self._av_pairs(info).serialize())
        proof = nt_proof(key, server_challenge, blob)
        # [MS-NLMP] 3.1.5.1.2: a server that sends its time gets no LM response.
        lm_response = NO_LM_RESPONSE
        if info.timestamp is None:
            lm_response = lm_v2_response(key, server_challenge, client_challenge)
        return proof + blob, lm_response, session_base_key(key, proof)

    def _av_pairs(self, info: AvPairs) -> AvPairs:
        """What the server said, with what the client adds."""
        pairs = dict(info.pairs)
        if info.timestamp is not None:
            pairs[AvId.MSV_AV_FLAGS] = (info.flags | MIC_PRESENT).to_bytes(4, "little")
        pairs[AvId.MSV_AV_CHANNEL_BINDINGS] = channel_bindings_hash(self._channel_bindings)
        pairs[AvId.MSV_AV_TARGET_NAME] = self._target_name.encode("utf-16-le")
        return AvPairs(pairs)

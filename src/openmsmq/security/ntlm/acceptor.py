"""NTLM on the side of the server ([MS-NLMP] 3.2.5.1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Final

from openmsmq.security.caller import ANONYMOUS_CALLER, Caller
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from . import flags as f
from .av_pairs import MIC_PRESENT, AvId, AvPairs
from .context import Logon
from .keys import (
    channel_bindings_hash,
    message_integrity_code,
    nt_proof,
    ntowf_v2,
    rc4k,
    session_base_key,
)
from .messages import (
    CHALLENGE_SIZE,
    MIC_OFFSET,
    MIC_SIZE,
    NO_VERSION,
    SESSION_KEY_SIZE,
    VERSION_BYTES,
    AuthenticateMessage,
    ChallengeMessage,
    NegotiateMessage,
    with_mic,
)
from .names import MachineNames
from .session_security import SessionSecurity
from .times import filetime

# [MS-NLMP] 3.2.5.1.1: what is returned of the offer of a client; the rest is always or never set.
SUPPORTED: Final = (
    f.UNICODE
    | f.SIGN
    | f.SEAL
    | f.EXTENDED_SESSIONSECURITY
    | f.IDENTIFY
    | f.VERSION
    | f.KEY_128
    | f.KEY_EXCH
    | f.KEY_56
)
ALWAYS: Final = f.REQUEST_TARGET | f.NTLM | f.ALWAYS_SIGN | f.TARGET_TYPE_SERVER | f.TARGET_INFO

# [MS-NLMP] 2.2.2.8: an NTLMv1 response has exactly 24 bytes.
NTLM_V1_SIZE: Final = 24
PROOF_SIZE: Final = 16
# [MS-NLMP] 2.2.2.7: the AV_PAIRs of an NTLMv2_RESPONSE.
AV_PAIRS_OFFSET: Final = PROOF_SIZE + 28
ANONYMOUS_LM_RESPONSES: Final = (b"", b"\0")
# Whoever has no account is checked like those who have one.
NO_HASH: Final = bytes(16)


@dataclass(frozen=True, slots=True)
class NtlmAccount:
    """A user who may log on: the NT hash, which never shows, and whom the account stands for."""

    name: str
    nt_hash: bytes = field(repr=False)
    caller: Caller


# The account of a user name in any case; None for an unknown one.
AccountLookup = Callable[[str], NtlmAccount | None]


class NtlmAcceptor:
    """A logon to this machine by NTLMv2 with extended session security.

    Args:
        names: the names of this machine.
        accounts: finds the account of a user; the domain is what the client says and does not
            decide.
        random: gives that many random bytes.
        utc: the time.
        allow_anonymous: accept a logon without user and password, as Anonymous Logon. It proves
            nothing, and its signatures protect nothing.
        channel_bindings: the gss_channel_bindings_struct that clients must be bound to, if any.
    """

    def __init__(
        self,
        names: MachineNames,
        accounts: AccountLookup,
        *,
        random: Callable[[int], bytes],
        utc: Callable[[], float],
        allow_anonymous: bool = False,
        channel_bindings: bytes = b"",
    ) -> None:
        self._names = names
        self._accounts = accounts
        self._random = random
        self._utc = utc
        self._allow_anonymous = allow_anonymous
        self._channel_bindings = channel_bindings
        self._flags = 0
        self._challenge = b""
        self._messages = (b"", b"")

    def first(self, token: bytes) -> bytes:
        """Answer a NEGOTIATE_MESSAGE."""
        offer = NegotiateMessage.parse(token).negotiate_flags
        chosen = offer & SUPPORTED | ALWAYS
        # [MS-NLMP] 2.2.2.5, U: without signing and sealing there are no keys to agree on.
        if not f.has_session_security(offer):
            chosen &= ~(f.KEY_128 | f.KEY_56 | f.KEY_EXCH)
        weak = f.weakness(chosen | offer & f.DATAGRAM)
        if weak:
            raise AuthenticationFailed(f"the client offers too little: {weak}")
        self._flags = chosen
        self._challenge = self._random(CHALLENGE_SIZE)
        challenge = ChallengeMessage(
            chosen,
            self._challenge,
            self._names.netbios_computer,
            self._names.av_pairs(filetime(self._utc())),
            VERSION_BYTES if chosen & f.VERSION else NO_VERSION,
        ).serialize()
        self._messages = (token, challenge)
        return challenge

    def second(self, token: bytes) -> tuple[bytes, Logon]:
        """Check an AUTHENTICATE_MESSAGE."""
        message = AuthenticateMessage.parse(token)
        flags = message.negotiate_flags & self._flags
        anonymous = is_anonymous(message)
        weak = f.weakness(flags)
        # An anonymous logon without signing and sealing has no keys that could be weak.
        if weak and (not anonymous or f.has_session_security(flags)):
            raise AuthenticationFailed(f"the client chose too little: {weak}")
        if anonymous:
            if not self._allow_anonymous:
                raise AuthenticationFailed("an anonymous logon")
            # [MS-NLMP] 3.2.5.1.2: the key of an anonymous logon is known to all.
            session_key = self._session_key(message, flags, bytes(SESSION_KEY_SIZE))
            identity, caller = "anonymous", ANONYMOUS_CALLER
        else:
            account, session_key = self._verify(message, token, flags)
            identity, caller = account.name, account.caller
        return b"", Logon(identity, caller, SessionSecurity(flags, session_key, is_client=False))

    def _verify(
        self, message: AuthenticateMessage, token: bytes, flags: int
    ) -> tuple[NtlmAccount, bytes]:
        """The account of a user whose proof is right, and the session key."""
        response = message.nt_challenge_response
        if len(response) <= NTLM_V1_SIZE:
            raise AuthenticationFailed("not NTLMv2: the response is that of NTLMv1 or LM")
        require(response, 0, AV_PAIRS_OFFSET, "NTLMv2_RESPONSE")
        # [MS-NLMP] 2.2.2.7: RespType and HiRespType.
        if response[PROOF_SIZE : PROOF_SIZE + 2] != b"\1\1":
            raise MalformedPacket("NTLMv2_CLIENT_CHALLENGE.RespType", PROOF_SIZE, "is not 1")
        pairs, _ = AvPairs.parse(response, AV_PAIRS_OFFSET)
        account = self._accounts(message.user_name)
        hashed = NO_HASH if account is None else account.nt_hash
        base_key = self._prove(message, hashed)
        if base_key is None or account is None:
            raise AuthenticationFailed(f"wrong password or unknown user {message.user_name!r}")
        session_key = self._session_key(message, flags, base_key)
        self._check_mic(message, token, pairs, session_key)
        self._check_channel_bindings(pairs)
        return account, session_key

    def _prove(self, message: AuthenticateMessage, hashed: bytes) -> bytes | None:
        """The SessionBaseKey, if NTProofStr shows that the client knows the NT hash.

        It is computed over the client's bytes as they came: clients end them differently.
        """
        proof = message.nt_challenge_response[:PROOF_SIZE]
        blob = message.nt_challenge_response[PROOF_SIZE:]
        base_key = None
        # [MS-NLMP] 3.2.5.1.2: some clients leave the domain out of the key, but not of the message.
        for domain in (message.domain_name, ""):
            response_key = ntowf_v2(hashed, message.user_name, domain)
            if compare_digest(nt_proof(response_key, self._challenge, blob), proof):
                base_key = session_base_key(response_key, proof)
        return base_key

    def _session_key(self, message: AuthenticateMessage, flags: int, base_key: bytes) -> bytes:
        """ExportedSessionKey."""
        if not f.exchanges_key(flags):
            return base_key
        if len(message.encrypted_random_session_key) != SESSION_KEY_SIZE:
            raise AuthenticationFailed("no session key, though its exchange was agreed on")
        return rc4k(base_key, message.encrypted_random_session_key)

    def _check_mic(
        self, message: AuthenticateMessage, token: bytes, pairs: AvPairs, session_key: bytes
    ) -> None:
        """The client says that there is a MIC under the proof of its password."""
        if not pairs.flags & MIC_PRESENT:
            return
        if message.payload_offset < MIC_OFFSET + MIC_SIZE:
            raise AuthenticationFailed("a MIC is announced, and there is no room for one")
        expected = message_integrity_code(
            session_key, *self._messages, with_mic(token, bytes(MIC_SIZE))
        )
        if not compare_digest(expected, message.mic):
            raise AuthenticationFailed("wrong MIC: a message of the logon was changed on its way")

    def _check_channel_bindings(self, pairs: AvPairs) -> None:
        if not self._channel_bindings:
            return
        bound = pairs.pairs.get(AvId.MSV_AV_CHANNEL_BINDINGS, b"")
        if not compare_digest(channel_bindings_hash(self._channel_bindings), bound):
            raise AuthenticationFailed("the logon belongs to another channel")


def is_anonymous(message: AuthenticateMessage) -> bool:
    """Whether the client asks for Anonymous Logon ([MS-NLMP] 3.2.5.1.2)."""
    return (
        not message.user_name
        and not message.nt_challenge_response
        and message.lm_challenge_response in ANONYMOUS_LM_RESPONSES
    )

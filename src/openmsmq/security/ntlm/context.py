"""An exchange of NTLM as a security context, for either role."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from openmsmq.security.caller import Caller
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.errors import MalformedPacket

from .session_security import SIGNATURE_SIZE, SessionSecurity


class State(Enum):
    """How far an exchange is."""

    START = auto()
    CHALLENGED = auto()
    COMPLETE = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Logon:
    """The result of an exchange; `caller` is None on the side of the initiator."""

    identity: str
    caller: Caller | None
    security: SessionSecurity


class Exchange(Protocol):
    """The two steps of a role; what they raise ends the exchange."""

    def first(self, token: bytes) -> bytes:
        """Send NEGOTIATE_MESSAGE, or answer it with CHALLENGE_MESSAGE."""

    def second(self, token: bytes) -> tuple[bytes, Logon]:
        """Answer CHALLENGE_MESSAGE with AUTHENTICATE_MESSAGE, or check that."""


class NtlmContext:
    """One exchange of three messages, and the protection of messages after it."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._state = State.START
        self._logon: Logon | None = None

    @property
    def complete(self) -> bool:
        return self._state is State.COMPLETE

    @property
    def identity(self) -> str:
        return "" if self._logon is None else self._logon.identity

    @property
    def caller(self) -> Caller:
        if self._logon is None or self._logon.caller is None:
            raise AuthenticationFailed("no caller: the logon is not complete, or is an initiator's")
        return self._logon.caller

    def signature_size(self, *, seal: bool) -> int:
        del seal
        return SIGNATURE_SIZE

    @property
    def has_integrity(self) -> bool:
        return self._logon is not None and self._logon.security.has_integrity

    def step(self, token: bytes) -> bytes:
        state = self._state
        # Until the step succeeds; every way out by an exception ends the exchange.
        self._state = State.FAILED
        try:
            if state is State.START:
                answer = self._exchange.first(token)
                self._state = State.CHALLENGED
            elif state is State.CHALLENGED:
                answer, self._logon = self._exchange.second(token)
                self._state = State.COMPLETE
            else:
                raise AuthenticationFailed(f"a token out of turn: the exchange is {state.name}")
        except MalformedPacket as exc:
            raise AuthenticationFailed(f"malformed token: {exc}") from exc
        return answer

    def wrap(
        self,
        header: bytes,
        body: bytes | bytearray,
        trailer: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> tuple[bytes, bytes]:
        # [MS-NLMP] 3.4.6.1: NTLMv2 signs all buffers, whether or not header signing is agreed on.
        del header_signing
        return self._established().wrap(header, body, trailer, seal=seal)

    def unwrap(
        self,
        header: bytes,
        body: bytes | bytearray | memoryview,
        trailer: bytes,
        signature: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> bytes:
        del header_signing
        return self._established().unwrap(header, body, trailer, signature, seal=seal)

    def sign_mechanisms(self, mechanisms: bytes) -> bytes:
        return self._established().sign_mechanisms(mechanisms)

    def verify_mechanisms(self, mechanisms: bytes, signature: bytes) -> None:
        self._established().verify_mechanisms(mechanisms, signature)

    def _established(self) -> SessionSecurity:
        if self._logon is None:
            raise AuthenticationFailed("the exchange is not complete")
        return self._logon.security

"""The security contexts of one connection, for the server ([MS-RPCE] 3.3.1.5.2)."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

from openmsmq.protocol.rpc.protection import Protection
from openmsmq.security.mechanism import AuthenticationFailed, SecurityContext
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.rpc.sec_trailer import SecTrailer, Verifier
from openmsmq.wire.rpc.status import (
    NCA_S_PROTO_ERROR,
    RPC_ACCESS_DENIED,
    RPC_S_SEC_PKG_ERROR,
    AuthnLevel,
    RejectReason,
)

Acceptors = Mapping[int, Callable[[], SecurityContext]]
"""Creates the acceptor's context for each known auth_type."""

# Choice: level call is refused, as Windows does for connections.
_LEVELS: Final = frozenset(
    (
        AuthnLevel.CONNECT,
        AuthnLevel.PKT,
        AuthnLevel.PKT_INTEGRITY,
        AuthnLevel.PKT_PRIVACY,
    )
)
_NO_TYPE: Final = 0


class SecurityRefused(MsmqError):
    """An authentication that cannot continue.

    Args:
        reason: of the bind_nak that answers a bind.
        status: of the fault that answers any other PDU.
    """

    def __init__(self, reason: RejectReason, status: int, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.status = status
        self.detail = detail


class Phase(Enum):
    """The progress of an authentication."""

    NEGOTIATING = auto()
    COMPLETE = auto()
    FAILED = auto()


class Leg(Enum):
    """The PDU with a token."""

    BIND = auto()
    ALTER_CONTEXT = auto()
    AUTH3 = auto()


class Authentication:
    """One security context of a connection."""

    __slots__ = ("_protection", "context", "detail", "phase", "trailer")

    def __init__(self, trailer: SecTrailer, context: SecurityContext) -> None:
        self.trailer = trailer
        self.context = context
        self.phase = Phase.NEGOTIATING
        self.detail = ""
        self._protection: Protection | None = None

    def protection(self, *, header_signing: bool) -> Protection:
        """The protection of calls by the complete context; the same object until it changes."""
        protection = self._protection
        if protection is None or protection.header_signing != header_signing:
            trailer = self.trailer
            protection = self._protection = Protection(
                self.context,
                trailer.auth_type,
                AuthnLevel(trailer.auth_level),
                trailer.auth_context_id,
                header_signing,
            )
        return protection


class SecurityContexts:
    """All security contexts of a connection, by auth_context_id."""

    __slots__ = ("_acceptors", "_contexts", "_limit", "connect_level")

    def __init__(self, acceptors: Acceptors, limit: int) -> None:
        self._acceptors = acceptors
        self._limit = limit
        self._contexts: dict[int, Authentication] = {}
        # The context of requests without a verifier: the first one at level connect.
        self.connect_level: Authentication | None = None

    @property
    def negotiating(self) -> bool:
        """Whether an authentication waits for another token."""
        return any(context.phase is Phase.NEGOTIATING for context in self._contexts.values())

    @property
    def established(self) -> SecurityContext | None:
        """The first complete context: it identifies the client."""
        for context in self._contexts.values():
            if context.phase is Phase.COMPLETE:
                return context.context
        return None

    def step(self, verifier: Verifier, leg: Leg) -> bytes:
        """Process a token; return the one that answers it.

        Raises:
            SecurityRefused: the authentication cannot continue. A failure in auth3 is kept for the
                first request instead, since auth3 has no answer.
        """
        authentication = self._find(verifier.trailer, leg)
        try:
            token = authentication.context.step(verifier.token)
            if leg is Leg.AUTH3 and (token or not authentication.context.complete):
                raise AuthenticationFailed("auth3 was not the last leg")
        except AuthenticationFailed as exc:
            authentication.phase = Phase.FAILED
            authentication.detail = str(exc)
            if leg is Leg.AUTH3:
                return b""
            raise SecurityRefused(
                RejectReason.INVALID_CHECKSUM, RPC_ACCESS_DENIED, str(exc)
            ) from exc
        if authentication.context.complete:
            authentication.phase = Phase.COMPLETE
        return token

    def _find(self, trailer: SecTrailer, leg: Leg) -> Authentication:
        known = self._contexts.get(trailer.auth_context_id)
        if known is None:
            if leg is Leg.AUTH3:
                raise SecurityRefused(
                    RejectReason.REASON_NOT_SPECIFIED, NCA_S_PROTO_ERROR, "auth3 of no context"
                )
            return self._begin(trailer)
        if known.phase is not Phase.NEGOTIATING:
            status = NCA_S_PROTO_ERROR if leg is Leg.AUTH3 else RPC_ACCESS_DENIED
            raise SecurityRefused(
                RejectReason.REASON_NOT_SPECIFIED, status, "the authentication is over"
            )
        if known.trailer.auth_type != trailer.auth_type:
            raise SecurityRefused(
                RejectReason.REASON_NOT_SPECIFIED, RPC_S_SEC_PKG_ERROR, "auth_type changed"
            )
        if known.trailer.auth_level != trailer.auth_level:
            raise SecurityRefused(
                RejectReason.REASON_NOT_SPECIFIED, RPC_ACCESS_DENIED, "auth_level changed"
            )
        return known

    def _begin(self, trailer: SecTrailer) -> Authentication:
        if not AuthnLevel.CONNECT <= trailer.auth_level <= AuthnLevel.PKT_PRIVACY:
            raise SecurityRefused(
                RejectReason.REASON_NOT_SPECIFIED,
                RPC_ACCESS_DENIED,
                f"auth_level {trailer.auth_level} is unknown",
            )
        accept = self._acceptors.get(trailer.auth_type)
        if accept is None:
            raise SecurityRefused(
                RejectReason.AUTHENTICATION_TYPE_NOT_RECOGNIZED,
                RPC_S_SEC_PKG_ERROR,
                f"auth_type {trailer.auth_type} is unknown",
            )
        if trailer.auth_level not in _LEVELS:
            raise SecurityRefused(
                RejectReason.INVALID_CHECKSUM, RPC_ACCESS_DENIED, "auth_level call is refused"
            )
        if len(self._contexts) >= self._limit:
            # [MS-RPCE] 3.3.1.5.4
            raise SecurityRefused(
                RejectReason.LOCAL_LIMIT_EXCEEDED, NCA_S_PROTO_ERROR, "too many security contexts"
            )
        authentication = Authentication(trailer, accept())
        self._contexts[trailer.auth_context_id] = authentication
        if trailer.auth_level == AuthnLevel.CONNECT and self.connect_level is None:
            self.connect_level = authentication
        return authentication

    def known(self, auth_context_id: int) -> Authentication:
        """A context that was begun."""
        return self._contexts[auth_context_id]

    def of_request(self, verifier: Verifier | None) -> Authentication | None:
        """The context that the first fragment of a request uses; None for an anonymous one.

        Raises:
            SecurityRefused: the context is unknown, failed or not complete, or the fragment has
                another type or level.
        """
        if verifier is None:
            known = self.connect_level
            if known is None:
                return None
        else:
            trailer = verifier.trailer
            known = self._contexts.get(trailer.auth_context_id)
            if (
                known is None
                or known.trailer.auth_type != trailer.auth_type
                or known.trailer.auth_level != trailer.auth_level
            ):
                raise SecurityRefused(
                    RejectReason.REASON_NOT_SPECIFIED, RPC_ACCESS_DENIED, "no such context"
                )
        if known.phase is not Phase.COMPLETE:
            negotiating = known.phase is Phase.NEGOTIATING
            raise SecurityRefused(
                RejectReason.REASON_NOT_SPECIFIED,
                NCA_S_PROTO_ERROR if negotiating else RPC_ACCESS_DENIED,
                known.detail or "the authentication is not complete",
            )
        return known

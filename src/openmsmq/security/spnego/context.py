"""A negotiation of SPNEGO as a security context, for either role."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from openmsmq.security.caller import Caller
from openmsmq.security.mechanism import AuthenticationFailed, IntegrityContext
from openmsmq.wire.errors import MalformedPacket


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A security package that can be negotiated.

    Args:
        oids: its object identifiers, the usual one first.
        make: makes a context of it, in the role of the negotiation.
        raw_prefix: how its tokens begin where they come without SPNEGO around them; empty where
            they are not accepted so.
    """

    oids: tuple[bytes, ...]
    make: Callable[[], IntegrityContext]
    raw_prefix: bytes = b""


class Negotiation(Protocol):
    """The steps of a role."""

    @property
    def agreed(self) -> IntegrityContext | None:
        """The context of the mechanism, once everything is checked."""

    def step(self, token: bytes) -> bytes:
        """As in `SecurityContext`; also raises `MalformedPacket`."""


class SpnegoContext:
    """A negotiation, then the context that both sides agreed on."""

    def __init__(self, negotiation: Negotiation) -> None:
        self._negotiation = negotiation
        self._context: IntegrityContext | None = None
        self._is_over = False

    @property
    def complete(self) -> bool:
        return self._context is not None

    @property
    def identity(self) -> str:
        return "" if self._context is None else self._context.identity

    @property
    def caller(self) -> Caller:
        return self._agreed().caller

    def signature_size(self, *, seal: bool) -> int:
        return self._agreed().signature_size(seal=seal)

    def step(self, token: bytes) -> bytes:
        if self._is_over:
            raise AuthenticationFailed("a token out of turn: the negotiation is over")
        # Until the step succeeds; every way out by an exception ends the negotiation.
        self._is_over = True
        try:
            answer = self._negotiation.step(token)
        except MalformedPacket as exc:
            raise AuthenticationFailed(f"malformed token: {exc}") from exc
        self._context = self._negotiation.agreed
        self._is_over = self._context is not None
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
        return self._agreed().wrap(header, body, trailer, seal=seal, header_signing=header_signing)

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
        return self._agreed().unwrap(
            header, body, trailer, signature, seal=seal, header_signing=header_signing
        )

    def _agreed(self) -> IntegrityContext:
        if self._context is None:
            raise AuthenticationFailed("the negotiation is not complete")
        return self._context

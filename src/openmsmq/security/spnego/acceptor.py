"""SPNEGO on the side of the server (RFC 4178, 4 and 5)."""

from collections.abc import Sequence
from enum import Enum, auto

from openmsmq.security.mechanism import AuthenticationFailed, IntegrityContext

from .context import Mechanism
from .tokens import NegState, NegTokenInit, NegTokenResp


class State(Enum):
    """What is expected next."""

    INIT = auto()
    RAW = auto()
    RESPONSE = auto()
    MIC = auto()


class SpnegoAcceptor:
    """Chooses the first mechanism of the client's list that is known here.

    Args:
        mechanisms: what is known; they make contexts of acceptors.
    """

    def __init__(self, mechanisms: Sequence[Mechanism]) -> None:
        self._mechanisms = mechanisms
        self._state = State.INIT
        self._context: IntegrityContext | None = None
        self._agreed: IntegrityContext | None = None
        self._mech_types_der = b""
        self._is_preferred = True

    @property
    def agreed(self) -> IntegrityContext | None:
        return self._agreed

    def step(self, token: bytes) -> bytes:
        if self._context is None:
            return self._start(token)
        if self._state is State.RAW:
            return self._raw(self._context, token)
        return self._respond(self._context, NegTokenResp.parse(token))

    def _start(self, token: bytes) -> bytes:
        for mechanism in self._mechanisms:
            # [MS-SPNG] 3.2.5.2: NTLM without SPNEGO around it is taken, too.
            if mechanism.raw_prefix and token.startswith(mechanism.raw_prefix):
                self._state, self._context = State.RAW, mechanism.make()
                return self._raw(self._context, token)
        init = NegTokenInit.parse(token)
        oid, mechanism = self._choose(init.mech_types)
        self._context = mechanism.make()
        self._state = State.RESPONSE
        self._mech_types_der = init.mech_types_der
        self._is_preferred = oid == init.mech_types[0]
        if not self._is_preferred or init.mech_token is None:
            # The token, if there is one, is that of the mechanism that the client prefers.
            state = NegState.ACCEPT_INCOMPLETE if self._is_preferred else NegState.REQUEST_MIC
            return NegTokenResp(state, oid).serialize()
        return self._advance(self._context, init.mech_token, init.mech_list_mic, oid)

    def _choose(self, mech_types: tuple[bytes, ...]) -> tuple[bytes, Mechanism]:
        for oid in mech_types:
            for mechanism in self._mechanisms:
                if oid in mechanism.oids:
                    return oid, mechanism
        raise AuthenticationFailed("the client offers no mechanism that is known here")

    def _raw(self, context: IntegrityContext, token: bytes) -> bytes:
        answer = context.step(token)
        if context.complete:
            self._agreed = context
        return answer

    def _respond(self, context: IntegrityContext, message: NegTokenResp) -> bytes:
        if message.neg_state is NegState.REJECT:
            raise AuthenticationFailed("the client gave up")
        if self._state is State.MIC:
            self._verify(context, message.mech_list_mic)
            self._agreed = context
            return NegTokenResp(NegState.ACCEPT_COMPLETED).serialize()
        if message.response_token is None:
            raise AuthenticationFailed("a token of the mechanism is missing")
        return self._advance(context, message.response_token, message.mech_list_mic, None)

    def _advance(
        self, context: IntegrityContext, token: bytes, mic: bytes | None, oid: bytes | None
    ) -> bytes:
        """Give the mechanism its token; `oid` goes with the first answer."""
        answer = context.step(token) or None
        if not context.complete:
            return NegTokenResp(NegState.ACCEPT_INCOMPLETE, oid, answer).serialize()
        if mic is not None:
            self._verify(context, mic)
            mic = context.sign_mechanisms(self._mech_types_der)
        elif not self._is_preferred and context.has_integrity:
            # RFC 4178, 5: the side that ends the mechanism sends the first mechListMIC.
            if answer is None:
                raise AuthenticationFailed("the client does not prove its list of mechanisms")
            self._state = State.MIC
            mic = context.sign_mechanisms(self._mech_types_der)
            return NegTokenResp(NegState.ACCEPT_INCOMPLETE, oid, answer, mic).serialize()
        self._agreed = context
        return NegTokenResp(NegState.ACCEPT_COMPLETED, oid, answer, mic).serialize()

    def _verify(self, context: IntegrityContext, mic: bytes | None) -> None:
        if mic is None:
            raise AuthenticationFailed("the client does not prove its list of mechanisms")
        context.verify_mechanisms(self._mech_types_der, mic)

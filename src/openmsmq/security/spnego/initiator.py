"""SPNEGO on the side of the client (RFC 4178, 4 and 5)."""

from collections.abc import Sequence

from openmsmq.security.mechanism import AuthenticationFailed, IntegrityContext

from .context import Mechanism
from .tokens import NegState, NegTokenInit, NegTokenResp


class SpnegoInitiator:
    """Offers mechanisms, and takes the one that the server chooses.

    Args:
        mechanisms: what is offered, the preferred one first; they make contexts of initiators.
    """

    def __init__(self, mechanisms: Sequence[Mechanism]) -> None:
        self._mechanisms = mechanisms
        self._context: IntegrityContext | None = None
        self._agreed: IntegrityContext | None = None
        self._mech_types_der = b""
        self._is_chosen = False
        # Whether the server must sign the list, did so, and whether it was signed for it.
        self._needs_mic = False
        self._is_mic_checked = False
        self._is_signed = False

    @property
    def agreed(self) -> IntegrityContext | None:
        return self._agreed

    def step(self, token: bytes) -> bytes:
        if self._context is None:
            return self._start(token)
        message = NegTokenResp.parse(token)
        if message.neg_state is NegState.REJECT:
            raise AuthenticationFailed("the server refuses the logon")
        if not self._is_chosen:
            self._is_chosen = True
            self._needs_mic = message.neg_state is NegState.REQUEST_MIC
            if message.supported_mech not in (None, *self._mechanisms[0].oids):
                return self._change(message)
        return self._advance(self._context, message)

    def _start(self, token: bytes) -> bytes:
        if token:
            raise AuthenticationFailed("an initiator starts with an empty token")
        self._context = self._mechanisms[0].make()
        mech_types = tuple(oid for mechanism in self._mechanisms for oid in mechanism.oids)
        init = NegTokenInit.offering(mech_types, self._context.step(b""))
        self._mech_types_der = init.mech_types_der
        return init.serialize()

    def _change(self, message: NegTokenResp) -> bytes:
        """Start the mechanism that the server prefers to the offered one."""
        if message.response_token is not None or message.mech_list_mic is not None:
            raise AuthenticationFailed("the server answers in a mechanism that was not started")
        for mechanism in self._mechanisms:
            if message.supported_mech in mechanism.oids:
                self._needs_mic = True
                self._context = mechanism.make()
                return NegTokenResp(response_token=self._context.step(b"")).serialize()
        raise AuthenticationFailed("the server chose a mechanism that was not offered")

    def _advance(self, context: IntegrityContext, message: NegTokenResp) -> bytes:
        answer = b""
        if message.response_token is not None:
            answer = context.step(message.response_token)
        elif not context.complete:
            raise AuthenticationFailed("a token of the mechanism is missing")
        if not context.complete:
            return NegTokenResp(response_token=answer).serialize()
        if message.mech_list_mic is not None:
            context.verify_mechanisms(self._mech_types_der, message.mech_list_mic)
            self._is_mic_checked = True
        if message.neg_state is NegState.ACCEPT_COMPLETED:
            return self._finish(context, answer)
        if self._is_signed:
            raise AuthenticationFailed("the server does not end the negotiation")
        self._is_signed = True
        mic = context.sign_mechanisms(self._mech_types_der) if context.has_integrity else None
        return NegTokenResp(response_token=answer or None, mech_list_mic=mic).serialize()

    def _finish(self, context: IntegrityContext, answer: bytes) -> bytes:
        if answer:
            raise AuthenticationFailed("the server ended the negotiation before the logon")
        if self._needs_mic and context.has_integrity and not self._is_mic_checked:
            raise AuthenticationFailed("the server does not prove its choice of the mechanism")
        self._agreed = context
        return b""

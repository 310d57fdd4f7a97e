"""An exchange of Kerberos in DCE style as a security context, for either role."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from openmsmq.security.caller import Caller
from openmsmq.security.mechanism import AuthenticationFailed

from .gss import require_gssapi


class State(Enum):
    """How far an exchange is."""

    NEGOTIATING = auto()
    ANSWER_EXPECTED = auto()
    COMPLETE = auto()
    FAILED = auto()


class KerberosContext:
    """One exchange of three tokens, and the protection of messages after it.

    Args:
        make: makes the context of the GSS-API, at the first step.
        is_initiator: whether this side starts.
        identify: on the acceptor's side, whom a principal means; raises `AuthenticationFailed`.
        awaits_answer: on the initiator's side, the peer answers the last token with an empty one.
    """

    # Any: what the package gssapi makes.
    def __init__(
        self,
        make: Callable[[], Any],
        *,
        is_initiator: bool,
        identify: Callable[[str], tuple[str, Caller]] | None = None,
        awaits_answer: bool = False,
    ) -> None:
        self._make = make
        self._is_initiator = is_initiator
        self._identify = identify
        self._awaits_answer = awaits_answer
        self._state = State.NEGOTIATING
        self._gss: Any = None
        self._raw: Any = None
        self._identity = ""
        self._caller: Caller | None = None
        self._can_sign = False
        self._can_seal = False
        self._sizes = (0, 0)

    @property
    def complete(self) -> bool:
        return self._state is State.COMPLETE

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def caller(self) -> Caller:
        if self._caller is None:
            raise AuthenticationFailed("no caller: the logon is not complete, or is an initiator's")
        return self._caller

    @property
    def has_integrity(self) -> bool:
        return self.complete and self._can_sign

    def signature_size(self, *, seal: bool) -> int:
        return self._sizes[seal]

    def step(self, token: bytes) -> bytes:
        state = self._state
        # Until the step succeeds; every way out by an exception ends the exchange.
        self._state = State.FAILED
        if state is State.ANSWER_EXPECTED and not token:
            self._state = State.COMPLETE
            return b""
        if state is not State.NEGOTIATING:
            raise AuthenticationFailed(f"a token out of turn: the exchange is {state.name}")
        answer = self._exchange(token)
        if not self._gss.complete:
            self._state = State.NEGOTIATING
            return answer
        self._establish()
        self._state = State.ANSWER_EXPECTED if self._awaits_answer else State.COMPLETE
        return answer

    def _exchange(self, token: bytes) -> bytes:
        """The answer to a token."""
        gssapi = require_gssapi()
        starts = self._gss is None
        if starts and self._is_initiator and token:
            raise AuthenticationFailed("an initiator starts with an empty token")
        try:
            if starts:
                self._raw = gssapi.raw
                self._gss = self._make()
                # An error is raised where it happens, even if there is a token that tells it.
                self._gss.__DEFER_STEP_ERRORS__ = False
            answer: bytes | None = self._gss.step(token if token or not starts else None)
        except gssapi.exceptions.GSSError as exc:
            raise AuthenticationFailed(reason(exc)) from exc
        return answer or b""

    def _establish(self) -> None:
        """Check what both sides agreed on, and who the initiator is."""
        flag = require_gssapi().RequirementFlag
        agreed = self._gss.actual_flags
        wanted = {
            "three tokens (DCE style)": flag.dce_style,
            "mutual authentication": flag.mutual_authentication,
        }
        missing = [name for name, bit in wanted.items() if bit not in agreed]
        if missing:
            raise AuthenticationFailed(f"the peers did not agree on {', '.join(missing)}")
        # [MS-RPCE] 3.3.1.5.2: a client at level connect asks for neither.
        self._can_sign = flag.integrity in agreed
        self._can_seal = self._can_sign and flag.confidentiality in agreed
        # Some versions of gssapi leave the final NUL.
        principal = str(self._gss.initiator_name).rstrip("\0")
        if self._identify is None:
            self._identity = principal
        else:
            self._identity, self._caller = self._identify(principal)
        self._sizes = (
            self._mic_size() if self._can_sign else 0,
            self._header_size() if self._can_seal else 0,
        )

    def _mic_size(self) -> int:
        kind = self._raw.IOVBufferType
        buffers = self._raw.IOV((kind.data, False, b""), kind.mic_token, std_layout=False)
        self._raw.get_mic_iov_length(self._gss, buffers)
        return len(buffers[1].value)

    def _header_size(self) -> int:
        kind = self._raw.IOVBufferType
        buffers = self._raw.IOV(kind.header, (kind.data, False, b""), std_layout=False)
        self._raw.wrap_iov_length(self._gss, buffers)
        return len(buffers[0].value)

    def wrap(
        self,
        header: bytes,
        body: bytes | bytearray,
        trailer: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> tuple[bytes, bytes]:
        self._require(seal=seal)
        if not seal:
            signed = b"".join((header, body, trailer)) if header_signing else bytes(body)
            return bytes(body), self._raw.get_mic(self._gss, signed)
        buffers = self._buffers(None, header, bytes(body), trailer, header_signing=header_signing)
        self._raw.wrap_iov(self._gss, buffers, confidential=True)
        return buffers[2].value, buffers[0].value

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
        self._require(seal=seal)
        plain = bytes(body)
        buffers = None
        try:
            if seal:
                buffers = self._buffers(
                    signature, header, plain, trailer, header_signing=header_signing
                )
                is_sealed = self._raw.unwrap_iov(self._gss, buffers).encrypted
            else:
                signed = b"".join((header, plain, trailer)) if header_signing else plain
                self._raw.verify_mic(self._gss, signed, signature)
                is_sealed = False
        except require_gssapi().exceptions.GSSError as exc:
            self._state = State.FAILED
            raise AuthenticationFailed(
                f"wrong signature, or a repeated or missing message: {reason(exc)}"
            ) from exc
        if buffers is None:
            return plain
        if not is_sealed:
            self._state = State.FAILED
            raise AuthenticationFailed("a message that is signed and not encrypted")
        opened: bytes = buffers[2].value
        return opened

    def _buffers(
        self,
        signature: bytes | None,
        header: bytes,
        body: bytes,
        trailer: bytes,
        *,
        header_signing: bool,
    ) -> Any:
        """[MS-RPCE] 3.3.1.5.2.2: without header signing only the body is protected."""
        kind = self._raw.IOVBufferType
        if not header_signing:
            header = trailer = b""
        return self._raw.IOV(
            kind.header if signature is None else (kind.header, False, signature),
            (kind.sign_only, False, header),
            (kind.data, False, body),
            (kind.sign_only, False, trailer),
            std_layout=False,
        )

    def sign_mechanisms(self, mechanisms: bytes) -> bytes:
        return self.wrap(b"", mechanisms, b"", seal=False, header_signing=False)[1]

    def verify_mechanisms(self, mechanisms: bytes, signature: bytes) -> None:
        self.unwrap(b"", mechanisms, b"", signature, seal=False, header_signing=False)

    def _require(self, *, seal: bool) -> None:
        if not self.complete:
            raise AuthenticationFailed(f"the exchange is {self._state.name}")
        if not self._can_sign:
            raise AuthenticationFailed("the peers did not agree on signing")
        if seal and not self._can_seal:
            raise AuthenticationFailed("the peers did not agree on sealing")


# Any: an error of the package gssapi.
def reason(error: Any) -> str:
    """What went wrong, without codes: the text of Kerberos where there is one."""
    texts = list(error.get_all_statuses(error.min_code, False)) if error.min_code else []
    known = [text for text in texts if text and not text.startswith("Unknown code")]
    general = error.get_all_statuses(error.maj_code, True)
    return "; ".join(known or general)

"""One interface to the security packages that RPC uses: NTLM, Kerberos, SPNEGO."""

from typing import Final, Protocol

from openmsmq.wire.errors import MsmqError

from .caller import Caller

# [MS-RPCE] 2.2.1.1.7: values of auth_type in a sec_trailer.
RPC_C_AUTHN_GSS_NEGOTIATE: Final = 9
RPC_C_AUTHN_WINNT: Final = 10
RPC_C_AUTHN_GSS_KERBEROS: Final = 16


class AuthenticationFailed(MsmqError):
    """A token that is malformed or proves nothing, or a message with a wrong signature.

    The peer learns only that it failed; the text is for the log of this side.
    """


class SecurityContext(Protocol):
    """One authentication and the protection of the messages after it, on either side.

    The initiator starts with `step(b"")` and sends what it returns; each token of the peer goes
    into the next `step`. An empty token returned means that there is nothing left to send. After
    `AuthenticationFailed` a context is of no more use.

    An initiator that is `complete` after a step sends its token without expecting another one
    (auth3 in RPC); one that is not expects an answer (alter_context).
    """

    @property
    def complete(self) -> bool:
        """Whether the peer is authenticated and messages can be protected."""

    @property
    def identity(self) -> str:
        """The name under which the initiator logged on, for people; empty until complete."""

    @property
    def caller(self) -> Caller:
        """Whom the initiator is, on the acceptor's side.

        Raises:
            AuthenticationFailed: the context is not complete, or is an initiator's.
        """

    def signature_size(self, *, seal: bool) -> int:
        """The bytes of every signature; those of encrypted messages may have more."""

    def step(self, token: bytes) -> bytes:
        """Take the token of the peer; return the token to send, empty when there is none.

        Raises:
            AuthenticationFailed: the token is malformed, out of turn or proves nothing.
        """

    def wrap(
        self,
        header: bytes,
        body: bytes | bytearray,
        trailer: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> tuple[bytes, bytes]:
        """Protect a message; return the body, encrypted when `seal`, and the signature.

        Args:
            header: the bytes before the body.
            body: the bytes that `seal` encrypts, with their padding.
            trailer: the bytes between body and signature.
            seal: encrypt the body.
            header_signing: both sides agreed to sign header and trailer; a mechanism that always
                signs them ignores it.

        Raises:
            AuthenticationFailed: the peers did not agree on this protection.
        """

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
        """Check a message of the peer; return the body, decrypted when `seal`.

        Raises:
            AuthenticationFailed: wrong signature, repeated or missing message, or the peers did
                not agree on this protection.
        """


class IntegrityContext(SecurityContext, Protocol):
    """A context that SPNEGO can carry: it also signs the list of mechanisms."""

    @property
    def has_integrity(self) -> bool:
        """Whether messages can be signed once the context is complete."""

    def sign_mechanisms(self, mechanisms: bytes) -> bytes:
        """The mechListMIC of this side over the DER of the list of mechanisms."""

    def verify_mechanisms(self, mechanisms: bytes, signature: bytes) -> None:
        """Check the mechListMIC of the peer.

        Raises:
            AuthenticationFailed: the list was changed on its way.
        """

"""A security package for tests: tokens that are plain text, and real signatures."""

import hmac

from openmsmq.security.caller import ANONYMOUS_CALLER, Caller, unix_caller
from openmsmq.security.mechanism import AuthenticationFailed

AUTH_TYPE = 77
ALICE = unix_caller(1000, [], service_uid=99)
BOB = unix_caller(1001, [], service_uid=99)
ROOT = unix_caller(0, [0], service_uid=99)
CALLERS = {"alice": ALICE, "bob": BOB, "root": ROOT, "nobody": ANONYMOUS_CALLER}
_MASK = 0x5A


class FakeContext:
    """Both roles. `legs` tokens are exchanged, the initiator's first: `name:1`, `2`, `3`, ...

    A wrong name fails at the acceptor's last token. Signatures cover header, body, trailer and a
    sequence number for each direction.
    """

    SIGNATURE_SIZE = 16

    def __init__(self, name: str = "", *, legs: int = 3, sign: bool = True) -> None:
        self._is_initiator = bool(name)
        self._name = name
        self._legs = legs
        self._sign = sign
        self._done = 0
        self._sent = 0
        self._received = 0

    @property
    def complete(self) -> bool:
        return self._done >= self._legs

    @property
    def identity(self) -> str:
        return self._name

    def signature_size(self, *, seal: bool) -> int:
        del seal
        return self.SIGNATURE_SIZE

    @property
    def caller(self) -> Caller:
        return CALLERS[self._name]

    def step(self, token: bytes) -> bytes:
        if self._is_initiator and not self._done:
            self._done = 1
            return f"{self._name}:1".encode()
        self._done += 1
        if self._is_initiator:
            if token != str(self._done).encode():
                raise AuthenticationFailed(f"token {token!r} is out of turn")
        else:
            name, _, number = token.decode("latin-1").rpartition(":")
            self._name = name or self._name
            if number != str(self._done):
                raise AuthenticationFailed(f"token {token!r} is out of turn")
            if self._done + 1 >= self._legs and self._name not in CALLERS:
                raise AuthenticationFailed("wrong password")
        if self._done >= self._legs:
            return b""
        self._done += 1
        return str(self._done).encode()

    def _signature(self, number: int, parts: tuple[bytes, ...]) -> bytes:
        data = b"|".join((str(number).encode(), *parts))
        return hmac.digest(b"key", data, "sha256")[: self.SIGNATURE_SIZE]

    def wrap(
        self,
        header: bytes,
        body: bytes | bytearray,
        trailer: bytes,
        *,
        seal: bool,
        header_signing: bool,
    ) -> tuple[bytes, bytes]:
        if not self._sign:
            raise AuthenticationFailed("the peers did not agree on signing")
        self._sent += 1
        parts = (header, bytes(body), trailer) if header_signing else (bytes(body),)
        signature = self._signature(self._sent, parts)
        return (_masked(body) if seal else bytes(body)), signature

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
        self._received += 1
        plain = _masked(body) if seal else bytes(body)
        parts = (header, plain, trailer) if header_signing else (plain,)
        if not hmac.compare_digest(self._signature(self._received, parts), signature):
            raise AuthenticationFailed("wrong signature")
        return plain


def _masked(body: bytes | bytearray | memoryview) -> bytes:
    return bytes(byte ^ _MASK for byte in body)

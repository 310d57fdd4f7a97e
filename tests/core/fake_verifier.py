"""A verifier for tests: the body of a message says what its check finds."""

from openmsmq.core.transfer.checks.checks import Verdict
from openmsmq.core.transfer.transports import Origin
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.security.security_header import SecurityHeader

# Has a message checked.
SIGNED = SecurityHeader(0, sender_cert=b"certificate")
LEVEL = 3


class FakeCheck:
    """Marks a message as authenticated, refuses it or fails."""

    def __init__(self, message: UserMessage, *, cheap: bool) -> None:
        assert message.authentication_level == 0
        self._message = message
        self.cheap = cheap

    def make(self) -> Verdict:
        body = self._message.body
        if body.startswith(b"fault"):
            raise ArithmeticError(body.decode())
        if body.startswith(b"bad"):
            return Verdict(self._message.packet, MessageClass.NACK_BAD_SIGNATURE)
        return Verdict(patch_authentication(self._message, authenticated=True, level=LEVEL))


class FakeVerifier:
    """Checks what has a SecurityHeader with a certificate."""

    def __init__(self, *, cheap: bool = False) -> None:
        self.cheap = cheap
        self.checks = 0

    def concerns(self, head: UserMessage, origin: Origin) -> bool:
        assert origin.address
        header = head.security_header
        return header is not None and header.sender_cert != b""

    def check(self, message: UserMessage, origin: Origin) -> FakeCheck:
        assert origin.address
        self.checks += 1
        return FakeCheck(message, cheap=self.cheap)

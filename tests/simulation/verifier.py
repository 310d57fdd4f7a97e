"""Checks that take their time, and change nothing."""

from __future__ import annotations

from random import Random
from typing import Final

from openmsmq.core.transfer.checks.checks import Verdict
from openmsmq.core.transfer.transports import Origin
from openmsmq.wire.message.user_message import UserMessage

# How long a worker needs for the checks of one read; a session may end meanwhile.
_SECONDS: Final = (0.0, 0.001, 0.01, 0.3, 0.3, 3.0, 30.0, 200.0)


class SlowCheck:
    """Takes as long as its worker does."""

    def __init__(self, message: UserMessage, *, cheap: bool) -> None:
        self._packet = message.packet
        self.cheap = cheap

    def make(self) -> Verdict:
        return Verdict(self._packet)


class SlowVerifier:
    """Wants to see some messages, or none.

    It has dice of its own, so that the rest of a run does not change with it.
    """

    def __init__(self, seed: str, share: float, identity: bytes) -> None:
        self._own = bytes(16), identity
        self._random = Random(seed)
        self._share = share

    def concerns(self, head: UserMessage, origin: Origin) -> bool:
        assert not head.authentication_level
        assert origin.address
        # As in the product: what is for another queue manager is checked there.
        return head.target in self._own and self._random.random() < self._share

    def check(self, message: UserMessage, origin: Origin) -> SlowCheck:
        assert origin.address
        return SlowCheck(message, cheap=self._random.random() < 0.5)

    def seconds(self) -> float:
        """How long the next job takes."""
        return self._random.choice(_SECONDS)

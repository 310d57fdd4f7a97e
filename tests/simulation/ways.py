"""How the nodes of a simulation differ from each other, all of it within the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from openmsmq.engine.engine import MAX_WAITING_BYTES
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a node differs from the others, all of it within the protocol."""

    # Says at once that a message came, and only later that it is on disk, as Windows does.
    eager: bool = False
    # How many transactional messages it forgets to write to the connection; the timer helps.
    forgetful: float = 0.0
    # Bytes of packets that stay in memory.
    memory_budget: int = 1 << 20
    # MaxUnackedPacket.
    window_size: int = 64
    # Bytes of requests that may wait for the disk.
    max_waiting_bytes: int = MAX_WAITING_BYTES
    # Whether it has the real store, on a simulated disk.
    files: bool = False
    # How many messages in a row are checked before they go into a queue, which takes its time.
    checks: float = 0.0
    # Whether it speaks HTTP, too.
    web: bool = False
    # Whether it verifies signatures and decrypts bodies, which takes its time, too.
    secure: bool = False

    @property
    def checking(self) -> bool:
        """Whether messages may wait for checks."""
        return self.checks > 0 or self.secure


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetfulSettings(BinarySettings):
    forgets: Callable[[], bool] = bool


class ForgetfulSession(BinarySession):
    """Transactional messages get lost between queue and connection."""

    __slots__ = ()

    def send(self, packet: bytes, token: object, *, now: float) -> None:
        settings = self._settings
        assert isinstance(settings, ForgetfulSettings)
        if getattr(token, "tx_sequence_number", 0) and settings.forgets():
            return
        super().send(packet, token, now=now)

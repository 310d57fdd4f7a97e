"""The shared state of the console's process."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from openmsmq.aio import QueueManager, connect
from openmsmq.wire.errors import MsmqError

from .drift import Drift
from .meters import ConsoleMeters
from .sampler import Sampler
from .settings import ConsoleSettings
from .surroundings import Surroundings

# The time after which a silent queue manager counts as unreachable.
ANSWER_SECONDS: Final = 2.0


class Service(Protocol):
    """A service that runs as long as the console does."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class Console:
    """Settings, connections to the queue manager, and background services."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self.settings = settings
        self.started: Final = time.time()
        self.meters: Final = ConsoleMeters()
        self.sampler: Final = Sampler(self)
        self.surroundings: Final = Surroundings(self)
        self.services: Final[list[Service]] = [self.sampler, self.surroundings]
        if settings.definitions is not None:
            self.services.append(Drift(self, settings.definitions))
        # Reload actions.
        self.reloads: Final[list[Callable[[], None]]] = []
        self._manager: QueueManager | None = None
        self._connecting = asyncio.Lock()

    async def manager(self) -> QueueManager:
        """The console's own connection, shared by all functions that act for no person.

        Raises:
            ConnectionLost: the queue manager does not answer.
        """
        async with self._connecting:
            if self._manager is None:
                self._manager = await self.connect(reconnect=True)
            return self._manager

    async def connect(self, *, act_for: str | None = None, reconnect: bool = False) -> QueueManager:
        """A separate connection; close it.

        Args:
            act_for: the principal whose rights count on it.

        Raises:
            ConnectionLost: the queue manager does not answer.
        """
        settings = self.settings
        return await connect(
            settings.address,
            token=settings.token,
            ca_file=settings.ca_file,
            timeout=ANSWER_SECONDS,
            reconnect=reconnect,
            act_for=act_for,
        )

    async def start(self) -> None:
        for service in self.services:
            await service.start()

    async def stop(self) -> None:
        """Stop all services, the last one first, and close connections."""
        for service in reversed(self.services):
            await service.stop()
        manager, self._manager = self._manager, None
        if manager is not None:
            with suppress(MsmqError):
                await manager.close()

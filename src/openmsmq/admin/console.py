"""What everything in the console's process shares."""

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

# How long the queue manager has to answer before it counts as not there.
ANSWER_SECONDS: Final = 2.0


class Service(Protocol):
    """Something that runs as long as the console does."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class Console:
    """Settings, connections to the queue manager, and what runs beside the web application."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self.settings = settings
        self.started: Final = time.time()
        self.meters: Final = ConsoleMeters()
        self.sampler: Final = Sampler(self)
        self.surroundings: Final = Surroundings(self)
        self.services: Final[list[Service]] = [self.sampler, self.surroundings]
        if settings.definitions is not None:
            self.services.append(Drift(self, settings.definitions))
        # What a reload reads again.
        self.reloads: Final[list[Callable[[], None]]] = []
        self._manager: QueueManager | None = None
        self._connecting = asyncio.Lock()

    async def manager(self) -> QueueManager:
        """The console's own connection, shared by everything that acts for no person.

        Raises:
            ConnectionLost: the queue manager does not answer.
        """
        async with self._connecting:
            if self._manager is None:
                self._manager = await self.connect(reconnect=True)
            return self._manager

    async def connect(self, *, act_for: str | None = None, reconnect: bool = False) -> QueueManager:
        """A connection of its own; close it.

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
        """End what runs, the last one first, and hang up."""
        for service in reversed(self.services):
            await service.stop()
        manager, self._manager = self._manager, None
        if manager is not None:
            with suppress(MsmqError):
                await manager.close()

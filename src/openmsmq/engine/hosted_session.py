"""A session of the local protocol on an engine; its caller moves the bytes."""

from collections.abc import Callable

from openmsmq.protocol.local import dispatch
from openmsmq.protocol.local.session import LocalSession

from .engine import Engine


class HostedSession:
    """A session that tells the time before each request, and the engine how much there was.

    Args:
        tick: calls `Engine.enter` with the time.
    """

    __slots__ = ("_engine", "_session", "_tick")

    def __init__(self, engine: Engine, tick: Callable[[], object], session: LocalSession) -> None:
        self._engine = engine
        self._tick = tick
        self._session = session

    @property
    def greeted(self) -> bool:
        return self._session.greeted

    @property
    def busy(self) -> bool:
        """Whether there are requests that take long, for `step`."""
        return bool(self._session.long)

    def receive(self, payload: bytes | memoryview) -> None:
        """Carry out one request."""
        self._tick()
        self._engine.take_in(len(payload))
        dispatch.receive(self._session, payload)

    def step(self) -> None:
        """Carry out one step of a request that takes long."""
        self._tick()
        dispatch.step(self._session)

    def pause(self) -> None:
        """The client does not read its replies."""
        self._session.holder.pause()

    def resume(self) -> None:
        """The client reads again."""
        self._tick()
        self._session.holder.resume()

    def stop(self) -> None:
        """The client is about to be cut off."""
        self._session.holder.stop()

    def close(self) -> None:
        """Give back everything the client holds."""
        self._tick()
        self._session.close()

"""Objects that take a round trip to make: await them, or use them in an `async with` statement."""

from collections.abc import Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """What an `async with` statement needs of the object."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


C = TypeVar("C", bound=Closable)


class Pending(Generic[C]):
    """`await` gives the object, `async with` also closes it."""

    def __init__(self, making: Coroutine[Any, Any, C]) -> None:
        self._making = making
        self._made: C

    def __await__(self) -> Generator[Any, Any, C]:
        return self._making.__await__()

    async def __aenter__(self) -> C:
        self._made = await self._making
        return self._made

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._made.__aexit__(kind, error, trace)

"""Objects that take a round trip to make: await them, or use them in an `async with` statement."""

import warnings
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar


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
    """`await` gives the object, `async with` also closes it.

    Args:
        call: the name of the call that made it, for the warning if it is never awaited.
        make: makes the object.
    """

    def __init__(self, call: str, make: Callable[[], Coroutine[Any, Any, C]]) -> None:
        self._call = call
        self._make = make
        self._made: C
        self._forgotten = True

    def __await__(self) -> Generator[Any, Any, C]:
        self._forgotten = False
        return self._make().__await__()

    async def __aenter__(self) -> C:
        self._made = await self
        return self._made

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._made.__aexit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"<{self._call}(...), which was not awaited>"

    def __del__(self) -> None:
        if self._forgotten:
            warnings.warn(
                f"{self._call}(...) was never awaited", RuntimeWarning, stacklevel=2, source=self
            )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Warn that the call was not awaited."""
            if name.startswith("_"):
                raise AttributeError(name)
            self._forgotten = False
            raise AttributeError(
                f"await {self._call}(...) first; {name!r} belongs to what that gives",
                name=name,
                obj=self,
            )

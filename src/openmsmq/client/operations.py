"""Operations: generators that say which reply they wait for and go on when it is there.

A driver runs an operation: it sends what was posted, waits as asked and feeds the reply in. So the
same logic serves blocking and asynchronous programs, and tests run it without either.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """What an operation waits for: the next reply to a request.

    The operation gets None when it did not come within `seconds`. With request 0 it waits until
    anything came beyond what the channel had counted in `arrivals`.
    """

    request: int
    seconds: float | None = None
    arrivals: int = 0


# What a reply is, only the backend knows whose channel brings it.
Operation = Generator[Wait, Any, T]

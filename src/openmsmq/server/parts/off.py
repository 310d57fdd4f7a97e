"""A part that the configuration disables."""

from collections.abc import Callable, Mapping

from .part import PartStatus


class OffPart:
    """Does nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def listen(self) -> Mapping[str, str]:
        return {}

    async def close(self) -> None:
        """Nothing is open."""

    def status(self) -> PartStatus:
        return PartStatus({})

    @property
    def reloads(self) -> Mapping[str, Callable[[], None]]:
        return {}

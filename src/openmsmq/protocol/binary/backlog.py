"""Received bytes that are not checked or not on disk yet; reading pauses above a limit."""


class Backlog:
    """By address, so that a peer does not get rid of its part by connecting again."""

    __slots__ = ("_by_address", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        """How much of it came from an address."""
        return self._by_address.get(address, 0)

    def add(self, address: str, size: int) -> None:
        """Messages of this size arrived."""
        self._by_address[address] = self.of(address) + size
        self.total += size

    def remove(self, address: str, size: int) -> None:
        """Messages of this size are on disk, or were left to their sender."""
        self.total -= size
        left = self._by_address.pop(address) - size
        assert left >= 0, "more bytes left than came"  # noqa: S101
        if left:
            self._by_address[address] = left

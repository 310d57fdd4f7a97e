"""Bytes of messages that are received but not on disk yet: nobody is read on beyond a limit."""


class Backlog:
    """By batch and address, so that a peer does not get rid of its part by connecting again."""

    __slots__ = ("_batches", "_by_address", "total")

    def __init__(self) -> None:
        self.total = 0
        self._batches: dict[int, dict[str, int]] = {}
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        """How much of it came from an address."""
        return self._by_address.get(address, 0)

    def add(self, batch: int, address: str, size: int) -> None:
        """Messages of this size wait for a batch."""
        part = self._batches.setdefault(batch, {})
        part[address] = part.get(address, 0) + size
        self._by_address[address] = self.of(address) + size
        self.total += size

    def durable(self, number: int) -> None:
        """All batches up to this number are on disk."""
        for batch in [each for each in self._batches if each <= number]:
            for address, size in self._batches.pop(batch).items():
                self.total -= size
                left = self._by_address.pop(address) - size
                if left:
                    self._by_address[address] = left

"""Packets that leave together in one request, without a caller waiting for the answer."""

from collections.abc import Callable
from typing import Final, NamedTuple

from openmsmq.protocol.local.messages import Request, Send, SendEach

REQUEST_BYTES: Final = 128 * 1024
REQUEST_MESSAGES: Final = 1000


class Background(NamedTuple):
    """A request without a waiting caller.

    `owner` is the owner of a refusal: a transaction, the chain of one call, or 0. A send
    outside transactions has a chain and its number of `messages`. When it is `void`, an earlier
    refusal has reported that it will be refused as well. A request for several handles has `chains`
    instead: the number of messages that are not void, by handle.
    """

    size: int
    owner: int
    answered: Callable[[bool], None] | None
    chain: int = 0
    messages: int = 0
    void: bool = False
    chains: dict[int, int] | None = None


class SendBatch:
    """The packets for the next request.

    They are for one handle in one transaction or chain; or for several handles, outside of
    transactions and without a chain of their own.
    """

    __slots__ = ("_chain", "_handle", "_handles", "_size", "_transaction", "packets")

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self._size = 0
        self._handle = 0
        self._transaction = 0
        self._chain = 0
        # The handle of each packet, if there are several.
        self._handles: list[int] = []

    def takes(self, handle: int, transaction: int, chain: int) -> bool:
        """Whether a packet may leave with those collected."""
        if transaction == self._transaction and chain == self._chain:
            return handle == self._handle or not (transaction or chain) or not self.packets
        return not self.packets

    def add(self, handle: int, transaction: int, chain: int, packet: bytes) -> bool:
        """Add a packet that `takes` allows; return whether they fill a request."""
        packets = self.packets
        if handle != self._handle:
            if packets and not self._handles:
                self._handles = [self._handle] * len(packets)
            self._handle = handle
        if self._handles:
            self._handles.append(handle)
        self._transaction = transaction
        self._chain = chain
        packets.append(packet)
        self._size = size = self._size + len(packet)
        return size >= REQUEST_BYTES or len(packets) >= REQUEST_MESSAGES

    def take(self, request: int, refused: Callable[[int], None]) -> tuple[Request, Background]:
        """The request with all packets, and the record of it until it is answered.

        Args:
            request: its number.
            refused: called with the handle if a request for one handle is refused.
        """
        packets, self.packets = self.packets, []
        size, self._size = self._size, 0
        if self._handles:
            handles, self._handles = self._handles, []
            chains: dict[int, int] = {}
            for number in handles:
                chains[number] = chains.get(number, 0) + 1
            return SendEach(request, handles, packets), Background(size, 0, None, chains=chains)
        handle, transaction, chain = self._handle, self._transaction, self._chain
        owner = chain or transaction
        if not owner:
            chain = handle
        return Send(request, handle, packets, transaction, chain), Background(
            size,
            owner,
            lambda accepted: None if accepted else refused(handle),
            chain,
            len(packets),
        )

    def belongs_to(self, chain: int) -> bool:
        """Whether the packets have this chain of their own."""
        return self._chain == chain

    def drop(self, chain: int) -> int:
        """Drop the packets of a chain, because one of it was refused; return the count."""
        before = len(self.packets)
        if self._handles:
            places = [at for at, handle in enumerate(self._handles) if handle != chain]
            self.packets = [self.packets[at] for at in places]
            self._handles = [self._handles[at] for at in places]
        elif not self._transaction and (self._chain or self._handle) == chain:
            self.packets = []
        self._size = sum(map(len, self.packets))
        return before - len(self.packets)

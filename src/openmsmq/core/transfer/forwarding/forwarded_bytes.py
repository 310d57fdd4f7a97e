"""Bytes stored for each address that are to be forwarded to other queue managers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message


class ForwardedBytes:
    """The bytes of forwarded messages that have not left yet, by source address.

    After a restart the source of messages is unknown: they count for no address.
    """

    __slots__ = ("_by_address", "addresses")

    def __init__(self) -> None:
        self.addresses: dict[Message, str] = {}
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        """The bytes of an address."""
        return self._by_address.get(address, 0)

    def add(self, address: str, messages: Iterable[Message]) -> None:
        """Count stored messages of an address."""
        size = 0
        for message in messages:
            self.addresses[message] = address
            size += message.size
        self._by_address[address] = self.of(address) + size

    def remove(self, messages: Iterable[Message]) -> None:
        """Messages have left; those that were not forwarded are not counted."""
        for message in messages:
            address = self.addresses.pop(message, None)
            if address is None:
                continue
            remaining = self._by_address.pop(address) - message.size
            if remaining:
                self._by_address[address] = remaining

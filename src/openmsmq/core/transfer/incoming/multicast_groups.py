"""The queues of each multicast address ([MS-MQDMPR] 3.1.1.2, MulticastAddress)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.wire.names.format_name import MulticastFormatName, parse_format_name

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue


class MulticastGroups:
    """The queues of each multicast address.

    Attributes:
        version: changes with each change.
    """

    __slots__ = ("_names", "_queues", "version")

    def __init__(self) -> None:
        self._names: dict[Queue, MulticastFormatName] = {}
        self._queues: dict[MulticastFormatName, dict[Queue, None]] = {}
        self.version = 0

    @property
    def names(self) -> list[MulticastFormatName]:
        """The addresses that any queue listens to."""
        return list(self._queues)

    def queues(self, name: MulticastFormatName) -> list[Queue]:
        """The queues that listen to an address, in the order in which they started."""
        return list(self._queues.get(name, ()))

    def set(self, queue: Queue, address: str | None) -> None:
        """Let a queue listen to this address only; None for no address."""
        name = None
        if address is not None:
            parsed = parse_format_name(f"MULTICAST={address}")
            assert isinstance(parsed, MulticastFormatName)  # noqa: S101 - checked when it was set
            name = parsed
        former = self._names.get(queue)
        if former == name:
            return
        self.version += 1
        if former is not None:
            del self._names[queue]
            queues = self._queues[former]
            del queues[queue]
            if not queues:
                del self._queues[former]
        if name is not None:
            self._names[queue] = name
            self._queues.setdefault(name, {})[queue] = None

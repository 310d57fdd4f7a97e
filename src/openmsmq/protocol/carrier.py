"""The interface between the engine and a protocol that carries messages to other machines."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from openmsmq.core.events import (
    ConnectionActiveChanged,
    Event,
    FlowControlChanged,
    MessagesDeleted,
    MessagesLeftUnread,
    MessagesMoved,
    OutgoingAvailable,
    QueueDeleted,
    QueuePaused,
    QueueResumed,
    Stopped,
)
from openmsmq.core.transfer.transports import Transport

CARRIER_EVENTS: Final = frozenset(
    (
        *(
            OutgoingAvailable,
            MessagesDeleted,
            MessagesLeftUnread,
            MessagesMoved,
            QueuePaused,
            QueueResumed,
            QueueDeleted,
        ),
        *(ConnectionActiveChanged, FlowControlChanged, Stopped),
    )
)
"""The events that the engine passes to carriers."""


class Gate(Protocol):
    """Holds effects until a batch is on disk."""

    @property
    def durable_number(self) -> int:
        """Every batch up to this number is on disk."""

    def when_durable(self, depends: int, effect: Callable[[Any], None], argument: object) -> None:
        """Call `effect(argument)` once batch `depends` is on disk; at once if it is already."""


class Carrier(Protocol):
    """A protocol that carries messages, without sockets; `now` is monotonic time.

    Events about an outgoing queue reach the carrier of its transport only.
    """

    @property
    def carries(self) -> frozenset[Transport]:
        """The transports of this carrier."""

    def core_event(self, event: Event, *, now: float) -> None:
        """One of `CARRIER_EVENTS` happened in the queue manager."""

    @property
    def waits_for_disk(self) -> bool:
        """Whether `durable` has work."""

    def durable(self, *, now: float) -> None:
        """More batches are on disk, and effects that waited for them at the gate were released."""

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""

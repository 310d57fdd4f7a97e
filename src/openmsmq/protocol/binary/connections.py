"""The connections of one queue manager: their limits, their windows, and pending output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.protocol.address_rules import AddressRules

from .peer_connection import PeerConnection

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.timer_heap import TimerHeap

    from .settings import BinarySettings

WINDOW_TIMER: Final = "window"
# The number of connections over the limit of a peer that are held until they ask, to be refused.
_TOLD_REFUSALS: Final = 16


class Connections:
    """Every connection with its session, by number."""

    __slots__ = (
        "_addresses",
        "_manager",
        "_settings",
        "_timers",
        "by_number",
        "ready",
        "window",
    )

    def __init__(self, manager: QueueManager, settings: BinarySettings, timers: TimerHeap) -> None:
        self._manager = manager
        self._settings = settings
        self._timers = timers
        self.by_number: dict[int, PeerConnection] = {}
        # Connections that may have output.
        self.ready: set[int] = set()
        self.window = settings.window_size
        self._addresses = AddressRules(settings.allowed_addresses, settings.denied_addresses)

    @property
    def full(self) -> bool:
        """Whether the limit of connections is reached."""
        return len(self.by_number) >= self._settings.max_connections

    def held_by(self, address: str) -> int:
        """The number of connections that a peer has opened from an address."""
        return sum(
            connection.address == address and connection.link is None
            for connection in self.by_number.values()
        )

    def admit(self, address: str, count: int) -> bool:
        """Whether an address with this number of connections may open one, even to be refused."""
        return not (
            self._manager.hardened
            or self.full
            or not self._addresses.allow(address)
            or count >= self._settings.max_connections_per_peer + _TOLD_REFUSALS
        )

    def add(self, connection: PeerConnection) -> None:
        """A connection was opened."""
        self.by_number[connection.number] = connection
        self.update(connection)

    def remove(self, connection: PeerConnection) -> None:
        """A connection ended."""
        del self.by_number[connection.number]
        self.ready.discard(connection.number)
        self._timers.set(connection, None)

    def take_ready(self) -> list[int]:
        """Connections that have got output since the last call."""
        ready = sorted(self.ready)
        self.ready.clear()
        return ready

    def update(self, connection: PeerConnection) -> None:
        """Record the next timer of a connection, and whether it has data to send."""
        session = connection.session
        if session.closed:
            return
        if session.output_bytes:
            self.ready.add(connection.number)
        times = [session.next_timer()]
        if connection.order_acks.running and self.may_order_ack(connection):
            times.append(connection.order_acks.next_timer())
        self._timers.set(connection, min(time for time in times if time is not None))

    def may_order_ack(self, connection: PeerConnection) -> bool:
        """Whether an order acknowledgment may be sent on a connection now."""
        depends = self._manager.outgoing.new_identifiers_depend_on
        return connection.session.room > 0 and not depends

    # The window

    def throttle(self, now: float, *, throttled: bool) -> None:
        """There is no room, or there is again: one message at a time, then more and more."""
        if throttled:
            self._set_window(1)
            self._timers.set(WINDOW_TIMER, None)
        else:
            self._timers.set(WINDOW_TIMER, now + self._settings.window_doubling_seconds)

    def widen(self, now: float) -> None:
        """Let peers send twice as many messages before they wait."""
        self._set_window(min(self.window * 2, self._settings.window_size))
        if self.window < self._settings.window_size:
            self._timers.set(WINDOW_TIMER, now + self._settings.window_doubling_seconds)

    def _set_window(self, window: int) -> None:
        self.window = window
        for connection in self.by_number.values():
            connection.session.window_size = window

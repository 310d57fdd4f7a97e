"""Virtual time and a network that delays, cuts, half-opens and stalls connections.

Everything that happens is an entry of one heap, ordered by time and then by the order in which it
was put there, and one `random.Random` decides: the same seed gives the same run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.queue_enums import ConnectionStatus

if TYPE_CHECKING:
    from .multicast import GroupNetwork
    from .node import Node

START_NOW: Final = 1000.0
START_UTC: Final = 1_700_000_000.0
# What a stretch of wire takes at least and at most.
_DELAY: Final = 0.001, 0.05
_PIECES: Final = 0.1
# Added to the numbers of HTTP connections, so that they differ from those of the binary protocol.
WEB_NUMBERS: Final = 1 << 32


def is_web(number: int) -> bool:
    """Whether a number is that of an HTTP connection."""
    return number >= WEB_NUMBERS


class World:
    """Time, the heap of what is to happen, and the nodes by their addresses."""

    def __init__(self, seed: int, *, trace: Callable[[str], None] | None = None) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.now = START_NOW
        self.nodes: dict[str, Node] = {}
        self.wires: list[Wire] = []
        # Where nodes send by multicast; None for a run without it.
        self.groups: GroupNetwork | None = None
        self.counts: dict[str, int] = {}
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        # How much was to happen so far.
        self.entries = 0
        self._trace = trace

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Let something happen at a time."""
        self.entries += 1
        heappush(self._heap, (max(time, self.now), self.entries, action))

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Let something happen in a while."""
        self.at(self.now + seconds, action)

    def run_until(self, end: float) -> None:
        """Let everything happen up to a time."""
        while self._heap and self._heap[0][0] <= end:
            self.now, _, action = heappop(self._heap)
            action()
        self.now = end

    def say(self, text: str) -> None:
        """A line of the trace."""
        if self._trace is not None:
            self._trace(f"{self.now - START_NOW:10.3f} {text}")

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # Connections

    def connect(self, node: Node, connection: int, host: str) -> None:
        """A node wants a connection; it hears of it after a while."""
        life = node.life
        delay = self.random.uniform(*_DELAY)
        self.after(delay, lambda: self._connected(node, life, connection, host))

    def _connected(self, node: Node, life: int, connection: int, host: str) -> None:
        if not node.alive(life):
            return
        target = self.nodes[host]
        web = is_web(connection)
        open_there = target.listening and target.up
        number = target.accept(node.address, web=web) if open_there else None
        if number is None:
            node.connect_failed(connection, ConnectionStatus.CONNECT_SOCKET_FAILURE)
            return
        wire = Wire(self, End(node, connection), End(target, number))
        self.wires.append(wire)
        self.say(f"{node.name} connects to {target.name} ({connection}, {number})")
        node.wires[connection] = wire
        target.wires[number] = wire
        node.connected(connection, target.address)

    def wires_between(self, one: Node, other: Node) -> list[Wire]:
        """The connections of two nodes that both think are there."""
        return [wire for wire in self.wires if wire.joins(one, other)]

    def forget(self, wire: Wire) -> None:
        """A connection is over at both ends."""
        if wire in self.wires:
            self.wires.remove(wire)


class End:
    """One end of a connection, with what is on its way to it."""

    def __init__(self, node: Node, number: int) -> None:
        self.node = node
        self.number = number
        self.life = node.life
        self.closed = False
        # Bytes on their way here, None for the end of them.
        self.coming: deque[bytes | None] = deque()
        self.moving = False
        # Nothing arrives before this time, or ever.
        self.stalled_until = 0.0
        self.lost = False
        # Nothing more sets out for here.
        self.sealed = False


class Wire:
    """One connection: bytes arrive whole and in order, until they do not."""

    def __init__(self, world: World, one: End, other: End) -> None:
        self._world = world
        self.ends = one, other

    def joins(self, one: Node, other: Node) -> bool:
        nodes = [end.node for end in self.ends if not end.closed]
        return one in nodes and other in nodes

    def end_of(self, node: Node, number: int) -> tuple[End, End]:
        """The end of a node, and the other one."""
        first, second = self.ends
        if first.node is node and first.number == number:
            return first, second
        return second, first

    def send(self, node: Node, number: int, data: bytes) -> None:
        """A node writes."""
        _, other = self.end_of(node, number)
        self._put(other, data)

    def close(self, node: Node, number: int) -> None:
        """A node closes its end: what it wrote still arrives, then the end does."""
        end, other = self.end_of(node, number)
        end.closed = True
        end.coming.clear()
        node.wires.pop(number, None)
        if other.closed:
            self._world.forget(self)
        else:
            self._put(other, None)

    def _put(self, end: End, data: bytes | None) -> None:
        if not end.closed and not end.lost and not end.sealed:
            end.coming.append(data)
            self._move(end)

    def _move(self, end: End) -> None:
        if end.coming and not end.moving:
            end.moving = True
            world = self._world
            delay = world.random.uniform(*_DELAY)
            world.at(max(end.stalled_until, world.now + delay), lambda: self._arrive(end))

    def _arrive(self, end: End) -> None:
        end.moving = False
        if end.closed or end.lost or not end.coming:
            return
        world = self._world
        if end.stalled_until > world.now:
            self._move(end)
            return
        data = end.coming.popleft()
        node = end.node
        if data is None:
            self.break_end(end)
            return
        if len(data) > 1 and world.random.random() < _PIECES:
            at = world.random.randrange(1, len(data))
            end.coming.appendleft(data[at:])
            data = data[:at]
        self._move(end)
        node.receive_data(end.number, data)

    def break_end(self, end: End) -> None:
        """A node hears that the connection is gone."""
        if end.closed:
            return
        end.closed = True
        end.coming.clear()
        end.node.wires.pop(end.number, None)
        if all(each.closed for each in self.ends):
            self._world.forget(self)
        if end.node.alive(end.life):
            end.node.connection_lost(end.number)

    # Faults

    def cut(self) -> None:
        """Both ends hear of it, one maybe much later; part of what is under way is lost."""
        world = self._world
        for end in self.ends:
            keep = world.random.randint(0, len(end.coming))
            while len(end.coming) > keep:
                end.coming.pop()
            later = world.random.choice((0.0, 0.01, 1.0, 20.0, 90.0))
            self._break_later(end, later)

    def _break_later(self, end: End, seconds: float) -> None:
        end.sealed = True
        self._world.after(seconds, lambda: self.break_end(end))

    def half_open(self, end: End) -> None:
        """Nothing reaches this end any more, and nobody says so."""
        end.lost = True
        end.coming.clear()

    def stall(self, end: End, seconds: float) -> None:
        """What is on its way to this end waits."""
        end.stalled_until = self._world.now + seconds

    def drop_node(self, node: Node) -> None:
        """A node is gone; the other end hears of it at some time, or when its timers run out."""
        world = self._world
        for end in self.ends:
            if end.node is node:
                end.closed = True
                end.coming.clear()
            elif not end.closed:
                keep = world.random.randint(0, len(end.coming))
                while len(end.coming) > keep:
                    end.coming.pop()
                self._break_later(end, world.random.choice((0.0, 0.5, 5.0, 60.0, 400.0)))
        if all(each.closed for each in self.ends):
            world.forget(self)

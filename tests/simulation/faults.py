"""What goes wrong: links, machines, disks and clocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from .node import Node
from .world import Wire, World


def _wire(world: World) -> Wire | None:
    return world.random.choice(world.wires) if world.wires else None


def _cut(world: World, _node: Node) -> None:
    wire = _wire(world)
    if wire is not None:
        world.say(f"cut {_names(wire)}")
        wire.cut()


def _half_open(world: World, _node: Node) -> None:
    wire = _wire(world)
    if wire is not None:
        end = world.random.choice(wire.ends)
        world.say(f"nothing reaches {end.node.name} any more over {_names(wire)}")
        wire.half_open(end)


def _stall(world: World, _node: Node) -> None:
    wire = _wire(world)
    if wire is not None:
        seconds = world.random.choice((0.5, 5.0, 30.0, 100.0))
        end = world.random.choice(wire.ends)
        world.say(f"nothing reaches {end.node.name} for {seconds} s over {_names(wire)}")
        wire.stall(end, seconds)


def _crash(world: World, node: Node) -> None:
    node.crash(world.random.choice((0.0, 0.1, 2.0, 30.0)))


def _power_cut(world: World, node: Node) -> None:
    world.say(f"{node.name} will lose power during a write")
    node.doomed = True


def _restart(world: World, node: Node) -> None:
    node.crash(world.random.choice((0.0, 0.1, 2.0)), clean=True)


def _jump(world: World, node: Node) -> None:
    seconds = world.random.choice((-300.0, -20.0, -1.0, 1.0, 20.0, 300.0))
    world.say(f"the clock of {node.name} jumps by {seconds} s")
    node.jump(seconds)


def _slow_disk(world: World, node: Node) -> None:
    node.slowness = world.random.choice((10.0, 100.0, 1000.0))
    world.say(f"the disk of {node.name} is {node.slowness:.0f} times slower")
    world.after(world.random.uniform(1, 20), partial(_heal_disk, node))


def _heal_disk(node: Node) -> None:
    node.slowness = 1.0


def _refuse(world: World, node: Node) -> None:
    world.say(f"{node.name} takes no connections")
    node.listening = False
    world.after(world.random.uniform(1, 40), partial(_heal_listener, node))


def _heal_listener(node: Node) -> None:
    node.listening = True


def _names(wire: Wire) -> str:
    return "-".join(end.node.name for end in wire.ends)


_KINDS: Final[dict[str, Callable[[World, Node], None]]] = {
    "cut": _cut,
    "half-open": _half_open,
    "stall": _stall,
    "crash": _crash,
    "power cut": _power_cut,
    "restart": _restart,
    "jump": _jump,
    "slow disk": _slow_disk,
    "refuse": _refuse,
}
FAULTS: Final = tuple(_KINDS)


def inject(world: World, nodes: list[Node], kinds: tuple[str, ...]) -> None:
    """One fault, of any of these kinds, anywhere."""
    kind = world.random.choice(kinds)
    world.count(f"fault: {kind}")
    _KINDS[kind](world, world.random.choice(nodes))

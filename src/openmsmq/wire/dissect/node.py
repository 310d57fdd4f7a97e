"""The tree that a packet is shown as."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from openmsmq.wire.errors import MalformedPacket

Value = int | float | str | bytes | None


@dataclass(slots=True)
class Node:
    """A structure, a field, or some bits of a field.

    Args:
        name: as in the specification.
        offset: of the first byte, from the start of the packet.
        size: in bytes.
        value: a number, a text, or bytes that have no better form; None for a structure.
        meaning: what the value says, for people.
        children: the parts, in the order of their offsets.
        fault: what is wrong here; nothing after it was read, unless it is only a name.
        hexadecimal: whether people expect the number in that form.
        mask: which bits of the number at `offset` the value comes from; 0 for all.
    """

    name: str
    offset: int
    size: int
    value: Value = None
    meaning: str = ""
    children: list["Node"] = field(default_factory=list)
    fault: MalformedPacket | None = None
    hexadecimal: bool = False
    mask: int = 0

    def add(
        self, name: str, offset: int, size: int, value: Value = None, meaning: str = ""
    ) -> "Node":
        """Append a child and return it."""
        child = Node(name, offset, size, value, meaning)
        self.children.append(child)
        return child

    def walk(self) -> Iterator["Node"]:
        """This node and all below it, in the order in which they are shown."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, *names: str) -> "Node | None":
        """The first node below this one that is reached by these names."""
        node = self
        for name in names:
            child_node = next((child for child in node.children if child.name == name), None)
            if child_node is None:
                return None
            node = child_node
        return node

    def first_fault(self) -> MalformedPacket | None:
        """The first fault in this node or below it."""
        if self.fault is not None:
            return self.fault
        for child in self.children:
            fault = child.first_fault()
            if fault is not None:
                return fault
        return None


def attach_fault(root: Node, fault: MalformedPacket) -> None:
    """Put a fault at the field that it names, or else below the structure where it happened."""
    *path, name = fault.field.split(".")
    place = root
    descending = True
    while descending:
        descending = False
        for child in reversed(place.children):
            named = child.name in (name, *path)
            inside = child.offset <= fault.offset < child.offset + child.size
            if (named and child.offset <= fault.offset) or (inside and child.children):
                place = child
                descending = True
                break
    if place is root or place.name != name:
        place = place.add(name, fault.offset, 0)
    place.fault = fault

"""What a declared type is, and what it is compiled to for one transfer syntax."""

from abc import abstractmethod
from typing import Final

from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax

# The values of the fields of one structure or parameter list, by slot.
Values = list[object]
NO_SLOT: Final = -1


class Codec:
    """Reads and writes one type in one syntax.

    A value with pointers takes two steps: the part in place, and later what its pointers point to
    (C706, 14.3.12.3). `read` returns a state for `finish`, which returns the value; `write` returns
    a state for `write_pointees`. Without `pointees` the state of `read` is the value.

    `values` are the fields of the structure that holds the value: arrays and unions look there for
    the counts and tags that belong to them.

    Not an `ABC`: compiled subclasses of one class share its cache, and `isinstance` errs.
    """

    def __init__(self, alignment: int, minimum: int, *, pointees: bool) -> None:
        self.alignment = alignment
        # The fewest bytes in place, at least 1 so that a count of elements is bounded by the stub.
        self.minimum = max(minimum, 1)
        self.pointees = pointees

    @abstractmethod
    def read(self, reader: NdrReader, values: Values) -> object:
        """Read the part in place."""

    def finish(self, reader: NdrReader, state: object, values: Values) -> object:
        """Read what the pointers of the value point to."""
        return state

    @abstractmethod
    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        """Write the part in place."""

    def write_pointees(self, writer: NdrWriter, state: object, values: Values) -> None:
        """Write what the pointers of the value point to."""


class Scope:
    """The slots of the structure around a type, while the type is compiled."""

    def __init__(self, record: str, names: dict[str, int], counts: dict[str, int]) -> None:
        self.record = record
        # The slot of a field, and the slot of the Count of a field.
        self.names = names
        self.counts = counts
        # Slots of fields that are not on the wire themselves: a maximum count carries them.
        self.carried: set[int] = set()
        # Where the maximum count of a conformant structure was put.
        self.hoisted = NO_SLOT

    def field(self, name: str) -> str:
        return f"{self.record}.{name}"


class NdrType:
    """A type of the interface definition language, the same for every syntax."""

    @abstractmethod
    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        """Make the codec of this type as the field `field` of the structure `scope`."""

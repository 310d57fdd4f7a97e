"""What a .NET BinaryFormatter stream holds, as plain data ([MS-NRBF] 2.3-2.6)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from openmsmq.wire.errors import MalformedPacket


@dataclass(frozen=True, slots=True)
class NrbfReference:
    """A member that stands elsewhere in the stream."""

    object_id: int


@dataclass(frozen=True, slots=True)
class NrbfNulls:
    """Several nulls in a row, in an array."""

    count: int


@dataclass(slots=True)
class NrbfString:
    """A string with an id, so that others may refer to it."""

    object_id: int
    value: str


@dataclass(slots=True)
class NrbfArray:
    """An array; of `length` items only some are kept, and bytes are kept as `data`."""

    object_id: int
    element_type: str
    length: int
    items: "list[NrbfValue]" = field(default_factory=list)
    data: bytes = b""


@dataclass(slots=True)
class NrbfObject:
    """An object of a class: names and values of its members, and nothing that could run."""

    object_id: int
    class_name: str
    library: str
    members: "list[tuple[str, NrbfValue]]" = field(default_factory=list)


NrbfNode = NrbfObject | NrbfArray | NrbfString
NrbfPrimitive = bool | int | float | str | Decimal | datetime | timedelta
NrbfValue = NrbfPrimitive | NrbfNode | NrbfReference | NrbfNulls | None


@dataclass(slots=True)
class NrbfStream:
    """All objects of a stream by their ids, up to its end, a fault or the limit of values."""

    root_id: int = 0
    nodes: dict[int, NrbfNode] = field(default_factory=dict)
    libraries: dict[int, str] = field(default_factory=dict)
    complete: bool = False
    fault: MalformedPacket | None = None

    @property
    def root(self) -> NrbfNode | None:
        return self.nodes.get(self.root_id)

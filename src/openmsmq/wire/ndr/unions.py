"""Non-encapsulated unions: a tag that repeats another field, and the arm that it selects."""

from typing import cast

from openmsmq.wire.errors import MalformedPacket

from .codec import Codec, NdrType, Scope, Values
from .primitives import Primitive, PrimitiveCodec
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax


class Union(NdrType):
    """The value of the arm that the field `switch` selects (switch_is); None for an empty arm."""

    def __init__(self, tag: Primitive, switch: str, arms: dict[int, NdrType | None]) -> None:
        self.tag = tag
        self.switch = switch
        self.arms = arms

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        arms: dict[int, Codec | None] = {
            value: None if arm is None else arm.compile(syntax, scope, field)
            for value, arm in self.arms.items()
        }
        return UnionCodec(self, syntax, scope, field, arms)


class UnionCodec(Codec):
    """The state is the arm and the state of the arm."""

    def __init__(
        self,
        union: Union,
        syntax: TransferSyntax,
        scope: Scope,
        field: str,
        arms: dict[int, Codec | None],
    ) -> None:
        self._tag = PrimitiveCodec(union.tag, syntax, scope.field(field))
        present = [arm for arm in arms.values() if arm is not None]
        super().__init__(
            max(self._tag.alignment, *(arm.alignment for arm in present)),
            self._tag.minimum,
            pointees=True,
        )
        self._switch = scope.names[union.switch]
        self._arms = arms
        self._field = scope.field(field)
        # [MS-RPCE] 2.2.5.3.4.4: NDR64 aligns the tag and the arm as the widest arm.
        self._wide = self.alignment if syntax.gaps else 1

    def read(self, reader: NdrReader, values: Values) -> object:
        reader.align(self._wide)
        at = reader.at
        tag = cast(int, self._tag.read(reader, values))
        if tag != values[self._switch]:
            raise MalformedPacket(self._field, at, f"tag {tag} is not {values[self._switch]}")
        if tag not in self._arms:
            raise MalformedPacket(self._field, at, f"tag {tag} is not one of {list(self._arms)}")
        arm = self._arms[tag]
        if arm is None:
            return None, None
        reader.align(self._wide)
        return arm, arm.read(reader, values)

    def finish(self, reader: NdrReader, state: object, values: Values) -> object:
        arm, inner = cast("tuple[Codec | None, object]", state)
        return None if arm is None else arm.finish(reader, inner, values)

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        writer.align(self._wide)
        tag = cast(int, values[self._switch])
        if tag not in self._arms:
            raise ValueError(f"{self._field}: tag {tag} is not one of {list(self._arms)}")
        self._tag.write(writer, tag, values)
        arm = self._arms[tag]
        if arm is None:
            return None, None
        writer.align(self._wide)
        return arm, arm.write(writer, value, values)

    def write_pointees(self, writer: NdrWriter, state: object, values: Values) -> None:
        arm, inner = cast("tuple[Codec | None, object]", state)
        if arm is not None:
            arm.write_pointees(writer, inner, values)

"""Reading a .NET BinaryFormatter stream as data: nothing is ever instantiated ([MS-NRBF])."""

from enum import IntEnum
from math import prod
from typing import Final, NamedTuple

from openmsmq.wire.errors import MalformedPacket

from .nrbf_cursor import BYTE, PRIMITIVE_NAMES, NrbfCursor
from .nrbf_values import (
    NrbfArray,
    NrbfNulls,
    NrbfObject,
    NrbfReference,
    NrbfStream,
    NrbfString,
    NrbfValue,
)

MAX_DEPTH: Final = 50
MAX_VALUES: Final = 4_000
MAX_ARRAY_ITEMS: Final = 100
_MAX_RANK: Final = 32
_HEADER_SIZE: Final = 17


class RecordType(IntEnum):
    """RecordTypeEnumeration ([MS-NRBF] 2.1.2.1), without the records of remote calls."""

    SERIALIZED_STREAM_HEADER = 0
    CLASS_WITH_ID = 1
    SYSTEM_CLASS_WITH_MEMBERS = 2
    CLASS_WITH_MEMBERS = 3
    SYSTEM_CLASS_WITH_MEMBERS_AND_TYPES = 4
    CLASS_WITH_MEMBERS_AND_TYPES = 5
    BINARY_OBJECT_STRING = 6
    BINARY_ARRAY = 7
    MEMBER_PRIMITIVE_TYPED = 8
    MEMBER_REFERENCE = 9
    OBJECT_NULL = 10
    MESSAGE_END = 11
    BINARY_LIBRARY = 12
    OBJECT_NULL_MULTIPLE_256 = 13
    OBJECT_NULL_MULTIPLE = 14
    ARRAY_SINGLE_PRIMITIVE = 15
    ARRAY_SINGLE_OBJECT = 16
    ARRAY_SINGLE_STRING = 17


# BinaryTypeEnumeration ([MS-NRBF] 2.1.2.2).
_PRIMITIVE: Final = 0
_SYSTEM_CLASS: Final = 3
_CLASS: Final = 4
_PRIMITIVE_ARRAY: Final = 7
_TYPE_NAMES: Final = {1: "String", 2: "Object", 5: "Object[]", 6: "String[]"}

# BinaryArrayTypeEnumeration ([MS-NRBF] 2.4.1.1): from here on with lower bounds.
_FIRST_OFFSET_ARRAY: Final = 3
_LAST_ARRAY: Final = 5


class _MemberType(NamedTuple):
    """The type of a value; `primitive` is 0 when the value comes as a record of its own."""

    name: str
    primitive: int = 0


class _ClassInfo(NamedTuple):
    name: str
    library: str
    members: tuple[tuple[str, _MemberType], ...]


_UNTYPED: Final = _MemberType("Object")


class _Enough(Exception):
    """The limit of values is reached."""


def looks_like_nrbf(data: bytes | memoryview) -> bool:
    """Whether the data begins with a SerializationHeaderRecord of version 1.0."""
    return (
        len(data) > _HEADER_SIZE
        and data[0] == RecordType.SERIALIZED_STREAM_HEADER
        and bytes(data[5:17]) == b"\xff\xff\xff\xff\1\0\0\0\0\0\0\0"
    )


def read_nrbf(data: bytes | memoryview) -> NrbfStream:
    """Read the stream up to its end, a fault or the limit of values; never raises."""
    return _Reader(data).read()


class _Reader:
    __slots__ = ("_classes", "_cursor", "_depth", "_stream", "_values")

    def __init__(self, data: bytes | memoryview) -> None:
        self._cursor = NrbfCursor(data)
        self._stream = NrbfStream()
        self._classes: dict[int, _ClassInfo] = {}
        self._depth = 0
        self._values = 0

    def read(self) -> NrbfStream:
        try:
            self._header()
            while (record_type := self._record_type()) != RecordType.MESSAGE_END:
                self._record(record_type)
            self._stream.complete = True
        except MalformedPacket as fault:
            self._stream.fault = fault
        except _Enough:
            pass
        return self._stream

    def _header(self) -> None:
        cursor = self._cursor
        if cursor.byte("RecordType") != RecordType.SERIALIZED_STREAM_HEADER:
            raise cursor.fault("RecordType", "no SerializationHeaderRecord at the start")
        self._stream.root_id = cursor.int32("RootId")
        cursor.int32("HeaderId")
        version = cursor.int32("MajorVersion"), cursor.int32("MinorVersion")
        if version != (1, 0):
            raise cursor.fault("MajorVersion", f"version {version[0]}.{version[1]} is not 1.0")

    def _count_value(self, count: int = 1) -> None:
        self._values += count
        if self._values > MAX_VALUES:
            raise _Enough

    def _record_type(self) -> int:
        """The type of the next record that is not a BinaryLibrary; those are noted on the way."""
        cursor = self._cursor
        while (record_type := cursor.byte("RecordType")) == RecordType.BINARY_LIBRARY:
            self._count_value()
            library_id = cursor.int32("LibraryId")
            self._stream.libraries[library_id] = cursor.string("LibraryName")
        return record_type

    def _record(self, record_type: int) -> NrbfValue:
        """One record and all that is nested in it."""
        self._count_value()
        if self._depth == MAX_DEPTH:
            raise self._cursor.fault("RecordType", f"nested more than {MAX_DEPTH} deep")
        self._depth += 1
        value = self._dispatch(record_type)
        self._depth -= 1
        return value

    def _dispatch(self, record_type: int) -> NrbfValue:
        cursor = self._cursor
        match record_type:
            case RecordType.BINARY_OBJECT_STRING:
                string = NrbfString(cursor.int32("ObjectId"), cursor.string("Value"))
                self._stream.nodes[string.object_id] = string
                return string
            case RecordType.MEMBER_PRIMITIVE_TYPED:
                return cursor.primitive(cursor.byte("PrimitiveType"), "Value")
            case RecordType.MEMBER_REFERENCE:
                return NrbfReference(cursor.int32("IdRef"))
            case RecordType.OBJECT_NULL:
                return None
            case RecordType.OBJECT_NULL_MULTIPLE_256:
                return NrbfNulls(cursor.byte("NullCount"))
            case RecordType.OBJECT_NULL_MULTIPLE:
                return NrbfNulls(cursor.int32("NullCount"))
            case RecordType.BINARY_ARRAY:
                return self._binary_array()
            case (
                RecordType.ARRAY_SINGLE_PRIMITIVE
                | RecordType.ARRAY_SINGLE_OBJECT
                | RecordType.ARRAY_SINGLE_STRING
            ):
                return self._single_array(record_type)
            case _ if 0 < record_type <= RecordType.CLASS_WITH_MEMBERS_AND_TYPES:
                return self._object(record_type)
            case _:
                raise cursor.fault("RecordType", f"record type {record_type} is not known here")

    def _object(self, record_type: int) -> NrbfObject:
        object_id = self._cursor.int32("ObjectId")
        if record_type == RecordType.CLASS_WITH_ID:
            metadata_id = self._cursor.int32("MetadataId")
            known = self._classes.get(metadata_id)
            if known is None:
                raise self._cursor.fault("MetadataId", f"no class has the id {metadata_id}")
        else:
            known = self._class_info(record_type)
        self._classes[object_id] = known
        # Noted before its members are read, so that a stream that breaks off shows what it had.
        node = NrbfObject(object_id, known.name, known.library)
        self._stream.nodes[object_id] = node
        for name, member_type in known.members:
            self._count_value()
            if member_type.primitive:
                value: NrbfValue = self._cursor.primitive(member_type.primitive, name)
            else:
                value = self._record(self._record_type())
            node.members.append((name, value))
        return node

    def _class_info(self, record_type: int) -> _ClassInfo:
        cursor = self._cursor
        class_name = cursor.string("ClassInfo.Name")
        count = cursor.count("ClassInfo.MemberCount")
        self._count_value(count)
        names = [cursor.string("ClassInfo.MemberNames") for _ in range(count)]
        types = [_UNTYPED] * count
        if record_type >= RecordType.SYSTEM_CLASS_WITH_MEMBERS_AND_TYPES:
            kinds = cursor.raw(count, "MemberTypeInfo.BinaryTypeEnums")
            types = [self._member_type(kind) for kind in kinds]
        library = ""
        if record_type in (RecordType.CLASS_WITH_MEMBERS, RecordType.CLASS_WITH_MEMBERS_AND_TYPES):
            library = self._stream.libraries.get(cursor.int32("LibraryId"), "")
        return _ClassInfo(class_name, library, tuple(zip(names, types, strict=True)))

    def _member_type(self, kind: int) -> _MemberType:
        """The AdditionalInfo that follows for this BinaryTypeEnumeration."""
        cursor = self._cursor
        if kind in (_PRIMITIVE, _PRIMITIVE_ARRAY):
            primitive = cursor.byte("PrimitiveType")
            name = PRIMITIVE_NAMES.get(primitive)
            if name is None:
                raise cursor.fault("PrimitiveType", f"primitive type {primitive} is not known")
            return _MemberType(name, primitive) if kind == _PRIMITIVE else _MemberType(f"{name}[]")
        if kind == _SYSTEM_CLASS:
            return _MemberType(cursor.string("TypeName"))
        if kind == _CLASS:
            name = cursor.string("TypeName")
            cursor.int32("LibraryId")
            return _MemberType(name)
        if kind not in _TYPE_NAMES:
            raise cursor.fault("BinaryTypeEnum", f"binary type {kind} is not known")
        return _MemberType(_TYPE_NAMES[kind])

    def _single_array(self, record_type: int) -> NrbfArray:
        cursor = self._cursor
        object_id, length = cursor.int32("ObjectId"), cursor.int32("Length")
        if record_type == RecordType.ARRAY_SINGLE_PRIMITIVE:
            element = self._member_type(_PRIMITIVE)
        else:
            text = record_type == RecordType.ARRAY_SINGLE_STRING
            element = _MemberType("String" if text else "Object")
        return self._items(object_id, length, element)

    def _binary_array(self) -> NrbfArray:
        cursor = self._cursor
        object_id, array_type = cursor.int32("ObjectId"), cursor.byte("BinaryArrayType")
        rank = cursor.int32("Rank")
        if array_type > _LAST_ARRAY or not 0 < rank <= _MAX_RANK:
            raise cursor.fault("Rank", f"rank {rank} of array type {array_type}")
        lengths = [cursor.int32("Lengths") for _ in range(rank)]
        if array_type >= _FIRST_OFFSET_ARRAY:
            for _ in range(rank):
                cursor.int32("LowerBounds")
        element = self._member_type(cursor.byte("BinaryTypeEnum"))
        return self._items(object_id, -1 if min(lengths) < 0 else prod(lengths), element)

    def _items(self, object_id: int, length: int, element: _MemberType) -> NrbfArray:
        cursor = self._cursor
        if length < 0:
            raise cursor.fault("Length", "an array has a negative length")
        array = NrbfArray(object_id, element.name, length)
        self._stream.nodes[object_id] = array
        if element.primitive == BYTE:
            array.data = cursor.raw(length, "Values")
        elif element.primitive:
            count = min(length, MAX_ARRAY_ITEMS)
            self._count_value(count)
            array.items.extend(cursor.primitives(element.primitive, count))
            if not cursor.skip(element.primitive, length - count):
                raise _Enough
        else:
            self._object_items(array)
        return array

    def _object_items(self, array: NrbfArray) -> None:
        filled = 0
        while filled < array.length:
            value = self._record(self._record_type())
            count = value.count if isinstance(value, NrbfNulls) else 1
            if not 0 < count <= array.length - filled:
                raise self._cursor.fault("NullCount", f"{count} nulls do not fit the array")
            filled += count
            if len(array.items) < MAX_ARRAY_ITEMS:
                array.items.append(value)

"""BinaryFormatter streams, written record by record as [MS-NRBF] 2 lays them out."""

from struct import pack

HEADER = bytes.fromhex("00 01000000 ffffffff 01000000 00000000")
END = b"\x0b"
NULL = b"\x0a"


def text(value: str) -> bytes:
    raw = value.encode()
    length, out = len(raw), b""
    while length > 0x7F:
        out, length = out + bytes([length & 0x7F | 0x80]), length >> 7
    return out + bytes([length]) + raw


def string(object_id: int, value: str) -> bytes:
    return b"\x06" + pack("<i", object_id) + text(value)


def reference(object_id: int) -> bytes:
    return b"\x09" + pack("<i", object_id)


def library(library_id: int, name: str) -> bytes:
    return b"\x0c" + pack("<i", library_id) + text(name)


def class_info(object_id: int, name: str, *members: str) -> bytes:
    return (
        pack("<i", object_id) + text(name) + pack("<i", len(members)) + b"".join(map(text, members))
    )


def typed_class(
    object_id: int, name: str, members: dict[str, bytes], *, library_id: int | None = None
) -> bytes:
    """A class record with types; a type is its BinaryTypeEnum and what is added to it."""
    kinds = bytes(kind[0] for kind in members.values())
    added = b"".join(kind[1:] for kind in members.values())
    record = b"\x04" if library_id is None else b"\x05"
    tail = b"" if library_id is None else pack("<i", library_id)
    return record + class_info(object_id, name, *members) + kinds + added + tail


def stream(*records: bytes) -> bytes:
    return HEADER + b"".join(records) + END


# A List<string> of two, as .NET writes it.
LIST_OF_STRINGS = stream(
    typed_class(
        1,
        "System.Collections.Generic.List`1[[System.String, mscorlib]]",
        {"_items": b"\x06", "_size": b"\x00\x08", "_version": b"\x00\x08"},
    ),
    reference(2),
    pack("<ii", 2, 3),
    b"\x11" + pack("<ii", 2, 4),
    string(3, "first"),
    string(4, "second"),
    b"\x0d\x02",
)
